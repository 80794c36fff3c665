"""Every name that a report can give: what it means, how bad it is, how it is mended, and where it was seen.

The names are those of the exercises' checks; `NEW` are the ones that no exercise can meet. `page` writes the list.
"""

from dataclasses import dataclass

LEAK = "information leaks"
WRONG = "wrong numbers"
IMPORTED = "wrong only with imported weights"
LIMIT = "numerical limits"
HARMLESS = "harmless"
DESIGN = "a deliberate design"
SEVERITIES = (LEAK, WRONG, IMPORTED, LIMIT, HARMLESS, DESIGN)
HEALTHY = (HARMLESS, DESIGN)


@dataclass(frozen=True)
class Word:
    """One name.

    Parameters
    ----------
    sentence : str
        What the code does.
    repair : str
        One line.
    severity : str
        One of SEVERITIES.
    example : str
        Where it was seen in public, or nothing.
    """

    sentence: str
    repair: str
    severity: str = WRONG
    example: str = ""


WORDS = {
    # ---- projections
    "mha-no-projections": Word(
        "The vectors themselves are used, where queries, keys or values should be projections of them.",
        "project first: X @ W_Q, X @ W_K, X @ W_V",
    ),
    "mha-projection-transposed": Word(
        "A projection is applied transposed.",
        "row vectors are multiplied as X @ W; PyTorch's Linear stores W transposed",
        IMPORTED,
    ),
    "mha-same-matrix": Word(
        "Two of queries, keys and values come from the same matrix.",
        "give each its own: X @ W_Q, X @ W_K, X @ W_V",
        example="https://github.com/yflyzhang/AnnotatedTransformer/issues/1",
    ),
    "mha-matrices-swapped": Word(
        "The matrices for queries, keys and values are in each other's place.",
        "check the order in which they are made, stored and passed on: queries, keys, values",
        IMPORTED,
    ),
    "mha-split-input": Word(
        "The input is cut into heads before it is projected, so each head sees only its slice of the features.",
        "project the whole vector first, then split",
        example="https://github.com/aladdinpersson/Machine-Learning-Collection/issues/3",
    ),
    "mha-shared-head": Word(
        "Every head takes head 0's projection, so that the heads repeat each other.",
        "head i takes columns i * d_head to (i + 1) * d_head",
    ),
    "projection-activated": Word(
        "An activation follows the projections.", "queries, keys and values are linear in the vectors"
    ),
    "queries-added": Word(
        "The queries are added to what the heads bring.",
        "return the output alone; a block adds its input outside of attention",
    ),
    "bias-left-out": Word("A bias is there, but it isn't added.", "add the bias after the product", IMPORTED),
    "cross-sources-swapped": Word(
        "Queries are made from the context, and keys and values from X.",
        "queries come from the sequence that is being written, keys and values from the one it looks at",
    ),
    "cross-attends-to-itself": Word(
        "The context isn't used: keys or values come from the same sequence as the queries.",
        "make keys and values from the context",
    ),
    # ---- split
    "mha-split-without-transpose": Word(
        "Heads are made by a reshape straight to (heads, tokens, d_head), which mixes tokens.",
        "reshape to (tokens, heads, d_head), then swap those two axes",
        example="https://github.com/hyunwoongko/transformer/issues/15",
    ),
    "mha-combine-without-transpose": Word(
        "Heads are joined by a reshape straight to (tokens, d_model), which mixes tokens.",
        "swap the axes back to (tokens, heads, d_head) before the reshape",
        example="https://github.com/jsbaan/transformer-from-scratch/pull/6",
    ),
    "mha-both-without-transpose": Word(
        "Heads are cut and joined by a reshape alone, so that each head attends among pieces of mixed tokens.",
        "reshape to (tokens, heads, d_head) and swap those two axes; undo both when joining",
        example="https://github.com/hyunwoongko/transformer/issues/15",
    ),
    "mha-strided": Word(
        "Head i takes features i, i + n_heads, and so on, where neighbours are agreed on.",
        "reshape d_model to (n_heads, d_head), in this order",
        IMPORTED,
    ),
    "split-transposed-first": Word(
        "The tokens' matrix is transposed before it is reshaped into heads.", "reshape first, then swap axes"
    ),
    "split-wrong-transpose": Word(
        "The wrong axes are swapped: a head's features and tokens are mixed.",
        "from (tokens, heads, d_head), swap the first two",
    ),
    "split-heads-over-batch": Word(
        "The reshape that makes heads cuts across batch items.",
        "keep the batch axis first: (batch, tokens, heads, d_head), then swap tokens and heads",
        LEAK,
    ),
    "mha-no-split": Word(
        "One head over all features is computed, whatever the number of heads.",
        "split queries, keys and values into heads",
    ),
    "split-width-for-count": Word(
        "There are d_head heads of width n_heads: the two numbers are exchanged.",
        "reshape to (tokens, n_heads, d_model // n_heads)",
    ),
    "kv-heads-tiled": Word(
        "Key and value heads are repeated as a whole (0, 1, 0, 1), where each should serve a group (0, 0, 1, 1).",
        "use repeat_interleave (or np.repeat) along the heads",
        IMPORTED,
    ),
    "folded-order": Word(
        "Heads and batch are folded into one axis in one order and unfolded in the other.",
        "unfold with the axes in the order in which they were folded",
        LEAK,
    ),
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
        example="https://github.com/mlc-ai/mlc-llm/pull/3426",
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
        example="https://github.com/AI-Hypercomputer/maxtext/pull/1349",
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
        example="https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
    ),
    "mha-softmax-over-heads": Word("The softmax runs over the heads.", "softmax over the keys: axis=-1"),
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
        example="https://github.com/lucidrains/perceiver-pytorch/issues/46",
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
    # ---- mixing, merging, output
    "weights-transposed": Word("The weights are transposed before they meet the values.", "context = weights @ values"),
    "values-are-keys": Word(
        "The weights mix the keys, not the values.",
        "context = weights @ values",
        example="https://github.com/yflyzhang/AnnotatedTransformer/issues/1",
    ),
    "values-are-queries": Word("The weights mix the queries, not the values.", "context = weights @ values"),
    "weights-not-used": Word("The weights are not used: each token gets its own value.", "context = weights @ values"),
    "weights-twice": Word("The weights are applied twice.", "context = weights @ values, once"),
    "weights-shared-by-heads": Word("All heads mix with the same weights.", "keep the heads' axis in the scores"),
    "mha-combine-interleaved": Word(
        "The heads' features are interleaved before W_O.",
        "swap heads and tokens before the reshape, so that each head's features stay together",
        IMPORTED,
    ),
    "mha-combine-reversed": Word("The heads meet W_O in reverse order.", "keep the heads' order", IMPORTED),
    "combine-wrong-transpose": Word(
        "Features and tokens are exchanged where heads are joined.", "swap heads and tokens, then reshape"
    ),
    "combine-batch-lost": Word(
        "Batch items and tokens are exchanged where heads are joined.", "keep the batch axis first", LEAK
    ),
    "combine-one-head": Word("One head stands in the place of all.", "join all heads"),
    "mha-mean-heads": Word(
        "The heads are averaged or added up before W_O, which can then not tell them apart.", "put them side by side"
    ),
    "mha-no-output-projection": Word(
        "The output projection W_O isn't applied.",
        "multiply the joined heads by W_O",
        example="https://github.com/Kyubyong/transformer/pull/117",
    ),
    "mha-output-projection-transposed": Word("W_O is applied transposed.", "joined @ W_O", IMPORTED),
    "mha-output-projection-twice": Word("W_O is applied twice.", "apply it once"),
    "output-bias-repeated": Word(
        "Each head's share of the output carries the whole bias: it is added n_heads times.",
        "add the bias once, after the shares are summed",
    ),
    "mha-block-diagonal": Word(
        "Each head goes through a block of W_O of its own, so that heads never meet.", "joined @ W_O, with all of W_O"
    ),
    "mha-projection-per-head": Word(
        "One block of W_O serves every head.", "head i has rows i * d_head to (i + 1) * d_head"
    ),
    "returns-swapped": Word(
        "The weights come first and the output second.", "return (output, weights), as most code does and expects"
    ),
    "returns-weights-only": Word("The weights are returned, and not what they mix.", "return weights @ values"),
    "mha-residual-added": Word(
        "X is added to the output.", "return the output alone; a block adds X outside of attention"
    ),
    # ---- masks
    "mask-ignored": Word("The mask is taken and not used.", "pass it on to the scores", LEAK),
    "mha-mask-ignored": Word("The mask does not reach the heads.", "pass it on to the scores", LEAK),
    "mask-inverted": Word(
        "What may be seen is hidden, and what is hidden is seen.",
        "True means: may attend",
        LEAK,
        "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    ),
    "mask-transposed": Word("The mask's queries and keys are exchanged.", "rows are queries, columns are keys", LEAK),
    "padding-on-queries": Word(
        "The padding mask hides rows (queries), not columns (keys): everybody still sees the padding.",
        "let the mask broadcast over queries: mask[:, None, None, :]",
        LEAK,
        "https://github.com/lsdefine/attention-is-all-you-need-keras/issues/16",
    ),
    "mask-score-zero": Word(
        "Hidden scores become 0, and e⁰ is 1: hidden keys still get weight.", "set hidden scores to -inf", LEAK
    ),
    "mask-tiny-number": Word(
        "Hidden scores get a finite number that scores can reach, so that hidden keys get weight.",
        "set hidden scores to -inf",
        LEAK,
        "https://github.com/hyunwoongko/transformer/issues/10",
    ),
    "mask-after-softmax": Word(
        "The mask is applied after the softmax: hidden keys keep their share of the sum.",
        "mask the scores, before the softmax",
        LEAK,
    ),
    "mask-after-softmax-infinite": Word(
        "Hidden weights, not scores, get a large negative number.", "mask the scores, before the softmax"
    ),
    "mask-softmax-again": Word(
        "The weights are masked and the softmax is taken once more.", "mask the scores, and take the softmax once"
    ),
    "mask-added-boolean": Word(
        "True and False are added to the scores as 1 and 0, and hide nothing.",
        "choose: where(mask, scores, -inf)",
        LEAK,
    ),
    "mask-multiplied": Word(
        "Hidden scores are multiplied by a large negative number: those below 0 become very large.",
        "choose: where(mask, scores, -inf)",
        LEAK,
    ),
    "mask-minus-minus-inf": Word("Hidden scores become large, not small.", "hide with -inf", LEAK),
    "mask-zero-times-inf": Word(
        "0 × inf is NaN, and every visible score with it.", "choose instead of multiplying: where(mask, scores, -inf)"
    ),
    "mask-on-the-context": Word(
        "Values or outputs are masked; the scores aren't.", "mask the scores, before the softmax", LEAK
    ),
    "mha-mask-first-sentence": Word(
        "Every sample gets the first one's mask.", "let the mask broadcast along the batch", LEAK
    ),
    "mask-tiled-over-heads": Word(
        "Masks are repeated in another order than batch and heads are folded, so that samples get each other's.",
        "use repeat_interleave (or np.repeat) along the batch",
        LEAK,
    ),
    "padding-no-head-axis": Word(
        "The mask has no axis for heads (or for queries): where the sizes agree, a sample's mask is used for a head "
        "(or a query) of every sample.",
        "give it these axes: mask[:, None, None, :]",
        LEAK,
        "https://github.com/hyunwoongko/transformer/issues/32",
    ),
    "mask-of-one-head": Word("Every head gets head 0's mask.", "keep the mask's axis of heads", LEAK),
    "mask-one-head-only": Word("Only head 0 is masked.", "let the mask broadcast along the heads", LEAK),
    "mask-of-one-query": Word("Every query gets the same query's mask.", "keep the mask's axis of queries", LEAK),
    "padding-off-by-one": Word(
        "The padding begins one key too late or too early.", "key j is a token where j < length", LEAK
    ),
    "mask-full-row-nan": Word(
        "A query that may see nothing becomes NaN.",
        "give such rows zeros: where(mask.any(-1, keepdims=True), weights, 0)",
        WRONG,
        "https://github.com/pytorch/pytorch/issues/41508",
    ),
    "mask-outer-nan": Word(
        "A query that may see nothing turns other rows into NaN.", "give such rows zeros before they meet anything else"
    ),
    "causal-off-by-one": Word(
        "Each token sees one token of the future.", "key j is seen by query i where j <= i: tril with diagonal 0", LEAK
    ),
    "causal-strict": Word("No token sees itself.", "tril with diagonal 0, the diagonal included"),
    "causal-transposed": Word("Each token sees itself and the future, not the past.", "tril, not triu", LEAK),
    "causal-inverted": Word(
        "Each token sees only the future.",
        "hide where triu(diagonal=1) is True, or keep where tril is",
        LEAK,
        "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    ),
    "causal-diagonal-only": Word("Each token sees only itself.", "tril, not the identity"),
    "causal-ignored": Word("The causal flag is taken and not used.", "hide keys after the query", LEAK),
    "mask-lost-with-causal": Word(
        "With the causal flag, the mask isn't used.", "both must allow a key: mask & tril", LEAK
    ),
    "causal-lost-with-mask": Word(
        "With a mask, the causal flag isn't used.", "both must allow a key: mask & tril", LEAK
    ),
    "masks-joined-with-or": Word(
        "A key is seen where the mask or the causal flag allows it.", "both must allow a key: mask & tril", LEAK
    ),
    # ---- positions, cache, conduct
    "rope-values-rotated": Word("Rotary positions are applied to the values, too.", "rotate queries and keys only"),
    "rope-one-side": Word("Rotary positions are applied to queries or keys alone.", "rotate both"),
    "rope-conventions-mixed": Word(
        "Queries and keys are rotated in two conventions.", "pair features in the same way for both"
    ),
    "cache-differs": Word(
        "With a cache the outputs differ from those of the whole sequence.",
        "append to the cached keys and values, and let new queries see all of them",
        WRONG,
    ),
    "dropout-always-on": Word(
        "Dropout also acts outside of training: the same call gives other numbers.",
        "pass training=self.training, or use nn.Dropout",
    ),
    "not-repeatable": Word("The same call gives other numbers the second time.", "keep nothing between calls"),
    "input-changed": Word("The call writes into its argument.", "make a new array: a = a - b, not a -= b"),
    "attention-over-batch": Word(
        "Attention runs along the batch: each sample attends to the other samples, not to its own tokens.",
        "give it (tokens, batch, features), or set batch_first",
        LEAK,
    ),
    "mask-float16-overflow": Word(
        "In half precision the number that hides is not a number that it can hold, and visible scores become NaN.",
        "hide with -inf, or with the lowest number of the scores' type",
        LIMIT,
    ),
    "batch-mixed": Word(
        "A sample's output depends on the other samples.",
        "look for a reshape or a softmax that runs over the batch",
        LEAK,
    ),
}

# Names that no exercise's check can give: they are about modules, batches, masks in other shapes, or conduct.
NEW = {
    "attention-over-batch", "batch-mixed", "bias-left-out", "cache-differs",
    "causal-ignored", "causal-lost-with-mask", "cross-attends-to-itself", "cross-sources-swapped",
    "dropout-always-on", "kv-heads-tiled", "mask-float16-overflow", "mask-lost-with-causal", "mask-multiplied",
    "mask-of-one-head", "mask-of-one-query", "mask-one-head-only", "mask-outer-nan", "mask-tiled-over-heads",
    "masks-joined-with-or", "mha-output-projection-twice", "output-bias-repeated", "padding-off-by-one",
    "projection-activated", "queries-added", "rope-conventions-mixed", "rope-one-side", "rope-values-rotated",
    "scale-fourth-root", "softmax-missing", "softmax-over-batch", "softmax-over-batch-and-heads",
    "softmax-over-batch-and-keys", "softmax-over-batch-and-queries", "softmax-over-heads-and-keys",
    "softmax-over-heads-and-queries", "softmax-relu", "split-heads-over-batch", "weights-not-used",
    "weights-shared-by-heads", "weights-twice",
}  # fmt: skip


def page():
    """Return the page of all names, as Markdown."""
    lines = [
        "# What the doctor calls things",
        "",
        "`python -m mha_helpers.doctor` and `doctor.examine` report mistakes by these names. The exercises' checks",
        "use the same ones, but for those marked with a star, which no exercise can meet. This page is written from",
        "`mha_helpers/doctor/vocabulary.py`; a test compares the two.",
        "",
        "| name | what the code does | how bad | repair |",
        "|---|---|---|---|",
    ]
    for slug, word in sorted(WORDS.items()):
        name = f"[`{slug}`]({word.example})" if word.example else f"`{slug}`"
        lines.append(
            f"| {name}{' *' if slug in NEW else ''} | {word.sentence} | {word.severity} | {word.repair} |".replace(
                "|", "|"
            )
        )
    return "\n".join(lines) + "\n"
