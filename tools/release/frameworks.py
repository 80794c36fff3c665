"""Ask the installed frameworks what they make of a mask: what True means, and what a row gets that sees nothing.

Usage: python -m tools.release.frameworks

Notebook 03's table says what the named versions answer. The frameworks are not among the course's
requirements; install those that you want to ask (torch, onnx, keras, jax) beside them. Keras is asked with
PyTorch under it, unless KERAS_BACKEND says otherwise.
"""

import importlib.metadata
import os

import numpy as np

N, WIDTH = 3, 4
SEES = np.array([[True, False, False], [False, False, False], [True, True, True]])  # row 1 sees nothing
QUERIES, KEYS, VALUES = np.random.default_rng(0).normal(size=(3, 1, 1, N, WIDTH)).astype(np.float32)


def torch_attention():
    import torch

    def attend(mask):
        tensors = map(torch.from_numpy, (QUERIES, KEYS, VALUES, mask))
        return torch.nn.functional.scaled_dot_product_attention(*tensors).numpy()[0, 0]

    return "scaled_dot_product_attention", attend


def torch_module():
    import torch

    def attend(mask):
        # With need_weights, the default. Projections are the identity, so that the output shows the values.
        module = torch.nn.MultiheadAttention(WIDTH, 1, bias=False, batch_first=True)
        with torch.no_grad():
            module.in_proj_weight.copy_(torch.eye(WIDTH).repeat(3, 1))
            module.out_proj.weight.copy_(torch.eye(WIDTH))
            tensors = (torch.from_numpy(array[0]) for array in (QUERIES, KEYS, VALUES))
            return module(*tensors, attn_mask=torch.from_numpy(mask))[0].numpy()[0]

    return "nn.MultiheadAttention", attend


def onnx_attention():
    import onnx
    from onnx.reference import ReferenceEvaluator

    def attend(mask):
        kinds = [onnx.TensorProto.FLOAT] * 3 + [onnx.TensorProto.BOOL]
        inputs = [
            onnx.helper.make_tensor_value_info(name, kind, None) for name, kind in zip("QKVM", kinds, strict=True)
        ]
        output = onnx.helper.make_tensor_value_info("Y", onnx.TensorProto.FLOAT, None)
        node = onnx.helper.make_node("Attention", [*"QKVM"], ["Y"])
        graph = onnx.helper.make_graph([node], "attention", inputs, [output])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)])
        [found] = ReferenceEvaluator(model).run(None, dict(zip("QKVM", (QUERIES, KEYS, VALUES, mask), strict=True)))
        return found[0, 0]

    return "Attention (opset 23), reference", attend


def keras_layer():
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    layer = keras.layers.MultiHeadAttention(1, WIDTH, use_bias=False)
    identity = np.eye(WIDTH, dtype=np.float32)

    def attend(mask):
        given = [array[0] for array in (QUERIES, VALUES, KEYS)]
        layer(*given, attention_mask=mask[None])  # builds the weights
        layer.set_weights([identity.reshape(weights.shape) for weights in layer.get_weights()])
        return keras.ops.convert_to_numpy(layer(*given, attention_mask=mask[None]))[0]

    return "MultiHeadAttention", attend


def jax_attention():
    import jax

    def attend(mask):
        # (batch, tokens, heads, width)
        tensors = (array.swapaxes(1, 2) for array in (QUERIES, KEYS, VALUES))
        return np.asarray(jax.nn.dot_product_attention(*tensors, mask=mask[None, None]))[0, :, 0]

    return "nn.dot_product_attention", attend


FRAMEWORKS = [
    ("torch", torch_attention),
    ("torch", torch_module),
    ("onnx", onnx_attention),
    ("keras", keras_layer),
    ("jax", jax_attention),
]


def meaning_of_true(attend):
    """A query that sees one key alone gets that key's value."""
    one = np.tile([True, False, False], (N, 1))
    if np.allclose(attend(one), VALUES[0, 0, 0], atol=1e-4):
        return "may attend"
    return "hidden" if np.allclose(attend(~one), VALUES[0, 0, 0], atol=1e-4) else "neither"


def empty_row(attend, true_means):
    """Say what the row that sees nothing gets."""
    found = attend(SEES if true_means == "may attend" else ~SEES)[1]
    if np.isnan(found).any():
        return "NaN"
    if not found.any():
        return "zeros"
    return "uniform" if np.allclose(found, VALUES[0, 0].mean(axis=0), atol=1e-4) else f"something else: {found}"


def main():
    for package, make in FRAMEWORKS:
        try:
            name, attend = make()
        except ImportError:
            print(f"{package}: not installed, not asked ({make.__name__})")
            continue
        true_means = meaning_of_true(attend)
        version = importlib.metadata.version(package)
        row = "not asked" if true_means == "neither" else empty_row(attend, true_means)
        print(f"{package} {version} {name}: True means {true_means}; a row that sees nothing: {row}")


if __name__ == "__main__":
    main()
