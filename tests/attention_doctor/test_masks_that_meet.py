"""Masks that meet: each right alone, and wrong with another one, with causality, or with a cache."""

import importlib.util
import inspect
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import masks_that_meet  # noqa: E402

from mha_helpers import doctor  # noqa: E402

RIGHT = [
    masks_that_meet.PairsAndPadding,
    masks_that_meet.CausalAndPadding,
    masks_that_meet.TwoThatShow,
    masks_that_meet.AddedAndPadding,
    masks_that_meet.PairsAndLengths,
    masks_that_meet.FlagAndPadding,
    masks_that_meet.CausalAndTwo,
    masks_that_meet.KeptInside,
]
PADDING = "if key_padding_mask is not None:"
LOST_WITH_CACHE = PADDING, "if key_padding_mask is not None and past is None:"
INVERTED = "key_padding_mask[:, None, None]", "~key_padding_mask[:, None, None]"
LENGTHS = "if valid_lens is not None:"
MISTAKES = {  # by class and rule: what is replaced by what
    "PairsAndPadding": {
        "dropped": (PADDING, "if key_padding_mask is not None and attn_mask is None:"),
        "joined with or": (
            "hidden = hidden | key_padding_mask[:, None, None]",
            "hidden = (hidden if attn_mask is not None else ~hidden) & key_padding_mask[:, None, None]",
        ),
        "inverted": INVERTED,
        "after the softmax": (
            "scores.masked_fill(hidden, -torch.inf).softmax(-1)",
            "scores.softmax(-1).masked_fill(hidden, 0)",
        ),
        "lost with a cache": LOST_WITH_CACHE,
    },
    "CausalAndPadding": {
        "dropped": ("allowed & ~key_padding_mask[:, None, None]", "allowed"),
        "joined with or": ("allowed & ~", "allowed | ~"),
        "inverted": ("& ~key", "& key"),
        "after the softmax": (
            "F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)",
            "((q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) * allowed) @ v",
        ),
        "lost with a cache": LOST_WITH_CACHE,
    },
    "TwoThatShow": {
        "dropped": ("both if mask is None else mask & both", "both if mask is None else mask"),
        "joined with or": ("mask & both", "mask | both"),
        "inverted": ("both = padding_mask[:, None, None, :]", "both = ~padding_mask[:, None, None, :]"),
        "after the softmax": (
            "scores = torch.where(mask, scores, -torch.inf)\n        weights = scores.softmax(-1)",
            "pass\n        weights = scores.softmax(-1) * (1 if mask is None else mask)",
        ),
        "lost with a cache": ("if mask is not None:", "if mask is not None and past is None:"),
    },
    "AddedAndPadding": {
        "dropped": (PADDING, "if key_padding_mask is not None and attention_mask is None:"),
        "joined with or": (
            "added = added + key_padding_mask[:, None, None] * torch.finfo(scores.dtype).min",
            "padding = key_padding_mask[:, None, None] * torch.finfo(scores.dtype).min\n"
            "            added = padding if attention_mask is None else torch.maximum(added, padding)",
        ),
        "inverted": INVERTED,
        "after the softmax": (
            "scores = scores + added\n        weights = F.softmax(scores, dim=-1)",
            "weights = F.softmax(scores, dim=-1) * (added > -1e4)",
        ),
        "lost with a cache": (PADDING, "if key_padding_mask is not None and layer_past is None:"),
    },
    "PairsAndLengths": {
        "dropped": (LENGTHS, "if valid_lens is not None and mask is None:"),
        "joined with or": ("hidden = hidden | (", "hidden = (True if mask is None else hidden) & ("),
        "inverted": (">= valid_lens", "< valid_lens"),
        "after the softmax": (
            "scores = scores.masked_fill(hidden, -1e9)\n        weights = scores.softmax(-1)",
            "weights = scores.softmax(-1) * ~hidden",
        ),
        "lost with a cache": (LENGTHS, "if valid_lens is not None and past is None:"),
    },
    "FlagAndPadding": {
        "dropped": (PADDING, "if key_padding_mask is not None and not is_causal:"),
        "joined with or": (
            "hidden = hidden | key",
            "hidden = (hidden if is_causal else ~hidden) & key",
        ),
        "inverted": INVERTED,
        "after the softmax": (
            "scores[hidden.expand_as(scores)] = -torch.inf\n        weights = scores.softmax(-1)",
            "weights = scores.softmax(-1) * ~hidden",
        ),
        "lost with a cache": LOST_WITH_CACHE,
    },
    "CausalAndTwo": {
        "dropped": (
            "None if key_padding_mask is None else",
            "None if key_padding_mask is None or attn_mask is not None else",
        ),
        "joined with or": (
            "added + torch.zeros(mask.shape).masked_fill(mask, -torch.inf)",
            "torch.maximum(added, torch.zeros(mask.shape).masked_fill(mask, -torch.inf))",
        ),
        "inverted": INVERTED,
        "after the softmax": (
            "weights = scores.softmax(-1)",
            "weights = (q @ k.mT / q.shape[-1] ** 0.5).flatten(0, 1).softmax(-1) * (scores > -torch.inf)",
        ),
        "lost with a cache": ("if mask is not None:", "if mask is not None and past is None:"),
    },
    "KeptInside": {
        "dropped": ("allowed & ~key_padding_mask[:, None, None]", "allowed"),
        "joined with or": ("allowed & ~", "allowed | ~"),
        "inverted": ("& ~key", "& key"),
        "after the softmax": (
            '.masked_fill(~allowed, float("-inf"))\n        weights = scores.softmax(-1)',
            "\n        weights = scores.softmax(-1) * allowed",
        ),
        "lost with a cache": (PADDING, "if key_padding_mask is not None and not start_pos:"),
    },
}

NAMED = {
    ("PairsAndPadding", "dropped"): "mask-lost-with-mask",
    ("PairsAndPadding", "joined with or"): "masks-joined-with-or",
    ("CausalAndPadding", "joined with or"): "masks-joined-with-or",
    ("PairsAndPadding", "after the softmax"): "mask-after-softmax",
    ("TwoThatShow", "lost with a cache"): "mask-lost-with-cache",
    ("KeptInside", "lost with a cache"): "mask-lost-with-cache",
    ("FlagAndPadding", "dropped"): "mask-lost-with-causal",
}


def mutant(kind, rule, folder):
    """The class with one mistake, defined in a file of its own, as the doctor reads sources."""
    old, new = MISTAKES[kind.__name__][rule]
    source = inspect.getsource(kind)
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {kind.__name__}"
    whole = Path(masks_that_meet.__file__).read_text(encoding="utf-8").replace(source, source.replace(old, new))
    file = folder / "mutant.py"
    file.write_text(whole, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mutant", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kind.__name__)()


def examined(make):
    torch.manual_seed(0)
    return doctor.examine(make())


@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_right_ones_are_healthy(kind):
    report = examined(kind)
    assert report.healthy, report
    assert not report.untested_masks, report


@pytest.mark.parametrize("rule", MISTAKES["PairsAndPadding"])
@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: kind.__name__)
def test_none_of_their_mistakes_is_healthy(kind, rule, tmp_path):
    report = examined(lambda: mutant(kind, rule, tmp_path))
    assert report.healthy is False or "may be inverted" in report.reason, report
    name = NAMED.get((kind.__name__, rule))
    assert name is None or name in report.names, report


def test_a_mask_with_which_the_code_stops_leaves_no_verdict():
    report = examined(masks_that_meet.SecondMaskStops)
    assert report.healthy is None, report
    assert "`context_mask`" in report.reason
    assert "it stops with RuntimeError: " in report.reason
    assert "boolean" not in report.reason  # that is what the code says to numbers
    assert "masks_that_meet.py:" in report.reason


@pytest.mark.parametrize(
    ("kind", "before"),
    [
        (masks_that_meet.BehindAnArgument, "`fast_mask` has an effect only with fast=True, with which it was tested"),
        (masks_that_meet.BehindAMissingKernel, "not tested: `fast_mask` (it has an effect only with fast=True). With"),
        (masks_that_meet.BehindAnAttribute, "not tested: `mask` (it has an effect only with self.mask_flag, which is"),
    ],
)
def test_a_mask_behind_an_option_that_is_off_is_not_ignored(kind, before):
    report = examined(kind)
    assert report.healthy, report
    assert report.verdict.startswith(before)


def test_numbers_that_are_not_the_equations_are_not_healthy():
    report = examined(masks_that_meet.OnlyNearlyHidden)
    assert not report.healthy, report


def test_an_overflow_shows_beside_rows_that_see_nothing():
    assert "mask-float16-overflow" in examined(masks_that_meet.OverflowsInHalf).names


def test_scores_of_a_million_are_worth_knowing():
    report = examined(masks_that_meet.RunningMaximum)
    assert report.verdict == "healthy, with notes: unnamed", report


def test_a_missing_scale_may_be_meant_beside_a_gate():
    report = examined(masks_that_meet.GatedAndNarrow)
    assert report.healthy, report
    assert "scale-missing" in [finding.name for finding in report.findings]


@pytest.mark.parametrize(
    ("lost", "verdict"),
    [
        ("", "healthy, with notes: mask-full-row-nan"),
        ("context_mask", "sick: mask-ignored"),
        ("mask", "`mask` has no effect on keys from another sequence; healthy, with notes: mask-full-row-nan"),
    ],
)
def test_a_mask_is_used_beside_a_context_too(lost, verdict):
    assert examined(lambda: masks_that_meet.ToAContext(lost=lost)).verdict == verdict


BESIDE_A_CONTEXT = [masks_that_meet.OneOfEach, masks_that_meet.Encoders, masks_that_meet.ThreeSequences]


@pytest.mark.parametrize("kind", [*BESIDE_A_CONTEXT, masks_that_meet.OfItsContext], ids=lambda kind: kind.__name__)
def test_right_ones_beside_a_context_are_healthy(kind):
    report = examined(kind)
    assert report.healthy, report
    assert not report.untested_masks, report


@pytest.mark.parametrize(
    ("kind", "change", "name"),
    [
        ("OneOfEach", ("mask if context is None else context_mask", "mask"), "mask-ignored"),
        ("OneOfEach", ("else context_mask", "else None"), "mask-ignored"),
        ("OneOfEach", ("if context is None:\n", "if context is None and mask is None:\n"), "causal-lost-with-mask"),
        (
            "OneOfEach",
            ("fill(ahead, low)", "fill(ahead if mask is None else ahead & ~mask[:, None, None], low)"),
            "causal-lost-with-mask",  # beside padding behind the tokens, the same as a key that either allows
        ),
        (
            "Encoders",
            ("encoder_hidden_states, encoder_attention_mask\n", "encoder_hidden_states, None\n"),
            "mask-ignored",
        ),
        ("ThreeSequences", ("if mask is not None", "if mask is not None and query is key"), "mask-ignored"),
    ],
)
def test_mistakes_beside_a_context_are_named(kind, change, name, tmp_path, monkeypatch):
    monkeypatch.setitem(MISTAKES, kind, {"": change})
    report = examined(lambda: mutant(getattr(masks_that_meet, kind), "", tmp_path))
    assert report.healthy is False, report
    assert name in report.names, report


def test_a_single_mask_that_hides_nothing_in_a_context_leaves_no_verdict(tmp_path, monkeypatch):
    change = "(x, context, context, mask)", "(x, context, context, mask if context is x else None)"
    monkeypatch.setitem(MISTAKES, "OfItsContext", {"": change})
    report = examined(lambda: mutant(masks_that_meet.OfItsContext, "", tmp_path))
    assert report.healthy is None, report
    assert "no other mask hides any of them" in report.reason
