"""Modules over NumPy alone, right and wrong, each with what is said of it: quick to examine, and of every kind.

`ALL` holds (class, names, words of the report): no names are for a right one.
"""

from types import SimpleNamespace

import numpy as np

from mha_helpers.attention import combine_heads, softmax, softmax_or_zeros, split_heads

ALL = []


def said(*names, words=()):
    def register(kind):
        ALL.append((kind, list(names), (words,) if isinstance(words, str) else words))
        return kind

    return register


class Linear:
    def __init__(self, width, rows):
        rng = np.random.default_rng(0)
        self.weight, self.bias = rng.normal(size=(rows, width)), rng.normal(size=rows)

    def __call__(self, x):
        return x @ self.weight.T + self.bias


class Norm:
    def __init__(self, width):
        self.weight, self.bias = np.ones(width), np.zeros(width)

    def __call__(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * self.weight + self.bias


@said()
class Plain:
    """What the others change one method of."""

    n_kv_heads = n_heads = 3

    def __init__(self):
        rng, width, narrow = np.random.default_rng(0), 4 * self.n_heads, 4 * self.n_kv_heads
        self.w_q, self.w_o = rng.normal(size=(2, width, width))
        self.w_k, self.w_v = rng.normal(size=(2, width, narrow))

    def project(self, x):
        return x @ self.w_q, x @ self.w_k, x @ self.w_v

    def split(self, q, k, v):
        k, v = (np.repeat(split_heads(one, self.n_kv_heads), self.n_heads // self.n_kv_heads, 1) for one in (k, v))
        return split_heads(q, self.n_heads), k, v

    def score(self, q, k):
        return q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5

    def weigh(self, scores):
        return softmax(scores)

    def forward(self, x):
        q, k, v = self.split(*self.project(x))
        return combine_heads(self.weigh(self.score(q, k)) @ v) @ self.w_o


@said()
class OwnLinearLayers(Plain):
    """Linear layers of one's own, which store their matrices as they are applied, under another name."""

    def __init__(self):
        class Linear:
            def __init__(self, w):
                self.w = w

            def __call__(self, x):
                return x @ self.w

        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = map(Linear, (self.w_q, self.w_k, self.w_v, self.w_o))

    def project(self, x):
        return self.w_q(x), self.w_k(x), self.w_v(x)

    def forward(self, x):
        q, k, v = self.split(*self.project(x))
        return self.w_o(combine_heads(self.weigh(self.score(q, k)) @ v))


@said("mha-scale-d-model", words="/ √d_model")
class ScaledByTheWidth(Plain):
    def score(self, q, k):
        return q @ k.swapaxes(-1, -2) / len(self.w_q) ** 0.5


@said(words="1 head")
class OneHead(Plain):
    n_kv_heads = n_heads = 1


@said(words="3 heads")
class WithSettings(Plain):
    """Says how many heads it has in its settings alone."""

    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(n_heads=3)


@said()
class FourHeadsOfQueriesTwoOfKeys(Plain):
    n_heads, n_kv_heads = 4, 2


@said("kv-heads-tiled")
class Tiled(FourHeadsOfQueriesTwoOfKeys):
    def split(self, q, k, v):
        k, v = (np.tile(split_heads(one, 2), (1, 2, 1, 1)) for one in (k, v))
        return split_heads(q, 4), k, v


class Fused(Plain):
    def __init__(self):
        self.qkv, self.proj = Linear(12, 36), Linear(12, 12)

    def forward(self, x):
        q, k, v = self.cut(self.qkv(x))
        return self.proj(combine_heads(self.weigh(self.score(q, k)) @ v))


@said(words="one after another")
class CutIntoThirds(Fused):
    def cut(self, rows):
        return (split_heads(one, self.n_heads) for one in np.split(rows, 3, axis=-1))


@said(words="fewer heads of keys and values than of queries")
class CutIntoUnequalParts(Fused):
    n_heads = 4

    def __init__(self):
        self.qkv, self.proj, self.n_kv_heads = Linear(16, 16 + 2 * 8), Linear(16, 16), 2

    def cut(self, rows):
        return self.split(*np.split(rows, [16, 24], axis=-1))


@said(words="head")
class CutByHeads(Fused):
    def cut(self, rows):
        return rows.reshape(*rows.shape[:2], self.n_heads, 3, -1).transpose(3, 0, 2, 1, 4)


@said("mha-both-without-transpose")
class CutByAReshape(Plain):
    def forward(self, x):
        q, k, v = (one.reshape(len(x), self.n_heads, -1, 4) for one in self.project(x))
        return (self.weigh(self.score(q, k)) @ v).reshape(x.shape) @ self.w_o


@said()
class AMatrixForEachHead(Plain):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.w_q, self.w_k, self.w_v = rng.normal(size=(3, self.n_heads, 12, 4))
        self.w_o = rng.normal(size=(self.n_heads, 4, 12))

    def forward(self, x):
        q, k, v = (np.einsum("btm,hmd->bhtd", x, W) for W in (self.w_q, self.w_k, self.w_v))
        return np.einsum("bhtd,hdm->btm", self.weigh(self.score(q, k)) @ v, self.w_o)


@said(words="norm(X) W_Q")
class InputNormalisedAndAdded(Plain):
    def __init__(self):
        super().__init__()
        self.norm = Norm(12)

    def forward(self, x):
        return x + super().forward(self.norm(x))


@said(words="queries and keys are normalised")
class QueriesAndKeysNormalised(Plain):
    def __init__(self):
        super().__init__()
        self.q_norm, self.k_norm = Norm(4), Norm(4)

    def score(self, q, k):
        return super().score(self.q_norm(q), self.k_norm(k))


def turned(X, pairs):
    """Rotary positions; pairs says whether neighbours turn together, or halves."""
    angles = np.arange(X.shape[-2])[:, None] * 10000.0 ** (-np.arange(0, X.shape[-1], 2) / X.shape[-1])
    one, other = (X[..., ::2], X[..., 1::2]) if pairs else np.split(X, 2, axis=-1)
    both = one * np.cos(angles) - other * np.sin(angles), other * np.cos(angles) + one * np.sin(angles)
    return np.stack(both, -1).reshape(X.shape) if pairs else np.concatenate(both, -1)


@said(words="rotary, halves")
class RotaryByHalves(Plain):
    def score(self, q, k):
        return super().score(turned(q, False), turned(k, False))


@said(words="rotary, pairs")
class RotaryByPairs(Plain):
    def score(self, q, k):
        return super().score(turned(q, True), turned(k, True))


@said(words="rotary")
class PartlyRotary(Plain):
    def __init__(self):
        super().__init__()
        self.rotary_dim = 2

    def score(self, q, k):
        q, k = (np.concatenate([turned(one[..., :2], True), one[..., 2:]], -1) for one in (q, k))
        return super().score(q, k)


@said("rope-one-side")
class RotaryQueriesAlone(Plain):
    def score(self, q, k):
        return super().score(turned(q, False), k)


@said("rope-values-rotated")
class RotaryValuesToo(RotaryByHalves):
    def split(self, q, k, v):
        q, k, v = super().split(q, k, v)
        return q, k, turned(v, False)


@said(words="ALiBi")
class Alibi(Plain):
    n_kv_heads = n_heads = 6  # no power of two: the further slopes lie between

    def score(self, q, k):
        slopes = np.array([2.0**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3])[:, None, None]
        return super().score(q, k) - slopes * abs(np.subtract.outer(*[np.arange(q.shape[-2])] * 2))


@said(words="soft-capped at 2")
class SoftCapped(Plain):
    def __init__(self):
        super().__init__()
        self.softcap = 2.0

    def score(self, q, k):
        return self.softcap * np.tanh(super().score(q, k) / self.softcap)


@said(words="3 back and 0 ahead")
class Window(Plain):
    def weigh(self, scores):
        steps = np.subtract.outer(*[np.arange(scores.shape[-1])] * 2)
        return softmax(np.where((steps >= 0) & (steps <= 3), scores, -np.inf))


@said(words="causal in every call")
class Causal(Plain):
    def weigh(self, scores):
        return softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf))


@said("causal-off-by-one")
class SeesTheNextToken(Plain):
    def weigh(self, scores):
        return softmax(np.where(np.tri(*scores.shape[-2:], 1, dtype=bool), scores, -np.inf))


class Masked(Plain):
    def forward(self, x, mask=None):
        q, k, v = self.split(*self.project(x))
        scores = self.score(q, k)
        return combine_heads((self.weigh(scores) if mask is None else self.hide(scores, mask)) @ v) @ self.w_o


@said()
class HiddenByInfinity(Masked):
    def hide(self, scores, mask):
        return softmax_or_zeros(np.where(mask, scores, -np.inf))


@said()
class HiddenWhereTrue(Masked):
    """mask: True where a key is hidden."""

    def hide(self, scores, mask):
        return softmax_or_zeros(np.where(mask, -np.inf, scores))


@said("mask-tiny-number")
class HiddenByTen(Masked):
    def hide(self, scores, mask):
        return softmax(np.where(mask, scores, -10.0))


@said("mask-after-softmax")
class HiddenTooLate(Masked):
    def hide(self, scores, mask):
        return softmax(scores) * mask


@said("mask-full-row-nan", words="a query that may see nothing")
class NothingLeft(Masked):
    def hide(self, scores, mask):
        exponentials = np.exp(np.where(mask, scores - scores.max(-1, keepdims=True), -np.inf))
        return exponentials / exponentials.sum(-1, keepdims=True)


@said()
class Padding(Plain):
    def forward(self, x, key_padding_mask=None):
        q, k, v = self.split(*self.project(x))
        scores = self.score(q, k)
        if key_padding_mask is not None:
            scores = np.where(key_padding_mask[:, None, None], -1e30, scores)
        return combine_heads(self.weigh(scores) @ v) @ self.w_o


@said("padding-on-queries")
class PaddingOnQueries(Plain):
    def forward(self, x, padding_mask=None):
        q, k, v = self.split(*self.project(x))
        scores = self.score(q, k)
        if padding_mask is not None:
            scores = np.where(padding_mask[:, None, :, None], scores, -1e30)
        return combine_heads(self.weigh(scores) @ v) @ self.w_o


@said()
class Lengths(Plain):
    def forward(self, x, valid_lens=None):
        q, k, v = self.split(*self.project(x))
        scores = self.score(q, k)
        if valid_lens is not None:
            scores = np.where(np.arange(x.shape[1]) < valid_lens[:, None, None, None], scores, -1e30)
        return combine_heads(self.weigh(scores) @ v) @ self.w_o


class Flagged(Plain):
    offset = 0

    def forward(self, x, is_causal=False):
        q, k, v = self.split(*self.project(x))
        scores = self.score(q, k)
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:], self.offset, dtype=bool), scores, -1e30)
        return combine_heads(self.weigh(scores) @ v) @ self.w_o


@said()
class CausalIfAsked(Flagged):
    pass


@said("causal-strict")
class NobodySeesItself(Flagged):
    offset = -1


@said()
class Cross(Plain):
    def forward(self, x, context=None):
        context = x if context is None else context
        q, k, v = self.split(x @ self.w_q, context @ self.w_k, context @ self.w_v)
        return combine_heads(self.weigh(self.score(q, k)) @ v) @ self.w_o


@said("cross-sources-swapped")
class SourcesSwapped(Plain):
    def forward(self, x, context):
        q, k, v = self.split(context @ self.w_q, x @ self.w_k, x @ self.w_v)
        return combine_heads(self.weigh(self.score(q, k)) @ v) @ self.w_o


class Cached(Plain):
    def forward(self, x, past=None):
        q, k, v = self.split(*self.project(x))
        if past is not None:
            k, v = (np.concatenate(both, axis=-2) for both in zip(past, (k, v), strict=True))
        scores = self.score(q, k)
        scores = np.where(np.tri(*scores.shape[-2:], self.offset(scores), dtype=bool), scores, -np.inf)
        return combine_heads(self.weigh(scores) @ v) @ self.w_o, (k, v)


@said()
class WithACache(Cached):
    def offset(self, scores):
        return scores.shape[-1] - scores.shape[-2]


@said("cache-differs", words="upper left corner")
class CornerOfTheMask(Cached):
    def offset(self, scores):
        return 0


@said("mha-no-output-projection")
class NoOutputProjection(Plain):
    def __init__(self):
        super().__init__()
        del self.w_o

    def forward(self, x):
        q, k, v = self.split(*self.project(x))
        return combine_heads(self.weigh(self.score(q, k)) @ v)


@said()
class TokensFirst(Plain):
    """(tokens, batch, features)"""

    batch_first = False

    def __init__(self):
        super().__init__()
        self.batch_first = False

    def forward(self, x):
        return super().forward(x.swapaxes(0, 1)).swapaxes(0, 1)


@said(words="could not be read as those of attention")
class WithMore(Plain):
    """Something beside the four matrices has a say, perhaps by design."""

    def __init__(self):
        super().__init__()
        self.mixing = np.random.default_rng(0).normal(size=(5, 3))

    def weigh(self, scores):
        return softmax(scores - scores.mean(-2, keepdims=True) * self.mixing.mean())


@said(None, words="no mistake or pair of mistakes that the doctor knows")
class WithoutAName(Plain):
    def weigh(self, scores):
        return softmax(scores - scores.mean(-2, keepdims=True))
