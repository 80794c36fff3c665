"""Names of what goes wrong in the scores, their scale and the softmax."""

from attention_doctor.names.word import LEAK, LIMIT, Word

WORDS = {
    # ---- scores and scale
    "scores-keys-by-queries": Word(
        "Scores are K Qᵀ: keys ask and queries answer.", "scores = queries @ keys.transpose(-2, -1)"
    ),
    "scores-reshaped-keys": Word(
        "Keys are reshaped to (d_head, tokens), where they should be transposed.",
        "keys.swapaxes(-1, -2) moves numbers; reshape doesn't",
    ),
    "scores-reversed-axes": Word(
        "`.T` reverses all of the keys' axes, the batch as well.", "swap only the last two: keys.swapaxes(-1, -2)"
    ),
    "scores-cosine": Word(
        "Scores are cosines: queries and keys are normalised.", "take plain dot products, or keep it and learn a scale"
    ),
    "scores-queries-only": Word(
        "Queries are compared with queries; keys aren't used.", "scores = queries @ keys.transpose(-2, -1)"
    ),
    "scores-keys-only": Word(
        "Keys are compared with keys; queries aren't used.", "scores = queries @ keys.transpose(-2, -1)"
    ),
    "scale-missing": Word(
        "The scores are not divided by √d_head.",
        "multiply the scores by d_head ** -0.5",
        reported="https://github.com/mlc-ai/mlc-llm/pull/3426",
    ),
    "mha-scale-d-model": Word(
        "The scores are divided by √d_model, but a head is only d_head wide.",
        "divide by the square root of the queries' last axis",
        example="https://github.com/karpathy/ng-video-lecture/pull/6",
    ),
    "scale-no-root": Word(
        "The scores are divided by the width itself, not by its square root.", "divide by the square root of d_head"
    ),
    "scale-multiplied": Word(
        "The scores are multiplied, where they should be divided.", "divide by the square root of d_head"
    ),
    "scale-n-keys": Word(
        "The scores are divided by the root of the number of keys.",
        "divide by the square root of d_head, the queries' last axis",
    ),
    "scale-n-queries": Word(
        "The scores are divided by the root of the number of queries.",
        "divide by the square root of d_head, the queries' last axis",
    ),
    "scale-n-heads": Word(
        "The scores are divided by the root of the number of heads.", "divide by the square root of d_head"
    ),
    "scale-axis-from-front": Word(
        "The divisor is the size of an axis counted from the front.", "take the last axis: queries.shape[-1]"
    ),
    "scale-values-width": Word("The scores are divided by the root of the values' width.", "take the queries' width"),
    "scale-precedence": Word("`d ** 1 / 2` is half of d, not its root.", "write d ** 0.5"),
    "scale-fourth-root": Word(
        "Only one of queries and keys is scaled by d_head^(-1/4).", "scale both, or the scores by d_head ** -0.5"
    ),
    "scale-twice": Word(
        "The scores are scaled twice.",
        "scale once, by d_head ** -0.5",
        reported="https://github.com/AI-Hypercomputer/maxtext/pull/1349",
    ),
    "scale-constant": Word(
        "The divisor is one fixed number, whatever the width of a head.",
        "take it from the input: queries.shape[-1] ** 0.5",
    ),
    "scale-after-softmax": Word(
        "The division comes after the softmax, so that the weights no longer sum to 1.", "divide the scores"
    ),
    # ---- softmax
    "softmax-over-queries": Word(
        "The softmax runs over the queries.",
        "softmax over the keys: axis=-1",
        reported="https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
    ),
    "mha-softmax-over-heads": Word(
        "The softmax runs over the heads.",
        "softmax over the keys: axis=-1",
        example="https://github.com/hyunwoongko/transformer/issues/15",
    ),
    "softmax-over-batch": Word(
        "The softmax runs over the batch: samples share out their weights among each other.",
        "softmax over the keys: axis=-1",
        LEAK,
    ),
    "softmax-over-batch-and-heads": Word(
        "The softmax runs over batch and heads.", "softmax over the keys: axis=-1", LEAK
    ),
    "softmax-over-batch-and-queries": Word(
        "The softmax runs over batch and queries.", "softmax over the keys: axis=-1", LEAK
    ),
    "softmax-over-batch-and-keys": Word(
        "The softmax runs over batch and keys.", "softmax over the keys alone: axis=-1", LEAK
    ),
    "softmax-over-heads-and-queries": Word(
        "The softmax runs over heads and queries.", "softmax over the keys: axis=-1"
    ),
    "softmax-over-heads-and-keys": Word(
        "One softmax for all heads together: they share out a query's attention among them.",
        "softmax over the keys alone: axis=-1",
    ),
    "softmax-global": Word(
        "One sum over several axes: all weights together sum to 1, not each query's.",
        "softmax over the keys: axis=-1",
    ),
    "softmax-twice": Word("The softmax is taken of the softmax.", "take it once"),
    "softmax-missing": Word(
        "There is no softmax: the scores themselves are the weights.", "softmax(scores) over the keys"
    ),
    "softmax-no-exp": Word(
        "The scores are divided by their sum, without exponentials.", "softmax: exponentials over their sum"
    ),
    "softmax-sigmoid": Word(
        "Each weight is a sigmoid of its score, so that a query's weights do not sum to 1.", "softmax over the keys"
    ),
    "softmax-log": Word("The logarithms of the weights are used.", "softmax, not log_softmax"),
    "softmax-hard-max": Word("The largest score gets all the weight.", "softmax over the keys"),
    "softmax-negated": Word(
        "The softmax is of −scores: the least similar key gets the most weight.", "softmax(scores)"
    ),
    "softmax-base": Word(
        "The softmax has base 2 without the factor log2(e).", "use exp, or multiply the scores by log2(e)"
    ),
    "softmax-not-normalised": Word("The exponentials are not divided by their sum.", "divide each row by its sum"),
    "softmax-relu": Word("Weights are the positive scores, not a softmax.", "softmax over the keys"),
    "softmax-no-max": Word(
        "Large scores overflow, as the row's maximum isn't subtracted before exp.",
        "subtract each row's maximum first; the weights stay the same",
        LIMIT,
    ),
    "softmax-global-max": Word(
        "The maximum of the whole array is subtracted, so that rows far below it underflow to 0/0.",
        "subtract each row's own maximum",
        LIMIT,
    ),
}
