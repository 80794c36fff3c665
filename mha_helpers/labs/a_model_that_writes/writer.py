"""Writer: a prompt, what the model expects next, and the model writing on, with or without a cache."""

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import ipywidgets
import numpy as np

from live_pictures.card import Picture
from live_pictures.controls import NAMED, check_box, dropdown, radio, whole_number
from live_pictures.marks import each_part
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, decoder, exercises
from mha_helpers.decoding import next_token_probabilities
from mha_helpers.exercises.a_model_that_writes.predictions import sees_one_too_many
from mha_helpers.labs.a_model_that_writes import writer_picture
from mha_helpers.labs.a_model_that_writes.writer_pace import Pace, window
from mha_helpers.labs.a_model_that_writes.writer_picture import DRAWN, LETTERS
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab

PROMPT = "ROMEO:\nIs the day so young?\n\nJULIET:\n"  # a fork: ten letters are likely
NONE, ALL = "none", "all"
TEMPERATURES, TOP_KS = (0.1, 0.5, 0.8, 1.0, 1.5), (ALL, "1", "3", "10")
MAX_LINE = 60
GO_ON = 23  # letters: what branches off later ends there, on a page
# What a page without a kernel can write: at each temperature so many letters, as they are drawn here with top-k 10; and
# a draw without it at the hottest, where words fall apart.
PATHS = {0.8: LETTERS, 0.1: len("I will not be"), 0.5: len("The people and your father")}
PATHS |= {1.0: len("The people and your commandal"), 1.5: len("The people and your command")}
HOTTEST = {"temperature": 1.5, "top-k": ALL}, 22, len("I devy pagla!")
FORK = "TIWAOMNHSY"  # all that are likely after the prompt
_slugs = {each.slug: each.implementations[0] for each in exercises.multi_head_attention.mistakes}
TWINS = {
    "not divided": _slugs["scale-missing"],
    "mask one too far": sees_one_too_many,
    "softmax over the queries": _slugs["softmax-over-queries"],
    "split by reshape alone": _slugs["mha-split-without-transpose"],
    "W_O left out": _slugs["mha-no-output-projection"],
}


@dataclass(frozen=True)
class Stopped:
    """Why there is nothing to show."""

    why: str


@dataclass(frozen=True)
class Result:
    """What the model expects after a text, and what one of its heads looks at."""

    whole: str  # the text
    text: str  # what the model sees of it
    alphabet: str
    probabilities: np.ndarray  # to draw from
    differs: np.ndarray | None  # where the learner's are not right
    temperature: float
    top_k: str
    comparison: np.ndarray  # those of the twin, or those at temperature 1 without top-k
    twin: str
    layer: int
    head: int
    asked: int  # the place of the character that looks
    weights: np.ndarray  # (n,): its weights, in that head
    looks_at: np.ndarray  # (n_layers, n_heads): the place that it looks at most
    wants_cache: bool
    cached: bool  # whether the next character is written with the cache: a twin has none
    times: dict = field(default_factory=dict)  # of bool (cached) to list of (place, milliseconds)
    notice: str = ""
    temperatures, top_ks, start = TEMPERATURES, TOP_KS, PROMPT


@functools.lru_cache(4)  # up to 13 MB each
def _seen(text, twin):
    """Run the model, or a twin with a mistake, on a text."""
    logits, weights = decoder.load().predict(text, TWINS.get(twin, attention.multi_head_attention))
    return logits[-1], weights


def options_of(state):
    """Return temperature and top_k as the function takes them."""
    top_k = None if state["top-k"] == ALL else int(state["top-k"])
    return {"temperature": state["temperature"], "top_k": top_k}


def compute(state, function=None, pace=None):
    """Compute what the model expects from the controls' values.

    Parameters
    ----------
    state : dict
    function : callable, optional
        The learner's.
    pace : Pace, optional
        What has been written so far, and how long it took.

    Returns
    -------
    Result or Stopped
    """
    try:
        text = window(state["text"], decoder.load().context_length)
        logits, weights = _seen(text, NONE)
    except (OSError, ValueError) as error:  # no model, or a text that it can't read
        return Stopped(str(error))
    options, twin = options_of(state), state["twin"]
    found = run_for_lab(function, next_token_probabilities, {"logits": logits}, ("probabilities",), options)
    if twin == NONE:
        comparison = attention.softmax(logits)
    else:
        twins_logits, weights = _seen(text, twin)
        comparison = next_token_probabilities(twins_logits, **options)
    remarks = [found.notice, pace.problem if pace else ""]
    if len(text) < len(state["text"]):
        remarks.append(f"Of {len(state['text'])} characters the model sees the last {len(text)}.")
    if state["cache"] and twin != NONE:
        remarks.append("A twin writes without the cache.")
    asked = len(text) - 1 - min(state["back"], _most_back(text))
    rows = np.nan_to_num(weights[..., asked, :])
    return Result(
        state["text"], text, decoder.load().alphabet, found.arrays[0], found.differs.get("probabilities"),
        state["temperature"], state["top-k"], comparison, twin, state["layer"], state["head"],
        asked, weights[state["layer"], state["head"], asked], rows.argmax(axis=-1),
        state["cache"], state["cache"] and twin == NONE, pace.latest_times() if pace else {},
        " ".join(filter(None, remarks)),
    )  # fmt: skip


def _most_back(text):
    """Return how far the letter that looks may stand before the last one: what is above the page has no place."""
    lines = [line for line, _ in writer_picture.placed(text)]
    return sum(line > lines[-1] - writer_picture.MAX_LINES for line in lines) - 1


@functools.cache
def path(temperature, top_k="10"):
    """Return what the model writes after the prompt at a temperature, as far as a page without a kernel has it."""
    state, draw, n_letters = {"temperature": temperature, "top-k": "10"}, 1, PATHS[temperature]
    if (temperature, top_k) == tuple(HOTTEST[0].values()):
        state, draw, n_letters = HOTTEST
    stream = decoder.load().stream(PROMPT, **options_of(state), seed=[draw, len(PROMPT)])
    return "".join(itertools.islice(stream, n_letters))


@functools.cache
def written_beforehand():
    """Return the prompt, and what may become of it letter by letter: what a page without a kernel writes."""
    paths = [*map(path, PATHS), path(*HOTTEST[0].values())]
    texts = dict.fromkeys(text for path in paths for text in itertools.accumulate(path, initial=PROMPT))
    along = [PROMPT + path(0.8)[:n] for n in range(LETTERS)]
    # At the fork all letters can be pressed, and two words come of each; later the likeliest alone, to its word's end.
    for text in (PROMPT + letter for letter in FORK):
        texts |= dict.fromkeys([text, *_words_on(text, 2)])
    for text in (text + _likeliest_letter(text) for text in along):
        texts |= dict.fromkeys([text, *(_words_on(text, 1) if len(text) < len(PROMPT) + GO_ON else ())])
    return [*texts]


def _words_on(text, n_words):
    """Yield a text that continues with the likeliest letters, until `n_words` words have ended."""
    while n_words:
        text += _likeliest_letter(text)
        n_words -= text[-1] in " \n"
        yield text


def _likeliest_letter(text):
    return decoder.load().alphabet[_seen(text, NONE)[0].argmax()]


def _on(state):
    """Return the next text that was written beforehand: at this temperature, or else with the likeliest letter."""
    after = [text for text in written_beforehand() if text[:-1] == state["text"]]
    if not after:
        return {}
    logits, _ = _seen(state["text"], NONE)
    probabilities = next_token_probabilities(logits, **options_of(state))
    of_letter = dict(zip(decoder.load().alphabet, probabilities, strict=True))
    able = [text for text in after if of_letter[text[-1]] > 0]
    drawn = PROMPT + path(state["temperature"], state["top-k"])
    here = [text for text in able if drawn.startswith(text)]
    return {"text": text} if (text := max(here or able, key=lambda text: of_letter[text[-1]], default="")) else {}


# On a page: on what its pieces depend.
PIECES = {
    ("text", "temperature", "top-k"): lambda result: (each_part(DRAWN, result, "next"), _expected(result)),
    ("text", "layer", "head"): lambda result: (each_part(DRAWN, result, "text"), _looked_at(result)),
    ("text",): lambda result: (each_part(DRAWN, result, "heads"), ""),
    ("layer", "head"): lambda result: (each_part(DRAWN, result, "head"), ""),
    ("temperature",): lambda result: (each_part(DRAWN, result, "temperature"), ""),
}


def shown(character):
    """Write a character so that it can be seen."""
    return {" ": "␣", "\n": "↵"}.get(character, character)


def sentence(result):
    """Describe the picture."""
    if isinstance(result, Stopped):
        why, *hints = result.why.split("; ")
        sentences = (part[0].upper() + part[1:] for part in (why, *hints))
        return f"Nothing was written, and your text is still there. {'. '.join(sentences)}."
    readout = [_expected(result)]
    if result.twin != NONE:
        readout.append(f"The twin, {result.twin}, expects {_likeliest(result, result.comparison)}, and it writes.")
    if np.isfinite(result.weights).all():
        readout.append(_looked_at(result))
    took = [
        f"{median(ms for _, ms in times):.1f} ms {'with the cache' if cached else 'without'}"
        for cached, times in result.times.items()
    ]
    if took:
        readout.append(f"One more character took {' and '.join(took)} (median).")
    return " ".join(readout)


def _expected(result):
    end = "".join(map(shown, result.text[-16:]))
    return f"After “{end}” comes most likely {_likeliest(result, result.probabilities)}."


def _looked_at(result):
    most, asked = int(result.weights.argmax()), result.asked
    place = f"{asked - most} back" if most < asked else "itself"
    return (
        f"Layer {result.layer}, head {result.head}: “{shown(result.text[asked])}” looks most at "
        f"“{shown(result.text[most])}” ({place}, {number(result.weights[most])})."
    )


def _likeliest(result, probabilities):
    if not np.isfinite(probabilities).all():
        return "nothing: there are NaN or infinite numbers"
    order = [code for code in np.argsort(-probabilities, kind="stable")[:3] if probabilities[code] >= 0.005]
    return ", ".join(f"“{shown(result.alphabet[code])}” ({number(probabilities[code])})" for code in order)


def render(result):
    """Draw a result."""
    readout = sentence(result)
    if isinstance(result, Stopped):
        return Picture(writer_picture.draw_message(readout), readout, "Change the text, or press Reset.")
    return Picture(writer_picture.draw(result, readout), readout, result.notice)


def writer(function: Callable | None = None, attend: Callable | None = None) -> Lab:
    """Show the writer: what the model expects after a text, and how it writes on.

    Parameters
    ----------
    function : callable, optional
        The learner's `next_token_probabilities(logits, *, temperature, top_k) -> probabilities`. While it is a stub
        the course's own is shown, and the lab says so.
    attend : callable, optional
        The learner's `attend_with_cache`, once it is right: `exercises.attend_with_cache.working_version` tells.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = writer()
    >>> lab.buttons["One character"].click()
    >>> len(lab.controls["text"].value) - len(PROMPT)
    1
    """
    text = ipywidgets.Textarea(
        PROMPT, description="text", continuous_update=False, rows=2, style=NAMED,
        layout={"width": "225px", "height": "44px"},
    )  # fmt: skip
    temperature, top_k = radio("temperature", TEMPERATURES, 0.8), radio("top-k", TOP_KS, "10")
    draw, back = whole_number("draw", 1, 1, 99, width="95px"), whole_number("letters back", 0, 0, 255)
    layer, head = dropdown("layer", range(4), 3, width="100px"), dropdown("head", range(6), 1, width="100px")
    twin, cache = dropdown("mistake", [NONE, *TWINS], width="190px"), check_box("cache", True)
    pace = Pace(attend)

    def write(state, n_characters):
        """Write on, and show each character as it comes; a line ends where the model ends it."""
        try:
            logits, _ = _seen(window(state["text"], decoder.load().context_length), NONE)
        except (OSError, ValueError):
            return  # the picture says why
        options = options_of(state)
        found = run_for_lab(function, next_token_probabilities, {"logits": logits}, ("probabilities",), options)
        choose = function if found.is_theirs else next_token_probabilities
        attend = TWINS.get(state["twin"])
        written = state["text"]
        for i in range(n_characters):
            character = pace.next(
                written, options, cached=state["cache"] and attend is None, attend=attend, choose=choose,
                draw=state["draw"],
            )  # fmt: skip
            written += character
            yield {"text": written}
            if not character or (character == "\n" and i):
                return

    lab = Lab(
        name="writer",
        title="writer",
        task="It shows you a few words, and begins again. Now you: press a bar to write its letter. What may follow?",
        extra_task="Press a head: what does it look at? Drag the temperature; put a mistake in.",
        controls={
            "text": text,
            "temperature": temperature,
            "top-k": top_k,
            "layer": layer,
            "head": head,
            "twin": twin,
            "cache": cache,
            "draw": draw,
            "back": back,
        },
        actions={
            "One character": lambda state: write(state, 1),
            "Write on": lambda state: write(state, MAX_LINE),
            "Time both": lambda state: pace.time_both() or {},
        },
        form=Form(
            rows=([text, temperature, top_k, layer, head, twin, draw, back, cache, Lab.BUTTONS],),
            on_picture=(
                "temperature",
                "top-k",
                "layer",
                "head",
                "back",
                "cache",
                "One character",
                "Write on",
                "Time both",
            ),
        ),
        compute=lambda state, function=None: compute(state, function, pace),
        render=render,
        function=function,
        exercise=exercises.next_token_probabilities,
        on_change={"text": lambda change: lab.set(back=0)},
        page=StaticPage(
            kernel_only=(
                "a text of your own, earlier letters that look, models with a mistake, and the time that a letter takes"
            ),
            offers={"text": written_beforehand},
            actions={"One character": _on} | dict.fromkeys(("Write on", "Time both"), lambda state: {}),
            pieces=PIECES,
        ),
    )

    def forget(_):
        pace.forget()
        lab.update()

    lab.buttons["Reset"].on_click(forget)
    return lab
