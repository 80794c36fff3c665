"""While a function is judged, it can neither end the kernel nor wait for somebody to type."""

import re
import sys
from types import SimpleNamespace

import pytest

from function_judge.barred import ENDS_PYTHON, WAITS_FOR_TYPING, barred


@pytest.mark.parametrize("leave", [lambda: exit(), lambda: quit()], ids=["exit", "quit"])
def test_python_is_not_ended(leave):
    with pytest.raises(SystemExit, match=re.escape(ENDS_PYTHON)), barred():
        leave()
    assert not sys.stdin.closed


def test_nobody_is_asked_to_type():
    with pytest.raises(RuntimeError, match="waits until somebody types"), barred():
        input()
    assert WAITS_FOR_TYPING.startswith("input()")


def test_in_a_notebook_the_kernel_is_not_asked_to_end(monkeypatch):
    asked = []
    shell = SimpleNamespace(ask_exit=lambda: asked.append(True))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with pytest.raises(SystemExit), barred():
        shell.ask_exit()
    assert asked == []
    shell.ask_exit()
    assert asked == [True], "afterwards it does what it did before"
