"""What is kept for a learner: results, progress and right answers of another day, on their own disk.

What they have met since the kernel started is kept as long as it runs.
"""
