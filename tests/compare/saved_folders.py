# SPDX-License-Identifier: Apache-2.0
"""Folders that examples/16_huggingface has trained and saved, as transformers reads them: it finds every tensor under its name, and
computes the logits that the example computes. `make compare` runs it."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
    import transformers
except ImportError as error:
    print(f"saved folders: skipped, python3 has no {error.name} (python3 -m pip install {error.name})")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
FOLDERS = ("gpt2", "llama", "llama-sharded", "llama3")
RUNS = (("", "f64"), ("tp=2", "f32"), ("fsdp=2", "bf16"))
TOLERANCE = 2e-6  # of the largest logit: transformers has rotations and RMS norms in f32


def run(mesh, *arguments):
    command = [BUILD / "bin" / "dtrun", "-n", "2"] if mesh else []
    command += [BUILD / "examples" / "16_huggingface", *(("--mesh", mesh) if mesh else ()), *arguments]
    subprocess.run([str(word) for word in command], check=True)


def difference(folder, tokens, scratch):
    """What transformers does not find or computes differently; None: nothing."""
    run("", "--model", folder, "--dtype", "f64", "--tokens", tokens, "--logits", scratch / "logits.npy")
    model, found = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, output_loading_info=True)
    wrong = {key: sorted(map(str, names)) for key, names in found.items() if names and key.endswith("keys")}
    if wrong:
        return str(wrong)
    with torch.no_grad():
        expected = model.eval()(torch.from_numpy(numpy.load(tokens))).logits.numpy()
    got = numpy.load(scratch / "logits.npy")
    if got.shape != expected.shape:
        return f"logits of shape {got.shape}, expected {expected.shape}"
    worst = abs(got - expected).max() / abs(expected).max()
    return None if worst <= TOLERANCE else f"logits differ by {worst:.2g} of the largest"


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    n_wrong = 0
    for name in FOLDERS:
        for mesh, dtype in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                scratch = pathlib.Path(folder)
                tokens = scratch / "tokens.npy"
                numpy.save(tokens, numpy.array([[1, 2, 3, 5, 8, 13], [2, 7, 1, 8, 2, 8]]))
                run(mesh, "--model", ROOT / "tests" / "golden" / "hf" / name, "--dtype", dtype, "--tokens", tokens, "--train", "2", "--save",
                    scratch / "saved")
                wrong = difference(scratch / "saved", tokens, scratch)
                print(f"saved folders: {name} {mesh or 'alone'} {dtype}: {wrong or 'ok'}", flush=True)
                n_wrong += wrong is not None
    return n_wrong > 0


if __name__ == "__main__":
    sys.exit(main())
