"""The doctor's equation against ONNX's published cases of its operator Attention, where they ask the same."""

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import helper
from onnx.backend.test.case.node import attention as published

from attention_doctor.equation.stages import RIGHT, Form, Input, compute, right_hide, scaled_by
from function_judge.compare import fits
from mha_helpers import doctor

# What the equation has no part for: caches, a soft cap, outputs from the middle, other precisions, 3-D inputs.
SAME_ATTRIBUTES = {"is_causal", "scale"}


def cases():
    """Yield (name, attributes, inputs, output) of the cases that ask the same."""
    collected = []
    before = published.expect
    published.expect = lambda node, inputs, outputs, name, **more: collected.append((node, inputs, outputs, name))
    try:
        for export in dir(published.Attention):
            if export.startswith("export_"):
                getattr(published.Attention, export)()
    finally:
        published.expect = before
    for node, inputs, outputs, name in collected:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        plain = len(node.input) == len(inputs) in (3, 4) and len(outputs) == 1 and set(attributes) <= SAME_ATTRIBUTES
        if plain and all(array.ndim == 4 and array.dtype == np.float32 for array in inputs[:3]):
            yield name, attributes, inputs, outputs[0]


CASES = list(cases())


def equation(attributes, inputs):
    queries, keys, values = (array.astype(np.float64) for array in inputs[:3])
    groups = queries.shape[1] // keys.shape[1]
    keys, values = (np.repeat(array, groups, axis=1) for array in (keys, values))
    case = Input(heads=(queries, keys, values), n_heads=queries.shape[1], is_causal=bool(attributes.get("is_causal")))
    right = RIGHT
    if attributes.get("scale"):
        right = right | {"scale": Form("", "scale", scaled_by(lambda case, q, v: attributes["scale"]), "given")}
    if len(inputs) == 4 and inputs[3].dtype == bool:
        case = case.changed(allowed=inputs[3])
    elif len(inputs) == 4:
        right = right | {"hide": Form("", "hide", added_to_scores(inputs[3]), "a mask that is added")}
    return compute(case, right=right)[0]


def added_to_scores(mask):
    def hide(case, given):
        scores, *others = given
        return right_hide(case, (scores + mask, *others))

    return hide


def test_there_are_enough_of_them():
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_equation_gives_what_onnx_publishes(case):
    _, attributes, inputs, wanted = case
    assert fits(wanted, equation(attributes, inputs), 1e-5, vacuous=True)


def test_onnxs_own_reference_is_healthy():
    def attention(queries, keys, values, mask=None, is_causal=False):
        if mask is not None:  # with the flag, too, it takes a mask with all of its queries only
            mask = np.broadcast_to(mask, (*mask.shape[:2], queries.shape[-2], keys.shape[-2]))
        return published._compute_attention(queries, keys, values, attn_mask=mask, is_causal=int(is_causal))[0]

    report = doctor.examine(attention)
    assert report.healthy, report
