"""What is kept for a learner, and what a lab shows of their function: results, progress, right answers of another day."""
