"""The corpus is what it says: right entries equal the loop oracle, faulty ones differ where they say so."""

import importlib.util
import inspect
from functools import cache

import numpy as np
import oracle
import pytest
from corpus import FAULTS, RIGHT, torch_cases
from corpus.case import Input, varied

if importlib.util.find_spec("torch"):
    FAULTS, RIGHT = (functions + modules for functions, modules in zip((FAULTS, RIGHT), torch_cases(), strict=True))

pytestmark = pytest.mark.slow

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2}
CHANGES = [
    {},
    {"batch": 1},
    {"tokens": 1},
    {"n_heads": 1},
    {"n_heads": 2, "batch": 4},
    {"tokens": 9, "d_head": 3},
    {"size": 20.0},
]


def answers(case, given):
    """What the case gives on its last call, and what the oracle gives."""
    return answers_of_function(case.make(), given) if case.layout is None else answers_of_module(case, given)


def answers_of_module(case, given):
    """The module is examined in double precision; `is_causal` is no argument of it, but what it always does."""
    layout, module = case.layout, case.make(given.d_model, given.n_heads).double()
    for call in reversed(range(given.calls)):
        X, mask = given.arrays(call)[0], given.mask_array(call)
        if given.first_part:
            first, past = layout.call(module, X[:, : given.first_part], past=None)
            second, _ = layout.call(module, X[:, given.first_part :], past=past)
            output = np.concatenate([first, second], axis=1)
        else:
            output = layout.call(module, X, mask)
    return output, oracle.multi_head_attention(
        X, n_heads=given.n_heads, mask=mask, is_causal=layout.is_causal, **layout.weights(module, given.n_heads)
    )[0]


def answers_of_function(function, given):
    """The function takes X, four matrices and the number of heads; or queries, keys and values."""
    parameters = inspect.signature(function).parameters
    takes_matrices = sum(parameter.default is parameter.empty for parameter in parameters.values()) > 3
    for call in reversed(range(given.calls)):
        arguments = arrays_for(given, takes_matrices, call)
        mask = given.mask_array(call)
        values = {"n_kv_heads": given.n_kv_heads, "mask": mask, "causal": given.is_causal}
        options = {}
        for name in parameters:
            for word, value in values.items():  # "use_causal_mask" has two of the words in it, and is the flag
                options |= {name: value} if word in name else {}
        for _ in range(1 + given.again):
            output = function(*arguments, *([given.n_heads] if takes_matrices else []), **options)
    return output[0] if isinstance(output, tuple) else output, expected_of_function(given, takes_matrices)


def arrays_for(given, takes_matrices, call=0):
    arrays = given.arrays(call) if takes_matrices else given.tensors(call)
    if given.n_kv_heads:
        arrays[2:4] = [matrix[:, : given.n_kv_heads * given.d_head] for matrix in arrays[2:4]]
    return arrays


@cache
def expected_of_function(given, takes_matrices):
    """What the oracle gives: it is slow, and the same for every function."""
    arrays, mask = [array.astype("float64") for array in arrays_for(given, takes_matrices)], given.mask_array()
    if not takes_matrices:
        return oracle.attention(*arrays, mask, is_causal=given.is_causal)[0]
    if given.n_kv_heads:  # a group of query heads shares one head of keys and values: it is repeated for each of them
        heads = np.arange(given.n_heads) * given.n_kv_heads // given.n_heads
        arrays[2:4] = [
            matrix.reshape(-1, given.n_kv_heads, given.d_head)[:, heads].reshape(given.d_model, -1)
            for matrix in arrays[2:4]
        ]
    return oracle.multi_head_attention(*arrays, given.n_heads, mask, is_causal=given.is_causal)[0]


def equal(case, given):
    with np.errstate(all="ignore"):
        output, expected = answers(case, given)
    assert np.shape(output) == np.shape(expected)
    tolerance = TOLERANCES[given.dtype]
    return np.allclose(output, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.name)
def test_a_fault_shows_where_it_says_and_hides_where_it_says(case):
    assert not equal(case, case.shows), f"{case.shows} does not show it"
    assert case.hides is None or equal(case, case.hides), f"{case.hides} does not hide it"


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_right_one_equals_the_oracle_with_every_mask_that_it_takes(case):
    takes_groups = case.layout is None and "n_kv_heads" in inspect.signature(case.make()).parameters
    for mask in (None, *case.takes):
        plain = Input(n_heads=4, is_causal=True) if mask == "is_causal" else Input(n_heads=4, mask=mask)
        for change in CHANGES:
            given = varied(plain, **change)
            given = varied(given, n_heads=4, n_kv_heads=2) if takes_groups else given
            assert equal(case, given), given


def test_there_are_many_from_many_places():
    assert len(FAULTS) >= 40
    assert len({case.repository for case in FAULTS}) >= 30
    assert len(RIGHT) >= 20
    assert sum(case.reported for case in RIGHT) >= 9
    assert sum(case.expected is not None and len(case.expected) > 1 for case in FAULTS) >= 5


def test_every_entry_has_its_own_name_and_link():
    cases = [*FAULTS, *RIGHT]
    for values in ([case.name for case in cases], [case.link for case in cases]):
        assert len(set(values)) == len(values), sorted(value for value in values if values.count(value) > 1)
    assert all(case.said.endswith(".") for case in cases)


def test_a_verdict_on_names_needs_every_fault_and_allows_no_other():
    case = next(case for case in FAULTS if case.name == "unscaled-and-unprojected")
    assert case.names(["scale-missing", "mha-no-output-projection"]) == "full"
    assert case.names(["scale-missing"]) == "part"
    assert case.names([]) == "none"
    assert case.names(["scale-missing", "causal-strict"]) == "wrong"
