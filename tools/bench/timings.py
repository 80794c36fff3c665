"""What a learner waits for, timed by pytest-benchmark: each group has something to compare the rest with.

With OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 both sides have one thread, as a learner on a busy hub has.
"""

import itertools
import subprocess
import sys
from collections import deque

import numpy as np
import pytest

from mha_helpers import attention, decoder, doctor, exercises
from mha_helpers.blockwise import blockwise_attention
from tools.bench import beside_torch
from tools.writing.notebooks import NOTEBOOKS

IMPORTS = [
    "pass",  # what the interpreter itself takes
    "import numpy",
    "import mha_helpers",
    "from mha_helpers import attention, masks, exercises",
    "from mha_helpers import attention, masks, exercises, figures, labs",
]
N_HEADS, D_HEAD = 8, 64
PROMPT, N_WRITTEN = "ROMEO:\n", 240
CHECKED = [name for name in exercises.__all__ if hasattr(getattr(exercises, name), "check")]  # no prediction has one


@pytest.mark.benchmark(group="imports, in fresh interpreters")
@pytest.mark.parametrize("statement", IMPORTS)
def bench_imports(benchmark, statement):
    command = [sys.executable, "-c", statement]
    # The first of each may have to compile.
    benchmark.pedantic(subprocess.run, (command,), {"cwd": NOTEBOOKS.parent, "check": True}, rounds=15, warmup_rounds=1)


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.parametrize("status", ["not attempted", "correct", "wrong"])
def bench_checks(benchmark, status, name):
    """Each function once, as a check that is repeated knows its answer."""
    exercise = getattr(exercises, name)
    functions = {
        "not attempted": [lambda *arguments: ...],
        "correct": [exercise.reference],
        "wrong": [function for mistake in exercise.mistakes for function in mistake.implementations],
    }[status]
    left = iter(functions)
    benchmark.group = f"a check, {status}"
    result = benchmark.pedantic(exercise.check, setup=lambda: ((next(left),), {}), rounds=len(functions))
    assert result.status == status


@pytest.mark.benchmark(group="multi-head attention, 128 tokens of width 512")
@pytest.mark.parametrize("n_heads", [1, 8, 64])
def bench_heads(benchmark, n_heads):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(128, 512)), rng.normal(scale=512**-0.5, size=(4, 512, 512))
    benchmark(attention.multi_head_attention, X, *weights, n_heads)


@pytest.mark.parametrize("kind", ["at once", "in blocks", "torch, eager", "torch, its fused kernel"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("n", [512, 2048])
def bench_attention(benchmark, n, is_causal, kind):
    arrays = np.random.default_rng(0).normal(size=(3, 1, N_HEADS, n, D_HEAD)).astype(np.float32)
    if kind.startswith("torch"):
        torch = pytest.importorskip("torch")
        arrays = [torch.from_numpy(array) for array in arrays]
    function = {
        "at once": lambda: attention.scaled_dot_product_attention,
        "in blocks": lambda: blockwise_attention,
        "torch, eager": lambda: beside_torch.torch_eager,
        "torch, its fused kernel": lambda: torch.nn.functional.scaled_dot_product_attention,
    }[kind]()
    benchmark.group = f"attention, {N_HEADS} heads of {n} x {D_HEAD} in float32{', causal' if is_causal else ''}"
    benchmark.pedantic(function, tuple(arrays), {"is_causal": is_causal}, rounds=9, warmup_rounds=1)


@pytest.mark.benchmark(group=f"writing {N_WRITTEN} characters with a cache")
@pytest.mark.parametrize("by", ["the course", "torch, eager"])
def bench_writing(benchmark, by):
    model = decoder.load()
    if by == "the course":

        def write():
            return deque(itertools.islice(model.stream(PROMPT), N_WRITTEN), maxlen=0)

    else:
        torch = pytest.importorskip("torch")
        from data.writer.make import load_module

        module, codes = load_module(), model.codes(PROMPT).tolist()

        @torch.inference_mode()
        def write():
            return deque(itertools.islice(beside_torch.torch_stream(module, codes), N_WRITTEN), maxlen=0)

    benchmark.pedantic(write, rounds=7, warmup_rounds=1)


@pytest.mark.benchmark(group="the next character, by how many are in the cache: it makes all the same")
@pytest.mark.parametrize("n", [16, 64, 128, 248])
def bench_next_character(benchmark, n):
    model = decoder.load()
    streams = [model.stream(PROMPT) for _ in range(7)]
    for stream in streams:
        deque(itertools.islice(stream, n - len(PROMPT)), maxlen=0)
    in_turns = itertools.cycle(streams)
    # A few characters of each, as the context ends at 256.
    benchmark.pedantic(next, setup=lambda: ((next(in_turns),), {}), rounds=8 * len(streams))


@pytest.mark.benchmark(group="the examination of a faulty PyTorch module")
@pytest.mark.parametrize("has_a_name", [True, False])
@pytest.mark.parametrize(("width", "n_heads"), [(64, 4), (768, 12)])
def bench_examination(benchmark, width, n_heads, has_a_name):
    """A mistake without a name lets the doctor search to the end."""
    pytest.importorskip("torch")
    module = beside_torch.faulty_module(width, n_heads, has_a_name=has_a_name)
    report = benchmark.pedantic(doctor.examine, (module,), rounds=1)
    assert report.healthy is False
