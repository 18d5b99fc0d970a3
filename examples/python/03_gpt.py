# SPDX-License-Identifier: Apache-2.0
"""3: a GPT that trains on a mesh, written once: data parallel (dp), fully sharded (fsdp) and tensor parallel (tp).

    $ python3 03_gpt.py --steps 100
    $ dtrun -n 4 python3 03_gpt.py --mesh dp=2,tp=2

How it is parallel follows from the rules below, from the placements of the tokens, and from `reduced()` where partial
sums end. Options, files and results are those of examples/10_gpt.c.
"""
import argparse
import json
import time

import numpy as np

import dtensor as dt


def parse():
    parser = argparse.ArgumentParser()
    for name, default in (("layers", 4), ("width", 64), ("heads", 4), ("vocab", 64), ("seq", 64), ("batch", 16),
                          ("steps", 200), ("tied", 1), ("warmup", 20), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("lr", 0.003), ("min-lr", 0.0003), ("weight-decay", 0.1), ("clip", 1.0), ("dropout", 0.0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    for name in ("mesh", "init", "tokens", "log", "times", "save"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--comm-policy", default="allow")
    return parser.parse_args()


def make_rules(o):
    """Megatron's way: rows of a layer's weights are sharded over tp, then the columns of the next, in whole heads."""
    head = o.width // o.heads
    return f"""
        *.attn.w[qkv].*   tp=S(0)*{head}
        *.attn.wo.weight  tp=S(1)*{head}
        *.mlp.fc1.*       tp=col
        *.mlp.fc2.weight  tp=row
        tok.weight        tp=vocab
        head.weight?      tp=vocab
        *.bias            decay=0
        *.ln1.weight      decay=0
        *.ln2.weight      decay=0
        ln.weight         decay=0
        *                 fsdp=free
    """


class GPT:
    """Parameters with PyTorch's names, and the function that they define."""

    def __init__(self, o, mesh):
        self.o = o
        self.p = p = dt.Params(device_mesh=mesh, rules=make_rules(o), dtype=o.dtype)
        deep = 0.02 / (2 * o.layers) ** 0.5
        p.param("tok.weight", (o.vocab, o.width), std=0.02)
        p.param("pos.weight", (o.seq, o.width), std=0.02)
        for i in range(o.layers):
            with p.prefix(f"blocks.{i}."):
                for name in ("ln1", "ln2"):
                    p.param(f"{name}.weight", (o.width,), value=1.0)
                    p.param(f"{name}.bias", (o.width,))
                for name, rows, columns, std in (("attn.wq", 1, 1, 0.02), ("attn.wk", 1, 1, 0.02),
                                                 ("attn.wv", 1, 1, 0.02), ("attn.wo", 1, 1, deep),
                                                 ("mlp.fc1", 4, 1, 0.02), ("mlp.fc2", 1, 4, deep)):
                    p.param(f"{name}.weight", (rows * o.width, columns * o.width), std=std)
                    p.param(f"{name}.bias", (rows * o.width,))
        p.param("ln.weight", (o.width,), value=1.0)
        p.param("ln.bias", (o.width,))
        if o.tied:
            p.param("head.weight", (o.vocab, o.width), tied="tok.weight")
        else:
            p.param("head.weight", (o.vocab, o.width), std=0.02)
        self.weights = dict(p.items())

    def load(self, path):
        with np.load(path) as file, dt.no_grad():
            for name, weight in self.weights.items():
                if name in file:
                    value = dt.asarray(file[name].astype(np.float64)).to(weight.dtype)
                    weight.copy_(dt.distribute_tensor(value, weight.device_mesh, weight.placements, src_data_rank=None)
                                 if weight.is_distributed else value)

    def save(self, path):
        saved = (name for name in self.weights if not (self.o.tied and name == "head.weight"))
        dt.save_npz(path, {name: self.weights[name].detach() for name in saved})

    def linear(self, name, x):
        return dt.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, name, x):
        return dt.layer_norm(x, (self.o.width,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def heads(self, x):
        """[batch,seq,width] as [batch,heads,seq,width/heads]"""
        return x.view(x.shape[0], x.shape[1], self.o.heads, -1).transpose(1, 2)

    def attention(self, name, x):
        q, k, v = (self.heads(self.linear(f"{name}.{part}", x)) for part in ("wq", "wk", "wv"))
        y = dt.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        return self.linear(f"{name}.wo", y.reshape(y.shape[0], y.shape[1], self.o.width)).reduced()

    def mlp(self, name, x):
        return self.linear(f"{name}.fc2", self.linear(f"{name}.fc1", x).gelu(approximate="tanh")).reduced()

    def dropout(self, x):
        return dt.dropout(x, p=self.o.dropout) if self.o.dropout else x

    def forward(self, tokens):
        with dt.block():  # frees the parameters that fully sharded training gathers for this part
            x = dt.embedding(tokens, self.weights["tok.weight"]).reduced()
            x = x + self.weights["pos.weight"][:tokens.shape[1]]
        for i in range(self.o.layers):
            with dt.block():
                dt.use(*self.p.tensors(f"blocks.{i}.*"))
                x = x + self.dropout(self.attention(f"blocks.{i}.attn", self.norm(f"blocks.{i}.ln1", x)))
                x = x + self.dropout(self.mlp(f"blocks.{i}.mlp", self.norm(f"blocks.{i}.ln2", x)))
        with dt.block():
            return dt.linear(self.norm("ln", x), self.weights["head.weight"])

    def loss(self, rows):
        tokens, targets = rows[:, :-1], rows[:, 1:]
        logits = self.forward(tokens)
        mesh = logits.device_mesh
        # Over sharded classes, ranks exchange a few numbers per token; sequences that several mesh dims shard unevenly
        # move.
        requested = mesh is not None and ("tp" in mesh.mesh_dim_names or logits.shape[0] % mesh.size() > 0)
        with dt.comm_policy("allow" if requested else self.o.comm_policy):
            return dt.cross_entropy(logits.flatten(end_dim=1), targets.flatten())


def make_text(o):
    """Batches of a sequence that a small rule generates."""
    numbers = np.zeros(o.steps * o.batch * (o.seq + 1), np.int64)
    for i in range(3, len(numbers)):
        numbers[i] = (numbers[i - 1] * 5 + numbers[i - 3] + i % 7) % o.vocab
    return numbers.reshape(o.steps, o.batch, o.seq + 1)


def train(o):
    mesh = dt.DeviceMesh("cpu", o.mesh) if o.mesh or dt.get_world_size() > 1 else None
    place = mesh and ",".join("R" if name == "tp" else "S(0)" for name in mesh.mesh_dim_names)
    dt.manual_seed(o.seed)
    model = GPT(o, mesh)
    if o.init:
        model.load(o.init)
    batches = np.load(o.tokens) if o.tokens else make_text(o)
    optimizer = dt.AdamW(model.p, lr=o.lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=o.weight_decay)
    log, times = (open(path, "w") if path and dt.get_rank() == 0 else None for path in (o.log, o.times))
    for step in range(o.steps):
        begin = time.time()
        with dt.comm_policy(o.comm_policy):
            optimizer.lr = dt.lr_cosine(step, o.lr, o.min_lr, o.warmup, o.steps)
            optimizer.zero_grad()
            rows = dt.asarray(batches[step])
            rows = dt.distribute_tensor(rows, mesh, place, src_data_rank=None) if mesh else rows
            loss = model.loss(rows)
            loss.backward()
            norm = dt.clip_grad_norm_(model.p.tensors(), o.clip)
            optimizer.step()
        values = {"step": step, "loss": loss.item(), "grad_norm": norm.item(), "lr": optimizer.lr}
        if times:
            print(json.dumps({"step": step, "begin": begin, "seconds": time.time() - begin}), file=times, flush=True)
        if log:
            print(json.dumps(values), file=log, flush=True)
        if dt.get_rank() == 0 and (step % 25 == 0 or step == o.steps - 1):
            print(f"step {step:4}/{o.steps}  loss {values['loss']:.4f}")
    if o.save:
        model.save(o.save)


if __name__ == "__main__":
    options = parse()
    if options.mesh is None and dt.get_world_size() > 1:
        options.mesh = f"dp={dt.get_world_size()}"
    train(options)
