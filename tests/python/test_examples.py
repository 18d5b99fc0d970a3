# SPDX-License-Identifier: Apache-2.0
"""The examples in Python run, alone and on ranks: the GPT reproduces recorded runs of PyTorch, the Hugging Face program those
of transformers, and the program of NumPy and mpi4py prints the same before and after."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import python_tests
import pytest

FILE = __file__
SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples" / "python"
DTRUN = str(python_tests.BUILD / "bin" / "dtrun")


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=python_tests.environment(**environment))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(n, name):
    return run(DTRUN, "-n", str(n), sys.executable, str(EXAMPLES / name))


def test_first():
    lines = example(4, "01_first.py").splitlines()
    assert len([line for line in lines if line.startswith("rank ")]) == 4
    alone = re.search(r"the sum is (\S+),", run(sys.executable, str(EXAMPLES / "01_first.py")))[1]
    assert alone in lines[-1] or any(alone in line for line in lines)


def test_mlp():
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", example(4, "02_mlp.py"))]
    assert losses[-1] < 0.1 * losses[0], losses


def test_conjugate_gradient():
    assert "residual" in example(3, "04_conjugate_gradient.py")


def program(name, folder):
    """An example as a program that a checker starts."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\nexec {sys.executable} {EXAMPLES / name} \"$@\"\n")
    file.chmod(0o755)
    return str(file)


def test_programs_are_short():
    most = {"03_gpt.py": 200, "07_huggingface.py": 150}
    for path in EXAMPLES.glob("*.py"):
        lines = path.read_text().splitlines()
        assert len(lines) <= most.pop(path.name, 100) and max(map(len, lines)) <= 120, path.name
    assert not most


def n_ranks(mesh):
    return eval("*".join(re.findall(r"\d+", mesh)) or "1")


@pytest.mark.parametrize("mesh", ["", "dp=2,tp=2", "fsdp=3"])
def test_gpt_reproduces_recorded_runs(mesh, tmp_path):
    n = n_ranks(mesh)
    recorded = SOURCE / "tests" / "golden" / "gpt"
    folders = [str(recorded / name) for name in (("a", "b", "e") if mesh == "" else ("b",))]
    output = run(sys.executable, str(recorded / "check_gpt.py"), program("03_gpt.py", tmp_path), *folders, "--run", f"{DTRUN} -n {n}" if mesh else "",
                 "--mesh", mesh, "--dtype", "f64", "--extra", "--comm-policy error" if mesh else "")
    assert output.count(": ok") == len(folders), output


def test_gpt_needs_no_more_memory_than_in_c(tmp_path):
    """Fully sharded: blocks free what they have gathered, and objects what nobody refers to."""
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "tokens.npy", numpy.arange(4 * 8 * 65).reshape(4, 8, 65) * 7919 % 512)
    options = ("--layers 4 --width 128 --heads 4 --vocab 512 --seq 64 --batch 8 --steps 4 --tied 0 --dropout 0 --mesh fsdp=2 --tokens " +
               str(tmp_path / "tokens.npy")).split()
    file = tmp_path / "program.py"
    file.write_text(f"import runpy, sys\nimport dtensor as dt\nrunpy.run_path({str(EXAMPLES / '03_gpt.py')!r}, run_name='__main__')\n"
                    "print(dt.memory())\n")
    outputs = [run(DTRUN, "-n", "2", str(python_tests.BUILD / "examples" / "gpt"), *options, "--sample", "0"),
               run(DTRUN, "-n", "2", sys.executable, str(file), *options)]
    in_c, here = (int(re.search(r"^all +(\d+) ", output, re.M)[1]) for output in outputs)
    assert here <= 1.02 * in_c, (here, in_c)


@pytest.mark.parametrize("mesh, name, dtype", [("", "llama3", "f64"), ("tp=2", "gpt2", "f64"), ("tp=3", "llama", "f32"),
                                               ("fsdp=2", "llama-sharded", "f64")])
def test_huggingface_reproduces_transformers(mesh, name, dtype, tmp_path):
    recorded = SOURCE / "tests" / "golden" / "hf"
    output = run(sys.executable, str(recorded / "check_hf.py"), program("07_huggingface.py", tmp_path), str(recorded / name), "--run",
                 f"{DTRUN} -n {n_ranks(mesh)}" if mesh else "", "--mesh", mesh, "--dtype", dtype)
    assert output.count(": ok") == 1, output


def test_huggingface_draws_like_the_program_in_c(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "tokens.npy", numpy.array([[1, 2, 3]]))
    options = ("--model", str(SOURCE / "tests/golden/hf/llama"), "--dtype", "f64", "--tokens", str(tmp_path / "tokens.npy"), "--generate", "12",
               "--temperature", "0.9", "--top-p", "0.95", "--seed", "3")
    expected = run(str(python_tests.BUILD / "examples" / "16_huggingface"), *options)
    assert run(sys.executable, str(EXAMPLES / "07_huggingface.py"), *options) == expected
    refused = subprocess.run([sys.executable, str(EXAMPLES / "07_huggingface.py"), *options, "--dtype", "f8"], capture_output=True, text=True,
                             env=python_tests.environment())
    assert refused.returncode == 2 and "--dtype" in refused.stderr


def test_huggingface_trains_mixed_and_saves_folders_that_it_opens(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "tokens.npy", numpy.array([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]))
    for mesh, name, key in ("dp=2", "gpt2", "dtype"), ("tp=2", "llama-sharded", "torch_dtype"):
        options = ("--mesh", mesh, "--dtype", "bf16", "--tokens", str(tmp_path / "tokens.npy"))
        command = (DTRUN, "-n", "2", sys.executable, str(EXAMPLES / "07_huggingface.py"))
        model, saved = SOURCE / "tests/golden/hf" / name, tmp_path / name
        run(*command, *options, "--model", str(model), "--train", "2", "--save", str(saved), "--log", str(tmp_path / "log.jsonl"))
        losses = [json.loads(line)["loss"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        assert len(losses) == 2 and losses[1] < losses[0]
        config = json.loads((model / "config.json").read_text())
        assert json.loads((saved / "config.json").read_text()) == {**config, key: "bfloat16"}
        run(*command, *options, "--model", str(saved), "--logits", str(tmp_path / "logits.npy"))
        assert numpy.isfinite(numpy.load(tmp_path / "logits.npy")).all()


def test_huggingface_refuses_what_it_would_ignore(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "tokens.npy", numpy.array([[1, 2, 3]]))
    shutil.copytree(SOURCE / "tests/golden/hf/llama", tmp_path / "llama")
    config = json.loads((tmp_path / "llama" / "config.json").read_text())
    value = {"rope_type": "yarn", "factor": 2.0}
    (tmp_path / "llama" / "config.json").write_text(json.dumps({**config, "rope_scaling": value}))
    command = [DTRUN, "-n", "2", sys.executable, str(EXAMPLES / "07_huggingface.py"), "--model", str(tmp_path / "llama"), "--tokens",
               str(tmp_path / "tokens.npy")]
    refused = subprocess.run([*command, "--generate", "1"], capture_output=True, text=True, env=python_tests.environment())
    assert refused.returncode == 1 and f"config.json: rope_scaling is not implemented: {json.dumps(value)}" in refused.stderr, refused.stderr
    refused = subprocess.run(command, capture_output=True, text=True, env=python_tests.environment())
    assert refused.returncode == 2 and "--logits, --generate or --train" in refused.stderr, refused.stderr


def test_numpy_before_and_after():
    after = example(3, "06_numpy_after.py")
    assert after.startswith("correlation")
    mpi4py = pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not mpirun:
        pytest.skip("there is no mpirun")
    options = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    before = run(mpirun, "-n", "3", sys.executable, str(EXAMPLES / "05_numpy_before.py"), **options)
    assert before == after
    assert run(mpirun, "-n", "3", sys.executable, str(EXAMPLES / "06_numpy_after.py"), **options) == after
    text = ("from mpi4py import MPI\nimport dtensor as dt\nhalf = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)\n"
            "dt.init(comm=half)\nassert dt.get_world_size() == half.size\n"
            "assert dt.ones(4, device_mesh=dt.init_device_mesh('cpu', (-1,)), placements='S(0)').sum().item() == 4\n")
    run(mpirun, "-n", "4", sys.executable, "-c", text, **options)


if __name__ == "__main__":
    python_tests.main(FILE)
