"""What people write by mistake in each step of the equation, but for its masks (those are in `hiding`)."""

import itertools

import numpy as np

from mha_helpers.doctor.equation import (
    DoesNotFitError,
    Form,
    cut,
    joined,
    merged_by,
    mixed_by,
    right_output,
    right_project,
    right_scores,
    right_split,
    scaled_by,
    shared,
    softmax,
    weighed_by,
)

LETTERS = "QKV"


def swap(array):
    return array.swapaxes(-1, -2)


# ---- project ---------------------------------------------------------------------------------


def _own(case, letter):
    """A matrix with its bias."""
    return case.matrices[letter], case.bias_of(letter)


def _sources(case):
    return case.X, case.context, case.context if case.second is None else case.second


def _choosing(choice):
    """Queries, keys and values come from the matrices of the chosen letters."""

    def run(case, _):
        if case.heads is not None:
            return tuple(case.heads[LETTERS.index(letter)] for letter in choice)
        pairs = zip(_sources(case), (_own(case, letter) for letter in choice), strict=True)
        return tuple(source @ matrix + bias for source, (matrix, bias) in pairs)

    return run


def _turned(letters):
    def run(case, _):
        projected = []
        for letter, source in zip(LETTERS, _sources(case), strict=True):
            matrix, bias = _own(case, letter)
            if letter in letters:
                if matrix.shape[0] != matrix.shape[1]:
                    raise DoesNotFitError
                matrix = matrix.T
            projected.append(source @ matrix + bias)
        return tuple(projected)

    return run


def _without(letters):
    """Some of queries, keys and values are the vectors themselves."""

    def run(case, _):
        whole = right_project(case, None)
        return tuple(
            source if letter in letters else there
            for letter, source, there in zip(LETTERS, _sources(case), whole, strict=True)
        )

    return run


def _biases_left_out(letters):
    def run(case, _):
        if not any(f"b_{letter}" in case.matrices for letter in letters):
            raise DoesNotFitError
        return tuple(
            source @ case.matrices[letter] + (0 if letter in letters else case.bias_of(letter))
            for letter, source in zip(LETTERS, _sources(case), strict=True)
        )

    return run


def _slices(block):
    """Each head's slice of the vectors through block(matrix, n_heads, head)."""

    def run(case, _):
        heads = []
        for letter, source in zip(LETTERS, _sources(case), strict=True):
            matrix = case.matrices[letter]
            if matrix.shape[0] != matrix.shape[1] or case.n_kv_heads != case.n_heads:
                raise DoesNotFitError
            slices = cut(source, case.n_heads)
            through = [slices[:, i] @ block(matrix, case.n_heads, i) for i in range(case.n_heads)]
            heads.append(
                np.stack(through, axis=1) + cut(np.broadcast_to(case.bias_of(letter), source.shape), case.n_heads)
            )
        return tuple(heads)

    return run


def _block(matrix, n_heads, row, column):
    width = len(matrix) // n_heads
    return matrix[row * width : (row + 1) * width, column * width : (column + 1) * width]


def _first_head_for_all(letters):
    def run(case, _):
        heads = right_split(case, right_project(case, None))
        return tuple(
            np.repeat(one[:, :1], case.n_heads, axis=1) if letter in letters else one
            for letter, one in zip(LETTERS, heads, strict=True)
        )

    return run


def _activated(letters):
    def run(case, _):
        projected = zip(LETTERS, right_project(case, None), strict=True)
        return tuple(np.maximum(one, 0) if letter in letters else one for letter, one in projected)

    return run


def _sources_exchanged(case, _):
    """Queries are made from the context, keys and values from X."""
    if case.X is None or case.context is case.X:
        raise DoesNotFitError
    return right_project(case.changed(X=case.context, context=case.X), None)


def _self_instead_of_cross(case, _):
    if case.X is None or case.context is case.X:
        raise DoesNotFitError
    return right_project(case.changed(context=case.X), None)


def _values_from_X(case, _):
    if case.X is None or case.context is case.X:
        raise DoesNotFitError
    queries, keys, _values = right_project(case, None)
    return queries, keys, case.X @ case.matrices["V"] + case.bias_of("V")


def _subsets(letters):
    return [
        "".join(some)
        for size in (len(letters), *range(1, len(letters)))
        for some in itertools.combinations(letters, size)
    ]


def _choice_slug(choice):
    return "mha-matrices-swapped" if len(set(choice)) == 3 else "mha-same-matrix"


CHOICES = ["".join(choice) for choice in itertools.product(LETTERS, repeat=3) if "".join(choice) != LETTERS]
PROJECT = [
    *(
        Form(
            _choice_slug(choice),
            "project",
            _choosing(choice),
            "Q, K, V = " + ", ".join(f"X W_{letter}" for letter in choice),
            rare=choice not in ("KQV", "QKK", "QQV", "QVK", "KKV"),
        )
        for choice in CHOICES
    ),
    *(
        Form(
            "mha-projection-transposed",
            "project",
            _turned(some),
            "Q, K, V = " + ", ".join(f"X W_{letter}" + "ᵀ" * (letter in some) for letter in LETTERS),
            rare=some != LETTERS,
        )
        for some in _subsets(LETTERS)
    ),
    *(
        Form(
            "mha-no-projections",
            "project",
            _without(some),
            "Q, K, V = " + ", ".join("X" if letter in some else f"X W_{letter}" for letter in LETTERS),
            rare=some != LETTERS,
        )
        for some in _subsets(LETTERS)
    ),
    *(
        Form("bias-left-out", "project", _biases_left_out(some), f"no bias in {', '.join(some)}", rare=True)
        for some in _subsets(LETTERS)
    ),
    *(
        Form(slug, "project", _slices(block), f"each head projects its own slice of X{more}", rare=rare)
        for slug, block, more, rare in (
            ("mha-split-input", lambda W, n_heads, i: _block(W, n_heads, i, i), "", False),
            (
                "mha-split-input+mha-shared-head",
                lambda W, n_heads, i: _block(W, n_heads, 0, 0),
                ", all with the same block",
                False,
            ),
            ("mha-split-input", lambda W, n_heads, i: _block(W, n_heads, i, 0), "", True),
            ("mha-split-input", lambda W, n_heads, i: _block(W, n_heads, 0, i), "", True),
        )
    ),
    *(
        Form("projection-activated", "project", _activated(some), f"relu of {', '.join(some)}", rare=some != LETTERS)
        for some in _subsets(LETTERS)
    ),
    *(
        Form(
            "mha-shared-head",
            "project",
            _first_head_for_all(some),
            f"every head takes head 0's {' and '.join(some)}",
            some != LETTERS,
        )
        for some in _subsets(LETTERS)
    ),
    Form("cross-sources-swapped", "project", _sources_exchanged, "queries from the context, keys and values from X"),
    Form("cross-attends-to-itself", "project", _self_instead_of_cross, "keys and values from X"),
    Form("cross-attends-to-itself", "project", _values_from_X, "values from X", rare=True),
]


# ---- split -----------------------------------------------------------------------------------


AXES = ("batch", "heads", "tokens", "d_head")


def _read_as(order):
    """Reshape (batch, tokens, features) to these axes in this order, and swap them to where they belong."""

    def how(X, n_heads):
        batch, seq_len, width = X.shape
        sizes = {"batch": batch, "heads": n_heads, "tokens": seq_len, "d_head": width // n_heads}
        return X.reshape([sizes[axis] for axis in order]).transpose([order.index(axis) for axis in AXES])

    return how


def _split_slug(order):
    if order == ("batch", "tokens", "d_head", "heads"):
        return "mha-strided"
    if order == AXES:
        return "mha-split-without-transpose"
    return "split-wrong-transpose" if order[0] == "batch" else "split-heads-over-batch"


ORDERS = [order for order in itertools.permutations(AXES) if order != ("batch", "tokens", "heads", "d_head")]
straight, _strided = _read_as(AXES), _read_as(("batch", "tokens", "d_head", "heads"))


def _tokens_turned_first(X, n_heads):
    batch, seq_len, width = X.shape
    return swap(X).reshape(batch, n_heads, seq_len, width // n_heads)


def _through_turned_heads(X, n_heads):
    """Cut rightly, turned to (d_head, seq_len) and reshaped back as if it were (seq_len, d_head)."""
    heads = cut(X, n_heads)
    return swap(heads).reshape(heads.shape)


def _batch_folded_wrongly(X, n_heads):
    """(batch, n_heads) folded as (n_heads, batch) and read back in the other order."""
    heads = cut(X, n_heads)
    return heads.swapaxes(0, 1).reshape(heads.shape)


def _cut_some(how, letters):
    def run(case, qkv):
        if qkv[0].ndim == 4 or case.heads is not None:
            raise DoesNotFitError
        heads = []
        for letter, one in zip(LETTERS, qkv, strict=True):
            n_heads = case.n_heads if letter == "Q" else case.n_kv_heads
            if one.shape[-1] % n_heads:
                raise DoesNotFitError
            heads.append(shared((how if letter in letters else cut)(one, n_heads), case.n_heads))
        return tuple(heads)

    return run


def _whole(case, qkv):
    if case.heads is not None:
        raise DoesNotFitError
    return tuple(one[:, None] for one in qkv)


def _count_for_width(case, qkv):
    n_heads = qkv[0].shape[-1] // case.n_heads
    if case.heads is not None or case.n_kv_heads != case.n_heads:
        raise DoesNotFitError
    return tuple(cut(one, n_heads) for one in qkv)


def _tiled(case, qkv):
    times = case.n_heads // case.n_kv_heads
    queries, keys, values = qkv
    return cut(queries, case.n_heads), *(np.tile(cut(one, case.n_kv_heads), (1, times, 1, 1)) for one in (keys, values))


def _which(some):
    return "" if some == LETTERS else f" ({', '.join(some)})"


COMMON_CUTS = [(LETTERS, AXES), ("K", AXES), ("V", AXES), (LETTERS, ("batch", "tokens", "d_head", "heads"))]
SPLIT = [
    *(
        Form(
            _split_slug(order),
            "split",
            _cut_some(_read_as(order), some),
            f"reshaped straight to ({', '.join(order)}){_which(some)}",
            rare=(some, order) not in COMMON_CUTS,
        )
        for some in _subsets(LETTERS)
        for order in ORDERS
        if some == LETTERS or order in (AXES, ("batch", "tokens", "d_head", "heads"))
    ),
    *(
        Form(
            "split-transposed-first",
            "split",
            _cut_some(_tokens_turned_first, some),
            f"turned round, then reshaped{_which(some)}",
            True,
        )
        for some in (LETTERS, "QK", "Q", "K", "V")
    ),
    *(
        Form(
            "split-wrong-transpose",
            "split",
            _cut_some(_through_turned_heads, some),
            f"features and tokens of a head mixed{_which(some)}",
            True,
        )
        for some in (LETTERS, "QK", "Q", "K", "V")
    ),
    Form(
        "folded-order",
        "split",
        _cut_some(_batch_folded_wrongly, LETTERS),
        "batch and heads folded in one order, unfolded in the other",
    ),
    Form("mha-no-split", "split", _whole, "one head over all features"),
    Form("split-width-for-count", "split", _count_for_width, "d_head heads of width n_heads"),
    Form("kv-heads-tiled", "split", _tiled, "key heads repeated as 0, 1, 0, 1 and not 0, 0, 1, 1"),
]


# ---- scores and scale ------------------------------------------------------------------------


def _scores(make):
    def run(case, qkv):
        return make(*qkv), *qkv

    return run


def _cosine(queries, keys, values):
    return (queries / np.linalg.norm(queries, axis=-1, keepdims=True)) @ swap(
        keys / np.linalg.norm(keys, axis=-1, keepdims=True)
    )


def _keys_reshaped(queries, keys, values):
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])


def _square(make):
    def run(queries, keys, values):
        if queries.shape != keys.shape:
            raise DoesNotFitError
        return make(queries, keys)

    return run


def _axes_reversed(queries, keys):
    turned = keys.transpose(1, 0, 3, 2) if keys.shape[0] == keys.shape[1] else None
    if turned is None:
        raise DoesNotFitError
    return queries @ turned


SCORES = [
    Form("scores-keys-by-queries", "scores", _scores(_square(lambda q, k: k @ swap(q))), "K Qᵀ"),
    Form("scores-reshaped-keys", "scores", _scores(_keys_reshaped), "Q reshape(K)"),
    Form("scores-reversed-axes", "scores", _scores(_square(_axes_reversed)), "Q K.T, all axes reversed", True),
    Form("scores-cosine", "scores", _scores(_cosine), "cosine of Q and K"),
    Form("scores-queries-only", "scores", _scores(lambda q, k, v: q @ swap(q)), "Q Qᵀ"),
    Form("scores-keys-only", "scores", _scores(_square(lambda q, k: k @ swap(k))), "K Kᵀ"),
]


def _scale(slug, factor, text, rare=False):
    return Form(slug, "scale", scaled_by(factor), text, rare)


SCALE = [
    _scale("scale-missing", lambda c, q, v: 1.0, "not divided"),
    _scale("mha-scale-d-model", lambda c, q, v: c.d_model**-0.5, "/ √d_model"),
    _scale("mha-scale-d-model", lambda c, q, v: (c.n_heads * q.shape[-1]) ** -0.5, "/ √d_model", True),
    _scale("scale-no-root", lambda c, q, v: 1 / q.shape[-1], "/ d_head"),
    _scale("scale-twice", lambda c, q, v: 1 / q.shape[-1], "/ √d_head / √d_head"),
    _scale("scale-multiplied", lambda c, q, v: q.shape[-1] ** 0.5, "× √d_head"),
    _scale("scale-n-keys", lambda c, q, v: c_keys(c, q) ** -0.5, "/ √n_keys"),
    _scale("scale-n-queries", lambda c, q, v: q.shape[-2] ** -0.5, "/ √n_queries", True),
    _scale("scale-n-heads", lambda c, q, v: c.n_heads**-0.5, "/ √n_heads"),
    _scale("scale-axis-from-front", lambda c, q, v: q.shape[0] ** -0.5, "/ √batch", True),
    _scale("scale-values-width", lambda c, q, v: v.shape[-1] ** -0.5, "/ √d_value", True),
    _scale("scale-precedence", lambda c, q, v: 2 / q.shape[-1], "/ (d_head / 2)", True),
    _scale("scale-no-root", lambda c, q, v: 1 / c.d_model, "/ d_model", True),
    _scale("scale-multiplied", lambda c, q, v: c.d_model**0.5, "× √d_model", True),
    _scale("scale-multiplied", lambda c, q, v: float(q.shape[-1]), "× d_head", True),
    _scale("scale-fourth-root", lambda c, q, v: q.shape[-1] ** -0.25, "/ d_head^¼"),
    _scale("scale-twice", lambda c, q, v: (c.d_model * q.shape[-1]) ** -0.5, "/ √d_head / √d_model", True),
    *(
        _scale("scale-constant", lambda c, q, v, width=width: width**-0.5, f"/ √{width}", True)
        for width in (2, 3, 16, 32, 64, 100, 128, 256, 512, 768, 1024)
    ),
]


def c_keys(case, queries):
    """How many keys there are."""
    if case.heads is not None:
        return case.heads[1].shape[-2]
    return case.context.shape[-2]


# ---- softmax ---------------------------------------------------------------------------------


def _over(*axes):
    return lambda scores: softmax(scores, axes if len(axes) > 1 else axes[0])


def _no_exponential(scores):
    scores = np.where(np.isneginf(scores), 0, scores)
    return scores / scores.sum(-1, keepdims=True)


def _hard(scores):
    return (scores == scores.max(-1, keepdims=True)).astype(float)


def _softmax(slug, weigh, text, rare=False):
    return Form(slug, "softmax", weighed_by(weigh), text, rare)


SCORE_AXES = ("batch", "heads", "queries", "keys")
KNOWN_AXES = {
    ("heads",): "mha-softmax-over-heads",
    ("queries", "keys"): "softmax-global",
    ("batch", "heads", "queries"): "softmax-over-batch-and-queries",  # all that stands before the keys, flattened
}


def _softmax_slug(axes):
    usual = "softmax-global" if len(axes) > 2 else f"softmax-over-{'-and-'.join(axes)}"
    return KNOWN_AXES.get(axes, usual)


def _axes_of(axes):
    return tuple(SCORE_AXES.index(axis) for axis in axes)


OVER = [axes for size in (1, 2, 3, 4) for axes in itertools.combinations(SCORE_AXES, size) if axes != ("keys",)]


def _divided_afterwards(power, before):
    """Divide the weights; `before` says whether the scores were divided as well."""

    def run(case, given):
        width = given[2].shape[-1]
        scores = given[0] if before else given[0] * width**0.5
        return weighed_by(softmax)(case, (scores, *given[1:]))[0] * width**-power, *given[2:]

    return run


SOFTMAX = [
    *(
        _softmax(_softmax_slug(axes), _over(*_axes_of(axes)), f"softmax over {' and '.join(axes)}", len(axes) > 1)
        for axes in OVER
    ),
    _softmax("softmax-twice", lambda scores: softmax(softmax(scores)), "softmax of the softmax"),
    _softmax("softmax-missing", lambda scores: np.where(np.isneginf(scores), 0, scores), "no softmax"),
    _softmax("softmax-no-exp", _no_exponential, "scores over their sum"),
    _softmax("softmax-sigmoid", lambda scores: 1 / (1 + np.exp(-scores)), "sigmoid"),
    _softmax("softmax-log", lambda scores: np.log(softmax(scores)), "log softmax"),
    _softmax("softmax-hard-max", _hard, "1 for the largest score, 0 for the others", True),
    _softmax(
        "softmax-negated", lambda scores: softmax(np.where(np.isneginf(scores), scores, -scores)), "softmax of −scores"
    ),
    _softmax("softmax-base", lambda scores: softmax(scores * np.log(2)), "2^score over their sum", True),
    _softmax(
        "softmax-not-normalised",
        lambda scores: np.exp(scores - scores.max(-1, keepdims=True)),
        "exp(score − max), not divided",
    ),
    _softmax("softmax-not-normalised", lambda scores: np.exp(scores), "exp(score), not divided", True),
    _softmax("softmax-relu", lambda scores: np.maximum(scores, 0), "relu", True),
    *(
        Form("scale-after-softmax", "softmax", _divided_afterwards(power, before), f"softmax, and then / {text}", rare)
        for power, before, text, rare in (
            (0.5, False, "√d_head", False),
            (1, False, "d_head", True),
            (0.5, True, "√d_head once more", True),
            (1, True, "d_head", True),
        )
    ),
]


# ---- mix, merge, output, add -----------------------------------------------------------------


def _mix(slug, mix, text, rare=False):
    return Form(slug, "mix", mixed_by(mix), text, rare)


def _square_weights(mix):
    def run(weights, queries, keys, values):
        if weights.shape[-1] != weights.shape[-2]:
            raise DoesNotFitError
        return mix(weights, queries, keys, values)

    return run


MIX = [
    _mix("weights-transposed", _square_weights(lambda w, q, k, v: swap(w) @ v), "weightsᵀ V"),
    _mix("values-are-keys", lambda w, q, k, v: w @ k, "weights K"),
    _mix("values-are-queries", _square_weights(lambda w, q, k, v: w @ q), "weights Q"),
    _mix("weights-not-used", _square_weights(lambda w, q, k, v: v + 0), "V", True),
    _mix("weights-twice", _square_weights(lambda w, q, k, v: w @ (w @ v)), "weights weights V", True),
    _mix(
        "weights-shared-by-heads",
        lambda w, q, k, v: w.mean(1, keepdims=True) @ v,
        "every head mixes with the average of all weights",
        True,
    ),
    _mix("weights-shared-by-heads", lambda w, q, k, v: w[:, :1] @ v, "every head mixes with head 0's weights", True),
]


def _joined_from(order):
    """Swap the axes to this order, and reshape to (batch, tokens, features)."""

    def merge(heads):
        batch, n_heads, seq_len, d_head = heads.shape
        return heads.transpose([AXES.index(axis) for axis in order]).reshape(batch, seq_len, n_heads * d_head)

    return merge


def _merge_slug(order):
    if order in (AXES, ("heads", "batch", "tokens", "d_head")):
        return "mha-combine-without-transpose"
    if order == ("batch", "tokens", "d_head", "heads"):
        return "mha-combine-interleaved"
    return "combine-wrong-transpose" if order[0] == "batch" else "combine-batch-lost"


def _batch_mixed(heads):
    """(batch, n_heads) folded heads first, and unfolded batch first, or the other way round."""
    return joined(heads.swapaxes(0, 1).reshape(heads.shape))


def _batch_mixed_back(heads):
    batch, n_heads, *rest = heads.shape
    return joined(heads.reshape(n_heads, batch, *rest).swapaxes(0, 1))


def _averaged(heads):
    return joined(np.broadcast_to(heads.mean(1, keepdims=True), heads.shape))


def _summed(heads):
    return joined(np.broadcast_to(heads.sum(1, keepdims=True), heads.shape))


def _repeated(heads):
    return np.repeat(heads.mean(1), heads.shape[1], axis=-1)


COMMON_ORDERS = (AXES, ("batch", "tokens", "d_head", "heads"), ("heads", "batch", "tokens", "d_head"))


def _merge(slug, merge, text, rare=False):
    return Form(slug, "merge", merged_by(merge), text, rare)


def _queries_added(case, given):
    if case.heads is not None:
        raise DoesNotFitError
    context, weights, queries = given
    return joined(context) + joined(queries), weights, queries


MERGE = [
    *(
        _merge(
            _merge_slug(order),
            _joined_from(order),
            f"({', '.join(order)}) reshaped straight to (batch, tokens, d_model)",
            order not in COMMON_ORDERS,
        )
        for order in ORDERS
    ),
    Form("queries-added", "merge", _queries_added, "heads side by side, + Q"),
    _merge("mha-combine-reversed", lambda heads: joined(heads[:, ::-1]), "heads in reverse", True),
    _merge("folded-order", _batch_mixed, "batch and heads folded in one order, unfolded in the other"),
    _merge("folded-order", _batch_mixed_back, "batch and heads folded in one order, unfolded in the other", True),
    _merge("mha-mean-heads", _averaged, "the heads averaged"),
    _merge("mha-mean-heads", _summed, "the heads added up"),
    _merge("mha-mean-heads", _repeated, "the heads averaged, each feature repeated", True),
    _merge(
        "combine-one-head",
        lambda heads: joined(np.repeat(heads[:, :1], heads.shape[1], 1)),
        "head 0 in every place",
        True,
    ),
    _merge(
        "combine-one-head",
        lambda heads: joined(np.repeat(heads[:, -1:], heads.shape[1], 1)),
        "the last head in every place",
        True,
    ),
]


def _output(change):
    def run(case, given):
        if "O" not in case.matrices:
            raise DoesNotFitError
        return change(case, given[0]), *given[1:]

    return run


def _needs_square(case):
    matrix = case.matrices["O"]
    if matrix.shape[0] != matrix.shape[1]:
        raise DoesNotFitError
    return matrix


def _without_output_bias(case, merged):
    if "b_O" not in case.matrices:
        raise DoesNotFitError
    return merged @ case.matrices["O"]


def _bias_once_a_head(case, merged):
    return merged @ case.matrices["O"] + case.n_heads * case.matrices["b_O"]


def _other_matrix(letter):
    def change(case, merged):
        return merged @ case.matrices[letter] + case.bias_of(letter)

    return change


def _blocks_of_each(case, merged):
    heads = cut(merged, case.n_heads)
    matrix = _needs_square(case)
    return joined(
        np.stack([heads[:, i] @ _block(matrix, case.n_heads, i, i) for i in range(case.n_heads)], 1)
    ) + case.bias_of("O")


def _first_block(case, merged):
    matrix = _needs_square(case)
    return joined(cut(merged, case.n_heads) @ _block(matrix, case.n_heads, 0, 0)) + case.bias_of("O")


def _first_rows(case, merged):
    heads = cut(merged, case.n_heads)
    return heads.sum(1) @ case.matrices["O"][: heads.shape[-1]] + case.bias_of("O")


def _mean_through_first_rows(case, merged):
    heads = cut(merged, case.n_heads)
    return heads.mean(1) @ case.matrices["O"][: heads.shape[-1]] + case.bias_of("O")


OUTPUT = [
    Form("output-bias-repeated", "output", _output(_bias_once_a_head), "W_O, with its bias once a head", True),
    Form("mha-no-output-projection", "output", _output(lambda case, merged: merged), "no W_O"),
    Form(
        "mha-output-projection-transposed",
        "output",
        _output(lambda case, merged: merged @ _needs_square(case).T + case.bias_of("O")),
        "W_Oᵀ",
    ),
    Form("bias-left-out", "output", _output(_without_output_bias), "W_O without its bias", True),
    Form(
        "mha-output-projection-twice",
        "output",
        _output(lambda case, merged: right_output(case, (*right_output(case, (merged, None, None))[:2], None))[0]),
        "W_O twice",
        True,
    ),
    *(
        Form("mha-same-matrix", "output", _output(_other_matrix(letter)), f"W_{letter} for W_O", True)
        for letter in LETTERS
    ),
    Form("mha-block-diagonal", "output", _output(_blocks_of_each), "a block of W_O for each head", True),
    Form("mha-projection-per-head", "output", _output(_first_block), "one block of W_O for every head", True),
    Form("mha-projection-per-head", "output", _output(_first_rows), "the first rows of W_O for every head", True),
    Form("mha-mean-heads", "output", _output(_mean_through_first_rows), "the heads averaged", True),
]


def _add(change):
    def run(case, given):
        if case.X is None or given[0].shape != case.X.shape:
            raise DoesNotFitError
        return change(case, given[0]), *given[1:]

    return run


ADD = [
    Form("mha-residual-added", "add", _add(lambda case, output: output + case.X), "+ X"),
    Form("projection-activated", "add", _add(lambda case, output: np.maximum(output, 0)), "relu", True),
]

FORMS = [*PROJECT, *SPLIT, *SCORES, *SCALE, *SOFTMAX, *MIX, *MERGE, *OUTPUT, *ADD]
# Two mistakes that go together, and have one name in the catalogue.
TOGETHER = {frozenset({"mha-split-without-transpose", "mha-combine-without-transpose"}): "mha-both-without-transpose"}

__all__ = [
    "ADD",
    "FORMS",
    "MERGE",
    "OUTPUT",
    "PROJECT",
    "SCALE",
    "SCORES",
    "SOFTMAX",
    "SPLIT",
    "TOGETHER",
    "right_scores",
]
