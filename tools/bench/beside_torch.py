"""What the course's attention and its writing are timed beside, and what the doctor examines: in PyTorch."""

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    torch = None


def torch_eager(queries, keys, values, *, is_causal=False):
    scores = queries @ keys.transpose(-1, -2) * queries.shape[-1] ** -0.5
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def torch_stream(module, codes):
    """Write with the trainer's own module in PyTorch, eagerly and with a cache: yield one code after the other."""
    new, start, caches = torch.tensor(codes), 0, [None] * len(module.blocks)
    while True:
        X = module.characters(new) + module.positions.weight[start : start + len(new)]
        for i, block in enumerate(module.blocks):
            Y = block.attention_norm(X)
            parts = (block.queries, block.keys, block.values)
            queries, keys, values = (part(Y).view(len(new), block.n_heads, -1).transpose(0, 1) for part in parts)
            if caches[i] is not None:
                keys, values = (torch.cat(pair, dim=1) for pair in zip(caches[i], (keys, values), strict=True))
            caches[i] = keys, values
            scores = queries @ keys.transpose(1, 2) * queries.shape[-1] ** -0.5
            if len(new) > 1:
                scores = scores.masked_fill(~torch.ones(scores.shape[1:], dtype=torch.bool).tril(), -torch.inf)
            context = torch.softmax(scores, dim=-1) @ values
            X = X + block.output(context.transpose(0, 1).reshape(len(new), -1))
            X = X + block.narrow(F.relu(block.widen(block.mlp_norm(X))).square())
        logits = F.linear(module.norm(X[-1]), module.characters.weight)
        code = torch.multinomial(torch.softmax(logits, dim=-1), 1)
        yield int(code)
        start, new = start + len(new), code


def faulty_module(width, n_heads, *, has_a_name):
    """Return a module with a mistake: one that the doctor names, or one for which it searches to the end."""

    class Faulty(nn.Module):
        def __init__(self):
            super().__init__()
            self.n_heads, self.qkv, self.proj = n_heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            queries, keys, values = self.qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
            scores = queries @ keys.mT
            if has_a_name:  # all features, not a head's
                scores = scores / x.shape[-1] ** 0.5
            else:  # normalized along both axes
                scores = scores / queries.shape[-1] ** 0.5
                scores = scores - scores.mean(-2, keepdim=True)
            return self.proj((torch.softmax(scores, dim=-1) @ values).transpose(1, 2).flatten(-2))

    return Faulty()
