"""Names of what goes wrong where values are mixed, heads joined and the output made."""

from attention_doctor.names.word import IMPORTED, LEAK, Word

WORDS = {
    "weights-transposed": Word("The weights are transposed before they meet the values.", "context = weights @ values"),
    "values-are-keys": Word("The weights mix the keys, not the values.", "context = weights @ values"),
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
        reported="https://github.com/Kyubyong/transformer/pull/117",
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
}
