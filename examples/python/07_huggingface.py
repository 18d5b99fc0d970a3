# SPDX-License-Identifier: Apache-2.0
"""7: a model that others trained. A folder of Hugging Face, GPT-2 or Llama, computes logits, generates and is trained.

    $ dtrun -n 2 python3 07_huggingface.py --model FOLDER --mesh tp=2 --tokens prompt.npy --generate 24

The model is that of one device, and rules place its parameters. Options and results are those of 16_huggingface.c.
"""
import argparse
import json
import sys

import numpy as np

import dtensor as dt

OPTIONS = {"model": "", "mesh": "dp=*", "dtype": "f32", "tokens": "", "logits": "", "generate": 0, "out": "", "seed": 1,
           "temperature": 0.0, "top-p": 1.0, "train": 0, "lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "weight-decay": 0.01,
           "clip": 1.0, "log": "", "save": ""}
RULES = """*.attn.wq.* tp=S(0)*{group}
    *.attn.w[kv].* tp=S(0)*{head}
    *.attn.wo.weight tp=S(1)*{group}
    *.mlp.[gu]*.* tp=col
    *.mlp.down.weight tp=row
    tok.weight tp=vocab
    head.weight? tp=vocab
    * fsdp=free"""


class Model:
    def __init__(self, o):
        self.config = c = dt.ModelConfig(o.model)  # what it does not implement it refuses by name
        self.mesh, self.is_training, self.cache = dt.DeviceMesh("cpu", o.mesh), False, None
        self.frequencies = c.frequencies(device_mesh=self.mesh)
        is_mixed = o.train > 0 and o.dtype == "bf16"  # parameters of f32 that are used as bf16
        rules = RULES.format(group=c.heads // c.kv_heads * c.head_dim, head=c.head_dim) + is_mixed * " use=bf16"
        self.p = c.open_params(device_mesh=self.mesh, dtype="f32" if is_mixed else o.dtype, rules=rules)
        self.p.check()
        self.w = {}  # weight and bias of each layer
        for name, tensor in self.p.items():
            self.w.setdefault(name.rpartition(".")[0], []).append(tensor)

    def norm(self, name, x):
        op = dt.rms_norm if self.config.is_llama else dt.layer_norm
        return op(x, x.shape[-1:], *self.w[name], eps=self.config.eps)

    def drop(self, x, p):
        return dt.dropout(x, p) if self.is_training and p else x

    def attention(self, i, x, start):
        c, end = self.config, start + x.shape[1]
        q, k, v = (dt.linear(x, *self.w[f"h.{i}.attn.w{part}"]).unflatten(-1, (-1, c.head_dim)).transpose(1, 2)
                   for part in "qkv")  # [rows,heads,n,head]
        if c.is_llama:
            q, k = (dt.rotary_embedding(one, self.frequencies, offset=start) for one in (q, k))
        if self.cache is not None:  # of keys and values: those of these positions are added
            self.cache[i, :, :, :, start:end] = dt.stack([k, v])
            k, v = self.cache[i, :, :, :, :end]
        y = dt.scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1, scale=c.scale(i), enable_gqa=True,
                                            dropout_p=c.attention_dropout * self.is_training)
        return dt.linear(y.transpose(1, 2).flatten(2), *self.w[f"h.{i}.attn.wo"]).reduced()

    def mlp(self, i, x):
        up, activate = dt.linear(x, *self.w[f"h.{i}.mlp.up"]), self.config.activation
        y = activate(dt.linear(x, *self.w[f"h.{i}.mlp.gate"])) * up if self.config.is_llama else activate(up)
        return dt.linear(y, *self.w[f"h.{i}.mlp.down"]).reduced()

    def forward(self, tokens, start=0):
        """Tokens i64 [rows,n] at positions from `start` to logits [rows,n,vocab]"""
        c, x = self.config, dt.embedding(tokens, *self.w["tok"], padding_idx=self.config.padding_idx).reduced()
        if not c.is_llama:
            x = x + self.w["pos"][0][start:start + tokens.shape[1]]
        x = self.drop(x, c.embedding_dropout)
        for i in range(c.layers):
            with dt.block():  # its parameters are gathered together, and freed at its end
                dt.use(*self.p.tensors(f"h.{i}.*"))
                x = x + self.drop(self.attention(i, self.norm(f"h.{i}.norm1", x), start), c.dropout)
                x = x + self.drop(self.mlp(i, self.norm(f"h.{i}.norm2", x)), c.dropout)
        return dt.linear(self.norm("norm", x), *self.w["head"])

    def place(self, tokens):
        placements = ",".join("R" if name == "tp" else "S(0)" for name in self.mesh.mesh_dim_names)
        return dt.distribute_tensor(tokens, self.mesh, placements, src_data_rank=None)


def pick(o, logits, state):
    """The best token, or one of the best ones whose probabilities add up to top_p. Every rank draws alike."""
    order = np.argsort(-logits, kind="stable")
    sums = np.cumsum(np.exp((logits[order] - logits[order[0]]) / (o.temperature or 1)))
    n = min(int(np.searchsorted(sums, o.top_p * sums[-1])) + 1, len(sums))
    drawn = np.searchsorted(sums[:n], (state >> 11) * 2.0 ** -53 * sums[n - 1], side="right")
    return int(order[min(drawn, n - 1)] if o.temperature > 0 else order[0])


def generate(model, o, tokens):
    made, state, start, x = [], o.seed, 0, tokens
    c, heads = model.config, "tp=S(3)" if "tp" in model.mesh.mesh_dim_names else None
    model.cache = dt.zeros(c.layers, 2, 1, c.kv_heads, tokens.shape[1] + o.generate, c.head_dim, dtype=o.dtype,
                           device_mesh=model.mesh, placements=heads)
    while len(made) < o.generate:
        with dt.block():
            placed = dt.distribute_tensor(x, model.mesh, src_data_rank=None)
            logits = model.forward(placed, start)[0, -1].double().full_tensor().numpy()
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        made.append(pick(o, logits, state))
        start, x = start + x.shape[1], np.array([made[-1:]])
    if dt.get_rank() == 0:
        print(json.dumps({"tokens": made}), file=open(o.out, "w") if o.out else sys.stdout)


def train(model, o, tokens):
    optimizer = dt.AdamW(model.p, lr=o.lr, betas=(o.beta1, o.beta2), weight_decay=o.weight_decay)
    log = open(o.log, "w") if o.log and dt.get_rank() == 0 else None
    dt.manual_seed(o.seed)
    ids, model.is_training = model.place(tokens), True
    for step in range(1, o.train + 1):
        logits = model.forward(ids[:, :-1]).to("f64" if o.dtype == "f64" else "f32")
        loss = dt.cross_entropy(logits.flatten(end_dim=1), ids[:, 1:].flatten())
        loss.backward()
        values = {"step": step, "loss": loss.item(), "grad_norm": dt.clip_grad_norm_(model.p.tensors(), o.clip).item()}
        optimizer.step()
        optimizer.zero_grad()
        if log:
            print(json.dumps(values), file=log, flush=True)
    if o.save:
        model.config.save(model.p, o.save, dtype=o.dtype)


def main(o):
    model, tokens = Model(o), np.load(o.tokens)
    if tokens.dtype != np.int64 or tokens.ndim != 2 or (o.generate and len(tokens) != 1):
        raise ValueError(f"{o.tokens}: expected i64 [rows,n], and one row to generate")
    with dt.no_grad():
        if o.logits:
            logits = model.forward(model.place(tokens))
            dt.save_npy(logits.float() if o.dtype == "bf16" else logits, o.logits)
        if o.generate:
            generate(model, o, tokens)
    if o.train:
        train(model, o, tokens)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, default in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = parser.parse_args()
    runs = options.logits or options.generate > 0 or options.train > 0
    if not (options.model and options.tokens and runs and options.dtype in ("f64", "f32", "bf16")):
        parser.error("expected --model, --tokens, --dtype f64, f32 or bf16, and --logits, --generate or --train")
    main(options)
