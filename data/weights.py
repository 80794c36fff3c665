"""Writing weights: what the models' `make.py` have in common."""

import hashlib
import json

import numpy as np

from mha_helpers.model.data import DTYPES


def write_safetensors(arrays):
    """Return the bytes of a safetensors file; the inverse of `read_safetensors`."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    # As the format asks: the widest types first, so that every array starts at a multiple of its type's size.
    arrays = dict(sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])))
    header, end = {}, 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": names[array.dtype], "shape": array.shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in arrays.values())


def describe(contents):
    return {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
