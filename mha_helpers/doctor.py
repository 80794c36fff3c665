"""The attention doctor, which is a package of its own: `mha_helpers.doctor` is `attention_doctor`.

>>> from mha_helpers import attention, doctor
>>> report = doctor.examine(attention.multi_head_attention)
>>> report.healthy, report.names
(True, [])

From the command line: `python -m mha_helpers.doctor FILE.py:NAME`.
"""

from attention_doctor import CannotBeExaminedError, Finding, Report, assert_healthy, examine
from function_judge.libraries import add_own

__all__ = ["CannotBeExaminedError", "Finding", "Report", "assert_healthy", "examine"]

add_own("mha_helpers")

if __name__ == "__main__":
    from attention_doctor.__main__ import main

    raise SystemExit(main())
