"""Train the model that writes: a GPT over the characters of Shakespeare's plays, small enough for a laptop.

Usage: python -m data.writer.train [--steps N] [--resume] [--folder FOLDER]

Learns from the first nine tenths of `data/writer/shakespeare.txt` and is measured on the whole last tenth. Needs
PyTorch, and about an hour on two cores. Every `--every` steps it writes a checkpoint, from which `--resume`
goes on, and a line of the log. `make.py` turns the last checkpoint into the course's data.
On a busy machine, set OMP_WAIT_POLICY=passive: threads that wait for each other then use up no processor.

What makes a small model learn quickly here: its matrices take Muon's steps (Jordan et al. 2024,
https://kellerjordan.github.io/posts/muon/) and everything else Adam's; the learning rate warms up, stays, and falls
to zero over the second half; matrix products are computed in bfloat16.
"""

import argparse
import json
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

TEXT = Path(__file__).with_name("shakespeare.txt")
SETTINGS = {
    "n_layers": 4,
    "n_heads": 6,
    "d_model": 192,
    "context": 256,
    "batch": 16,
    "dropout": 0.1,
    "matrix_rate": 0.02,
    "rate": 0.003,
    "weight_decay": 0.05,
    "warm_up": 100,
    "seed": 0,
}


def read_text():
    """Return the alphabet, and the codes of the characters to learn from and to be measured on."""
    text = TEXT.read_text(encoding="utf-8")
    alphabet = "".join(sorted(set(text)))
    codes = torch.tensor([alphabet.index(character) for character in text])
    n_train = len(codes) * 9 // 10
    return alphabet, codes[:n_train], codes[n_train:]


class Drop(nn.Module):
    """Dropout that switches a feature off for a whole sequence, which costs next to nothing on a CPU.

    Gal and Ghahramani (2016), https://arxiv.org/abs/1512.05287.
    """

    def __init__(self, share):
        super().__init__()
        self.share = share

    def forward(self, X):
        if not self.training:
            return X
        kept = torch.rand(len(X), 1, X.shape[-1]) >= self.share
        return X * (kept / (1 - self.share))


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        d_model, self.n_heads = s["d_model"], s["n_heads"]
        self.attention_norm = nn.LayerNorm(d_model, bias=False)
        self.queries, self.keys, self.values, self.output = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.mlp_norm = nn.LayerNorm(d_model, bias=False)
        self.widen = nn.Linear(d_model, 4 * d_model, bias=False)
        self.narrow = nn.Linear(4 * d_model, d_model, bias=False)
        self.drop = Drop(s["dropout"])

    def forward(self, X):
        X = X + self.drop(self.attend(self.attention_norm(X)))
        return X + self.drop(self.narrow(F.relu(self.widen(self.mlp_norm(X))).square()))

    def attend(self, X):
        batch, seq_len, d_model = X.shape
        # In one product, which is quicker; as three matrices, since Muon makes each one's steps orthogonal by itself.
        fused = torch.cat([self.queries.weight, self.keys.weight, self.values.weight])
        heads = F.linear(X, fused).float().view(batch, seq_len, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        with torch.autocast("cpu", enabled=False):  # this kernel is slower in bfloat16
            context = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.output(context.transpose(1, 2).reshape(batch, seq_len, d_model))


class Writer(nn.Module):
    """Characters to logits of the next one. The table of characters serves at both ends."""

    def __init__(self, s, n_characters):
        super().__init__()
        self.characters = nn.Embedding(n_characters, s["d_model"])
        self.positions = nn.Embedding(s["context"], s["d_model"])
        self.drop = Drop(s["dropout"])
        self.blocks = nn.ModuleList(Block(s) for _ in range(s["n_layers"]))
        self.norm = nn.LayerNorm(s["d_model"], bias=False)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)
            if name.endswith(("output.weight", "narrow.weight")):
                nn.init.zeros_(parameter)  # each block begins as one that changes nothing

    def forward(self, codes):
        X = self.drop(self.characters(codes) + self.positions.weight[: codes.shape[1]])
        for block in self.blocks:
            X = block(X)
        return F.linear(self.norm(X), self.characters.weight)


def loss_on(model, codes, context):
    """Return the mean loss in nats over all of the codes, in windows of full context that do not overlap.

    The first character has nothing before it, and so is not predicted; the last window is shorter.
    """
    total, inputs, targets = 0.0, codes[:-1], codes[1:]
    n_windows = len(inputs) // context
    whole = n_windows * context
    parts = [
        *zip(inputs[:whole].view(-1, context).split(32), targets[:whole].view(-1, context).split(32), strict=True),
        (inputs[None, whole:], targets[None, whole:]),
    ]
    model.eval()
    with torch.no_grad():
        for some, wanted in parts:
            if some.numel():
                total += F.cross_entropy(model(some).flatten(0, 1), wanted.flatten(), reduction="sum").item()
    model.train()
    return total / len(targets)


def optimisers_of(model, s):
    """Muon for the blocks' matrices, Adam for tables and norms."""
    matrices = [parameter for parameter in model.blocks.parameters() if parameter.ndim == 2]
    chosen = {id(parameter) for parameter in matrices}
    others = [parameter for parameter in model.parameters() if id(parameter) not in chosen]
    return (
        torch.optim.Muon(matrices, lr=s["matrix_rate"], weight_decay=s["weight_decay"]),
        torch.optim.AdamW(others, lr=s["rate"], betas=(0.9, 0.95), weight_decay=0.0),
    )


def rate_at(step, n_steps, warm_up):
    """Return the share of the learning rate at a step: up over the warm-up, level, down over the second half."""
    return min((step + 1) / warm_up, 1.0, 2 * (1 - step / n_steps))


def train(n_steps, folder, *, every, resume, **changes):
    s = SETTINGS | changes
    alphabet, learned_from, measured_on = read_text()
    torch.manual_seed(s["seed"])
    model = Writer(s, len(alphabet))
    optimisers = optimisers_of(model, s)
    base_rates = [optimiser.param_groups[0]["lr"] for optimiser in optimisers]
    checkpoint, log = folder / "checkpoint.pt", folder / "log.jsonl"
    first, seconds = 0, 0.0
    if resume:
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        for optimiser, state in zip(optimisers, saved["optimisers"], strict=True):
            optimiser.load_state_dict(state)
        torch.set_rng_state(saved["random"])
        first, seconds = saved["step"], saved["seconds"]
    else:
        log.write_text("")
    with log.open("a") as lines:
        print(
            json.dumps(
                {
                    "steps": n_steps,
                    "from": first,
                    "parameters": sum(p.numel() for p in model.parameters()),
                    "torch": torch.__version__,
                    "threads": torch.get_num_threads(),
                }
                | s
            ),
            file=lines,
        )
    window = torch.arange(s["context"])
    started, recent = time.perf_counter() - seconds, []
    for step in range(first, n_steps):
        for optimiser, base in zip(optimisers, base_rates, strict=True):
            optimiser.param_groups[0]["lr"] = base * rate_at(step, n_steps, s["warm_up"])
        starts = torch.randint(len(learned_from) - s["context"], (s["batch"], 1))
        codes, wanted = learned_from[starts + window], learned_from[starts + window + 1]
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(codes)
        loss = F.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad()
        recent.append(loss.item())
        if (step + 1) % every == 0 or step + 1 == n_steps:
            seconds = time.perf_counter() - started
            line = {
                "step": step + 1,
                "training": round(sum(recent) / len(recent), 4),
                "held_out": round(loss_on(model, measured_on, s["context"]), 4),
                "seconds": round(seconds),
            }
            recent = []
            with log.open("a") as lines:
                print(json.dumps(line), file=lines)
            print(line, flush=True)
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimisers": [o.state_dict() for o in optimisers],
                    "random": torch.get_rng_state(),
                    "step": step + 1,
                    "seconds": seconds,
                    "settings": s,
                    "alphabet": alphabet,
                },
                checkpoint,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2700)
    parser.add_argument("--every", type=int, default=250, help="steps between two checkpoints")
    parser.add_argument("--folder", type=Path, default=Path("writer-training"), help="for checkpoint and log")
    parser.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    parser.add_argument("--set", default="{}", type=json.loads, metavar="JSON", help="settings to change")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    train(
        arguments.steps,
        arguments.folder,
        every=arguments.every,
        resume=arguments.resume,
        **arguments.set,
    )


if __name__ == "__main__":
    main()
