"""Names of what goes wrong with positions, a cache, and from call to call."""

from .word import LEAK, LIMIT, WRONG, Word

WORDS = {
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
