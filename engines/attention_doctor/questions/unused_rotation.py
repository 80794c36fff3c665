"""Rotary positions without influence: the code turns queries and keys, and all tokens of a head alike."""

import contextlib
import itertools
import sys
from dataclasses import replace

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT
from attention_doctor.readers import positions
from function_judge.compare import close
from function_judge.lines import Line

TOKENS = 7  # equal ones, and no other axis is likely to have that many
FRAMEWORKS = ("torch", "keras", "flax", "jax", "equinox")


def ask(session):
    """Where attention is explained without positions, and its code turns features: whether they depend on the token."""
    subject, layout = session.subject, session.layout
    if subject.kind != "module" or session.known.right["place"] is not RIGHT["place"] or not positions.hints(subject):
        return
    X = np.repeat(np.random.default_rng(9).normal(size=(1, 1, subject.d_model)), TOKENS, axis=1)
    with _turned(type(subject.adapter.original)) as turned:
        answer = subject.answer_for(layout, X)
    if answer is None or answer[1] is None:
        return
    for _, name, line, before, after in turned:
        if _turns_all_alike(before, after):
            slug = "rope-wrong-axis" if _differs_by_place(before, after) else "rope-one-position"
            evidence = f"`{name}` gets shape {before.shape} and turns all {TOKENS} tokens alike: without effect."
            yield replace(session.finding(slug, evidence=evidence), line=line)
            return


def _turns_all_alike(before, after):
    """Whether it turns features, and those of all tokens, which are equal, by the same angles."""
    axes = [axis for axis, size in enumerate(before.shape[:-1]) if size == TOKENS]
    if len(axes) != 1 or close(before, after).all():
        return False
    return all(close(item, item.take([0], axes[0])).all() for item in (before, after))


@contextlib.contextmanager
def _turned(whole):
    """Collect the calls whose name speaks of rotation, but that of the `whole`: line, argument and result of each."""
    turned, entered, order = [], {}, itertools.count()

    def watch(frame, event, returned):
        name = frame.f_code.co_qualname
        if (
            event not in ("call", "return")
            or not vocabulary.ROTATION.search(name)
            or vocabulary.PART_OF_A_ROTATION.search(name)
        ):
            return
        if type(frame.f_locals.get("self")) is whole and frame.f_code.co_name in ("forward", "__call__"):
            return
        if event == "call":
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            arrays = [calling.read(frame.f_locals[item]) for item in names if item in frame.f_locals]
            entered[frame] = next(order), [array for array in arrays if array is not None]
            return
        back = [calling.read(item) for item in (returned if isinstance(returned, tuple | list) else [returned])]
        number, arrays = entered.pop(frame, (0, ()))
        turned.extend(
            (number, name, _calling_line(frame), before, after)
            for before, after in itertools.product(arrays, back)
            if after is not None and after.shape == before.shape
        )

    earlier = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield turned
    finally:
        sys.setprofile(earlier)
        turned.sort(key=lambda call: call[0])  # a call before those that it makes


def _calling_line(frame):
    """The line of somebody's own code that has led there."""
    while (frame := frame.f_back) is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in FRAMEWORKS:
            return Line.at(frame.f_code.co_filename, frame.f_lineno)
    return None


def _differs_by_place(before, after):
    """Whether vectors at different places are turned by different angles, in either convention."""
    half = before.shape[-1] // 2
    for first, second in ((np.s_[..., :half], np.s_[..., half : 2 * half]), (np.s_[..., ::2], np.s_[..., 1::2])):
        pairs, turned_pairs = (array[first] + 1j * array[second] for array in (before, after))
        angles = (turned_pairs / pairs).reshape(-1, pairs.shape[-1])
        if close(np.abs(angles), 1).all():
            return not close(np.abs(angles - angles[:1]), 0).all()
    return True
