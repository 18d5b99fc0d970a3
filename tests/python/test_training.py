# SPDX-License-Identifier: Apache-2.0
"""Gradients, hooks and checkpoints, parameters with rules, optimizers, batches, counts of communication, functions on local
tensors and ops of the program's own, in Python."""
import json
import math
import pathlib
import shutil
import sys

import python_tests
import dtensor as dt
import pytest

FILE = __file__


def test_gradients():
    w = dt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = dt.tensor([[1.0, -1.0]])
    loss = ((x @ w) ** 2).sum()
    loss.backward(retain_graph=True)
    assert w.grad.tolist() == [[-4, -4], [4, 4]]
    loss.backward()
    assert w.grad.tolist() == [[-8, -8], [8, 8]]
    w.grad = None
    assert w.grad is None and w.is_leaf and not loss.is_leaf
    first, = dt.grad((w ** 3).sum(), w, create_graph=True)
    second, = dt.grad(first.sum(), w)
    assert second.tolist() == [[6, 12], [18, 24]]
    assert dt.grad(w.sum(), [w, x.requires_grad_()], allow_unused=True)[1] is None
    with pytest.raises(dt.Error):
        dt.zeros(2).backward()


def test_hooks():
    w = dt.ones(2, requires_grad=True)
    seen = []
    handle = w.register_hook(lambda grad: (seen.append(grad.tolist()), grad * 10)[1])
    (w * 3).sum().backward()
    assert seen == [[3, 3]] and w.grad.tolist() == [30, 30]
    handle.remove()
    w.grad = None
    (w * 3).sum().backward()
    assert w.grad.tolist() == [3, 3] and len(seen) == 1

    def broken(grad):
        raise KeyError("in the hook")

    w.register_hook(broken)
    with pytest.raises(KeyError, match="in the hook"):
        (w * 2).sum().backward()
    dt.clear_error()
    assert (dt.ones(2) + 1).tolist() == [2, 2]


def test_checkpoint():
    w = dt.tensor([0.5, 2.0], requires_grad=True)
    runs = []

    def layer(x):
        runs.append(1)
        return (x * w).gelu()

    y = dt.checkpoint(layer, dt.tensor([1.0, 3.0], requires_grad=True))
    y.sum().backward()
    expected = w.grad.tolist()
    w.grad = None
    layer(dt.tensor([1.0, 3.0])).sum().backward()
    assert w.grad.tolist() == expected and len(runs) == 3
    w.grad = None
    dt.checkpoint(lambda x, k, scale=1: layer(x) * k * scale, dt.tensor([1.0, 3.0]), 2, scale=0.5, use_reentrant=False).sum().backward()
    assert w.grad.tolist() == expected and len(runs) == 5
    with pytest.raises(TypeError, match="tensor among"):
        dt.checkpoint(lambda k: k, 3)


def train_with_rules():
    mesh = dt.init_device_mesh("cpu", (1, -1), mesh_dim_names=("dp", "fsdp"))
    dt.manual_seed(3)
    p = dt.Params(device_mesh=mesh, rules="*.bias decay=0\n* fsdp=free")
    for i in range(2):
        with p.prefix(f"h.{i}."):
            p.param("weight", (4, 4), std=0.5)
            p.param("bias", (4,))
    p.check()
    assert list(p) == ["h.0.weight", "h.0.bias", "h.1.weight", "h.1.bias"] and len(p.tensors("*.bias")) == 2
    assert "h.*" in str(p) and p["h.0.weight"].placements[1] == dt.Shard(0)
    optimizer = dt.AdamW(p, lr=0.05, betas=(0.9, 0.95), weight_decay=0.1)
    x = dt.randn(8, 4, device_mesh=mesh, placements="R,S(0)")
    losses = []
    for step in range(30):
        optimizer.lr = dt.lr_cosine(step, 0.05, 0.005, 4, 30)
        optimizer.zero_grad()
        h = x
        for i in range(2):
            with dt.block():
                h = dt.linear(h, p[f"h.{i}.weight"], p[f"h.{i}.bias"]).tanh()
        loss = ((h - x.tanh()) ** 2).mean()
        loss.backward()
        norm = dt.clip_grad_norm_(p.tensors(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0] and norm.item() > 0, losses
    assert optimizer.n_steps(p["h.0.weight"]) == 30 and optimizer.state(p["h.0.weight"], "exp_avg").shape == (4, 4)
    print(f"loss {losses[-1]:.5f}")


def counts_and_policies():
    n = dt.get_world_size()
    mesh = dt.init_device_mesh("cpu", (n,))
    x = dt.ones(8, 6, device_mesh=mesh, placements="S(0)")
    with dt.comm_stats() as stats:
        with dt.comm_scope("layer"):
            x.redistribute(placements="R")
    assert stats.count("all_gather") == (n > 1) and stats.count(scope="layer") == stats.count()
    assert "all_gather" in str(stats) or n == 1
    assert "total" in stats.json()
    assert "S(0)" in dt.explain("softmax($1; dim=1)", x)
    assert dt.memory_stats()["peak"] > 0 and "activations" in dt.memory()
    with dt.tracing() as text:
        x.relu()
    assert "relu" in text()
    if n > 1:
        with dt.comm_policy("error"):
            try:
                x.sort(dim=0)
                raise AssertionError("expected a refusal")
            except dt.Error as error:
                assert "test_training.py" in str(error)
    double = dt.local_map(lambda a: a * 2, [dt.Shard(0)])
    assert (double(x).full_tensor() == 2).all()
    both = dt.local_map(lambda a, b: (a + b, a - b), ("S(0)", "S(0)"), ("S(0)", "S(0)"), redistribute_inputs=True)
    total, difference = both(x, x.redistribute(placements="R"))
    assert (total.full_tensor() == 2).all() and (difference.full_tensor() == 0).all()


def checkpoints():
    folder = sys.argv[3]
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),), mesh_dim_names=("fsdp",))

    def make():
        p = dt.Params(device_mesh=mesh, rules="* fsdp=free")
        p.param("w", (5, 3), std=1.0)
        return p, dt.AdamW(p, lr=0.1)

    def step(p, optimizer):
        optimizer.zero_grad()
        (p["w"] ** 2).sum().backward()
        optimizer.step()

    p, optimizer = make()
    assert dt.load(p, folder, optimizer=optimizer, optional=True) is None
    step(p, optimizer)
    dt.save(p, folder, 1, optimizer=optimizer, keep=2)
    step(p, optimizer)
    expected = p["w"].full_tensor().tolist()
    q, other = make()
    assert dt.load(q, folder, optimizer=other) == 1
    step(q, other)
    assert q["w"].full_tensor().tolist() == expected
    q.save(folder + "/model")
    assert dt.Params.open(folder + "/model", device_mesh=mesh)["w"].full_tensor().tolist() == expected


def pipelines():
    n = dt.get_world_size()
    mesh = dt.init_device_mesh("cpu", (n,), mesh_dim_names=("pp",))
    schedule = dt.Schedule("1f1b", ranks=n, stages=n, micro=4)
    assert schedule.n_stages == n and schedule.n_micro == 4 and "0F0" in str(schedule)
    x = dt.arange(4 * 2 * 3).view(4, 2, 3).float()
    weights = [dt.full((3, 3), 0.1 * (s + 1), requires_grad=True) for s in range(n)]
    on = [schedule.mesh(mesh, s) for s in range(n)]
    stage_weights = [dt.distribute_tensor(weights[s].detach(), on[s], "R", src_data_rank=None).requires_grad_() for s in range(n)]

    def stage(s, micro, h):
        h = dt.distribute_tensor(x[micro], on[0], "R", src_data_rank=None) if s == 0 else h
        y = dt.linear(h, stage_weights[s])
        return (y ** 2).mean() if s == n - 1 else y

    loss = schedule.run(stage, mesh, hop="f32[2,3] R")
    total = 0
    for micro in range(4):
        h = x[micro]
        for s in range(n):
            h = dt.linear(h, weights[s])
        part = (h ** 2).mean() / 4
        part.backward()
        total += part.item()
    assert abs(loss - total) < 1e-4 * total, (loss, total)
    mine = dt.get_rank()
    assert dt.allclose(stage_weights[mine].grad.to_local(), weights[mine].grad, rtol=1e-4)


def custom_ops():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    swiglu = dt.register_op("swiglu(Tensor gate, Tensor up) -> Tensor", lambda gate, up: gate.sigmoid() * gate * up,
                            rule="..., ... -> ...", gradient="gate: silu_backward(grad * up, gate); up: grad * silu(gate)")
    x = dt.randn(7, 3, device_mesh=mesh, placements="S(0)", requires_grad=True)
    y = swiglu(x, x)
    expected = x.detach().full_tensor()
    assert y.placements == (dt.Shard(0),) and dt.allclose(y.full_tensor(), expected.silu() * expected)
    y.sum().backward()
    a = expected.clone().requires_grad_()
    (a.silu() * a).sum().backward()
    assert dt.allclose(x.grad.full_tensor(), a.grad)
    rows = dt.register_op("row_sums(Tensor x) -> Tensor", lambda x: x.sum(dim=-1), rule="mk! -> m", shape=lambda x: x[:-1])
    assert rows(x.detach()).shape == (7,) and dt.allclose(rows(x.detach()).full_tensor(), expected.sum(dim=-1))

    def broken(x):
        raise ZeroDivisionError("no")

    bad = dt.register_op("broken(Tensor x) -> Tensor", broken, rule="... -> ...")
    try:
        bad(dt.ones(2))
        raise AssertionError("expected an exception")
    except ZeroDivisionError:
        pass
    assert dt.ones(2).sum().item() == 2


@pytest.mark.parametrize("n", [1, 3])
def test_rules_and_optimizers(n):
    python_tests.run_ranks(n, FILE, "train_with_rules")


@pytest.mark.parametrize("n", [1, 2])
def test_counts_and_policies(n):
    python_tests.run_ranks(n, FILE, "counts_and_policies")


@pytest.mark.parametrize("n", [1, 2])
def test_checkpoints(n, tmp_path):
    python_tests.run_ranks(n, FILE, "checkpoints", arguments=[str(tmp_path / "run")])


@pytest.mark.parametrize("n", [1, 3])
def test_pipelines(n):
    python_tests.run_ranks(n, FILE, "pipelines")


@pytest.mark.parametrize("n", [1, 3])
def test_custom_ops(n):
    python_tests.run_ranks(n, FILE, "custom_ops")


def test_batches(tmp_path):
    dt.save_npy(dt.arange(100), tmp_path / "tokens.npy")
    batches = dt.Batches(tmp_path / "tokens.npy", 3, length=9, seed=5)
    assert batches.n_rows == 11 and len(batches) == 4
    first = [rows.tolist() for rows in batches]
    assert [len(rows) for rows in first] == [3, 3, 3, 2] and all(row[-1] == row[0] + 9 for rows in first for row in rows)
    batches.position = 1
    assert batches.next().tolist() == first[1]
    dt.save_npz(tmp_path / "two.npz", {"a": dt.ones(2), "b": dt.zeros(3)})
    assert dt.load_npz(tmp_path / "two.npz", "a").tolist() == [1, 1] and dt.load_npy(tmp_path / "tokens.npy").shape == (100,)


def test_scaler():
    scaler = dt.GradScaler(scale=8.0, interval=2)
    assert scaler.update(1.0) and scaler.update(1.0) and scaler.scale == 16.0
    assert not scaler.update(float("inf")) and scaler.scale == 8.0


HEAD = {"num_attention_heads": 2, "hidden_size": 16, "num_hidden_layers": 1}  # of Llama, with 4 angles per position


def config_of(folder, model_type="llama", **settings):
    (folder / "config.json").write_text(json.dumps({"model_type": model_type, **settings}))
    return dt.ModelConfig(folder)


def test_settings_of_models(tmp_path):
    gpt2, llama = config_of(tmp_path, "gpt2"), config_of(tmp_path, num_key_value_heads=None)
    assert (gpt2.layers, gpt2.width, gpt2.heads, gpt2.kv_heads, gpt2.head_dim) == (12, 768, 12, 12, 64)
    assert (llama.layers, llama.width, llama.heads, llama.kv_heads, llama.head_dim) == (32, 4096, 32, 32, 128)
    assert (gpt2.eps, gpt2.dropout, gpt2.embedding_dropout, gpt2.attention_dropout) == (1e-5, 0.1, 0.1, 0.1)
    assert (llama.eps, llama.dropout, llama.embedding_dropout, llama.attention_dropout) == (1e-6, 0, 0, 0)
    assert gpt2.map == "gpt2" and llama.map == "llama" and gpt2.frequencies() is None
    assert gpt2.scale(3) == 1 / 8 and llama.scale(3) == 128 ** -0.5
    assert config_of(tmp_path, "gpt2", scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True).scale(3) == 1 / 4
    x = dt.tensor([-2.0, 0.5])
    assert gpt2.activation(x).tolist() == dt.gelu(x, approximate="tanh").tolist()
    assert llama.activation(x).tolist() == dt.silu(x).tolist()
    assert config_of(tmp_path, hidden_act="quick_gelu").activation(x).tolist() == (x * (1.702 * x).sigmoid()).tolist()
    assert config_of(tmp_path, attention_dropout=1).attention_dropout == 1
    assert config_of(tmp_path, head_dim=6, num_key_value_heads=8).head_dim == 6
    assert llama.padding_idx is None and config_of(tmp_path, pad_token_id=-1).padding_idx == -1
    assert config_of(tmp_path, "gpt2", pad_token_id=5).padding_idx is None
    of_any_model = config_of(tmp_path, "gpt2", hidden_size=6, n_embd=8, num_hidden_layers=2, num_attention_heads=3)
    assert (of_any_model.width, of_any_model.layers, of_any_model.heads) == (6, 2, 3)


def test_frequencies_of_models(tmp_path):
    def close(settings, expected):
        f = config_of(tmp_path, **HEAD, **settings).frequencies()
        assert f.dtype == dt.float32 and f.tolist() == pytest.approx(expected, rel=1e-6), settings

    plain, of_16 = [1, 0.1, 0.01, 0.001], [1, 0.5, 0.25, 0.125]
    close({}, plain)
    close({"rope_theta": 16}, of_16)
    close({"rope_parameters": {"rope_type": "default", "rope_theta": 16, "factor": None}, "rope_theta": 7.0}, of_16)
    close({"rope_parameters": {"rope_theta": 16.0}, "rope_scaling": {"type": "linear", "factor": 2.0}}, [f / 2 for f in plain])
    close({"rope_scaling": {"type": "linear", "rope_type": "default", "rope_theta": 16}}, of_16)
    # Waves of 6.3, 63, 628 and 6283 positions: up to 100 they stay, from 1000 they are stretched, and between them partly.
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 10.0}
    smooth = (1000 * 0.01 / (2 * math.pi) - 1) / 9
    expected = [1, 0.1, 0.01 * ((1 - smooth) / 8 + smooth), 0.001 / 8]
    close({"rope_scaling": {**llama3, "original_max_position_embeddings": 1000}}, expected)
    close({"rope_parameters": llama3, "max_position_embeddings": 1000}, expected)
    close({"rope_parameters": {**llama3, "original_max_position_embeddings": 7}, "original_max_position_embeddings": 1000}, expected)


@pytest.mark.parametrize("key, value", [
    ("rope_scaling", {"rope_type": "yarn", "factor": 2.0}), ("rope_scaling", {"type": "dynamic", "factor": 2.0}), ("rope_parameters", 3),
    ("rope_scaling", {"type": "linear"}), ("rope_scaling", {"type": "linear", "factor": "2"}), ("rope_scaling", {"type": ["linear"]}),
    ("rope_parameters", {"rope_type": "llama3", "rope_theta": 1e4}), ("rope_parameters", {"rope_type": "default", "other": 1}),
    ("rope_parameters", {"full_attention": {"rope_type": "default", "rope_theta": 5.0}}),
    ("rope_parameters", {"rope_type": "default", "partial_rotary_factor": 0.5}), ("partial_rotary_factor", 0.5), ("head_dim", -2),
    ("head_dim", 3), ("hidden_act", "step"), ("hidden_act", 1), ("tie_word_embeddings", "no"), ("model_type", "mistral"), ("model_type", None),
    ("quantization_config", {"quant_method": "gptq"}), ("logit_scale", 0), ("sliding_window", 4096), ("rms_norm_eps", "1e-5"),
    ("num_hidden_layers", True), ("hidden_size", 64.5)])
def test_settings_that_are_refused(key, value, tmp_path):
    config_of(tmp_path, sliding_window=None, pruned_heads={}, add_cross_attention=False, **HEAD)
    with pytest.raises(NotImplementedError, match=rf"^config.json: {key} is not implemented: ") as error:
        config_of(tmp_path, **{**HEAD, key: value}) if key != "model_type" else config_of(tmp_path, value)
    assert str(error.value).endswith(f": {json.dumps(value)}")


def test_numbers_of_heads_that_do_not_fit(tmp_path):
    for settings in {"num_key_value_heads": 3}, {"num_key_value_heads": 0}, {"num_attention_heads": 0}, {"num_hidden_layers": -1}:
        with pytest.raises(dt.UnsupportedError, match="the number of layers, heads or key-value heads"):
            config_of(tmp_path, **settings)
    for text in "{", "[]":
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(dt.FieldError, match="config.json: "):
            dt.ModelConfig(tmp_path)
    with pytest.raises(FileNotFoundError):
        dt.ModelConfig(tmp_path / "none")


def test_parameters_of_models(tmp_path):
    golden = pathlib.Path(__file__).resolve().parents[1] / "golden" / "hf"
    config = dt.ModelConfig(golden / "llama-sharded")
    params = config.open_params(dtype="f32")
    assert config.is_tied and len(params) == config.layers * 9 + 3
    (tmp_path / "saved").mkdir()
    config.save(params, tmp_path / "saved", dtype=dt.bfloat16)
    saved = dt.ModelConfig(tmp_path / "saved")
    assert saved.settings == {**config.settings, "torch_dtype": "bfloat16"}
    for name, tensor in saved.open_params().items():
        assert tensor.dtype == dt.bfloat16 and tensor.float().tolist() == params[name].tolist(), name
    for name, key, value, of in (("llama", "num_hidden_layers", 1, "the number of layers"), ("llama", "attention_bias", True, "attention_bias"),
                                 ("llama3", "tie_word_embeddings", False, "tie_word_embeddings")):
        shutil.copytree(golden / name, tmp_path / key)
        settings = json.loads((golden / name / "config.json").read_text())
        (tmp_path / key / "config.json").write_text(json.dumps({**settings, key: value}))
        with pytest.raises(dt.UnsupportedError, match=of):
            dt.ModelConfig(tmp_path / key).open_params()


if __name__ == "__main__":
    python_tests.main(FILE)
