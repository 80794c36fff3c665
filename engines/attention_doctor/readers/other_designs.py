"""Designs whose equation is another one: what isn't compared is named, at least."""

import re

DESIGNS = {
    "multi-head latent attention (MLA: keys and values come from one narrow vector a token)": (
        r"kv_lora_rank|kv_latent|latent_kv|(^|\.)kv_a_|(^|\.)kv_down|w_?dkv|kv_compress"
    ),
    "ALiBi (a bias that grows with the distance)": r"alibi",
    "soft-capped scores (cap × tanh(scores / cap))": r"soft_?cap",
    "attention sinks (a further score in each row's sum)": r"(^|\.)(attn_?)?sinks?\b",
    "slot attention (a softmax over the queries, then normalised over the keys)": r"slot_?att|inverted_?att",
    "linear attention (features of queries and keys in place of the softmax)": (
        r"linear_?att|performer|favor|\belu\(|feature_?map|random_features"
        r"|\bk(ey|eys)?\.softmax\(|softmax\(\s*k(ey|eys)?\b"
    ),
    "sigmoid attention (each score by itself)": (
        r"sigmoid_?att|\bscores?\.sigmoid\(|sigmoid\([^\n]*(@|matmul|einsum|bmm|score|attn|sim|dots|logits)"
    ),
    "cosine attention (Swin v2: normalised queries and keys, a learnt factor)": r"logit_?scale|cos(ine)?_?(att|sim)",
    "sparsemax or entmax": r"sparsemax|entmax",
    "ReLU attention (no softmax)": r"relu_?squared|relu\(\s*\w*(score|attn|sim|dots|logits|weights)",
    "talking heads (heads' scores or weights are mixed)": r"talking_?heads|pre_?softmax_?(proj|talk)",
    "attention over chosen keys (the highest scores alone)": r"\btop_?k\b|\bkth\b",
    "attention within blocks, chunks or buckets": r"\bbuckets?\b|bucket_size|chunk_size|block_size_attn|\blsh\b",
    "additive attention (Bahdanau's: scores from a tanh)": r"\btanh\(|\bTanh\(",
    "a softmax with one more in its denominator": (
        r"softmax_?(1|one|plus)|quiet_?(softmax|att)|\b1(\.0?)?\s*\+\s*\w*exp|\+\s*\w*\.?exp\(-"
    ),
    "differential attention (one softmax less another)": r"lambda_q1|lambda_init",
}
SOFTMAX = re.compile(r"softmax|\bexp2?\(|\bexp_|scaled_dot|sdpa|flash|attention\(|attend|attn\(", re.I)


def named_in(adapter):
    """Return a sentence on the designs that a module's source, parameters or settings speak of, or ""."""
    names = [*(parameter.path for parameter in adapter.parameters()), *adapter.numbers(), *adapter.buffers()]
    return spoken_of(adapter.source(), names)


def spoken_of(source, names=()):
    """Return a sentence on the designs that a source or some names speak of, or ""."""
    spoken = "\n".join([*names, re.sub(r"(?m)#.*$", "", source)])
    found = [design for design, pattern in DESIGNS.items() if re.search(pattern, spoken, re.I | re.M)]
    if not found and source and not SOFTMAX.search(spoken):
        return "It speaks of no softmax, and may be another design."
    return f"It speaks of {' and of '.join(found)}; the doctor may not know that form of it." if found else ""
