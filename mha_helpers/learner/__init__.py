"""What is kept for a learner, and what a lab shows of their function.

Results, progress and right answers of another day are kept on their own disk.
"""
