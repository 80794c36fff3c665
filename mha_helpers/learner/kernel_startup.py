"""What IPython runs when a kernel of the course starts: `jupyter_server_config.py` names this file in PYTHONSTARTUP."""


def _start():
    import contextlib
    import sys

    # Python reads the same variable in a terminal, where there is no notebook, and other kernels may lack the course.
    if "IPython" in sys.modules:
        with contextlib.suppress(ImportError):
            from mha_helpers.learner import not_yet_run

            not_yet_run.watch()


_start()
del _start
