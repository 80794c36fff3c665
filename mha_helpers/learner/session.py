"""What a learner has seen since the kernel started, by the name of an exercise or a prediction.

None of it goes to disk: a new kernel begins with the first hint.
"""

from collections import Counter

hints_shown = Counter()
failing_cases = {}  # on which the last check went wrong; None where there is none
failures = Counter()  # how often a check failed, by the exercise's function and the mistake
remedies = {}  # what the last check has not told yet
first_answers = {}  # to predictions: what was committed first
_told = set()


def once(sentence):
    """Return a sentence the first time, and nothing from then on."""
    if sentence in _told:
        return ""
    _told.add(sentence)
    return sentence
