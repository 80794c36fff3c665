"""Names of what goes wrong with masks and the causal flag."""

from attention_doctor.names.word import LEAK, NOTE, Word

WORDS = {
    "mask-ignored": Word("The mask is taken and not used.", "pass it on to the scores", LEAK),
    "mha-mask-ignored": Word("The mask does not reach the heads.", "pass it on to the scores", LEAK),
    "mask-inverted": Word(
        "What may be seen is hidden, and what is hidden is seen.",
        "True means: may attend",
        LEAK,
    ),
    "mask-transposed": Word("The mask's queries and keys are exchanged.", "rows are queries, columns are keys", LEAK),
    "padding-on-queries": Word(
        "The padding mask hides rows (queries), not columns (keys): everybody still sees the padding.",
        "let the mask broadcast over queries: mask[:, None, None, :]",
        LEAK,
        reported="https://github.com/lsdefine/attention-is-all-you-need-keras/issues/16",
    ),
    "mask-score-zero": Word(
        "Hidden scores become 0, and e⁰ is 1: hidden keys still get weight.",
        "set hidden scores to -inf",
        LEAK,
        "https://github.com/hyunwoongko/transformer/issues/10",
    ),
    "mask-tiny-number": Word(
        "Hidden scores get a finite number that scores can reach, so that hidden keys get weight.",
        "set hidden scores to -inf",
        LEAK,
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
        reported="https://github.com/hyunwoongko/transformer/issues/32",
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
        NOTE,
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
        "hide where triu(diagonal=1) is True, or where tril is False",
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
        "A key is seen where one of two masks allows it, causality among them, though the other hides it.",
        "both must allow a key: mask & tril",
        LEAK,
    ),
    "mask-lost-with-mask": Word(
        "With another mask beside it, a mask isn't used.", "both must allow a key: mask & padding", LEAK
    ),
    "mask-lost-with-cache": Word(
        "With a cache, the mask isn't used.", "hide the keys in the cache, too: the mask is as long as all keys", LEAK
    ),
}
