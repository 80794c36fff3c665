"""What is saved for a learner, on their own disk: results, progress and correct answers.

What they have met since the kernel started is kept as long as it runs.
"""
