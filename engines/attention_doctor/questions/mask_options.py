"""A mask that is read only with an option that is off, as `flash_mask` with `use_flash`: it is not ignored."""

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Iterator

from attention_doctor.forms.masks import IGNORED
from attention_doctor.questions.masks_compared import is_used
from attention_doctor.reports.remarks import CannotTell, Caveat, UntestedMask

OF_AN_OBJECT = "self."


def that_switches(session, name, answers):
    """The option that is off and without which a mask isn't read, or None: an argument, or an attribute of `self`."""
    if not all(is_used(session, answer, IGNORED) for answer in answers.values()):
        return None
    off = _options_that_are_off(session.subject)
    for source in _sources(session.subject):
        with contextlib.suppress(SyntaxError):  # of a lambda, say
            for node in ast.walk(ast.parse(textwrap.dedent(source))):
                if isinstance(node, (ast.If, ast.IfExp)) and name in _names_read_in(node.body):
                    found = off.intersection(_asked_for(node.test))
                    if found:
                        return min(found)
    return None


def _sources(subject):
    """What is called, which may be inherited, and then the whole class."""
    with contextlib.suppress(OSError, TypeError):
        yield inspect.getsource(subject.adapter.signature_of if subject.kind == "module" else subject.function)
    yield subject.source


def _options_that_are_off(subject):
    arguments = subject.arguments
    flags = subject.function.flags() if hasattr(subject.function, "flags") else _flags_of(subject.function)
    known = {*arguments.inputs, *arguments.name_of.values()}  # a causal flag, say, is asked by itself
    return {
        *(p.name for p in arguments.parameters if p.default is False and p.name not in known),
        *(OF_AN_OBJECT + name for name, is_on in flags.items() if not is_on and name != "training"),
    }


def _flags_of(method):
    """What is True or False among the attributes of the object whose method it is."""
    attributes = getattr(getattr(method, "__self__", None), "__dict__", {})
    return {name: value for name, value in attributes.items() if isinstance(value, bool)}


def _names_read_in(body) -> set[str]:
    nodes = body if isinstance(body, list) else [body]
    names = (item for node in nodes for item in ast.walk(node) if isinstance(item, ast.Name))
    return {item.id for item in names if isinstance(item.ctx, ast.Load)}


def _asked_for(test) -> Iterator[str]:
    """What must be true for a test to hold: itself, or what is joined with `and` in it."""
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield ast.unparse(part)


def asked_with(session, option, name, ask):
    """Ask about the mask with the option on; one of an object's own is left as it is.

    Parameters
    ----------
    session : ExamSession
    option, name : str
        Of the option and of the mask.
    ask : callable
        Puts the questions.
    """
    if option.startswith(OF_AN_OBJECT):
        yield UntestedMask(f"`{name}` (it has an effect only with {option}, which is off)")
        return
    arguments, before = session.subject.arguments, session.subject.arguments.inputs
    arguments.inputs = {**before, option: True}
    remarks = list(ask())
    arguments.inputs = before
    refusals = [remark.text for remark in remarks if isinstance(remark, CannotTell)]
    if refusals:
        yield UntestedMask(f"`{name}` (it has an effect only with {option}=True). {refusals[0].rstrip('.')}")
        return
    yield Caveat(f"`{name}` has an effect only with {option}=True, with which it was tested")
    yield from remarks
