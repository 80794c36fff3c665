"""The trained model's data: read, checked against its checksums, and turned back from 8 bits into float32.

The files stand in `data/all-MiniLM-L6-v2/`, where its `make.py` wrote them. Their format is
safetensors: the header's length in 8 bytes, the header (JSON: each array's type, shape and place), the numbers.
https://huggingface.co/docs/safetensors
"""

import hashlib
import json
import math

import numpy as np

from mha_helpers.course_data import data_path

FOLDER = "all-MiniLM-L6-v2"
WEIGHTS, TOKENIZER, ORIGIN = "model.safetensors", "tokenizer.json", "origin.json"
WORD_TABLE = "embeddings.word_embeddings.weight"
SCALES = ".scales"  # ends the name of the scales that belong to an array of 8-bit codes
DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "i1", "I64": "<i8"}


def read_safetensors(content):
    """Read the arrays of a safetensors file.

    Parameters
    ----------
    content : bytes
        The whole file.

    Returns
    -------
    dict of str to ndarray
        Read-only views of `content`, in the header's order.

    Examples
    --------
    >>> header = b'{"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    >>> read_safetensors(len(header).to_bytes(8, "little") + header + np.float32([1, 2]).tobytes())
    {'b': array([1., 2.], dtype=float32)}
    """
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        count, offset = math.prod(entry["shape"]), start + entry["data_offsets"][0]
        arrays[name] = np.frombuffer(content, DTYPES[entry["dtype"]], count, offset).reshape(entry["shape"])
    return arrays


def dequantise(codes, scales):
    """Turn 8-bit codes back into numbers: each block of a row has its own scale.

    Parameters
    ----------
    codes : ndarray of int8, shape (..., width)
    scales : ndarray of float16, shape (..., n_blocks)
        A block is width / n_blocks codes, side by side.

    Returns
    -------
    ndarray of float32, shape (..., width)

    Examples
    --------
    >>> dequantise(np.int8([[127, -127, 10, 20]]), np.float16([[0.5, 2]]))
    array([[ 63.5, -63.5,  20. ,  40. ]], dtype=float32)
    """
    blocks = codes.reshape(*scales.shape, -1)
    return (blocks * scales.astype(np.float32)[..., None]).reshape(codes.shape)


class CompactTable:
    """A table that stays in 8 bits, of which only the rows that are asked for become float32.

    For the model's 30522 words that saves 35 MB and the time to compute them.
    """

    def __init__(self, codes, scales):
        # Copies: views would keep the whole file in memory.
        self.codes, self.scales = codes.copy(), scales.copy()

    def __getitem__(self, rows):
        return dequantise(self.codes[rows], self.scales[rows])


def checked_content(name, folder=FOLDER):
    """Return the content of one of a model's files, if its checksum is right.

    Parameters
    ----------
    name : str
        The file's name, as it stands in `origin.json`.
    folder : str, optional
        The model's folder below `data/`.

    Raises
    ------
    ValueError
        If the file is missing, or is not the one whose checksum `origin.json` has.
    """
    path = data_path(f"{folder}/{name}")
    try:
        origin = json.loads(data_path(f"{folder}/{ORIGIN}").read_text(encoding="utf-8"))
        wanted = origin["built"][name]
    except (ValueError, LookupError, TypeError):
        raise ValueError(f"{folder}/{ORIGIN} is damaged or missing; {_what_to_do(folder)}") from None
    content = path.read_bytes()
    found = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    if found != wanted:
        raise ValueError(
            f"the data file {path} is damaged: it has {found['bytes']} bytes and SHA-256 {found['sha256'][:12]}..., "
            f"and should have {wanted['bytes']} bytes and SHA-256 {wanted['sha256'][:12]}...; {_what_to_do(folder)}"
        )
    return content


def _what_to_do(folder):
    return f"restore it with `git checkout -- data/{folder}` in the course's folder, or install mha_helpers again"


def load_tensors():
    """Read the model's arrays, in float32 and under the names that they have at their source.

    Returns
    -------
    dict of str to ndarray
        The words' table is a `CompactTable`; matrices have shape (n_outputs, n_inputs), as in PyTorch.

    Raises
    ------
    ValueError
        If a file is damaged or missing.
    """
    stored = read_safetensors(checked_content(WEIGHTS))
    tensors = {}
    for name, array in stored.items():
        if name.endswith(SCALES):
            continue
        scales = stored.get(name + SCALES)
        if name == WORD_TABLE:
            tensors[name] = CompactTable(array, scales)
        else:
            tensors[name] = array.astype(np.float32) if scales is None else dequantise(array, scales)
    return tensors


def load_tokenizer():
    """Make the model's tokenizer, with the `tokenizers` package, loaded only here; where it is missing, in Python.

    Returns
    -------
    tokenizers.Tokenizer or WordPiece

    Raises
    ------
    ValueError
        If the file is damaged or missing.
    """
    content = checked_content(TOKENIZER).decode("utf-8")
    try:
        from tokenizers import Tokenizer
    except ImportError:
        from mha_helpers.model.wordpiece import WordPiece

        return WordPiece(content)
    return Tokenizer.from_str(content)
