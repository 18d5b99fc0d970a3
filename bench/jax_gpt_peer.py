#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of the model of examples/10_gpt.c with JAX: one compiled function of forward, backward and AdamW, f32.

Modes: one (a device on one core); on two devices of this process dp (the batch is sharded), fsdp (parameters, too), tp (heads, hidden units
and the vocabulary are sharded). XLA chooses the collectives. Prints one JSON object: seconds of the fastest step, and the time at which the
first one began, which is after compilation.
"""
import argparse
import functools
import json
import os
import time

os.environ["JAX_PLATFORMS"] = "cpu"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["one", "dp", "fsdp", "tp"], required=True)
    parser.add_argument("--seconds", type=float, required=True, help="about how long to step")
    for name in "layers", "width", "heads", "vocab", "seq", "batch":
        parser.add_argument("--" + name, type=int, required=True)
    a = parser.parse_args()
    if a.mode == "one":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    else:
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("ranks",))
    random = np.random.default_rng(0)
    params, places = {}, {}

    def add(name, shape, tp_dim, value=None):
        """A parameter of random numbers or of one value; tp_dim is sharded in mode tp, the first dim in mode fsdp."""
        params[name] = np.full(shape, value, np.float32) if value is not None else 0.02 * random.standard_normal(shape, np.float32)
        dim = {"tp": tp_dim, "fsdp": 0}.get(a.mode)
        axes = [None] * len(shape)
        if dim is not None:
            axes[dim] = "ranks"
        places[name] = NamedSharding(mesh, PartitionSpec(*axes))

    width = a.width
    add("tok", (a.vocab, width), 0)
    add("pos", (a.seq, width), None)
    for i in range(a.layers):
        for name in "qkv":
            add(f"{i}.w{name}", (width, width), 1)
            add(f"{i}.b{name}", (width,), 0, 0)
        for name, shape, dim in ("o", (width, width), 0), ("1", (width, 4 * width), 1), ("2", (4 * width, width), 0):
            add(f"{i}.w{name}", shape, dim)
            add(f"{i}.b{name}", shape[1:], 0 if dim == 1 else None, 0)
    for name in [f"{i}.ln{j}" for i in range(a.layers) for j in (1, 2)] + ["ln"]:
        add(name + ".w", (width,), None, 1)
        add(name + ".b", (width,), None, 0)
    add("head", (width, a.vocab), 1)

    def norm(p, name, x):
        centered = x - x.mean(-1, keepdims=True)
        return centered * jax.lax.rsqrt((centered * centered).mean(-1, keepdims=True) + 1e-5) * p[name + ".w"] + p[name + ".b"]

    def linear(p, i, name, x):
        return x @ p[f"{i}.w{name}"] + p[f"{i}.b{name}"]

    causal = np.tril(np.ones((a.seq, a.seq), bool))

    def loss_of(p, inputs, targets):
        x = p["tok"][inputs] + p["pos"]
        for i in range(a.layers):
            h = norm(p, f"{i}.ln1", x)
            q, k, v = (linear(p, i, name, h).reshape(*h.shape[:2], a.heads, width // a.heads) for name in "qkv")
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width / a.heads).astype(np.float32)
            weights = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf), -1)
            x = x + linear(p, i, "o", jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(h.shape))
            x = x + linear(p, i, "2", jax.nn.gelu(linear(p, i, "1", norm(p, f"{i}.ln2", x))))
        logits = norm(p, "ln", x) @ p["head"]
        right = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - right).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(p, first, second, n, inputs, targets):
        loss, grads = jax.value_and_grad(loss_of)(p, inputs, targets)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, grads)
        scale1, scale2 = 1 / (1 - 0.9 ** n), 1 / (1 - 0.95 ** n)
        p = jax.tree.map(lambda w, m, v: w - 1e-3 * (0.1 * w + m * scale1 / (jnp.sqrt(v * scale2) + 1e-8)), p, first, second)
        return p, first, second, loss

    rows = NamedSharding(mesh, PartitionSpec("ranks" if a.mode in ("dp", "fsdp") else None))
    tokens = random.integers(0, a.vocab, (a.batch, a.seq + 1)).astype(np.int32)
    inputs, targets = (jax.device_put(t, rows) for t in (tokens[:, :-1].copy(), tokens[:, 1:].copy()))
    state = {name: jax.device_put(value, places[name]) for name, value in params.items()}
    first, second = (jax.tree.map(jnp.zeros_like, state) for _ in range(2))
    step = step.lower(state, first, second, 1.0, inputs, targets).compile()
    begun, best, spent, n = time.time(), 1e30, 0.0, 0
    while n < 4 or spent < a.seconds:
        n += 1
        start = time.perf_counter()
        state, first, second, loss = step(state, first, second, float(n), inputs, targets)
        jax.block_until_ready((state, loss))
        seconds = time.perf_counter() - start
        spent += seconds
        if n > 1:
            best = min(best, seconds)
    print(json.dumps({"seconds": best, "begun": begun, "steps": n}), flush=True)


if __name__ == "__main__":
    main()
