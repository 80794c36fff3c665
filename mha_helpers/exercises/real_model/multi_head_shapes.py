"""The exercise `multi_head_shapes`: notebook 06's warm-up."""

from mha_helpers.exercises.engine import Case, Exercise, Mistake


def multi_head_shapes(batch, seq_len, d_model, n_heads):
    queries_in_heads = (batch, n_heads, seq_len, d_model // n_heads)
    weights = (batch, n_heads, seq_len, seq_len)
    concatenation = (batch, seq_len, d_model)
    return queries_in_heads, weights, concatenation


def _shapes(of_queries, of_weights, of_concatenation):
    """Return an answer made of three functions of (batch, seq_len, d_model, n_heads)."""
    return lambda *sizes: (of_queries(*sizes), of_weights(*sizes), of_concatenation(*sizes))


def _queries(b, s, d, h):
    return (b, h, s, d // h)


def _weights(b, s, d, h):
    return (b, h, s, s)


def _concatenation(b, s, d, h):
    return (b, s, d)


MISTAKES = (
    Mistake(
        "shapes-full-width",
        "Each head gets only its share of the features, d_head = d_model // n_heads.",
        (_shapes(lambda b, s, d, h: (b, h, s, d), _weights, _concatenation),),
    ),
    Mistake(
        "shapes-not-whole",
        "Every size is right. But / gives a float even where nothing is left over, and a shape is made of whole "
        "numbers: NumPy refuses a size such as 4.0. Write // in place of /: d_model // n_heads.",
        (_shapes(lambda b, s, d, h: (b, h, s, d / h), _weights, _concatenation),),
    ),
    Mistake(
        "shapes-heads-last",
        "The heads stand in front of the tokens, beside the batch, so that `@` works on each head by itself.",
        (
            _shapes(lambda b, s, d, h: (b, s, h, d // h), _weights, _concatenation),
            _shapes(lambda b, s, d, h: (b, s, h, d // h), lambda b, s, d, h: (b, s, h, s), _concatenation),
            _shapes(_queries, lambda b, s, d, h: (b, s, s, h), _concatenation),
        ),
    ),
    Mistake(
        "shapes-one-map",
        "Each head has weights of its own: the weights have an axis of heads, too.",
        (_shapes(_queries, lambda b, s, d, h: (b, s, s), _concatenation),),
    ),
    Mistake(
        "shapes-weights-by-feature",
        "Weights say how much one token attends to another, so their last two axes are both as long as the sentence.",
        (
            _shapes(_queries, lambda b, s, d, h: (b, h, s, d // h), _concatenation),
            _shapes(_queries, lambda b, s, d, h: (b, h, d // h, d // h), _concatenation),
        ),
    ),
    Mistake(
        "shapes-not-merged",
        "In the concatenation a token's heads stand side by side again: (batch, seq_len, d_model).",
        (
            _shapes(_queries, _weights, _queries),
            _shapes(_queries, _weights, lambda b, s, d, h: (b, s, d // h)),
            _shapes(_queries, _weights, lambda b, s, d, h: (b, s, h, d // h)),
            _shapes(_queries, _weights, lambda b, s, d, h: (b, s, h * d)),
        ),
    ),
)

COUNTED = {
    "queries_in_heads": "sentences, heads, tokens, and the features of one head",
    "weights": "sentences, heads, queries and keys",
    "concatenation": "sentences, tokens and features",
}


def _axis_of_something_else(call, arguments, arrays):
    """Say what the axes count in the array that the check goes on to show: the last that is wrong."""
    right = multi_head_shapes(**arguments)
    [*_, name] = [name for name, got, want in zip(COUNTED, arrays, right, strict=True) if tuple(got) != want]
    return f"In order, the axes of {name} count {COUNTED[name]}."


exercise = Exercise(
    reference=multi_head_shapes,
    outputs=("queries_in_heads", "weights", "concatenation"),
    cases=(
        Case("two sentences", {"batch": 2, "seq_len": 5, "d_model": 12, "n_heads": 3}),
        Case("this notebook's model", {"batch": 1, "seq_len": 13, "d_model": 384, "n_heads": 12}),
        Case("one head", {"batch": 3, "seq_len": 4, "d_model": 6, "n_heads": 1}),
    ),
    mistakes=MISTAKES,
    properties=(_axis_of_something_else,),
    hints=(
        "Say what each axis counts: sentences, heads, tokens, features. Which of them does this array have?",
        "Queries in heads and weights have an axis of heads in front of the tokens. The concatenation has none.",
    ),
    on_success="You know every shape in the layer that you are about to put into a real model.",
)
