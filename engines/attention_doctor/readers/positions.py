"""Positions that attention may bring along: rotary ones in both conventions, and ALiBi."""

import functools
import itertools

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.stages import RIGHT, DoesNotFitError, Form, scaled_by
from attention_doctor.readers.position_arguments import BASE

NEGLIGIBLE = 1e-6  # what rounding may move, where a token has no influence
MAX_FREQUENCIES = 2  # buffers of angles that are tried
LONG = (150, 80, 40, 20)  # tokens: of a sequence that it takes, and that is longer than a window
REPEATED = "at the ends the same ones again"
WHOLE = 10**6  # features: more than any head has


def hints(subject):
    """Return whether anything about it speaks of positions: then a difference need not be a mistake."""
    texts = [subject.source, *subject.adapter.buffers()]
    return subject.arguments.filling.table is not None or any(map(vocabulary.POSITION_HINTS.search, texts))


def _angles(n_tokens, width, base):
    """The angles of the pairs among `width` features; `base` may also hold the frequencies themselves."""
    if isinstance(base, np.ndarray):
        if len(base) != width // 2:
            raise DoesNotFitError
        return np.arange(n_tokens)[:, None] * base
    return np.arange(n_tokens)[:, None] * base ** (-np.arange(0, width, 2) / width)


def rotate_halves(X, base=BASE, way=1):
    """Turn feature i with feature i + d/2, as GPT-NeoX and Hugging Face do; modded-nanogpt turns the other way."""
    angles = way * _angles(X.shape[-2], X.shape[-1], base)
    first, second = np.split(X, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def rotate_pairs(X, base=BASE, way=1):
    """Turn feature 2i with feature 2i + 1, as the paper and Meta's Llama do."""
    angles = way * _angles(X.shape[-2], X.shape[-1], base)
    even, odd = X[..., ::2], X[..., 1::2]
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty_like(X)
    turned[..., ::2], turned[..., 1::2] = even * cos - odd * sin, odd * cos + even * sin
    return turned


def _placed(rotations, text, slug=""):
    def run(case, qkv):
        if qkv[0].shape[-1] % 2:
            raise DoesNotFitError
        return tuple(turn(item) if turn else item for turn, item in zip(rotations, qkv, strict=True))

    return Form(slug, "place", run, text)


def _slopes(n_heads):
    """ALiBi's, one a head; where their number is no power of two, the further ones lie between those of the next."""
    power = 2 ** int(np.floor(np.log2(n_heads)))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    more = [2 ** (-4 * (2 * i + 1) / power) for i in range(n_heads - power)]
    return np.array(slopes + more)[:, None, None]


def _alibi(distance, text):
    def run(case, inputs):
        scores = RIGHT["scale"].run(case, inputs)
        queries, keys = np.ogrid[: scores[0].shape[-2], : scores[0].shape[-1]]
        return scores[0] + _slopes(case.n_heads) * distance(queries, keys), *scores[1:]

    return Form("", "scale", run, text)


def _capped(cap):
    """Scores are bent so that none is beyond a cap, as in Gemma 2."""

    def run(case, inputs):
        scores, *rest = RIGHT["scale"].run(case, inputs)
        return cap * np.tanh(scores / cap), *rest

    return Form("", "scale", run, f"/ √d_head, soft-capped at {cap:g}")


def _with_sinks(sinks):
    """One further score a head takes its share of the weights, and gives nothing."""

    def run(case, inputs):
        scores, *rest = inputs
        further = np.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1))
        weights, *rest = RIGHT["softmax"].run(case, (np.concatenate([scores, further], axis=-1), *rest))
        return weights[..., :-1], *rest

    return Form("", "softmax", run, "softmax over the keys and a sink")


def _window(back, ahead):
    """Each token sees so many tokens back and ahead, and itself, as in Longformer."""

    def run(case, inputs):
        steps = np.subtract.outer(np.arange(inputs[0].shape[-2]), np.arange(inputs[0].shape[-1]))
        seen = (steps <= back) & (steps >= -ahead)
        allowed = seen if case.allowed is None else case.allowed & seen
        return RIGHT["hide"].run(case.changed(allowed=allowed), inputs)

    return Form("", "hide", run, f"each token sees {back} back and {ahead} ahead")


def _window_of_repeats(back, ahead):
    """The same, and where it reaches beyond the first or the last token, it sees that one again.

    maxjcohen/transformer pads its windows so.
    """

    def run(case, inputs):
        scores, *rest = RIGHT["hide"].run(case, inputs)
        n_queries, n_keys = scores.shape[-2:]
        seen = np.clip(np.arange(n_queries)[:, None] + np.arange(-back, ahead + 1), 0, n_keys - 1)
        often = (seen[:, :, None] == np.arange(n_keys)).sum(axis=1)
        with np.errstate(divide="ignore"):
            return scores + np.log(often), *rest  # as if a key were there so often

    return Form("", "hide", run, f"each token sees {back} back and {ahead} ahead, {REPEATED}")


def cuts_windows(right):
    """Return whether what counts as right cuts windows out of what is padded: no line is then as in the equation."""
    return right["hide"].text.endswith(REPEATED)


def bases(subject):
    """Return the bases of the angles that its attributes give; a table that it is given has ours."""
    if subject.arguments.filling.table is not None:
        return [BASE]
    settings = subject.adapter.numbers().items()
    base = next((n for name, n in settings if vocabulary.ROTARY_BASE.search(name) and n > 1), BASE)
    return [base, *subject.adapter.frequencies().values()][: 1 + MAX_FREQUENCIES]


def _part(rotate, width):
    """Rotate the first features alone, as GPT-J does."""

    def run(X, base, way):
        if width >= X.shape[-1]:
            return rotate(X, base, way)
        return np.concatenate([rotate(X[..., :width], base, way), X[..., width:]], axis=-1)

    return run


def rotated_parts(numbers):
    """Return what attributes say of how many of a head's features are rotated, where not all are.

    GPT-J says their number, `rotary_dim`; GPT-NeoX and its successors say their share of a head.
    """
    settings = numbers.items()
    parts = [int(n) for name, n in settings if vocabulary.ROTARY_WIDTH.search(name) and n >= 2]
    shares = [n for name, n in settings if vocabulary.ROTARY_SHARE.search(name) and 0 < n < 1]
    widths = [n for name, n in settings if vocabulary.ROTATED_HEAD_WIDTH.search(name)]
    return list(dict.fromkeys([*parts, *(int(width * share) for width in widths for share in shares)]))


def rotations(subject):
    """Return forms of the step `place`: queries and keys turned by rotary positions, wholly or in part.

    Which features turn together isn't told by any name, so both conventions are tried; and then the other way round, in
    which scores depend on the distance alone, too.
    """
    numbers, table = subject.adapter.numbers(), subject.arguments.filling.table
    parts = rotated_parts(numbers)
    widths = [table.d_head] if table is not None else [*parts, WHOLE]
    forms = []
    ways = (1, -1) if hints(subject) else (1,)
    for way, (rotate, words), width, base in itertools.product(
        ways, ((rotate_halves, "halves"), (rotate_pairs, "pairs")), widths, bases(subject)
    ):
        turn = functools.partial(_part(rotate, width), base=base, way=way)
        round_ = "" if way > 0 else ", the other way round"
        forms.append(_placed((turn, turn, None), f"queries and keys rotated (rotary, {words}{round_})"))
    return forms


def says_window(subject):
    """Return whether a module's source or attributes speak of a window of tokens."""
    if subject.kind != "module":
        return False
    return bool(
        vocabulary.WINDOWS.search(subject.source) or any(map(vocabulary.WINDOWS.search, subject.adapter.numbers()))
    )


@functools.lru_cache(1)  # the one that is examined
def visible_window(subject):
    """Return how many tokens back and ahead an output hears, of code that speaks of a window; None if it hears all.

    The word alone won't do: code for several machines speaks of local heads. And the width of a window is no setting
    with a usual name, so it is measured.
    """
    if not says_window(subject) or subject.always_cross:
        return None
    for n_tokens in LONG:
        moved = _outputs_that_move(subject, n_tokens)
        if moved is not None:
            return _window_seen(*moved, n_tokens)
    return None


def _outputs_that_move(subject, n_tokens):
    """Which outputs move with the first token, and which with the last; None where it takes no such sequence."""
    layout, rng = subject.layouts[0], np.random.default_rng(7)
    X, other = rng.normal(size=(2, 1, n_tokens, subject.d_model))
    ends = [np.where((np.arange(n_tokens) == end)[:, None], other, X) for end in (0, n_tokens - 1)]
    output, *changed = (subject.answer_for(layout, tokens)[1] for tokens in (X, *ends))
    if output is None or any(array is None for array in changed):
        return None
    return [np.flatnonzero(np.abs(array - output).max(axis=(0, 2)) > NEGLIGIBLE) for array in changed]


def _window_seen(by_first, by_last, n_tokens):
    if not by_first.size or not by_last.size:
        return None
    back, ahead = int(by_first[-1]), n_tokens - 1 - int(by_last[0])
    return (back, ahead) if back < n_tokens - 1 else None


def of(subject):
    """Return what else may count as right: forms of the steps `hide` and `scale`, and every one of `softmax`.

    These are designs of well-known models: windows (Longformer, Mistral), ALiBi (BLOOM, MPT), a scale that is a number
    of its own, capped scores (Gemma 2), sinks (gpt-oss). Each would otherwise be a mistake without a name.
    """
    numbers = subject.adapter.numbers()
    hide, scale = [], []
    if window := visible_window(subject):
        hide = [_window(*window), _window_of_repeats(*window)]
    for distance in (lambda q, k: -np.abs(q - k), lambda q, k: k - q):
        scale.append(_alibi(distance, "/ √d_head − slope × distance (ALiBi)"))
    for number in vocabulary.FIXED_SCALE.findall(subject.source):
        scale.append(Form("", "scale", scaled_by(lambda case, q, v, number=float(number): number), f"× {number}"))
    scale += [_capped(number) for name, number in numbers.items() if vocabulary.SOFT_CAP.search(name) and number > 0]
    vectors = [item.path for item in subject.parameters if item.value.ndim == 1]
    sinks = [subject.values[path] for path in vectors if vocabulary.SINKS.search(path)]
    return {"hide": hide, "scale": scale, "softmax": [RIGHT["softmax"], *map(_with_sinks, sinks)]}


def mistakes(subject):
    """Return mistakes of the step `place` where anything speaks of rotary positions, and of `scale` in a window.

    Without such a word they are left out: they would explain, by chance, what has nothing to do with positions.
    """
    forms = []
    if window := visible_window(subject):
        n_keys = sum(window) + 1
        forms.append(
            Form("scale-n-keys", "scale", scaled_by(lambda case, q, v: n_keys**-0.5), "/ √n_keys of a window", True)
        )
    if not hints(subject):
        return forms
    base = bases(subject)[-1]
    turns = {"halves": lambda X: rotate_halves(X, base), "pairs": lambda X: rotate_pairs(X, base)}
    for words, turn in turns.items():
        forms += [
            _placed((turn, turn, turn), f"values rotated, too ({words})", "rope-values-rotated"),
            _placed((turn, None, None), f"only queries rotated ({words})", "rope-one-side"),
            _placed((None, turn, None), f"only keys rotated ({words})", "rope-one-side"),
        ]
    forms.append(
        _placed((turns["halves"], turns["pairs"], None), "queries by halves, keys by pairs", "rope-conventions-mixed")
    )
    forms.append(
        _placed((turns["pairs"], turns["halves"], None), "queries by pairs, keys by halves", "rope-conventions-mixed")
    )
    return forms
