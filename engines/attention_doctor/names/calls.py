"""Names of what goes wrong with positions, a cache, and from call to call."""

from attention_doctor.names.word import IMPORTED, LEAK, LIMIT, WRONG, Word

WORDS = {
    "rope-values-rotated": Word("Rotary positions are applied to the values, too.", "rotate queries and keys only"),
    "rope-one-side": Word("Rotary positions are applied to queries or keys alone.", "rotate both"),
    "rope-conventions-mixed": Word(
        "Queries and keys are rotated in two conventions.", "pair features in the same way for both"
    ),
    "rope-start-forgotten": Word(
        "Positions always begin at 0: the start, or the positions that are given, aren't used.",
        "with a cache new tokens go on where the old ones end: start + arange(n_tokens)",
    ),
    "rope-counts-from-one": Word(
        "Positions are one too high or too low. Scores among its own results stay right, but no others fit them.",
        "the first token of all has position 0, and isn't turned",
    ),
    "rope-one-position": Word(
        "All tokens are turned by the same position.", "each token stands one further on: start + arange(n_tokens)"
    ),
    "rope-wrong-axis": Word(
        "Positions are counted along an axis that isn't the tokens'.", "count along the tokens: X.shape[-2]"
    ),
    "rope-not-a-rotation": Word(
        "Features change their length, or the angles between them: that isn't a rotation.",
        "of each pair (x, y) make x cos a - y sin a and x sin a + y cos a, with one angle for both",
    ),
    "rope-other-way": Word("Features turn the other way.", "x cos a - y sin a, then x sin a + y cos a", IMPORTED),
    "rope-wrong-frequencies": Word(
        "Pairs turn at other speeds than the formula's.", "pair i turns by position / base^(2 i / d_head)", IMPORTED
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
