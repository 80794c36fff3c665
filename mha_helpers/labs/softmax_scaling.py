"""Softmax and sqrt(d_k): scores spread with d_k, and softmax of widely spread scores saturates."""

import functools
import math
from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention, measures
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture
from mha_helpers.learner.answer import answer

N_KEYS, N_SEQUENCES, N_DRAWS = 8, 25, 30
N_ROWS = N_SEQUENCES * N_KEYS  # a row of scores for each query
KEYS = [f"key {j + 1}" for j in range(N_KEYS)]
D_MODEL = 512
UNSCALED = "none"
DIVISORS = {
    UNSCALED: lambda d_k: 1.0,
    "sqrt(d_k)": math.sqrt,
    "d_k": float,
    "sqrt(d_model)": lambda d_k: math.sqrt(D_MODEL),
}
AXIS = 90  # no row that the controls can reach holds a larger score
TICKS = range(-AXIS, AXIS + 1, 30)
# From this share of the scaled rows' gradient on, the read-out calls the divisor unimportant.
HARDLY_WORSE = 0.9
MEASURES = ("entropy", "largest weight", "Jacobian, size")


@dataclass(frozen=True)
class Result:
    """One query's scores and weights, and what is usual at the same d_k."""

    d_k: int
    divided_by: str  # a key of DIVISORS
    divisor: float
    added: int
    raw: np.ndarray  # one query's scores with the keys
    scores: np.ndarray  # divided, and with the constant: what goes into softmax
    spread: float  # the standard deviation of all rows' raw scores
    weights: np.ndarray
    measured: np.ndarray  # the MEASURES of these weights
    usual: np.ndarray  # their means over N_ROWS rows, with the course's softmax
    scaled_norm: float  # the last of these when divided by sqrt(d_k)
    moved: float  # by how much the constant has changed a weight, at most
    exponentials: np.ndarray
    naive: np.ndarray
    stable: np.ndarray
    notice: str
    differs: dict


@functools.cache  # drawing is the slowest step, and a constant or another divisor needs no new draw
def sample_scores(draw, d_k):
    """Return the raw scores of N_ROWS queries, each with the keys of its own sequence."""
    rng = np.random.default_rng([draw, d_k])
    queries = rng.standard_normal((N_SEQUENCES, N_KEYS, d_k))
    keys = rng.standard_normal((N_SEQUENCES, N_KEYS, d_k))
    scores = attention.attention_scores(queries, keys).reshape(N_ROWS, N_KEYS)
    scores.flags.writeable = False  # the same array is returned every time
    return scores


def measure(weights):
    """Return the MEASURES of each row of weights, in a last axis; NaN for a row that holds a negative one."""
    weights = np.where(weights < 0, np.nan, weights)
    found = measures.entropy(weights), weights.max(axis=-1), measures.jacobian_norm(weights)
    return np.stack(found, axis=-1)


def compute(state, function=None):
    """From the controls' values to every number that the lab shows."""
    d_k, added = state["d_k"], state["add"]
    divisor = DIVISORS[state["divisor"]](d_k)
    rows = sample_scores(state["draw"], d_k)
    raw = rows[0]
    scores = raw / divisor + added
    # A row of its own axis, so that a softmax over the wrong axis shows.
    found = answer(function, attention.softmax, {"scores": scores[None]}, ("weights",))
    weights = found.arrays[0][0]
    with np.errstate(all="ignore"):  # overflow is what the naive way is to show; a learner's weights may be anything
        exponentials = np.exp(scores)
        naive = exponentials / exponentials.sum()
        shifted = np.exp(scores - scores.max())
        measured = measure(weights)
        moved = float(np.abs(weights - attention.softmax(raw / divisor)).max())
    return Result(
        d_k, state["divisor"], divisor, added, raw, scores, spread=float(rows.std()), weights=weights,
        measured=measured, moved=moved, usual=measure(attention.softmax(rows / divisor)).mean(axis=0),
        scaled_norm=float(measures.jacobian_norm(attention.softmax(rows / math.sqrt(d_k))).mean()),
        exponentials=exponentials, naive=naive, stable=shifted / shifted.sum(), notice=found.notice,
        differs=found.differs,
    )  # fmt: skip


def sentence(result):
    """Say what is to be seen."""
    spread = number(result.spread)
    if result.divided_by == UNSCALED:
        said = [f"Not divided, at d_k = {result.d_k}, the scores spread by {spread} (sqrt(d_k) = {_root(result)});"]
    else:
        now = number(result.spread / result.divisor)
        said = [
            f"Divided by {_divisor(result)}, at d_k = {result.d_k}, the scores spread by {now} instead of {spread};"
        ]
    said.append(_weights_in_words(result))
    if result.divided_by == UNSCALED:
        norm, scaled = result.usual[-1], result.scaled_norm
        hardly = f": at d_k = {result.d_k} the divisor hardly matters" if norm > HARDLY_WORSE * scaled else ""
        said.append(f"Its mean over {N_ROWS} rows is {number(norm)}, and {number(scaled)} with sqrt(d_k){hardly}.")
    if result.added and result.moved < 1e-9:
        said.append(f"Adding {number(result.added, 0)} to every score has changed no weight.")
    if not np.isfinite(result.naive).all():
        said.append("Naive exp(s) / sum gives NaN.")
    return " ".join(said)


def _divisor(result):
    says_size = f" (d_model = {D_MODEL})" if "model" in result.divided_by else ""
    return f"{result.divided_by} = {result.divisor:.4g}{says_size}"


def _root(result):
    return f"{math.sqrt(result.d_k):.4g}"


def _weights_in_words(result):
    if not np.isfinite(result.weights).all():
        return "the weights hold NaN or infinity, so they cannot be measured."
    with np.errstate(over="ignore"):
        total = result.weights.sum()
    if abs(total - 1) > 1e-3 or result.weights.min() < 0:
        return f"these are no weights: they must be 0 or more and sum to 1, and their sum is {total:.4g}."
    entropy, largest, norm = result.measured
    if norm < 0.05:
        verdict = "hardly any gradient passes"
    elif norm < 0.2:
        verdict = "little gradient passes"
    elif entropy > 0.98 * math.log(N_KEYS):
        verdict = "the weights are nearly equal, and no key stands out"
    else:
        verdict = "the weights differ, and a gradient passes"
    return (
        f"the largest weight is {number(largest)}, entropy {number(entropy)} of {number(math.log(N_KEYS))}, and the "
        f"size of the Jacobian {number(norm)}: {verdict}."
    )


def _naive_in_words(result):
    largest = number(result.scores.max(), 1)
    if np.isfinite(result.naive).all():
        return f"Both ways agree: the largest, exp({largest}), is still a float (the limit is exp(709.78))."
    overflows = np.isinf(result.exponentials).any()
    size, limit, gives = ("large", "709.78", "inf") if overflows else ("small", "−745.1", "0")
    return (
        f"exp({largest}) is too {size} for a float (limit: exp({limit})) and gives {gives}; {gives} / {gives} is NaN. "
        "Stable: its largest exp is 1."
    )


def _dots(values, spread, y, zero, unit):
    """Draw scores on their axis, with a bar for the spread of many."""
    axis = "".join(f"M{zero + unit * tick:g} {y - 10:g}v20" for tick in TICKS)
    places = zero + unit * values.clip(-AXIS, AXIS)
    largest = int(values.argmax())
    parts = [
        f'<path d="M{zero - unit * AXIS:g} {y:g}H{zero + unit * AXIS:g}{axis}" stroke="#999999"/>',
        svg.box(zero - unit * spread, y - 7, 2 * unit * spread, 14, fill=style.SEQUENTIAL[1], stroke=style.QUIET),
        svg.text(places[largest], y - 13, KEYS[largest], anchor="middle", size=11),
    ]
    look = f'cy="{y:g}" r="4.5" fill="{style.ROLES["keys"]}" fill-opacity="0.6" stroke="{style.INK}"'
    return "".join(parts + [f'<circle cx="{place:.1f}" {look}/>' for place in places])


def _number_line(result, x, y, width):
    zero, unit = x + width / 2, width / (2 * AXIS)
    spread, scaled = result.spread, result.spread / result.divisor
    divided = "not divided" if result.divided_by == UNSCALED else f"divided by {_divisor(result)}"
    legend = f"dots: keys; bar: ± the spread of {N_ROWS * N_KEYS} such scores"
    raw = f"raw: spread {number(spread)}; sqrt(d_k) = {_root(result)}"
    parts = [
        svg.text(x, y + 14, f"Scores of one query with {N_KEYS} keys", bold=True),
        svg.text(x + width, y + 14, legend, anchor="end", colour=style.QUIET, size=12),
        svg.text(x, y + 38, raw, size=12),
        _dots(result.raw, spread, y + 64, zero, unit),
        svg.text(x, y + 94, f"{divided}: spread {number(scaled)}", size=12),
        _dots(result.raw / result.divisor, scaled, y + 122, zero, unit),
    ]
    for tick in TICKS:
        anchor = {-AXIS: "start", AXIS: "end"}.get(tick, "middle")
        parts.append(svg.text(zero + unit * tick, y + 148, number(tick, 0), anchor=anchor, size=11))
    return "".join(parts)


def _bars(weights, x, y, height, cell_width):
    floor, parts = y + height, []
    for level in (0, 0.5, 1):
        at = floor - height * level
        parts.append(svg.text(x - 12, at + 4, number(level, 1), anchor="end", size=11))
        parts.append(f'<path d="M{x:g} {at:g}h{len(weights) * cell_width}" stroke="#dddddd"/>')
    # A learner's weight may be anything: its bar ends at 0 or 1, the number below it says what it is.
    for j, weight in enumerate(np.nan_to_num(weights, nan=0, posinf=1, neginf=0).clip(0, 1)):
        left, tall = x + (j + 0.2) * cell_width, height * weight
        parts.append(svg.box(left, floor - tall, 0.6 * cell_width, tall, fill=style.SEQUENTIAL[4]))
    return "".join(parts)


def render(result):
    """Draw a result."""
    left, label_width, cell = 8, 84, (58, 28)
    bars_left, right = left + label_width, left + label_width + N_KEYS * cell[0] + 16
    by_keys = {"label_width": label_width, "cell": cell}
    equal = measure(np.full(N_KEYS, 1 / N_KEYS))
    notes = [
        f"mean: of {N_ROWS} rows at this d_k and",
        "divisor, with the course's softmax",
        "entropy: 0 if one key has all,",
        f"log({N_KEYS}) = {number(equal[0], 4)} if all have the same",
        "Jacobian, its size: how far weights",
        "move when the scores in softmax move",
    ]
    grey = style.role_colours("X")
    parts = [
        _number_line(result, left, 4, 816),
        svg.matrix(
            np.stack([result.raw, result.scores]), left, 172, title="Scores", row_labels=("raw", "into softmax"),
            column_labels=KEYS, colours=style.score_colours(AXIS), **by_keys,
        ),
        svg.matrix(
            np.stack([result.measured, result.usual, equal], axis=-1), right, 172, title="Sharpness", decimals=3,
            row_labels=MEASURES, column_labels=("this row", "mean", "equal"), label_width=96, colours=grey,
            cell=(54, 28),
        ),
        *(svg.text(right, 342 + 19 * i, note, colour=style.QUIET, size=12) for i, note in enumerate(notes)),
        svg.text(bars_left, 302, "Weights = softmax(scores)", bold=True),
        _bars(result.weights, bars_left, 314, 80, cell[0]),
        svg.matrix(
            result.weights[None], left, 400 - svg.TITLE_HEIGHT, title="", row_labels=("weight",), decimals=3,
            colours=style.weight_colour, differs=result.differs.get("weights"), **by_keys,
        ),
        svg.matrix(
            np.stack([result.exponentials, result.naive, result.stable]), left, 440, decimals=3, colours=grey,
            title="Two ways: naive exp(s) / sum, stable exp(s − max) / sum", row_labels=("exp(s)", "naive", "stable"),
            **by_keys,
        ),
        svg.text(left, 572, _naive_in_words(result)),
    ]  # fmt: skip
    said = sentence(result)
    return Picture(svg.document(832, 584, parts, label=said), said, result.notice)


def softmax_scaling(function=None):
    """Show the softmax and sqrt(d_k) lab: why attention divides its scores, and by what.

    Parameters
    ----------
    function : callable, optional
        The learner's `softmax(scores) -> weights`. While it is a stub the course's own is shown, and the lab
        says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = softmax_scaling()
    >>> lab.controls["divisor"].value = "sqrt(d_k)"
    >>> "Divided by sqrt(d_k) = 8, at d_k = 64, the scores spread by 1.0" in lab.picture.value
    True
    """
    controls = {
        "d_k": ipywidgets.SelectionSlider(options=[2**power for power in range(10)], value=64, description="d_k"),
        # Its readout would be cut off; the picture says the divisor.
        "divisor": ipywidgets.SelectionSlider(options=list(DIVISORS), description="divisor", readout=False),
        "add": ipywidgets.SelectionSlider(options=[-1000, 0, 10, 100, 1000], value=0, description="add to all"),
        "draw": ipywidgets.IntSlider(value=1, min=1, max=N_DRAWS, description="draw"),
    }
    return Lab(
        name="softmax_scaling",
        title="softmax and sqrt(d_k)",
        task="Move d_k up without a divisor, and watch the largest weight and the Jacobian; then choose sqrt(d_k).",
        controls=controls,
        actions={"Resample": lambda state: {"draw": state["draw"] % N_DRAWS + 1}},
        compute=compute,
        render=render,
        function=function,
    )
