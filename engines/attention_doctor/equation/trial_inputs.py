"""What to try: inputs on which mistakes show, each with its reason."""

import functools
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Question:
    """One call.

    Parameters
    ----------
    trait : str
        What is particular about it.
    batch, n_queries : int
    n_heads, d_head : int
        For a function; a module has its own.
    n_keys : int, optional
        By default as many as queries; otherwise keys come from another sequence.
    mask : {"padding", "left padding", "shared", "pairs", "heads", "empty padding", "empty row"}, optional
    second_mask : str, optional
        The kind of a further mask, which another argument gets in the same call.
    is_causal : bool, optional
    spread : float, optional
        What the token vectors are multiplied by; scores grow with its square.
    precision : {"float16", "bfloat16"}, optional
    three : bool, optional
        Whether queries, keys and values come from three different sequences.
    start : int, optional
        How many tokens are in a cache already.
    alike : bool, optional
        Whether all tokens of a sequence are the same one: then it makes no difference how they are weighed. Only
        modules can be asked so.
    negative : bool, optional
        Whether all scores are far below 0: about -1e3. Only functions can be asked so.
    """

    trait: str
    batch: int = 2
    n_queries: int = 5
    n_heads: int = 3
    d_head: int = 4
    n_keys: int | None = None
    mask: str | None = None
    second_mask: str | None = None
    is_causal: bool = False
    spread: float = 1.0
    precision: str | None = None
    three: bool = False
    negative: bool = False
    start: int = 0
    alike: bool = False
    seed: int = 0

    def but(self, trait, **changes):
        return replace(self, trait=trait, **changes)

    @property
    def keys(self):
        return self.n_queries if self.n_keys is None else self.n_keys

    @property
    def is_cross(self):
        return self.n_keys is not None or self.three

    def draws(self, name, *shape):
        """Seeded numbers, other ones for every name."""
        return _draws(self.seed, name, shape)


@functools.lru_cache(maxsize=400)
def _draws(seed, name, shape):
    numbers = np.random.default_rng([seed, *name.encode()]).normal(size=shape)
    numbers.flags.writeable = False
    return numbers


MAIN = Question("a batch")
# Sizes that coincide in one question differ in another: a mistake that hides here shows there.
PLAIN = (
    MAIN,
    Question("as many tokens as features in a head", 3, 4, 2, 4, seed=1),
    Question("one sequence", 1, 6, 4, 3, seed=2),
    Question("heads that divide the batch", 4, 3, 2, 5, seed=3),
    Question("one head", 3, 7, 1, 6, seed=4),
    Question("as many heads as features in each", 2, 6, 3, 3, seed=9),
    Question("one token", 2, 1, 3, 4, seed=5),
    Question("80 tokens", 1, 80, 2, 8, seed=6),
    Question("150 tokens", 1, 150, 2, 4, seed=10),  # more than a block of a kernel, and no multiple of one
)
CROSS = (
    # With as many keys as queries, exchanged sources keep every shape.
    Question("as many keys from another sequence", 2, 5, 3, 4, n_keys=5, seed=11),
    Question("more keys than queries", 2, 4, 3, 4, n_keys=7, seed=7),
    Question("fewer keys than queries", 3, 6, 2, 4, n_keys=4, seed=8),
)


def allowed(question, n_heads):
    """The mask of a question: True where a query may attend to a key.

    Returns
    -------
    ndarray of bool, shape (batch or 1, n_heads or 1, n_queries or 1, n_keys)
        With length 1 where it is the same for all; None without a mask.
    """
    if question.mask is None:
        return None
    batch, n_queries, n_keys = question.batch, question.n_queries, question.keys
    rng = np.random.default_rng([question.seed, 99])
    if question.mask.endswith("padding"):
        # Samples of different lengths: the second is whole, so that the first one's mask is not no mask.
        lengths = [max(1, n_keys - 2), n_keys, *(max(1, n_keys - 3 - i) for i in range(batch - 2))][:batch]
        if question.mask == "empty padding":
            lengths[-1] = 0
        shown = np.arange(n_keys) < np.array(lengths)[:, None]
        return (shown[:, ::-1] if question.mask == "left padding" else shown)[:, None, None]
    shape = {
        "shared": (1, 1, n_queries, n_keys),
        "pairs": (batch, 1, n_queries, n_keys),
        "heads": (batch, n_heads, n_queries, n_keys),
        "empty row": (batch, 1, n_queries, n_keys),
    }[question.mask]
    mask = rng.random(shape) < 0.55
    # Every query sees a key, every key is seen, and nobody sees all.
    for i in range(n_queries):
        mask[..., i, (i * 2 + 1) % n_keys] = True
        mask[..., i, (i * 3) % n_keys] = False if n_keys > 2 else mask[..., i, (i * 3) % n_keys]
        mask[..., i, (i * 2 + 1) % n_keys] = True
    if question.mask == "empty row":
        mask[-1, :, 1] = False
    return mask


def second_allowed(question, n_heads):
    """The further mask of a question, another one than the first even where both are of one kind; None without one."""
    if question.second_mask is None:
        return None
    return allowed(replace(question, mask=question.second_mask), n_heads)[::-1, :, ::-1]
