"""Names of what goes wrong where queries, keys and values are made, and cut into heads."""

from attention_doctor.names.word import IMPORTED, LEAK, Word

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
        reported="https://github.com/yflyzhang/AnnotatedTransformer/issues/1",
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
}
