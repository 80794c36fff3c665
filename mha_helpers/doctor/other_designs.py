"""Designs whose equation is another one: what isn't compared is named, at least."""

import re

DESIGNS = {
    "multi-head latent attention (MLA: keys and values come from one narrow vector a token)": (
        r"kv_lora_rank|kv_latent|latent_kv|(^|\.)kv_a_|(^|\.)kv_down|w_?dkv|kv_compress"
    ),
    "ALiBi (a bias that grows with the distance)": r"alibi",
    "soft-capped scores (cap × tanh(scores / cap))": r"soft_?cap",
    "attention sinks (a further score in each row's sum)": r"(^|\.)(attn_?)?sinks?\b",
    "differential attention (one softmax less another)": r"lambda_q1|lambda_init",
}


def named_in(adapter):
    """Return a sentence on the designs that a module's source, parameters or settings speak of, or ""."""
    names = "\n".join([*(one.path for one in adapter.parameters()), *adapter.numbers(), *adapter.buffers()])
    spoken = "\n".join([names, re.sub(r"(?m)#.*$", "", adapter.source())])
    found = [design for design, pattern in DESIGNS.items() if re.search(pattern, spoken, re.I | re.M)]
    return f"It speaks of {' and of '.join(found)}; the doctor may not know that form of it." if found else ""
