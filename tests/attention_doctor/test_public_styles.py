"""Ways in which public code differs from a textbook's: what it is handed, what it normalises, what it keeps."""

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from mha_helpers import doctor  # noqa: E402


def rotated(X, cos, sin):
    """By halves; X has the shape (batch, heads, tokens, d_head)."""
    one, other = X.chunk(2, dim=-1)
    return X * cos + torch.cat([-other, one], dim=-1) * sin


class Grouped(nn.Module):
    """Four heads of queries, two of keys and values."""

    def __init__(self, width=64, n_heads=4, kv_heads=2):
        super().__init__()
        self.n_heads, self.kv_heads, self.head_dim = n_heads, kv_heads, width // n_heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def heads(self, x):
        projected = ((self.q_proj, self.n_heads), (self.k_proj, self.kv_heads), (self.v_proj, self.kv_heads))
        return [proj(x).unflatten(-1, (n, self.head_dim)).transpose(1, 2) for proj, n in projected]

    def attend(self, q, k, v, **options):
        k, v = (one.repeat_interleave(self.n_heads // one.shape[1], dim=1) for one in (k, v))
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, **options).transpose(1, 2).flatten(2))


class TablesApart(Grouped):
    def forward(self, x, cos, sin):
        q, k, v = self.heads(x)
        return self.attend(rotated(q, cos, sin), rotated(k, cos, sin), v, is_causal=True)


class TablesTogether(Grouped):
    """With a table for each sample, and None as its default."""

    def forward(self, hidden_states, position_embeddings=None, attention_mask=None):
        q, k, v = self.heads(hidden_states)
        cos, sin = (one.unsqueeze(1) for one in position_embeddings)
        return self.attend(rotated(q, cos, sin), rotated(k, cos, sin), v, attn_mask=attention_mask)


class TableStacked(Grouped):
    """Cosine and sine along a last axis, for pairs, as in lit-llama."""

    def forward(self, x, rope):
        q, k, v = self.heads(x)
        return self.attend(self.turn(q, rope), self.turn(k, rope), v, is_causal=True)

    @staticmethod
    def turn(X, rope):
        one, other, cos, sin = X[..., ::2], X[..., 1::2], *rope.unbind(-1)
        return torch.stack([one * cos - other * sin, other * cos + one * sin], dim=-1).flatten(-2)


class ComplexTable(Grouped):
    def forward(self, x, freqs_cis):
        q, k, v = self.heads(x)
        turn = lambda X: torch.view_as_real(torch.view_as_complex(X.unflatten(-1, (-1, 2))) * freqs_cis).flatten(-2)  # noqa: E731
        return self.attend(turn(q), turn(k), v)


class Normed(Grouped):
    """Queries and keys are normalised by heads, and then rotated."""

    def __init__(self):
        super().__init__()
        self.k_norm, self.q_norm = (nn.RMSNorm(self.head_dim, eps=1e-6) for _ in range(2))  # in an unusual order

    def forward(self, x, cos, sin):
        q, k, v = self.heads(x)
        q, k = self.q_norm(q), self.k_norm(k)
        return self.attend(rotated(q, cos, sin), rotated(k, cos, sin), v, is_causal=True)


class MaskHoldsCausality(Grouped):
    def forward(self, x, mask=None):
        return self.attend(*self.heads(x), attn_mask=mask, is_causal=mask is None and x.shape[1] > 1)


class KeptInside(Grouped):
    """A cache in the module itself; `joined` puts old and new together."""

    def __init__(self, joined):
        super().__init__()
        self.kept, self.joined = None, joined

    def forward(self, x, use_cache=False):
        q, k, v = self.heads(x)
        start = 0
        if use_cache:
            if self.kept is not None:
                start = self.kept[0].shape[2]
                k, v = self.joined(self.kept[0], k), self.joined(self.kept[1], v)
            self.kept = k, v
        seen = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool).tril(start)
        return self.attend(q, k, v, attn_mask=seen)


def after(old, new):
    return torch.cat([old, new], dim=2)


class Scores(nn.Module):
    """No matrices of its own, and a divisor from its constructor."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, q, k, v, mask=None):
        scores = q @ k.mT / self.temperature
        return (scores if mask is None else scores.masked_fill(mask == 0, -1e9)).softmax(-1) @ v


class RootOfGivenNumber(nn.Module):
    """No matrices of its own, and the root of a number that its constructor was given: d_k, or anything else."""

    def __init__(self, **given):
        super().__init__()
        ((self.of, number),) = given.items()
        setattr(self, self.of, number)

    def forward(self, q, k, v):
        return (q @ k.mT / getattr(self, self.of) ** 0.5).softmax(-1) @ v


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.attn = nn.LayerNorm(64), nn.LayerNorm(64), MaskHoldsCausality()
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@pytest.mark.parametrize(
    "module",
    [
        TablesApart(), TablesTogether(), TableStacked(),
        ComplexTable(), Normed(), MaskHoldsCausality(), KeptInside(after), Scores(5.0),
        RootOfGivenNumber(d_k=16), RootOfGivenNumber(num_hidden_k=16),
    ],
    ids=lambda module: type(module).__name__ + getattr(module, "of", ""),
)  # fmt: skip
def test_right_ones_are_healthy(module):
    report = doctor.examine(module)
    assert report.healthy, report


@pytest.mark.parametrize("other", ["n_heads", "d_model"])
def test_the_root_of_another_given_number_is_no_design(other):
    assert doctor.examine(RootOfGivenNumber(**{other: 16})).names == ["scale-constant"]


def test_a_mask_that_replaces_causality_is_noted():
    report = doctor.examine(MaskHoldsCausality())
    caveat = "`mask` takes the place of its own causality"
    assert report.verdict == f"{caveat}; healthy, with notes: causal-lost-with-mask", report


def test_a_broken_cache_inside_the_module_is_found():
    report = doctor.examine(KeptInside(lambda old, new: torch.cat([new, old], dim=2)))
    assert report.names == ["cache-differs"], report


def test_a_mistake_beside_a_rotary_table_is_named():
    class Unscaled(TablesApart):
        def attend(self, q, k, v, **options):
            return super().attend(q * self.head_dim**0.5, k, v, **options)

    assert doctor.examine(Unscaled()).names == ["scale-missing"]


def test_a_block_is_no_sick_attention():
    report = doctor.examine(Block())
    assert report.healthy is None
    assert "examine its `.attn`" in report.reason


def test_an_argument_that_was_never_varied_is_listed():
    class WithSwitch(MaskHoldsCausality):
        def forward(self, x, fast=False):
            return super().forward(x)

    assert any("fast" in text for text in doctor.examine(WithSwitch()).untested)


class HandMade(nn.Module):
    """What is projected, and how, is the argument."""

    def __init__(self, width=0):
        super().__init__()
        self.heads, self.output = 4, nn.Linear(64, 64)
        if width:
            self.queries, self.keys, self.values = (nn.Linear(width, width, bias=False) for _ in range(3))

    def forward(self, values, keys, queries):
        q, k, v = (one.unflatten(-1, (self.heads, -1)) for one in (queries, keys, values))
        if hasattr(self, "queries"):
            q, k, v = self.queries(q), self.keys(k), self.values(v)
        q, k, v = (one.transpose(1, 2) for one in (q, k, v))
        return self.output(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def test_what_is_cut_before_it_is_projected_is_named():
    assert doctor.examine(HandMade(16)).names == ["mha-split-input"]


def test_what_is_not_projected_is_a_design_where_queries_keys_and_values_are_handed_over():
    class FromOneInput(HandMade):
        def forward(self, x):
            return super().forward(x, x, x)

    assert doctor.examine(HandMade(0)).verdict == "healthy, with notes: mha-no-projections"
    assert doctor.examine(FromOneInput(0)).verdict == "sick: mha-no-projections"


def test_what_need_not_be_known_is_given_none_and_listed():
    class WithMore(MaskHoldsCausality):
        def forward(self, x, relations):
            return super().forward(x if relations is None else x + relations)

    report = doctor.examine(WithMore())
    assert report.healthy, report
    assert any("relations" in text for text in report.untested)


def test_a_table_that_need_not_be_given_is_not_made_up():
    class WithTable(MaskHoldsCausality):
        def forward(self, x, rotary_emb=None):
            return super().forward(x if rotary_emb is None else x * rotary_emb[0].new_tensor(float("nan")))

    assert doctor.examine(WithTable()).healthy


def test_another_mistake_between_two_sequences_does_not_hide_the_first():
    class CutOtherwise(nn.Module):
        def __init__(self):
            super().__init__()
            self.num_heads, self.qkv, self.proj = 4, nn.Linear(64, 192, bias=False), nn.Linear(64, 64)

        def forward(self, x, context=None):
            if context is None:
                q, k, v = self.qkv(x).unflatten(-1, (4, 48)).transpose(1, 2).chunk(3, -1)
            else:  # the same matrix, cut otherwise
                k, v = F.linear(context, self.qkv.weight[64:]).unflatten(-1, (4, 32)).transpose(1, 2).chunk(2, -1)
                q = F.linear(x, self.qkv.weight[:64]).unflatten(-1, (4, 16)).transpose(1, 2)
            return self.proj(F.scaled_dot_product_attention(q, k, v).reshape(x.shape))

    report = doctor.examine(CutOtherwise())
    assert report.names == ["mha-combine-without-transpose", None], report


def test_what_it_does_not_know_can_be_given():
    class Windowed(MaskHoldsCausality):
        def forward(self, x, reach, kinds):
            assert kinds.shape == x.shape[:2]
            return super().forward(x)

    assert doctor.examine(Windowed()).healthy is None
    inputs = {"reach": (-1, 0), "kinds": lambda batch, tokens: torch.zeros(batch, tokens)}
    assert doctor.examine(Windowed(), inputs=inputs).healthy


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_size():
    class DModel(MaskHoldsCausality):
        def forward(self, x):
            return self.attend(*self.heads(x), scale=x.shape[-1] ** -0.5)

    assert [doctor.examine(DModel(width, n_heads, n_heads)).names for width, n_heads in ((64, 4), (768, 12))] == [
        ["mha-scale-d-model"]
    ] * 2


class Latent(nn.Module):
    """Keys and values from one narrow vector."""

    def __init__(self):
        super().__init__()
        self.q_proj, self.kv_a_proj, self.kv_b_proj = nn.Linear(64, 64), nn.Linear(64, 16), nn.Linear(16, 128)
        self.o_proj, self.kv_lora_rank = nn.Linear(64, 64), 16

    def forward(self, x):
        queries, keys, values = self.q_proj(x), *self.kv_b_proj(torch.tanh(self.kv_a_proj(x))).chunk(2, dim=-1)
        queries, keys, values = (one.unflatten(-1, (4, 16)).transpose(1, 2) for one in (queries, keys, values))
        return self.o_proj(F.scaled_dot_product_attention(queries, keys, values).transpose(1, 2).flatten(-2))


def test_another_design_is_named_where_there_is_no_verdict():
    report = doctor.examine(Latent())
    assert report.healthy is None, report
    assert "multi-head latent attention (MLA" in report.reason


class Rotary(nn.Module):
    """Counts along the last axis but two: the tokens', if heads come after them."""

    def forward(self, x):
        angles = torch.arange(x.shape[-3])[:, None] * 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        return rotated(x, *(turn(torch.cat([angles, angles], dim=-1))[:, None] for turn in (torch.cos, torch.sin)))


class RotatedBeforeTheSwap(Grouped):
    def __init__(self):
        super().__init__()
        self.rotary = Rotary()

    def forward(self, x):
        q, k, v = self.heads(x)
        q, k = (self.rotary(one.transpose(1, 2)).transpose(1, 2) for one in (q, k))
        return self.attend(q, k, v, is_causal=True)


class RotatedAfterTheSwap(RotatedBeforeTheSwap):
    def forward(self, x):
        q, k, v = self.heads(x)
        k, v = (one.repeat_interleave(2, dim=1) for one in (k, v))
        q, k = self.rotary(q), self.rotary(k)
        return self.attend(q, k, v, is_causal=True)


class RotatedAllAlike(RotatedBeforeTheSwap):
    """As in a step with a cache, whose start is given to every token."""

    @staticmethod
    def rotate(x, position=3):
        angles = position * 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]).repeat(2)
        return rotated(x, torch.cos(angles), torch.sin(angles))

    def forward(self, x):
        q, k, v = self.heads(x)
        q, k = self.rotate(q), self.rotate(k)
        return self.attend(q, k, v, is_causal=True)


def test_rotary_positions_that_turn_all_tokens_alike_are_named_with_their_line():
    assert doctor.examine(RotatedBeforeTheSwap()).verdict == "healthy"
    (found,) = doctor.examine(RotatedAfterTheSwap()).findings
    assert (found.name, found.line.text.strip()) == ("rope-wrong-axis", "q, k = self.rotary(q), self.rotary(k)")
    (found,) = doctor.examine(RotatedAllAlike()).findings
    assert (found.name, found.line.text.strip()) == ("rope-one-position", "q, k = self.rotate(q), self.rotate(k)")


class AroundThroughAMatrix(nn.Module):
    """As AutoInt's layer (Song et al. 2019): no output projection, the input through a matrix, and a ReLU."""

    def __init__(self, width=64, n_heads=4):
        super().__init__()
        self.n_heads = n_heads
        self.W_Query, self.W_Key, self.W_Value, self.W_Res = (
            nn.Parameter(torch.randn(width, width) / 8) for _ in "1234"
        )

    def forward(self, inputs):
        projected = (inputs @ one for one in (self.W_Query, self.W_Key, self.W_Value))
        q, k, v = (one.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for one in projected)
        weights = (q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5).softmax(self.axis)
        return torch.relu((weights @ v).transpose(1, 2).flatten(2) + inputs @ self.W_Res)

    axis = -1


class AroundOverTheQueries(AroundThroughAMatrix):
    axis = -2


def test_an_input_that_is_added_through_a_matrix_is_a_design():
    report = doctor.examine(AroundThroughAMatrix())
    assert report.verdict == "healthy, with notes: mha-no-output-projection"
    assert "Taken for its design: + X W_Res, then a ReLU." in report.notes
    assert "softmax-over-queries" in doctor.examine(AroundOverTheQueries()).verdict


class Interleaved(nn.Module):
    """Queries, keys and values lie together in each feature: "b n (h d qkv)", as in ViT tutorials."""

    def __init__(self, width=64, n_heads=4):
        super().__init__()
        self.width, self.num_heads = width, n_heads
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (self.num_heads, -1, 3)).permute(4, 0, 2, 1, 3)
        return self.projection((self.weights(q @ k.transpose(-2, -1)) @ v).transpose(1, 2).flatten(2))

    def weights(self, scores):
        return (scores / (self.width // self.num_heads) ** 0.5).softmax(-1)


class InterleavedDividedAfterwards(Interleaved):
    def weights(self, scores):
        return scores.softmax(-1) / self.width**0.5


def test_mistakes_are_named_where_queries_keys_and_values_are_interleaved():
    right, wrong = doctor.examine(Interleaved()), doctor.examine(InterleavedDividedAfterwards())
    assert (right.verdict, wrong.verdict) == ("healthy", "sick: scale-after-softmax")
    assert right.layout == wrong.layout == "(batch, tokens, features), 4 heads, queries, keys and values interleaved"
    assert wrong.findings[0].line.text.strip() == "return scores.softmax(-1) / self.width**0.5"


class PrivateNames(nn.Module):
    """Attributes with two underscores, which Python puts the class's name before; and inputs called so."""

    def __init__(self, width=64):
        super().__init__()
        self.__query_layer, self.__key_layer, self.__value_layer = (nn.Linear(width, width) for _ in "QKV")

    def forward(self, input_query, input_key, input_value):
        queries, keys, values = (
            self.__query_layer(input_query),
            self.__key_layer(input_key),
            self.__value_layer(input_value),
        )
        return (queries @ keys.transpose(-2, -1) / self.divisor(keys)).softmax(-1) @ values

    @staticmethod
    def divisor(keys):
        return keys.shape[-1] ** 0.5


class PrivateQKVUndivided(PrivateNames):
    @staticmethod
    def divisor(keys):
        return 1.0


def test_private_names_are_read():
    assert doctor.examine(PrivateNames()).verdict == "healthy"
    assert doctor.examine(PrivateQKVUndivided()).verdict == "sick: scale-missing"


class SliceBySlice(nn.Module):
    """One small matrix for the slices of all heads, as in a tutorial of 2020; queries are made of the keys."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.head = heads, width // heads
        self.query, self.value, self.key = (nn.Linear(self.head, self.head, bias=False) for _ in "QVK")
        self.fc_out = nn.Linear(width, width)

    def forward(self, key, query, value):
        key, value = (one.reshape(*one.shape[:2], self.heads, self.head) for one in (key, value))
        query = self.query(key.reshape(len(key), query.shape[1], self.heads, self.head))
        weights = (torch.einsum("bqhd,bkhd->bhqk", query, self.key(key)) / self.head**0.5).softmax(-1)
        return self.fc_out(torch.einsum("bhqk,bkhd->bqhd", weights, self.value(value)).flatten(2))


def test_an_argument_that_is_not_used_does_not_hide_the_width_of_a_token():
    report = doctor.examine(SliceBySlice())
    assert report.layout.startswith("(batch, tokens, features), 4 heads")
    assert report.verdict.startswith("sick")


class Kept:
    """Keys and values of one layer."""

    def __init__(self):
        self.parts = []

    def update(self, keys, values):
        self.parts.append((keys, values))
        return [torch.cat(kept, dim=2) for kept in zip(*self.parts, strict=True)]


class WithACacheOfItsClass(Grouped):
    """The caller makes the cache, and it grows by itself."""

    def forward(self, x, cache: Kept | None = None):
        q, k, v = self.heads(x)
        if cache is not None:
            k, v = cache.update(k, v)
        return self.attend(q, k, v, attn_mask=self.mask(q.shape[2], k.shape[2], cache))

    def mask(self, n_queries, n_keys, cache):
        return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)


class CausalWithoutACacheAlone(WithACacheOfItsClass):
    def mask(self, n_queries, n_keys, cache):
        return super().mask(n_queries, n_keys, cache) if cache is None else None


def test_a_cache_of_the_class_that_the_signature_names_is_made_and_asked():
    right = doctor.examine(WithACacheOfItsClass())
    assert right.verdict == "healthy"
    assert "cache" not in " ".join(right.untested)
    assert doctor.examine(CausalWithoutACacheAlone()).verdict == "healthy, with notes: cache-differs"


class TwoMasks(Grouped):
    """A bias for pairs, and a mask of tokens."""

    hidden = float("-inf")

    def forward(self, q, k, v, mask=None, src_mask=None):
        q, k, v = self.heads(q)[0], *self.heads(k)[1:2], self.heads(v)[2]
        bias = torch.zeros(1) if mask is None else mask
        if src_mask is not None:
            bias = bias.masked_fill(src_mask[:, None, None] == 0, self.hidden)
        return self.attend(q, k, v, attn_mask=bias)


class TwoMasksOneTooSmall(TwoMasks):
    hidden = -1e-9


def test_of_two_masks_each_is_asked():
    right, wrong = doctor.examine(TwoMasks()), doctor.examine(TwoMasksOneTooSmall())
    assert (right.healthy, right.untested) == (True, [])
    assert right.caveats == [
        "`mask` and `src_mask` together are right only with `mask` as (batch, heads, queries, keys), added, -inf hides"
    ]
    assert "mask-tiny-number" in [wrong.findings[0].name, *wrong.findings[0].also]


class Heads(nn.Module):
    """What the following have in common."""

    def __init__(self, dim=64, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def cut(self, *arrays):
        return [one.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for one in arrays]

    def weights(self, q, k):
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)

    def forward(self, x):
        q, k, v = self.cut(self.q(x), self.k(x), self.v(x))
        return self.proj((self.weights(q, k) @ v).transpose(1, 2).flatten(2))


class TalkingHeads(Heads):
    """Shazeer et al. 2020: scores and weights are mixed from head to head."""

    def __init__(self):
        super().__init__()
        self.proj_l, self.proj_w = nn.Linear(4, 4), nn.Linear(4, 4)

    def weights(self, q, k):
        scores = self.proj_l((q @ k.mT / q.shape[-1] ** 0.5).permute(0, 2, 3, 1))
        return self.proj_w(scores.softmax(dim=-2)).permute(0, 3, 1, 2)


def test_talking_heads_are_examined_as_if_they_were_silent():
    report = doctor.examine(TalkingHeads())
    assert report.healthy is True
    assert any("proj_l.weight" in one and "heads are not mixed" in one for one in report.untested)


class LeftOver(Heads):
    """It has kept a matrix of an earlier version."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)


def test_a_matrix_that_is_left_over_is_noted():
    report = doctor.examine(LeftOver())
    assert report.healthy is True
    assert "qkv.weight, qkv.bias: no answer depends on it." in report.notes


class MeanOfHeads(nn.Module):
    """Interpretable attention of the Temporal Fusion Transformer (Lim et al. 2021): one matrix of values."""

    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.q_layers, self.k_layers = (
            nn.ModuleList(nn.Linear(dim, dim // heads) for _ in range(heads)) for _ in range(2)
        )
        self.v_layer, self.w_h = nn.Linear(dim, dim // heads), nn.Linear(dim // heads, dim, bias=False)

    def forward(self, x):
        pairs = zip(self.q_layers, self.k_layers, strict=True)
        scores = [q(x) @ k(x).mT / self.v_layer.out_features**0.5 for q, k in pairs]
        return self.w_h(torch.stack([one.softmax(dim=-1) for one in scores]).mean(dim=0) @ self.v_layer(x))


def test_the_mean_of_heads_over_one_matrix_of_values_is_a_design():
    assert doctor.examine(MeanOfHeads()).verdict == "healthy, with notes: weights-shared-by-heads"


class OfAMap(Heads):
    """It is told how high and how wide the map is that its tokens come from."""

    def forward(self, x, H, W):
        assert x.shape[1] == H * W
        return super().forward(x)


def test_the_sides_of_a_map_are_given():
    assert doctor.examine(OfAMap()).verdict == "healthy"


class Gated(Heads):
    """Keys and values of another width; a gate that has no place in the equation."""

    def __init__(self):
        super().__init__()
        self.k, self.v = (nn.Linear(24, 64, bias=False) for _ in range(2))
        self.linear_g = nn.Linear(64, 64)

    def forward(self, q_x, kv_x):
        q, k, v = self.cut(self.q(q_x), self.k(kv_x), self.v(kv_x))
        mixed = (self.weights(q, k) @ v).transpose(1, 2).flatten(2)
        return self.proj(self.linear_g(q_x).sigmoid() * mixed)


def test_a_context_of_another_width_is_no_other_answer():
    assert doctor.examine(Gated()).healthy is None


class CutByAReshape(Heads):
    """Causal, and tokens are cut into heads without a transpose: its weights sum to 1 all the same."""

    def forward(self, x):
        q, k, v = (w(x).reshape(len(x), 4, -1, 16) for w in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(mixed.reshape(x.shape))


def test_what_mixes_tokens_into_heads_is_not_said_to_be_without_its_denominator():
    assert "softmax-not-normalised" not in doctor.examine(CutByAReshape()).names


class Window(Heads):
    """Each token sees two back and two ahead."""

    def divided(self, scores):
        return scores / 4  # the root of a head's 16

    def weights(self, q, k):
        steps = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
        scores = self.divided(q @ k.mT)
        return scores.masked_fill(steps.abs() > 2, -torch.inf).softmax(dim=-1)


class WindowNotDivided(Window):
    def divided(self, scores):
        return scores


def test_a_mistake_within_a_window_is_named():
    assert doctor.examine(Window()).verdict == "healthy"
    assert doctor.examine(WindowNotDivided()).verdict == "sick: scale-missing"


class WindowOfRepeats(Window):
    """At the ends the first and the last token are repeated, so that each window is full."""

    window, ends = 5, "replicate"

    def forward(self, x):
        padded = F.pad(x.mT, (2, 2), self.ends).mT
        around = padded.unfold(1, self.window, 1).mT  # (batch, tokens, window, features)
        q = self.q(x).unflatten(-1, (self.num_heads, -1))[..., None, :]
        k, v = (w(around).unflatten(-1, (self.num_heads, -1)).transpose(2, 3) for w in (self.k, self.v))
        return self.proj(((self.divided(q @ k.mT)).softmax(dim=-1) @ v)[..., 0, :].flatten(2))


class WindowOfRepeatsByItsWidth(WindowOfRepeats):
    def divided(self, scores):
        return scores / self.window**0.5


def test_a_window_is_full_at_the_ends_by_design():
    report = doctor.examine(WindowOfRepeats())
    assert report.verdict == "healthy", report
    assert "2 back and 2 ahead, at the ends the same ones again" in str(report)
    report = doctor.examine(WindowOfRepeatsByItsWidth())
    assert report.verdict == "sick: scale-n-keys", report
    assert report.findings[0].line is None, "windows are cut out of what is padded: nothing is as in the equation"


class WindowOfReflections(WindowOfRepeats):
    ends = "reflect"


def test_a_window_that_ends_in_another_way_is_no_mistake():
    report = doctor.examine(WindowOfReflections())
    assert report.healthy is None, report


class CalledLocal(Heads):
    """It speaks of local heads, as code for several machines does, and has no window."""

    def weights(self, q, k):
        n_local_heads = q.shape[1]
        return (q @ k.mT * (0.3 + torch.arange(n_local_heads)[:, None, None])).softmax(dim=-1)


def test_a_difference_is_a_fault_where_only_a_word_sounds_like_a_window():
    assert doctor.examine(CalledLocal()).verdict == "sick: unnamed"


class AttendsToKey(Heads):
    def forward(self, x, key):
        q, k, v = self.cut(self.q(x), self.k(key), self.v(key))
        return self.proj((self.weights(q, k) @ v).transpose(1, 2).flatten(2))


def test_a_key_is_a_context_where_there_are_no_random_keys():
    report = doctor.examine(AttendsToKey())
    assert report.healthy is True, report


class StackedByAnotherName(TableStacked):
    """gpt-fast: cosine and sine stacked, under the name that Meta's Llama has for complex numbers."""

    def forward(self, x, freqs_cis):
        return super().forward(x, freqs_cis)


class ComplexByAnotherName(ComplexTable):
    def forward(self, x, rope):
        return super().forward(x, rope)


class TurnedTheOtherWay(Grouped):
    """As in modded-nanogpt: scores depend on the distance alone, as they should."""

    def forward(self, x):
        q, k, v = self.heads(x)
        angles = torch.outer(torch.arange(x.shape[1]), 10000 ** (-torch.arange(0, self.head_dim, 2) / self.head_dim))
        return self.attend(self.rotary(q, angles), self.rotary(k, angles), v, is_causal=True)

    @staticmethod
    def rotary(X, angles):
        (one, other), cos, sin = X.chunk(2, dim=-1), angles.cos(), angles.sin()
        return torch.cat([one * cos + other * sin, other * cos - one * sin], dim=-1)


class ToC(Grouped):
    """VITS calls its context `c`."""

    def forward(self, x, c):
        q, (_, k, v) = self.heads(x)[0], self.heads(c)
        return self.attend(q, k, v)


class GeneratedKeys(nn.Module):
    """A list of heads, each with matrices whose names say in a part what they are."""

    class Head(nn.Module):
        def __init__(self, width, d_head):
            super().__init__()
            self.key_gen, self.query_gen, self.value_gen = (nn.Linear(width, d_head, bias=False) for _ in range(3))

        def forward(self, embedded):
            scores = self.query_gen(embedded) @ self.key_gen(embedded).mT / self.key_gen.out_features**0.5
            hidden = torch.ones(embedded.shape[1], embedded.shape[1]).triu(1).bool()
            return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ self.value_gen(embedded)

    def __init__(self, width=64, n_heads=4):
        super().__init__()
        self.att_heads = nn.ModuleList(self.Head(width, width // n_heads) for _ in range(n_heads))

    def forward(self, embedded):
        return torch.cat([head(embedded) for head in self.att_heads], dim=-1)


@pytest.mark.parametrize("kind", [StackedByAnotherName, ComplexByAnotherName, TurnedTheOtherWay, ToC, GeneratedKeys])
def test_what_public_code_calls_by_another_name_is_read(kind):
    report = doctor.examine(kind())
    assert report.healthy, report


class RootOfAnInteger(Grouped):
    """Stops whatever it gets: not the widths that are tried first are the reason."""

    def forward(self, x, freqs):
        q, k, v = self.heads(x)
        return self.attend(q / torch.sqrt(self.head_dim), k, v)


def test_a_refusal_gives_the_codes_own_error_with_its_line_and_what_was_guessed():
    report = doctor.examine(RootOfAnInteger())
    assert report.healthy is None
    assert "it stops with TypeError: sqrt()" in report.reason, report
    assert "test_public_styles.py:" in report.reason
    assert "`freqs`" in report.reason


class Activated(nn.Module):
    """Ports of Kyubyong/transformer: an activation after each projection, the input added, a norm of its own."""

    class Scaled(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.gamma, self.beta = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            return self.gamma * centred / (x.std(-1, keepdim=True, unbiased=False) + 1e-8) + self.beta

    def __init__(self, num_units=64, num_heads=8):
        super().__init__()
        self.num_heads = num_heads
        self.Q_proj, self.K_proj, self.V_proj = (nn.Sequential(nn.Linear(64, num_units), nn.ReLU()) for _ in range(3))
        self.normalization = self.Scaled(num_units)

    def forward(self, queries, keys, values):
        projected = self.Q_proj(queries), self.K_proj(keys), self.V_proj(values)
        q, k, v = (item.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for item in projected)
        heads = (q @ k.mT / k.shape[-1] ** 0.5).softmax(-1) @ v
        return self.normalization(heads.transpose(1, 2).flatten(2) + queries)


def test_an_activation_after_projections_is_named_inside_of_a_block():
    assert "projection-activated" in doctor.examine(Activated()).names


class StackedAndRequired(Grouped):
    """Its table is reshaped, so that a wrong one may fit another number of tokens; as in gpt-fast."""

    def forward(self, x, freqs_cis, mask, input_pos=None):
        q, k, v = self.heads(x)
        return self.attend(self.turn(q, freqs_cis), self.turn(k, freqs_cis), v, attn_mask=mask)

    @staticmethod
    def turn(X, table):
        pairs = X.unflatten(-1, (-1, 2))
        cos, sin = table.view(1, 1, X.size(2), pairs.size(3), 2).unbind(-1)
        one, other = pairs.unbind(-1)
        return torch.stack([one * cos - other * sin, other * cos + one * sin], dim=-1).flatten(-2)


class CacheOfTwoSamples(Grouped):
    """As in llama3.np."""

    def __init__(self):
        super().__init__()
        self.cache = torch.zeros(2, 2, self.kv_heads, 16, self.head_dim)

    def forward(self, x, start_pos, mask):
        q, k, v = self.heads(x)
        seen = slice(start_pos, start_pos + x.shape[1])
        for kept, new in zip(self.cache, (k, v), strict=True):
            kept[: len(x), :, seen] = new
        k, v = self.cache[:, : len(x), :, : seen.stop]
        return self.attend(q, k, v, attn_mask=mask)


@pytest.mark.parametrize("module", [StackedAndRequired, CacheOfTwoSamples])
def test_what_a_call_needs_is_found_by_trying(module):
    torch.manual_seed(0)
    report = doctor.examine(module())
    assert report.healthy, report


class OnlyQueriesTurned(Grouped):
    def forward(self, x, cos, sin):
        q, k, v = self.heads(x)
        swapped = torch.cat([-q[..., 8:], q[..., :8]], dim=-1)
        return self.attend(q * cos + swapped * sin, k, v, is_causal=True)


class KeysAloneTiled(Grouped):
    def forward(self, x):
        q, k, v = self.heads(x)
        return self.attend(q, k.repeat(1, 2, 1, 1), v, is_causal=True)


@pytest.mark.parametrize(("module", "name"), [(OnlyQueriesTurned, "rope-one-side"), (KeysAloneTiled, "kv-heads-tiled")])
def test_what_is_done_to_keys_or_queries_alone_is_named(module, name):
    torch.manual_seed(0)
    assert doctor.examine(module()).names == [name]


class WithoutMatrices(nn.Module):
    """As Informer's."""

    def __init__(self, mask_flag=False):
        super().__init__()
        self.mask_flag = mask_flag

    def forward(self, queries, keys, values, attn_mask):
        scores = torch.einsum("blhe,bshe->bhls", queries, keys)
        if self.mask_flag:
            scores = scores.masked_fill(attn_mask, -torch.inf)
        return torch.einsum("bhls,bshd->blhd", (scores / queries.shape[-1] ** 0.5).softmax(-1), values)


def test_the_option_of_a_mask_is_found_in_a_module_without_matrices():
    report = doctor.examine(WithoutMatrices())
    assert report.healthy, report
    assert "it has an effect only with self.mask_flag, which is off" in report.verdict


class DrawnSlots(Heads):
    def forward(self, x):
        return super().forward(x + torch.randn(x.shape))


class OwnTokensToo(Heads):
    """As latent vectors that attend to themselves, too (lucidrains/isab-pytorch)."""

    def forward(self, x, context):
        both = torch.cat([x, context], dim=1)
        q, k, v = self.cut(self.q(x), self.k(both), self.v(both))
        return self.proj((self.weights(q, k) @ v).transpose(1, 2).flatten(2))


@pytest.mark.parametrize(
    ("module", "why"), [(DrawnSlots, "draws random numbers"), (OwnTokensToo, "its own tokens, too")]
)
def test_what_may_be_by_design_has_no_verdict(module, why):
    torch.manual_seed(0)
    report = doctor.examine(module())
    assert report.healthy is None, report
    assert why in report.reason


n_heads, d_k = 4, 16  # the class below reads them here


class OfAScript(nn.Module):
    """Its mask must be given, and the first meaning that is tried hides everything (graykode/nlp-tutorial)."""

    def __init__(self, width=64):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(width, d_k * n_heads) for _ in range(3))
        self.linear, self.layer_norm = nn.Linear(n_heads * d_k, width), nn.LayerNorm(width)

    def forward(self, Q, K, V, attn_mask):
        pairs = ((self.W_Q, Q), (self.W_K, K), (self.W_V, V))
        q, k, v = (layer(X).view(len(X), -1, n_heads, d_k).transpose(1, 2) for layer, X in pairs)
        scores = (q @ k.mT / d_k**0.5).masked_fill(attn_mask.unsqueeze(1), -1e9)
        return self.layer_norm(self.linear((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)) + Q)


def test_numbers_of_a_script_are_read_and_no_matrix_is_left_out_for_a_mask():
    torch.manual_seed(0)
    report = doctor.examine(OfAScript())
    assert report.healthy, report
    assert "4 heads" in report.layout


class HeadOfAList(nn.Module):
    def __init__(self, width, head_width):
        super().__init__()
        self.W = nn.Parameter(torch.randn(width, 3 * head_width))

    def forward(self, x, axis):
        q, k, v = (x @ self.W).chunk(3, dim=-1)
        return (q @ k.mT / k.shape[-1] ** 0.5).softmax(dim=axis) @ v


class ListOfFused(nn.Module):
    """Each head of a list has one matrix for all three, with a name that says nothing."""

    def __init__(self, width=64, n_heads=4, axis=-1):
        super().__init__()
        self.axis = axis
        self.every = nn.ModuleList(HeadOfAList(width, width // n_heads) for _ in range(n_heads))
        self.W = nn.Parameter(torch.randn(width, width))

    def forward(self, x):
        return torch.cat([head(x, self.axis) for head in self.every], dim=-1) @ self.W


@pytest.mark.parametrize(("axis", "names"), [(-1, []), (1, ["softmax-over-queries"])])
def test_a_list_of_fused_matrices_is_read(axis, names):
    torch.manual_seed(0)
    assert doctor.examine(ListOfFused(axis=axis)).names == names


class ScaleOfTheCaller(nn.Module):
    """As FuxiCTR's."""

    def forward(self, Q, K, V, scale=None):
        scores = Q @ K.mT
        return (scores / scale if scale else scores).softmax(-1) @ V


def test_a_scale_that_is_left_to_the_caller_is_a_design():
    report = doctor.examine(ScaleOfTheCaller())
    assert report.healthy, report
    assert [finding.name for finding in report.findings] == ["scale-missing"]
