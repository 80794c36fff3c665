"""Multi-head latent attention (MLA, DeepSeek-V2): keys and values come from one narrow vector a token.

Its queries and keys are put together: a part of each head has no position, and a further part, of which the keys have
one for all heads, is rotated. What comes of its parameters takes the place of X W_Q, X W_K and X W_V.
Source: DeepSeek-AI (2024), DeepSeek-V2, section 2.1, https://arxiv.org/abs/2405.04434
"""

import functools
import re

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.stages import RIGHT, DoesNotFitError, Form, cut
from attention_doctor.readers import norms_and_residuals, positions

KEYS_AND_VALUES = {  # how a matrix that makes both holds them; the first is DeepSeek's
    "keys and values of each head together": lambda up, n_heads, width: _each(cut(up, n_heads), width),
    "all keys, then all values": lambda up, n_heads, width: [cut(part, n_heads) for part in np.split(up, 2, axis=-1)],
}
MAX_READINGS = 24  # ways to read the parameters
EPSILON = 1e-6  # of a norm that doesn't tell its own


def _each(heads, width):
    return heads[..., :width], heads[..., width:]


def pieces_of(units):
    """Return the matrices of latent attention by what they are for, or None where it is none."""
    pieces = {}
    for unit in units:
        role = _role_of(unit.paths[0])
        if role and len(unit.paths) == 1 and len(unit.shape) == 2:
            pieces.setdefault(role, unit)
    if "q up" not in pieces and {"q down", "q"} <= pieces.keys():  # what follows the narrow vector is a plain `q_proj`
        pieces["q up"] = pieces.pop("q")
    return pieces if _makes_keys_and_values(pieces) and _makes_queries(pieces) else None


def _role_of(path):
    """What a matrix is for, by the last part of its path that is no framework's own name."""
    owner = re.sub(r"\.?(weight|kernel|w)$", "", path)
    plain = re.sub(r"[^a-z]", "", owner.rpartition(".")[2].lower())
    return next((role for role, pattern in vocabulary.LATENT_PROJECTIONS.items() if re.search(pattern, plain)), None)


def _makes_keys_and_values(pieces):
    return "kv down" in pieces and ("kv up" in pieces or {"k up", "v up"} <= pieces.keys())


def _makes_queries(pieces):
    return "q" in pieces or {"q down", "q up"} <= pieces.keys()


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
    """Norms whose weights are the module's own, without a module for them.

    They are taken for RMS norms, as those of DeepSeek's own code are.
    """
    for item in subject.parameters:
        if item.kind != "norm" and item.value.ndim == 1 and "norm" in item.path.lower():
            yield norms_and_residuals.Norm(item.path, item.value.astype(float), 0.0, EPSILON, True)


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
        """Through the norm of the narrow vector of queries, or of keys and values, if there is one of this width.

        DeepSeek's are `q_a_layernorm` and `kv_a_layernorm`: the letters tell them apart where the widths are the same.
        """
        fitting = [norm for norm in self.norms if norm.width == X.shape[-1] and letter in norm.path.lower()]
        return fitting[0](X) if fitting else X


def _project(reading, order, turn, base, case):
    """From X and the context to queries, keys and values in heads."""
    latent, turned_keys = _narrow_vectors(reading, case)
    asks = case.X
    if reading.has("q down"):
        asks = reading.normed("q", reading.through("q down", case.X))
    queries, turned_queries = _queries(reading, case, asks, turned_keys.shape[-1])
    if reading.has("kv up"):
        keys, values = KEYS_AND_VALUES[order](reading.through("kv up", latent), case.n_heads, queries.shape[-1])
    else:
        keys, values = (cut(reading.through(role, latent), case.n_heads) for role in ("k up", "v up"))
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


def _narrow_vectors(reading, case):
    """Return the vector that keys and values are made of, and the part of the keys that will be rotated.

    DeepSeek's code makes both with one matrix; the paper has one of its own for the second, W^KR, of the tokens.
    """
    narrow = reading.n_inputs("kv up", "k up")
    down = reading.through("kv down", case.context)
    latent, turned_keys = reading.normed("kv", down[..., :narrow]), down[..., narrow:]
    if reading.has("k turned"):
        source = case.context if reading.n_inputs("k turned") == reading.d_model else latent
        turned_keys = reading.through("k turned", source)
    return latent, turned_keys


def _queries(reading, case, asks, n_turned):
    """Return queries in heads, and the part of them that will be rotated: of a matrix of its own, or the last ones."""
    queries = cut(reading.through("q up" if reading.has("q up") else "q", asks), case.n_heads)
    if reading.has("q turned"):
        source = asks if reading.n_inputs("q turned") == asks.shape[-1] else case.X
        return queries, cut(reading.through("q turned", source), case.n_heads)
    still = queries.shape[-1] - n_turned
    return queries[..., :still], queries[..., still:]


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
