"""What a cache costs: its size in models of today, and what the writer loses when its cache is made smaller."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from function_judge.error_text import error_in_brief
from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import chip, tick_box
from live_pictures.controls import radio
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers import decoder, exercises
from mha_helpers.attention import combine_heads, split_heads
from mha_helpers.course_data import data_path
from mha_helpers.drawing import palette
from mha_helpers.exercises.todays_heads.predictions import TRIED
from mha_helpers.grouped import grouped_attention
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import AGAIN, run_for_lab
from mha_helpers.masks import causal_mask
from mha_helpers.rounding import round_to_bits

OWN, SOME, MANY, ONE, SHORT = "each its own", "some share", "many share", "one for all", "a short vector"
SHARINGS = (OWN, SOME, MANY, ONE, SHORT)
ALL, WIDE, MIDDLE, NARROW = "all", "wide", "middle", "narrow"
WINDOWS = (ALL, WIDE, MIDDLE, NARROW)
LENGTHS = ("short", "middle", "whole")
FULL, *_ = BITS = (16, 4, 3, 2)  # of a number that is kept
SCALE = 16  # bits of what a token's rounded numbers are multiplied by
GOAL = 1.6  # nats: below it the writer's loss is to stay


@dataclass(frozen=True)
class Model:
    """A model's sizes, as it was built and as it could have been."""

    n_layers: int
    n_heads: int
    d_head: int
    kv_heads: tuple  # heads of keys and values in each of SHARINGS but the last
    short: int  # how many numbers a short vector has
    windows: tuple  # tokens that are attended to, in each of WINDOWS but the first
    lengths: tuple  # tokens of a text; the last is the longest that the model reads
    built: dict  # the controls' values, with every number whole


WRITER = "the writer"
# A short vector has 4 d_head numbers, and d_head / 2 for a rotated key beside it, as in DeepSeek-V2; the writer rotates
# nothing.
MODELS = {
    WRITER: Model(
        4, 6, 32, (6, 3, 2, 1), 128, (64, 32, 8), (64, 128, 256),
        {"sharing": OWN, "window": ALL, "bits": FULL},
    ),
    # Touvron et al. (2023), https://arxiv.org/abs/2307.09288, and the sizes that its weights come with, params.json.
    "Llama 2 70B": Model(
        80, 64, 128, (64, 32, 8, 1), 576, (2048, 1024, 256), (1024, 2048, 4096),
        {"sharing": MANY, "window": ALL, "bits": FULL},
    ),
    # Jiang et al. (2023), https://arxiv.org/abs/2310.06825, table 1.
    "Mistral 7B": Model(
        32, 32, 128, (32, 16, 8, 1), 576, (4096, 1024, 256), (2048, 4096, 8192),
        {"sharing": MANY, "window": WIDE, "bits": FULL},
    ),
    # DeepSeek-AI (2024), https://arxiv.org/abs/2405.04434, section 3.1.2.
    "DeepSeek-V2": Model(
        60, 128, 128, (128, 32, 8, 1), 576, (16384, 4096, 1024), (4096, 32768, 131072),
        {"sharing": SHORT, "window": ALL, "bits": FULL},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Result:
    """A cache: what it keeps, and what the model's loss is with no more than that, if it can be measured."""

    name: str
    model: Model
    sharing: str
    window: str
    bits: int
    length: str
    loss: float | None
    right: float | None  # the loss on the course's own attention
    notice: str

    @property
    def n_tokens(self):
        """How long the text is."""
        return self.model.lengths[LENGTHS.index(self.length)]

    @property
    def width(self):
        """How many tokens are attended to, at most."""
        return width(self.model, self.window) or self.n_tokens

    @property
    def n_kept(self):
        """How many tokens are kept."""
        return min(self.n_tokens, self.width)

    @property
    def numbers(self):
        """How many numbers are kept of a token in each layer."""
        return numbers(self.model, self.sharing)

    @property
    def whole(self):
        """How many numbers a token has in each layer where every head has keys and values of its own."""
        return numbers(self.model, OWN)

    @property
    def bits_of_token(self):
        """How many bits a token has in each layer: its numbers, and their scales if they are rounded."""
        if self.bits == FULL:
            return FULL * self.numbers
        n_scales = 1 if self.sharing == SHORT else self.numbers // self.model.d_head
        return self.bits * self.numbers + SCALE * n_scales

    @property
    def size(self):
        """In bytes."""
        return self.model.n_layers * self.bits_of_token * self.n_kept / 8

    @property
    def share(self):
        """Of what the same text takes where nothing is shared, rounded or thrown away."""
        return self.bits_of_token * self.n_kept / (FULL * self.whole * self.n_tokens)


def numbers(model, sharing):
    if sharing == SHORT:
        return model.short
    return 2 * model.kv_heads[SHARINGS.index(sharing)] * model.d_head


def width(model, window):
    """Return how many tokens a window shows; None for all."""
    return None if window == ALL else model.windows[WINDOWS.index(window) - 1]


def attend_with(attend, sharing, window, bits):
    """Return attention for the writer whose cache would hold no more than is asked for. Nothing is trained again."""
    n_kv_heads = MODELS[WRITER].kv_heads[0 if sharing == SHORT else SHARINGS.index(sharing)]
    seen = width(MODELS[WRITER], window)

    def attention(X, W_Q, W_K, W_V, W_O, n_heads, mask):
        if seen:
            mask = mask & ~np.tri(X.shape[-2], k=-seen, dtype=bool)
        if sharing == SHORT:
            keys, values = (split_heads(part, n_kv_heads) for part in squeezed(X, W_K, W_V, bits))
        else:
            heads = (split_heads(part, n_kv_heads) for part in averaged(X, W_K, W_V, n_heads, n_kv_heads))
            keys, values = (kept(part, bits) for part in heads)
        context, weights = attend(split_heads(X @ W_Q, n_heads), keys, values, mask)
        return combine_heads(context) @ W_O, weights

    return attention


def kept(numbers, bits):
    """Return what is read from a cache in which each number has so many bits."""
    return numbers if bits == FULL else round_to_bits(numbers, bits)


def averaged(X, W_K, W_V, n_heads, n_kv_heads):
    """Return keys and values of fewer heads, each the mean of neighbours (Ainslie et al. 2023)."""
    for W in (W_K, W_V):
        heads = W.reshape(len(W), n_kv_heads, n_heads // n_kv_heads, -1)
        yield X @ heads.mean(axis=2).reshape(len(W), -1)


def squeezed(X, W_K, W_V, bits):
    """Return all keys and values, made from a short vector: the best of its length for these matrices."""
    U, S, V = np.linalg.svd(np.hstack([W_K, W_V]), full_matrices=False)
    rank = MODELS[WRITER].short
    return np.split(kept(X @ (U[:, :rank] * S[:rank]), bits) @ V[:rank], 2, axis=-1)


def loss(attend, sharing, window, bits, n_tokens):
    """Return the writer's loss on a thousand characters that it has not read, in pieces of one length."""
    model, text = decoder.load(), decoder.held_out_text()[TRIED]
    pieces = [text[i : i + n_tokens + 1] for i in range(0, len(text) - 1, n_tokens)]
    return float(np.mean([model.loss(piece, attend_with(attend, sharing, window, bits)) for piece in pieces]))


def called(*cache):
    """Return what a cache is called where its loss is stored: how it is shared, its window, bits and length."""
    return ", ".join(map(str, cache))


def our_loss(*cache):
    """Return the loss with the course's own attention, which `python -m tools refresh` measures."""
    return _stored()[called(*cache)]


@functools.cache
def _stored():
    return json.loads(data_path("labs/cache_cost.json").read_text(encoding="utf-8"))["losses"]


def _arguments():
    """Return queries, keys and values of the writer's first block, two heads of keys and values for six of queries."""
    model = decoder.load()
    block = model.blocks[0]
    X = block.attention_norm(model.characters[model.codes("ROMEO:")] + model.positions[:6])
    W_Q, W_K, W_V, _ = block.matrices
    queries, (keys, values) = split_heads(X @ W_Q, 6), (split_heads(part, 2) for part in averaged(X, W_K, W_V, 6, 2))
    return {"queries": queries, "keys": keys, "values": values}


def compute(state, function=None, losses=loss):
    """Compute a cache's size and the writer's loss from the controls' values.

    Parameters
    ----------
    state : dict
    function : callable, optional
        The learner's.
    losses : callable, optional
        As `loss`; the lab remembers what it has measured.

    Returns
    -------
    Result
    """
    name, sharing, window, bits, length = map(state.get, ("model", "sharing", "window", "bits", "length"))
    model, found_loss, right, notice = MODELS[name], None, None, "Sizes alone: this model isn't run here."
    if name == WRITER:
        n_tokens = model.lengths[LENGTHS.index(length)]
        found = run_for_lab(function, grouped_attention, _arguments(), ("context", "weights"), {"mask": causal_mask(6)})
        found_loss = right = our_loss(sharing, window, bits, n_tokens)
        notice = found.notice
        if found.is_theirs:
            try:
                found_loss = losses(function, sharing, window, bits, n_tokens)
            except ValueError as error:  # where windows or other heads are asked for
                why = error_in_brief(error.__cause__ or error, function)
                notice = f"Shown with the course's own grouped_attention: yours stopped with {why}. {AGAIN}"
    return Result(name, model, sharing, window, bits, length, found_loss, right, notice)


def in_units(size):
    """Write a size in bytes so that it can be read.

    Examples
    --------
    >>> in_units(786432), in_units(1.25 * 2**30)
    ('0.75 MiB', '1.25 GiB')
    """
    for unit, of in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= of:
            return f"{_short(size / of)} {unit}"
    return f"{_short(size / 2**20)} MiB" if size >= 2**17 else f"{_short(size / 2**10)} KiB"


def _short(value):
    """Write a number with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def sentence(result):
    """Describe the picture."""
    model, tokens = result.model, f"{result.n_kept:,} of {result.n_tokens:,} tokens"
    readout = [
        f"{result.name[0].upper()}{result.name[1:]} keeps {result.numbers:,} numbers of {result.bits} bits for each of "
        f"{tokens}, in {model.n_layers} layers: {in_units(result.size)}, {_percent(result.share)} of the whole."
    ]
    if is_built(result):
        readout.append("That is how it was built.")
    if result.loss is None:
        readout.append("What its loss would be with another cache, only training could tell.")
    else:
        whole = our_loss(OWN, ALL, FULL, result.n_tokens)
        readout.append(f"Its loss is {number(result.loss)} nats, with everything kept {number(whole)}.")
    return " ".join(readout)


def is_built(result):
    return {name: getattr(result, name) for name in result.model.built} == result.model.built


def _percent(share):
    return f"{100 * share:.3g} %"


WIDTHS, HEIGHT = (344, 296), 378  # of the two pictures
BLOCK = (62, 92, 262, 220)  # of the whole cache: left, top, width and height
REACH, MIN_EDGE = 12, 54  # of an edge: how far from it a pointer takes it, and how long it is at least
LOSS = (20, 52, 256, 1.0, 5.2)  # of the line of losses: left, y, width, and where it begins and ends
CACHE, KNOB = palette.ROLES["keys"], style.INK


def render(result):
    """Draw the cache as a block of tokens by numbers, whose edges are dragged; the loss on a line; and the choices."""
    readout = sentence(result)
    block = svg.document(WIDTHS[0], HEIGHT, [*_block(result), *_edges(result)], label=readout)
    choices = svg.document(WIDTHS[1], HEIGHT, [*_loss(result), *_choices(result)], label="The loss, and whose cache.")
    return Picture(block + choices, readout, result.notice)


def _across(result, n_numbers):
    return max(BLOCK[2] * n_numbers / result.whole, 2)


def _down(result, n_tokens):
    return max(BLOCK[3] * min(n_tokens, result.n_tokens) / result.n_tokens, 2)


def _block(result):
    """Draw what is kept, as a share of what could be."""
    left, top, wide, high = BLOCK
    model, bottom = result.model, top + high
    across, down = _across(result, result.numbers), _down(result, result.n_kept)
    whole = result.size / result.share
    yield svg.text(0, 30, _times(1 / result.share), bold=True, size=32, colour=palette.role_text("keys"))
    yield svg.text(0, 52, f"{in_units(result.size)} instead of {in_units(whole)}", bold=True)
    if result.sharing == SHORT:
        what = "a short vector"
    else:
        n_heads = model.kv_heads[SHARINGS.index(result.sharing)]
        what = f"keys and values of {n_heads} {'head' if n_heads == 1 else 'heads'} (of {model.n_heads})"
    yield svg.text(0, top - 10, f"{result.numbers:,} numbers: {what}", size=11)
    yield svg.box(left, top, wide, high, stroke=EDGE, dashed=True)
    for n_numbers in {numbers(model, sharing) for sharing in SHARINGS}:
        x = left + _across(result, n_numbers)
        yield svg.line(x, bottom, x, bottom + 5, colour=EDGE)
    last = 0
    for n_tokens in sorted({result.n_tokens, *(window for window in model.windows if window)}):
        y = top + _down(result, n_tokens)
        yield svg.line(left + wide, y, left + wide + 5, y, colour=EDGE)
        if y > last + 11 or n_tokens == result.n_tokens:
            yield svg.text(left + wide - 4, min(y + 4, bottom - 4), f"{n_tokens:,}", anchor="end", size=11)
            last = y
    yield marks.part(svg.box(left, top, across, down, fill=style.tint(CACHE, 0.15), stroke=CACHE), "kept")
    filled = result.bits_of_token / (FULL * result.numbers)  # the bits that are left of each number
    yield marks.part(svg.box(left, top, across * filled, down, fill=style.tint(CACHE, 0.6)), "bits")
    at = max(top + 12, top + down)  # not above the block
    yield svg.text(left - 6, at, f"{result.n_kept:,}", anchor="end", size=12, bold=True)
    yield svg.text(left - 6, at + 14, "tokens", anchor="end", size=11)
    seen = f"to {result.width:,} tokens at most" if width(model, result.window) else "to all tokens before it"
    yield svg.text(left, bottom + 22, f"Each token attends {seen}", size=11)
    yield svg.text(left, bottom + 38, "dashed: every token, and 16 bits for each", size=11, colour=style.QUIET)
    yield svg.text(left, bottom + 53, "number of each head's own keys and values", size=11, colour=style.QUIET)


def _edges(result):
    """Draw the block's right and lower edge, each with a knob: they are dragged."""
    left, top, _, _ = BLOCK
    across, down = _across(result, result.numbers), _down(result, result.n_kept)
    x, y, tall, wide = left + across, top + down, max(down, MIN_EDGE), max(across, MIN_EDGE)
    right = _edge(x - REACH, top + 14, 2 * REACH, max(tall - 28, 40), (x, top, x, top + tall), "↔")
    lower = _edge(left + 14, y - REACH, max(wide - 28, 40), 2 * REACH, (left, y, left + wide, y), "↕")
    stops = [left + _across(result, numbers(result.model, sharing)) for sharing in SHARINGS]
    yield marks.track(
        right, "sharing", name="heads of keys and values", stops=[{"sharing": sharing} for sharing in SHARINGS],
        points=[(stop, top) for stop in stops], carried=True, part="right edge",
        tip="Drag: how many heads have keys and values.",
    )  # fmt: skip
    stops = [top + _down(result, width(result.model, window) or result.n_tokens) for window in WINDOWS]
    yield marks.track(
        lower, "window", stops=[{"window": window} for window in WINDOWS],
        points=[(left, stop) for stop in stops], carried=True, part="lower edge",
        tip="Drag: how many tokens each attends to, and so are kept.",
    )  # fmt: skip


def _edge(x, y, across, down, ends, arrow):
    """Draw an edge, with a knob in the middle of where it can be taken."""
    at = x + across / 2, y + down / 2
    parts = svg.box(x, y, across, down, fill="transparent") + svg.line(*ends, colour=KNOB, width=4)
    knob = svg.circle(*at, 12, fill=KNOB, stroke=style.PAPER)
    return parts + knob + svg.text(at[0], at[1] + 5, arrow, anchor="middle", bold=True, size=14, colour=style.PAPER)


def _choices(result):
    """Draw the models to choose from, how long the text is, and what an edge cannot say."""
    yield svg.text(0, 132, "Whose cache?", bold=True)
    for k, name in enumerate(MODELS):
        drawn = chip(1 + 146 * (k % 2), 140 + 31 * (k // 2), 140, name, chosen=name == result.name, colour=CACHE)
        yield marks.radio(drawn, {"model": name}, also_sets=_opened(name), name=name)
    yield svg.text(0, 224, "Tokens of text", bold=True)
    for k, (length, n) in enumerate(zip(LENGTHS, result.model.lengths, strict=True)):
        drawn = chip(1 + 97 * k, 232, 92, f"{n:,}", chosen=length == result.length)
        yield marks.radio(drawn, {"length": length}, name=f"{length} text")
    short = tick_box(0, 264, "a short vector instead of heads", on=result.sharing == SHORT)
    yield marks.switch(
        short + svg.box(0, 264, 230, 26, fill="transparent"), {"sharing": SHORT}, {"sharing": MANY},
        name="a short vector instead of heads",
    )  # fmt: skip
    yield svg.text(0, 312, "Bits of a number", bold=True)
    for k, bits in enumerate(BITS):
        drawn = chip(1 + 73 * k, 320, 68, str(bits), chosen=bits == result.bits, colour=CACHE)
        yield marks.radio(drawn, {"bits": bits}, name=f"{bits} bits")
    yield marks.button(chip(1, 351, 140, "as it was built", chosen=is_built(result)), press="As it was built")


def _opened(name):
    """Return how a model is first seen: as it was built; the writer's cache is the reader's own."""
    return {} if name == WRITER else MODELS[name].built


def _times(smaller):
    """Say how many times smaller a cache is than the whole."""
    written = f"{smaller:.0f}" if smaller >= 9.95 else f"{smaller:.1f}".removesuffix(".0")
    return f"{written} × smaller" if written != "1" else "Nothing saved"


def _loss(result):
    """Draw the loss on a line, beside that with everything kept, and that of guessing."""
    left, y, wide, least, most = LOSS
    if result.loss is None:
        yield svg.text(0, y - 24, "Loss: unknown, this model isn't run here", bold=True, size=12)
        return

    def place(value):
        return left + wide * (min(max(np.nan_to_num(value, nan=most), least), most) - least) / (most - least)

    whole, guessing = our_loss(OWN, ALL, FULL, result.n_tokens), np.log(len(decoder.load().alphabet))
    differs = abs(result.loss - result.right) > 0.005 or not np.isfinite(result.loss)
    ink = style.ALARM if differs else style.INK
    mark_wrong = f" ≠ {number(result.right)}" if differs else ""
    is_met = result.loss < GOAL  # no NaN is
    judged, colour = ("✓ goal met", palette.role_text("values")) if is_met else ("✗ goal missed", style.ALARM)
    yield svg.text(0, y - 26, f"Loss {number(result.loss)}{mark_wrong}", bold=True, size=18, colour=ink)
    yield svg.text(WIDTHS[1] - 12, y - 26, judged, anchor="end", bold=True, colour=colour)
    yield svg.text(0, y + 40, "nats a character; it is not trained again", size=11, colour=style.QUIET)
    yield svg.line(left, y, left + wide, y, colour=EDGE, width=3)
    yield svg.line(left, y, place(result.loss), y, colour=colour, width=6)
    for value, name in ((whole, f"all kept {number(whole)}"), (guessing, f"guessing {number(guessing)}")):
        at = place(value)
        yield svg.line(at, y - 7, at, y + 7, colour=style.INK, width=2)
        yield svg.text(at, y + 24, name, anchor="middle", size=11)
    goal = place(GOAL)
    yield svg.line(goal, y - 17, goal, y + 7, colour=palette.role_text("values"), width=2)
    yield svg.text(goal + 5, y - 10, f"goal: below {GOAL}", size=11, bold=True, colour=palette.role_text("values"))
    yield marks.part(svg.circle(place(result.loss), y, 8, fill=colour, stroke=style.PAPER), "loss")


def cache_cost(function: Callable | None = None) -> Lab:
    """Show what a cache costs: its bytes in four models, and the writer's loss when less is kept.

    Parameters
    ----------
    function : callable, optional
        The learner's `grouped_attention(queries, keys, values, mask) -> (context, weights)`. While it is a stub the
        course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = cache_cost()
    >>> lab.set(model="Llama 2 70B", sharing="each its own")
    >>> "4,096 tokens, in 80 layers: 10 GiB" in lab.readout.value
    True
    """
    controls = {
        "model": radio("model", MODELS),
        "sharing": radio("keys and values", SHARINGS, MANY),
        "window": radio("window", WINDOWS),
        "bits": radio("bits", BITS),
        "length": radio("text", LENGTHS, LENGTHS[-1]),
    }

    def open_as_built(change):
        lab.set(**_opened(change["new"]))

    lab = Lab(
        name="cache_cost",
        title="what a cache costs",
        task=f"Drag the block's edges: how small can the writer's cache be while its loss stays below {GOAL}?",
        controls=controls,
        actions={"As it was built": lambda state: MODELS[state["model"]].built},
        form=Form(
            rows=(
                [controls["model"]],
                [controls["sharing"]],
                [controls["window"], controls["length"]],
                [controls["bits"]],
                [Lab.BUTTONS],
            ),
            on_picture=(*controls, "As it was built"),
        ),
        compute=functools.partial(compute, losses=functools.lru_cache(64)(loss)),
        render=render,
        function=function,
        exercise=exercises.grouped_attention,
        on_change={"model": open_as_built},
    )
    return lab
