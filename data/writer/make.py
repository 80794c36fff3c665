"""Turn a checkpoint of `train.py` into the course's data: its weights in float16, settings and log.

Usage: python -m data.writer.make [--folder FOLDER]

Needs PyTorch, to read the checkpoint, and writes down what PyTorch answers for the tests. Prints the loss on the whole
last tenth, with the weights as they are stored.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from data.weights import describe, write_safetensors
from data.writer.train import Writer
from mha_helpers import decoder
from mha_helpers.model.data import ORIGIN, WEIGHTS

REPOSITORY = Path(__file__).parents[2]
TARGET = Path(__file__).parent
BY_TORCH = REPOSITORY / "tests" / "models" / "writer_by_torch.json"
PROMPT = "ROMEO:\nBut, soft! what light through yonder window breaks?\n"


def build(checkpoint, log, text):
    """Return the files that `data/writer/` gets, by name; `log` and `text` are bytes."""
    stored = {name: tensor.numpy().astype(np.float16) for name, tensor in checkpoint["model"].items()}
    built = {WEIGHTS: write_safetensors(stored), decoder.LOG: log, decoder.TEXT: text}
    settings = checkpoint["settings"] | {"steps": checkpoint["step"], "alphabet": checkpoint["alphabet"]}
    tensors = {name: array.astype(np.float32) for name, array in stored.items()}
    model = decoder.assemble(tensors, settings["alphabet"], settings["n_heads"])
    held_out = text.decode("utf-8")[len(text) * 9 // 10 :]
    origin = {
        "model": "a GPT over characters, trained for this course",
        "text": "Shakespeare's plays (public domain), as karpathy/char-rnn has them in data/tinyshakespeare/input.txt",
        "licence": "the text is in the public domain; the weights are the course's, BSD-3-Clause",
        "commands": ["python -m data.writer.train", "python -m data.writer.make"],
        "settings": settings,
        "parameters": sum(array.size for array in stored.values()),
        "held_out_loss": round(model.loss(held_out), 4),
        "measured": "nats a character on the whole last tenth, in windows of the full context that do not overlap",
        "built": describe(built),
    }
    return built | {ORIGIN: (json.dumps(origin, indent=2) + "\n").encode()}


def module_of(tensors, settings):
    """Return the model as PyTorch runs it, from float32 arrays."""
    module = Writer(settings, len(settings["alphabet"])).eval()
    module.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
    return module


def load_module():
    """Return the course's model as PyTorch runs it."""
    return module_of(decoder.load_tensors(), decoder.load_settings())


def logits_by_torch(module, text):
    """Return PyTorch's logits after each character."""
    codes = torch.from_numpy(decoder.load().codes(text))
    with torch.no_grad():
        return module(codes[None])[0].numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("writer-training"), help="with checkpoint and log")
    folder = parser.parse_args().folder
    files = build(
        torch.load(folder / "checkpoint.pt"),
        (folder / "log.jsonl").read_bytes(),
        (TARGET / decoder.TEXT).read_bytes(),
    )
    for name, content in files.items():
        (TARGET / name).write_bytes(content)
        print(f"{len(content):>10,} bytes  {name}")
    origin = json.loads(files[ORIGIN])
    logits = logits_by_torch(load_module(), PROMPT)[-1]
    found = {"torch": torch.__version__, "prompt": PROMPT, "logits": [round(float(x), 5) for x in logits]}
    BY_TORCH.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"{origin['parameters']:,} parameters, {origin['held_out_loss']} nats a character")


if __name__ == "__main__":
    main()
