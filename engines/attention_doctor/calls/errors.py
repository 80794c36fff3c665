"""Why an examination ends early."""


class CannotBeExaminedError(ValueError):
    """What stands in the way, and what to do."""


class TimeLimitError(Exception):
    """The examination took longer than it may."""
