"""The mistakes that people make in `multi_head_shapes`."""

from mha_helpers.exercises.mistakes.catalogue import also, maker


def _shapes(
    queries=lambda b, s, d, h: (b, h, s, d // h),
    weights=lambda b, s, d, h: (b, h, s, s),
    concatenation=lambda b, s, d, h: (b, s, d),
):
    """Return an answer made of three functions of (batch, seq_len, d_model, n_heads)."""
    return lambda *sizes: (queries(*sizes), weights(*sizes), concatenation(*sizes))


_with_queries = maker(lambda queries: _shapes(queries=queries))


@_with_queries
def shapes_full_width(b, s, d, h):
    """Each head gets only its share of the features, d_head = d_model // n_heads."""
    return b, h, s, d


@_with_queries
def shapes_not_whole(b, s, d, h):
    """Every size is right. But / gives a float even where nothing is left over, and a shape is made of whole numbers:
    NumPy refuses a size such as 4.0. Write // in place of /: d_model // n_heads."""
    return b, h, s, d / h


@also(
    _shapes(queries=lambda b, s, d, h: (b, s, h, d // h), weights=lambda b, s, d, h: (b, s, h, s)),
    _shapes(weights=lambda b, s, d, h: (b, s, s, h)),
)
@_with_queries
def shapes_heads_last(b, s, d, h):
    """The heads stand in front of the tokens, beside the batch, so that `@` works on each head by itself."""
    return b, s, h, d // h


@maker(lambda weights: _shapes(weights=weights))
def shapes_one_map(b, s, d, h):
    """Each head has weights of its own: the weights have an axis of heads, too."""
    return b, s, s


@maker(lambda weights: _shapes(weights=weights))
@also(lambda b, s, d, h: (b, h, d // h, d // h))
def shapes_weights_by_feature(b, s, d, h):
    """Weights say how much one token attends to another, so their last two axes are both as long as the sentence."""
    return b, h, s, d // h


@maker(lambda concatenation: _shapes(concatenation=concatenation))
@also(lambda b, s, d, h: (b, s, d // h), lambda b, s, d, h: (b, s, h, d // h), lambda b, s, d, h: (b, s, h * d))
def shapes_not_merged(b, s, d, h):
    """In the concatenation a token's heads stand side by side again: (batch, seq_len, d_model)."""
    return b, h, s, d // h
