"""Inputs of attention as Hypothesis draws them: small, of every shape, with masks that may hide whole rows."""

import hypothesis.strategies as st
import numpy as np

BATCHES = st.sampled_from([(), (2,), (2, 3)])
KINDS = ("none", "bool", "float")  # of masks
GENERATORS = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def different_sizes(count, largest=6):
    return st.lists(st.integers(1, largest), min_size=count, max_size=count, unique=True)


@st.composite
def masks(draw, shape, kinds=KINDS):
    """None, booleans or numbers to add, with all of the scores' axes or the last two; some rows see nothing."""
    kind = draw(st.sampled_from(kinds))
    random = draw(GENERATORS)
    if not draw(st.booleans()):
        shape = shape[-2:]
    shape = [draw(st.sampled_from([1, size])) for size in shape]
    visible = random.random(shape) < 0.6
    numbers = np.where(visible, random.normal(size=shape), -np.inf)
    return {"none": None, "bool": visible, "float": numbers}[kind]


@st.composite
def attention_inputs(draw, batches_differ=False):
    """Queries, keys and values, with all sizes different; where batches differ, one may lack an axis, or repeat it."""
    batch = draw(BATCHES)
    batches = st.sampled_from([batch, batch[1:], (1,) * len(batch)] if batches_differ else [batch])
    n_queries, n_keys, d_head, d_value = draw(different_sizes(4))
    normal = draw(GENERATORS).normal
    return {
        "queries": normal(size=(*draw(batches), n_queries, d_head)),
        "keys": normal(size=(*draw(batches), n_keys, d_head)),
        "values": normal(size=(*draw(batches), n_keys, d_value)),
    }


@st.composite
def masked_attention_inputs(draw, batches_differ=False, kinds=KINDS):
    inputs = draw(attention_inputs(batches_differ))
    queries, keys = inputs["queries"].shape, inputs["keys"].shape
    scores = (*np.broadcast_shapes(queries[:-2], keys[:-2]), queries[-2], keys[-2])
    return inputs | {"mask": draw(masks(scores, kinds))}


@st.composite
def self_attention_inputs(draw):
    """What `multi_head_attention` needs and no more: queries, keys and values come from X."""
    batch = draw(BATCHES)
    seq_len, n_heads, d_head, d_value = draw(different_sizes(4, largest=5))
    d_model, d_output = draw(different_sizes(2))
    normal = draw(GENERATORS).normal
    return {
        "X": normal(size=(*batch, seq_len, d_model)),
        "W_Q": normal(size=(d_model, n_heads * d_head)),
        "W_K": normal(size=(d_model, n_heads * d_head)),
        "W_V": normal(size=(d_model, n_heads * d_value)),
        "W_O": normal(size=(n_heads * d_value, d_output)),
        "n_heads": n_heads,
    }


@st.composite
def multi_head_inputs(draw):
    """Self- or cross-attention, with or without biases and masks."""
    inputs = draw(self_attention_inputs())
    normal = draw(GENERATORS).normal
    *batch, n_keys, _ = inputs["X"].shape
    if draw(st.booleans()):
        n_keys, d_context = draw(different_sizes(2))
        context_batch = draw(st.sampled_from([batch, ()]))
        inputs["context_X"] = normal(size=(*context_batch, n_keys, d_context))
        for name in ("W_K", "W_V"):
            inputs[name] = normal(size=(d_context, inputs[name].shape[1]))
    for letter in sorted(draw(st.sets(st.sampled_from("QKVO")))):
        inputs[f"b_{letter}"] = normal(size=inputs[f"W_{letter}"].shape[1])
    inputs["mask"] = draw(masks((*batch, inputs["n_heads"], inputs["X"].shape[-2], n_keys)))
    inputs["is_causal"] = draw(st.booleans())
    return inputs
