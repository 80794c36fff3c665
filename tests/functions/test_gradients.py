import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import GENERATORS, masked_attention_inputs

from mha_helpers.attention import scaled_dot_product_attention, softmax_jacobian
from mha_helpers.gradients import attention_gradients, sum_to
from mha_helpers.masks import causal_mask


def draw(*batches, n_queries=3, n_keys=5, d_head=4, d_value=2, seed=0):
    """Return queries, keys, values and the context's gradient, each with batch axes of its own."""
    rng = np.random.default_rng(seed)
    shapes = ((n_queries, d_head), (n_keys, d_head), (n_keys, d_value))
    arrays = [rng.normal(size=(*batch, *shape)) for batch, shape in zip(batches, shapes, strict=True)]
    whole = np.broadcast_shapes(*batches)
    return [*arrays, rng.normal(size=(*whole, n_queries, d_value))]


@given(masked_attention_inputs(batches_differ=True), st.booleans(), st.sampled_from([None, 0.3]), GENERATORS)
def test_gradients_are_those_of_central_differences(inputs, is_causal, scale, random):
    mask = inputs.pop("mask")

    def context(inputs):
        return oracle.attention(**inputs, mask=mask, is_causal=is_causal, scale=scale)[0]

    d_context = random.normal(size=context(inputs).shape)
    found = attention_gradients(**inputs, d_context=d_context, mask=mask, is_causal=is_causal, scale=scale)
    for (name, array), gradient in zip(inputs.items(), found, strict=True):
        assert gradient.shape == array.shape, name
        way = random.normal(size=array.shape)
        there, back = (context(inputs | {name: array + step * way}) for step in (1e-5, -1e-5))
        slope = ((there - back) * d_context).sum() / 2e-5
        assert (gradient * way).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6), name


def test_one_row_comes_back_through_the_softmax_jacobian():
    queries, keys, values, d_context = draw((), (), (), n_queries=1)
    _, weights = scaled_dot_product_attention(queries, keys, values)
    d_scores = softmax_jacobian(weights[0]) @ (values @ d_context[0])
    d_queries, d_keys, _ = attention_gradients(queries, keys, values, d_context)
    assert_allclose(d_queries[0], d_scores @ keys / 2)  # sqrt(4)
    assert_allclose(d_keys, np.outer(d_scores, queries[0]) / 2)


def test_gradients_are_those_of_torch():
    torch = pytest.importorskip("torch")
    *arrays, d_context = draw((2, 3), (2, 3), (2, 3), n_queries=5)
    tensors = [torch.from_numpy(array).requires_grad_() for array in arrays]
    context = torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True)
    context.backward(torch.from_numpy(d_context))
    for found, tensor in zip(attention_gradients(*arrays, d_context, is_causal=True), tensors, strict=True):
        assert_allclose(found, tensor.grad.numpy(), rtol=1e-10, atol=1e-12)


def test_nothing_comes_back_through_hidden_keys():
    *arrays, d_context = draw((), (), (), n_queries=5)
    _, d_keys, d_values = attention_gradients(*arrays, d_context, causal_mask(5) & (np.arange(5) != 3))
    assert not d_keys[3].any()
    assert not d_values[3].any()


def test_float32_stays_float32_and_nothing_is_changed():
    arrays = [array.astype(np.float32) for array in draw((2,), (2,), (2,))]
    copies = [array.copy() for array in arrays]
    assert {gradient.dtype for gradient in attention_gradients(*arrays)} == {np.dtype(np.float32)}
    for array, copy in zip(arrays, copies, strict=True):
        assert_allclose(array, copy, rtol=0)


def test_a_gradient_of_another_shape_is_refused():
    queries, keys, values, d_context = draw((), (), ())
    with pytest.raises(ValueError, match=r"^d_context has shape \(2, 2\), so n_queries=2, but queries"):
        attention_gradients(queries, keys, values, d_context[:2])


def test_sum_to_keeps_what_was_not_repeated():
    gradient = np.arange(24.0).reshape(2, 3, 4)
    assert_allclose(sum_to(gradient, (2, 3, 4)), gradient)
    assert_allclose(sum_to(gradient, (3, 1)), gradient.sum(axis=(0, 2))[:, None])
