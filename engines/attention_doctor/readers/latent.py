"""Multi-head latent attention (MLA, DeepSeek-V2): keys and values come from one narrow vector a token.

Its queries and keys are put together: a part of each head has no position, and a further part, of which the keys have
one for all heads, is rotated. What comes of its parameters takes the place of X W_Q, X W_K and X W_V.
Source: DeepSeek-AI (2024), DeepSeek-V2, section 2.1, https://arxiv.org/abs/2405.04434
"""

import functools
import re

import numpy as np

from attention_doctor.equation.stages import RIGHT, DoesNotFitError, Form, cut
from attention_doctor.readers import norms_and_residuals, positions

# What the parameters are called, in lower case, letters alone; "down" makes the narrow vector, "up" heads of it.
NAMES = {
    "kv down": r"kva|kvdown|dkv|downkv|compresskv|kvcompress|kvlatent|latentkv",
    "kv up": r"kvb|kvup|ukv|upkv|decompresskv|kvdecompress|kvproj",
    "k up": r"uk$|kup|upk|kb$",
    "v up": r"uv$|vup|upv|vb$",
    "q down": r"qa|qdown|dq$|downq|compressq|qcompress|qlatent|latentq",
    "q up": r"qb|qup|uq$|upq|decompressq|qdecompress",
    "q turned": r"qr$|qrope|ropeq|qpe",
    "k turned": r"kr$|krope|ropek|kpe",
    "q": r"^w?q(uery)?(proj)?$|^toq$",
}
DOWN, UP = ("kv down", "q down"), ("kv up", "k up", "v up", "q up")
KEYS_AND_VALUES = {
    "keys and values of each head together": lambda up, n_heads, width: _each(cut(up, n_heads), width),
    "all keys, then all values": lambda up, n_heads, width: [cut(part, n_heads) for part in np.split(up, 2, axis=-1)],
}
MAX_READINGS, EPSILON = 24, 1e-6  # ways to read them, and that of a norm that doesn't tell its own


def _each(heads, width):
    return heads[..., :width], heads[..., width:]


def pieces_of(units):
    """Return the matrices of latent attention by what they are for, or None where it is none."""
    found = {}
    for unit in units:
        owner = re.sub(r"\.?(weight|kernel|w)$", "", unit.paths[0])
        plain = re.sub(r"[^a-z]", "", owner.rpartition(".")[2].lower())
        role = next((role for role, pattern in NAMES.items() if re.search(pattern, plain)), None)
        if role and role not in found and len(unit.paths) == 1 and len(unit.shape) == 2:
            found[role] = unit
    is_latent = "kv down" in found and ("kv up" in found or {"k up", "v up"} <= found.keys())
    if "q up" not in found and "q down" in found and "q" in found:
        found["q up"] = found.pop("q")
    return found if is_latent and ("q" in found or {"q down", "q up"} <= found.keys()) else None


def projections(subject):
    """Return every form of the step `project` that a latent attention may have."""
    pieces, norms = subject.latent, [*norms_and_residuals.norms_of(subject), *_vectors(subject)]
    bases = positions.bases(subject)
    forms = []
    for order in KEYS_AND_VALUES if "kv up" in pieces else ("",):
        for words, turn in (("pairs", positions.rotate_pairs), ("halves", positions.rotate_halves)):
            for base in bases:
                run = functools.partial(_project, _Reading(subject, pieces, norms), order, turn, base)
                text = f"latent attention (MLA): {order and f'{order}, '}rotary {words}"
                forms.append(Form("", "project", lambda case, _, run=run: run(case), text))
    return forms[:MAX_READINGS]


def _vectors(subject):
    """Norms whose weights are the module's own, without a module for them: RMS norms, as those of DeepSeek are."""
    for match in subject.parameters:
        if match.kind != "norm" and match.value.ndim == 1 and "norm" in match.path.lower():
            yield norms_and_residuals.Norm(match.path, match.value.astype(float), 0.0, EPSILON, True)


class _Reading:
    """The matrices and norms of one module, with the numbers that it has now."""

    def __init__(self, subject, pieces, norms):
        self.values, self.pieces, self.norms, self.d_model = subject.values, pieces, norms, subject.d_model

    def has(self, role):
        return role in self.pieces

    def through(self, role, X):
        unit = self.pieces[role]
        matrix = unit.matrix(self.values, unit.orientation or "outputs by inputs")
        if matrix.shape[0] != X.shape[-1]:
            raise DoesNotFitError
        bias = unit.bias(self.values)
        return X @ matrix + (0 if bias is None else bias)

    def n_inputs(self, *roles):
        role = next(filter(self.has, roles))
        unit = self.pieces[role]
        return unit.matrix(self.values, unit.orientation or "outputs by inputs").shape[0]

    def normed(self, letter, X):
        """Through the norm of the narrow vector of queries, or of keys and values, if there is one of this width."""
        fitting = [norm for norm in self.norms if norm.width == X.shape[-1] and letter in norm.path.lower()]
        return fitting[0](X) if fitting else X


def _project(reading, order, turn, base, case):
    """From X and the context to queries, keys and values in heads."""
    n_heads, narrow = case.n_heads, reading.n_inputs("kv up", "k up")
    down = reading.through("kv down", case.context)
    latent, turned_keys = reading.normed("kv", down[..., :narrow]), down[..., narrow:]
    if reading.has("k turned"):
        source = case.context if reading.n_inputs("k turned") == reading.d_model else latent
        turned_keys = reading.through("k turned", source)
    asks = case.X
    if reading.has("q down"):
        asks = reading.normed("q", reading.through("q down", case.X))
    queries = cut(reading.through("q up" if reading.has("q up") else "q", asks), n_heads)
    if reading.has("q turned"):
        source = asks if reading.n_inputs("q turned") == asks.shape[-1] else case.X
        turned_queries = cut(reading.through("q turned", source), n_heads)
    else:
        still = queries.shape[-1] - turned_keys.shape[-1]
        queries, turned_queries = queries[..., :still], queries[..., still:]
    if reading.has("kv up"):
        keys, values = KEYS_AND_VALUES[order](reading.through("kv up", latent), n_heads, queries.shape[-1])
    else:
        keys, values = (cut(reading.through(role, latent), n_heads) for role in ("k up", "v up"))
    turned_keys = turned_keys[..., None, :, :]  # one for all heads
    if turned_keys.shape[-1] % 2 or keys.shape[-1] != queries.shape[-1]:
        raise DoesNotFitError
    if turned_keys.shape[-1]:
        turned_queries, turned_keys = turn(turned_queries, base), turn(turned_keys, base)
    turned_keys = np.broadcast_to(turned_keys, (*keys.shape[:-1], turned_keys.shape[-1]))
    return (
        np.concatenate([queries, turned_queries], axis=-1),
        np.concatenate([keys, turned_keys], axis=-1),
        values,
    )


def output_of(units, pieces):
    """Return the matrix after the heads: what is none of the others, and is called so if any is."""
    others = [unit for unit in units if unit not in pieces.values()]
    named = [unit for unit in others if unit.role == "O"]
    return next(iter(named or others), None)


def designs(subject):
    """Return what counts as right in each step."""
    return {
        "project": projections(subject),
        "place": [RIGHT["place"]],
        "scale": [RIGHT["scale"]],
        "add": [RIGHT["add"], norms_and_residuals.RESIDUAL],
    }
