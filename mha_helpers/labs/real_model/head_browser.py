"""Head browser: the heads of a trained model, on any sentence that someone types."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import ipywidgets
import numpy as np

from live_pictures.card import Picture
from live_pictures.controls import NAMED, check_box, dropdown
from live_pictures.marks import each_part
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from live_pictures.svg import short
from mha_helpers import exercises, running_example
from mha_helpers.encoder import Encoding
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import AGAIN
from mha_helpers.labs.real_model import head_browser_picture as browser_picture
from mha_helpers.labs.real_model import head_browser_runs as runs
from mha_helpers.labs.real_model.head_browser_picture import DRAWN
from mha_helpers.labs.real_model.head_browser_runs import OURS, TWINS, KnockOut, Runs

SENTENCE = running_example.SENTENCE
# Heads worth seeing first: what they look at, with their layer and head.
PRESETS = {
    "the token before": (0, 2),
    "the token after": (1, 8),
    "[CLS]": (2, 7),
    "a noun": (5, 11),
}
APART = 1e-3  # far above what rounding makes of a right function in six layers, and too little to be seen


@dataclass(frozen=True)
class Unavailable:
    """Why there is no model."""

    why: str


@dataclass(frozen=True)
class Result:
    """One head of the model on one sentence."""

    encoding: Encoding
    layer: int
    head: int
    query: int
    twin: np.ndarray | None  # the untrained model's weights at the same place
    knock_out: KnockOut | None
    cosine: float | None  # of a wrong function's sentence vector and the right one
    mark: np.ndarray | None  # the wrong cells of the open head's weights
    difference: str  # what is wrong with them, in words
    notice: str

    @property
    def tokens(self):
        return self.encoding.tokens

    @property
    def weights(self):
        return self.encoding.weights[self.layer, self.head]

    @property
    def row(self):
        return self.weights[self.query]

    @cached_property
    def means(self):
        return runs.mean_weights(self.weights)

    @cached_property
    def label(self):
        return runs.label(self.weights)


def compute(state, function=None, theirs=None):
    """Compute what is shown of one head from the controls' values.

    Parameters
    ----------
    state : dict
    function : callable, optional
        The learner's.
    theirs : Runs, optional
        Those of the learner's function so far.

    Returns
    -------
    Result or Unavailable
    """
    try:
        for model in (OURS, TWINS) if state["random twin"] else (OURS,):
            model.encoder()
    except (ImportError, OSError, ValueError) as error:
        return Unavailable(str(error))
    theirs = OURS if function is None else theirs or Runs(function)
    found = theirs.answer(state["sentence"])
    if not found.is_theirs:
        return _seen(state, OURS, found)
    try:
        return _seen(state, theirs, found)
    except ValueError as error:  # right in the first layer alone, and stopped in a later one
        why = f"Shown with the course's own multi_head_attention: yours stopped in a later layer. {error}. {AGAIN}"
        return _seen(state, OURS, replace(found, notice=why, differs={}))


def _seen(state, shown, found):
    """Return what is seen with one attention function in the model."""
    sentence, layer, head = state["sentence"], state["layer"], state["head"]
    ours, encoding = OURS.encode(sentence), shown.encode(sentence)
    cosine, mark, difference, notice = None, None, "", found.notice
    if found.differs or not _alike(encoding, ours):
        cosine = float(encoding.vector @ ours.vector)
        mark, difference = _first_difference(encoding, ours, layer, head)
    if difference and not found.differs:
        notice = f"Your multi_head_attention is right in layer 0, and not in all layers (marked ≠). {AGAIN}"
    return Result(
        encoding, layer, head, query=min(state["query"], len(encoding.tokens) - 1),
        twin=TWINS.encode(sentence).weights[layer, head] if state["random twin"] else None,
        knock_out=shown.knock_out(sentence, layer, head) if state["knock out"] else None,
        cosine=cosine, mark=mark, difference=difference, notice=f"{notice} {_about_the_sentence(encoding)}".strip(),
    )  # fmt: skip


def _apart(first, other):
    return ~np.isclose(first, other, rtol=0, atol=APART)


def _alike(first, other):
    return first is other or not (
        _apart(first.weights, other.weights).any() or _apart(first.vector, other.vector).any()
    )


def _first_difference(encoding, ours, layer, head):
    """Return the wrong cells of the open head's weights, if there are any, and a remark on them."""
    theirs, right = encoding.weights[layer, head], ours.weights[layer, head]
    wrong = _apart(theirs, right)
    if not wrong.any():
        return None, "This head's weights are right; the difference is elsewhere."
    query, key = map(int, np.argwhere(wrong)[0])
    cell = f"query {query} {quoted(encoding, query)}, key {key} {quoted(encoding, key)}"
    return wrong, f"{cell}: {short(theirs[query, key], 4)}, and should be {short(right[query, key], 4)}"


def quoted(encoding, place):
    """Write a token in quotes, set apart so that one that runs from right to left turns nothing else round."""
    token = encoding.tokens[place]
    return f"“{token}”" if token.isascii() else f"“\u2066{token}\u2069”"


def _about_the_sentence(encoding):
    if len(encoding.tokens) == 2:
        return "There is nothing to read here: the model sees [CLS] and [SEP] alone."
    return encoding.message


def sentence(result):
    """Describe the picture."""
    if isinstance(result, Unavailable):
        return f"The trained model could not be loaded: {result.why}"
    readout = [_row(result)]
    if result.cosine is None:  # else there is enough to be said
        readout.append(_label(result))
    readout += filter(None, [_of_twin(result), _moved(result)])
    if result.cosine is not None:
        readout.append(f"The sentence's vector has cosine {number(result.cosine, 4)} with the right one.")
    return " ".join(readout)


def _of_twin(result):
    if result.twin is None:
        return ""
    row = result.twin[result.query]
    return (
        f"The random twin's head there: at most {number(row.max())}, to {quoted(result.encoding, row.argmax())}; "
        f"spread evenly, each would get {number(1 / len(row))}."
    )


def _moved(result):
    if not result.knock_out:
        return ""
    return f"Without this head the sentence's vector has cosine {number(result.knock_out.cosine, 4)} with what it was."


def _row(result):
    place = f"Layer {result.layer}, head {result.head}: {quoted(result.encoding, result.query)} (token {result.query})"
    if not np.isfinite(result.row).all():
        return f"{place} has weights that are NaN or infinite."
    first, *others = np.argsort(-result.row, kind="stable")[:3]
    seen = [key for key in others if abs(result.row[key]) >= 0.005]
    more = " and ".join(f"{quoted(result.encoding, key)} ({short(result.row[key], 2)})" for key in seen)
    most = f"{quoted(result.encoding, first)} ({short(result.row[first], 2)})"
    return f"{place} attends most to {most}{', then to ' if seen else ''}{more}."


def _label(result):
    if result.label != runs.UNCLEAR:
        mean = short(result.means[[*runs.KINDS].index(result.label)], 2)
        return f"Label: {result.label}; on average {mean} of the weight goes to {runs.KINDS[result.label]}."
    if len(result.tokens) < runs.FEWEST_TOKENS:
        return f"Label: {runs.UNCLEAR}; it takes {runs.FEWEST_TOKENS} tokens to tell one kind of key from another."
    needed = number(runs.THRESHOLD)
    return f"Label: {runs.UNCLEAR}; no kind of key gets {needed} on average."


def render(result):
    """Draw a result."""
    readout = sentence(result)
    if isinstance(result, Unavailable):
        return Picture(browser_picture.draw_message(readout), readout, "Nothing can be shown yet.")
    return Picture(browser_picture.draw(result, readout), readout, result.notice)


# On a page: on what its pieces depend.
PIECES = {
    ("layer", "head", "query"): lambda result: (
        each_part(DRAWN, result, "arcs"),
        f"{_row(result)} {_label(result)}",
    ),
    ("query",): lambda result: (each_part(DRAWN, result, "finds"), ""),
    ("layer", "head", "knock out"): lambda result: (each_part(DRAWN, result, "beside"), _moved(result)),
    ("knock out", "random twin"): lambda result: (each_part(DRAWN, result, "switches", "cut"), ""),
    ("layer", "head", "query", "random twin"): lambda result: (each_part(DRAWN, result, "twin"), _of_twin(result)),
}


def words_of(sentence):
    """Return the sentence's tokens as a drop-down offers them: each with its place, as words may stand twice."""
    try:
        tokens = OURS.encode(sentence).tokens
    except (ImportError, OSError, ValueError):  # the picture says that there is no model
        return [("it (token 8)", 8)]
    return [(f"{token} (token {place})", place) for place, token in enumerate(tokens)]


def head_browser(function: Callable | None = None) -> Lab:
    """Show the head browser: type a sentence, open a head, choose a query.

    Parameters
    ----------
    function : callable, optional
        The learner's `multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None) -> (output, weights)`, which
        then runs the model. While it is a stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = head_browser()
    >>> "Label: prev; on average 1.00 of the weight goes to the token before." in lab.readout.value
    True
    >>> lab.set(layer=5, head=11)
    >>> "Layer 5, head 11: “it” (token 8) attends most to “cat” (0.72)" in lab.readout.value
    True
    """
    text = ipywidgets.Text(
        SENTENCE, description="sentence", continuous_update=False, style=NAMED, layout={"width": "300px"}
    )
    layer, head = dropdown("layer", range(runs.N_LAYERS), 0), dropdown("head", range(runs.N_HEADS), 2)
    query = ipywidgets.Dropdown(
        options=words_of(SENTENCE), value=8, description="query", style=NAMED, layout={"width": "190px"}
    )
    preset = dropdown("a head that attends to", PRESETS, width="265px")
    switches = {name: check_box(name) for name in ("random twin", "knock out")}
    theirs = Runs(function)

    def offer_words(_):
        """Offer the sentence's words as queries; the chosen one stays where it is there, too."""
        words, chosen = words_of(text.value), query.label.partition(" (")[0]
        if words and words != list(query.options):
            same = [place for label, place in words if label.partition(" (")[0] == chosen]
            query.options = words
            query.value = same[0] if same else min(len(words) - 1, 1)

    lab = Lab(
        name="head_browser",
        title="head browser",
        task="Glide over the map of heads, or press one: what does “it” attend to? Knock it out.",
        extra_task="Then type your own sentence, and press Enter.",
        controls={"sentence": text, "layer": layer, "head": head, "query": query} | switches,
        form=Form(
            rows=([layer, head, query, *switches.values()], [text, preset, Lab.BUTTONS]),
            on_picture=("layer", "head", "query", *switches),
        ),
        compute=lambda state, function=None: compute(state, function, theirs),
        render=render,
        function=function,
        exercise=exercises.multi_head_attention,
        on_change={"sentence": offer_words},
        page=StaticPage(
            kernel_only="a sentence of your own",
            pieces=PIECES,
        ),
    )

    preset.observe(lambda change: lab.set(**dict(zip(("layer", "head"), PRESETS[change["new"]], strict=True))), "value")
    return lab
