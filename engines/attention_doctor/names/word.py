"""A name that a report can give, and how bad what it stands for can be."""

from dataclasses import dataclass

LEAK = "information leaks"
WRONG = "wrong numbers"
IMPORTED = "wrong only with imported weights"
LIMIT = "numerical limits"
HARMLESS = "harmless"
DESIGN = "a deliberate design"
NOTE = "worth knowing"
SEVERITIES = (LEAK, WRONG, IMPORTED, LIMIT, NOTE, HARMLESS, DESIGN)
HEALTHY = (NOTE, HARMLESS, DESIGN)  # a right model may do so, too


@dataclass(frozen=True)
class Word:
    """One name.

    Parameters
    ----------
    sentence : str
        What the code does.
    repair : str
        One line.
    severity : str
        One of SEVERITIES.
    example : str
        Public code that had it, where the doctor gives it this name.
    reported : str
        Where it was reported of public code that the doctor cannot examine, or not by itself.
    """

    sentence: str
    repair: str
    severity: str = WRONG
    example: str = ""
    reported: str = ""
