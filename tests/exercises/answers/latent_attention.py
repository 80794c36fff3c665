"""Answers to latent_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention, softmax
from mha_helpers.latent import latent_attention

TELLING_CASE = ("a batch", 7)


def by_hand(queries, kept, unfold_K, unfold_V, mask=None):
    scores = (queries @ np.swapaxes(unfold_K, 1, 2)) @ np.swapaxes(kept[..., None, :, :], -1, -2)
    scores = scores / np.sqrt(queries.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return (weights @ kept[..., None, :, :]) @ unfold_V, weights


def by_einsum(queries, kept, unfold_K, unfold_V, mask=None):
    asked = np.einsum("...hqd,hcd->...hqc", queries, unfold_K)
    scores = np.einsum("...hqc,...kc->...hqk", asked, kept) * queries.shape[-1] ** -0.5
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    mixed = np.einsum("...hqk,...kc->...hqc", weights, kept)
    return np.einsum("...hqc,hcv->...hqv", mixed, unfold_V), weights


def head_by_head(queries, kept, unfold_K, unfold_V, mask=None):
    found = []
    for h in range(len(unfold_K)):
        asked = queries[..., h, :, :] @ unfold_K[h].T
        found.append(scaled_dot_product_attention(asked, kept, kept, mask, scale=queries.shape[-1] ** -0.5))
    contexts = [context @ unfold_V[h] for h, (context, _) in enumerate(found)]
    return np.stack(contexts, axis=-3), np.stack([weights for _, weights in found], axis=-3)


def scale_in_the_queries(queries, kept, unfold_K, unfold_V, mask=None):
    d_head, d_kept = unfold_K.shape[-1], kept.shape[-1]
    asked = queries @ unfold_K.transpose(0, 2, 1) * np.sqrt(d_kept / d_head)  # what attention divides by is taken back
    kept = np.expand_dims(kept, -3)
    context, weights = scaled_dot_product_attention(asked, kept, kept, mask)
    return context @ unfold_V, weights


def all_heads_below_each_other(queries, kept, unfold_K, unfold_V, mask=None):
    """The heads' queries are rows of one long matrix, so that a single product gives all scores."""
    asked = queries @ unfold_K.swapaxes(-1, -2)
    *batch, n_heads, n_queries, d_kept = asked.shape
    scores = asked.reshape(*batch, n_heads * n_queries, d_kept) @ kept.swapaxes(-1, -2) / queries.shape[-1] ** 0.5
    scores = scores.reshape(*batch, n_heads, n_queries, -1)
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    mixed = weights.reshape(*batch, n_heads * n_queries, -1) @ kept
    return mixed.reshape(*batch, n_heads, n_queries, d_kept) @ unfold_V, weights


def in_a_list(queries, kept, unfold_K, unfold_V, mask=None):
    return list(by_hand(queries, kept, unfold_K, unfold_V, mask))


def query_by_query(queries, kept, unfold_K, unfold_V, mask=None):
    kept, found = kept[..., None, :, :], []
    for i in range(queries.shape[-2]):
        asked = queries[..., i : i + 1, :] @ unfold_K.swapaxes(-1, -2)
        scores = asked @ kept.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        weights = softmax(scores if mask is None else np.where(mask[..., i : i + 1, :], scores, -np.inf))
        found.append((weights @ kept @ unfold_V, weights))
    return [np.concatenate(parts, axis=-2) for parts in zip(*found, strict=True)]


def scores_turned_over(queries, kept, unfold_K, unfold_V, mask=None):
    kept = kept[..., None, :, :]
    scores = (kept @ (unfold_K @ queries.swapaxes(-1, -2))).swapaxes(-1, -2) / queries.shape[-1] ** 0.5
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e30))
    return (weights @ kept) @ unfold_V, weights


def in_float32(queries, kept, unfold_K, unfold_V, mask=None):
    arrays = (np.asarray(array, np.float32) for array in (queries, kept, unfold_K, unfold_V))
    return latent_attention(*arrays, mask)


RIGHT = (
    latent_attention,
    query_by_query,
    scores_turned_over,
    in_float32,
    by_hand,
    by_einsum,
    head_by_head,
    scale_in_the_queries,
    all_heads_below_each_other,
    in_a_list,
)


def attend(ask, scale, keys=lambda kept: kept[..., None, :, :], unfold=lambda mixed, U: mixed @ U):
    """Latent attention made of ask(queries, unfold_K), scale(queries, kept), and unfold(mixed, unfold_V)."""

    def attention(queries, kept, unfold_K, unfold_V, mask=None):
        shared = keys(kept)
        scores = ask(queries, unfold_K) @ shared.swapaxes(-1, -2) / scale(queries, kept)
        weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return unfold(weights @ shared, unfold_V), weights

    return attention


def turned(queries, unfold_K):
    return queries @ unfold_K.swapaxes(-1, -2)


def root(queries, kept):
    return np.sqrt(queries.shape[-1])


def left_to_attention(queries, kept, unfold_K, unfold_V, mask=None):
    kept = kept[..., None, :, :]
    context, weights = scaled_dot_product_attention(turned(queries, unfold_K), kept, kept, mask)
    return context @ unfold_V, weights


def unfolded_in_a_loop(queries, kept, unfold_K, unfold_V, mask=None):
    found = [
        scaled_dot_product_attention(queries[..., h, :, :], kept @ unfold_K[h], kept @ unfold_V[h], mask)
        for h in range(len(unfold_K))
    ]
    return [np.stack(parts, axis=-3) for parts in zip(*found, strict=True)]


def values_unfolded(queries, kept, unfold_K, unfold_V, mask=None):
    kept = kept[..., None, :, :]
    return scaled_dot_product_attention(
        turned(queries, unfold_K), kept, kept @ unfold_V, mask, scale=queries.shape[-1] ** -0.5
    )


def divided_and_divided(queries, kept, unfold_K, unfold_V, mask=None):
    kept, queries = kept[..., None, :, :], queries / np.sqrt(queries.shape[-1])
    context, weights = scaled_dot_product_attention(turned(queries, unfold_K), kept, kept, mask)
    return context @ unfold_V, weights


def mask_forgotten(queries, kept, unfold_K, unfold_V, mask=None):
    return latent_attention(queries, kept, unfold_K, unfold_V)


def mask_the_other_way(queries, kept, unfold_K, unfold_V, mask=None):
    return latent_attention(queries, kept, unfold_K, unfold_V, None if mask is None else ~mask)


def scaled_by(scale_of):
    """Latent attention by the course's, whose scale is scale_of(d_head, d_kept, d_value)."""

    def attention(queries, kept, unfold_K, unfold_V, mask=None):
        scale = scale_of(queries.shape[-1], kept.shape[-1], unfold_V.shape[-1])
        kept = kept[..., None, :, :]
        context, weights = scaled_dot_product_attention(turned(queries, unfold_K), kept, kept, mask, scale=scale)
        return context @ unfold_V, weights

    return attention


def taken_apart_backwards(queries, kept, unfold_K, unfold_V, mask=None):
    scale, kept = queries.shape[-1] ** -0.5, kept[..., None, :, :]
    weights, mixed = scaled_dot_product_attention(turned(queries, unfold_K), kept, kept, mask, scale=scale)
    return mixed @ unfold_V, weights


def scores_of(queries, kept, unfold_K):
    return turned(queries, unfold_K) @ kept[..., None, :, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])


def no_softmax(queries, kept, unfold_K, unfold_V, mask=None):
    scores = scores_of(queries, kept, unfold_K)
    return scores @ kept[..., None, :, :] @ unfold_V, scores


def scores_beside_it(queries, kept, unfold_K, unfold_V, mask=None):
    scores = scores_of(queries, kept, unfold_K)
    context, _ = latent_attention(queries, kept, unfold_K, unfold_V, mask)
    return context, scores if mask is None else np.where(mask, scores, -np.inf)


def mask_added(queries, kept, unfold_K, unfold_V, mask=None):
    scores = scores_of(queries, kept, unfold_K)
    weights = softmax(scores if mask is None else scores + mask)
    return weights @ kept[..., None, :, :] @ unfold_V, weights


def mask_of_plus_infinity(queries, kept, unfold_K, unfold_V, mask=None):
    scores = scores_of(queries, kept, unfold_K)
    weights = softmax(scores if mask is None else scores - np.where(mask, 0, -np.inf))
    return weights @ kept[..., None, :, :] @ unfold_V, weights


def unfolded_on_einsums_path(queries, kept, unfold_K, unfold_V, mask=None):
    path = ["einsum_path", (1, 2), (0, 1)]
    scores = np.einsum("...hqd,...kc,hcd->...hqk", queries, kept, unfold_K, optimize=path) / np.sqrt(queries.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.einsum("...hqk,...kc,hcv->...hqv", weights, kept, unfold_V, optimize=path), weights


def first_axis_for_heads(queries, kept, unfold_K, unfold_V, mask=None):
    scale = queries.shape[-1] ** -0.5
    found = [
        scaled_dot_product_attention(queries[h] @ unfold_K[h].T, kept, kept, mask, scale=scale)
        for h in range(len(unfold_K))
    ]
    return np.stack([mixed @ U for (mixed, _), U in zip(found, unfold_V, strict=True)]), np.stack([w for _, w in found])


WRONG = {
    "latent-unfolded": (unfolded_in_a_loop, values_unfolded, unfolded_on_einsums_path),
    "latent-scale-kept": (
        left_to_attention,
        attend(turned, lambda queries, kept: kept.shape[-1] ** 0.5),
        scaled_by(lambda d_head, d_kept, d_value: 1 / d_kept),
    ),
    "latent-scale-corrected": (scaled_by(lambda d_head, d_kept, d_value: (d_kept / d_head) ** 0.5),),
    "latent-scale-values": (scaled_by(lambda d_head, d_kept, d_value: d_value**-0.5),),
    "latent-attention-taken-apart-swapped": (taken_apart_backwards,),
    "latent-heads-moved": (attend(turned, root, unfold=lambda mixed, unfold_V: (mixed @ unfold_V).swapaxes(-3, -2)),),
    "scores-for-weights": (no_softmax,),
    "returns-scores": (scores_beside_it,),
    "mask-added-boolean": (mask_added,),
    "mask-minus-minus-inf": (mask_of_plus_infinity,),
    "latent-scaled-twice": (divided_and_divided,),
    "scale-missing": (attend(turned, lambda queries, kept: 1),),
    "scale-no-root": (attend(turned, lambda queries, kept: queries.shape[-1]),),
    "scale-n-keys": (attend(turned, lambda queries, kept: kept.shape[-2] ** 0.5),),
    "latent-not-transposed": (attend(lambda queries, unfold_K: queries @ unfold_K, root),),
    "latent-all-axes-reversed": (attend(lambda queries, unfold_K: queries @ unfold_K.T, root),),
    "latent-context-not-unfolded": (attend(turned, root, unfold=lambda mixed, unfold_V: mixed),),
    "latent-first-heads-keys": (
        attend(lambda queries, unfold_K: queries @ unfold_K[0].T, root),
        attend(lambda queries, unfold_K: np.einsum("...hqd,gcd->...hqc", queries, unfold_K), root),
    ),
    "latent-first-heads-values": (attend(turned, root, unfold=lambda mixed, unfold_V: mixed @ unfold_V[0]),),
    "latent-kept-without-an-axis": (
        attend(turned, root, keys=lambda kept: kept),
        attend(turned, root, keys=lambda kept: kept[None]),
        attend(turned, root, keys=lambda kept: kept[:, None]),
    ),
    "latent-unfolds-exchanged": (
        lambda queries, kept, unfold_K, unfold_V, mask=None: latent_attention(queries, kept, unfold_V, unfold_K, mask),
    ),
    "latent-one-unfold-for-both": (
        lambda queries, kept, unfold_K, unfold_V, mask=None: latent_attention(queries, kept, unfold_K, unfold_K, mask),
    ),
    "latent-heads-joined": (attend(turned, root, unfold=lambda mixed, unfold_V: (mixed @ unfold_V).sum(axis=-3)),),
    "mask-ignored": (mask_forgotten,),
    "mask-inverted": (mask_the_other_way,),
    "returns-swapped": (lambda *given, mask=None: latent_attention(*given, mask)[::-1],),
    None: (
        first_axis_for_heads,
        lambda *given, mask=None: (2 * latent_attention(*given, mask)[0], latent_attention(*given, mask)[1]),
        lambda *given, mask=None: (latent_attention(*given, mask)[0][..., ::-1], latent_attention(*given, mask)[1]),
    ),
}

TOLD = (
    (first_axis_for_heads, "It is right without a batch, but goes wrong when there are more axes in front."),
    (
        lambda *given, mask=None: (latent_attention(*given, mask)[0], 0.9 * latent_attention(*given, mask)[1]),
        "Weights must sum to 1 along each row",
    ),
)
