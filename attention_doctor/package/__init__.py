"""The attention doctor: examine any implementation of attention, and name what is wrong with it.

`attention_doctor.examine(thing)` returns a report, and `assert_healthy(thing)` is for a project's own tests.
"""

from importlib.metadata import version

from .doctor import CannotBeExaminedError, Finding, Report, assert_healthy, examine

__all__ = ["CannotBeExaminedError", "Finding", "Report", "assert_healthy", "examine"]
__version__ = version("attention-doctor")
