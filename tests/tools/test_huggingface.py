# SPDX-License-Identifier: Apache-2.0
"""examples/16_huggingface: what transformers computed for the folders in tests/golden/hf, alone and on meshes; files with other names and
buffers; draws; settings that are refused; folders that it saved, as other readers see them."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import tool

PROGRAM = os.path.join(tool.BUILD, "examples", "16_huggingface")
DTRUN = os.path.join(tool.BUILD, "bin", "dtrun")
RECORDED = os.path.join(tool.SOURCE, "tests", "golden", "hf")
FOLDERS = ("gpt2", "llama", "llama-sharded", "llama3")


def read_safetensors(path):
    """(header, data) of a file."""
    with open(path, "rb") as file:
        n = struct.unpack("<Q", file.read(8))[0]
        return json.loads(file.read(n)), file.read()


def write_safetensors(path, tensors):
    """tensors: {name: (dtype, shape, bytes)}"""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def write_tokens(path, rows):
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    numbers = [token for row in rows for token in row]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}q", *numbers))


class HuggingFace(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, ranks, *arguments):
        command = [DTRUN, "-n", str(ranks)] if ranks > 1 else []
        return subprocess.run(command + [PROGRAM, *arguments], capture_output=True, text=True, env=tool.environment(), timeout=100)

    def run_ok(self, ranks, *arguments):
        result = self.run_program(ranks, *arguments)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)

    def copy_folder(self, name, **settings):
        """A copy of a recorded folder with other settings; None removes one."""
        to = self.path("copy")
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(os.path.join(RECORDED, name), to)
        with open(os.path.join(to, "config.json"), encoding="utf-8") as file:
            config = {**json.load(file), **settings}
        with open(os.path.join(to, "config.json"), "w", encoding="utf-8") as file:
            json.dump({key: value for key, value in config.items() if value is not None}, file)
        return to

    def test_recorded_folders_are_reproduced(self):
        for mesh, dtype, *extra in (("", "f64"), ("", "f32", "--no-train"), ("", "bf16"), ("tp=2", "f64"), ("tp=3", "f64"), ("dp=2", "f32"),
                                    ("fsdp=2", "f64"), ("dp=2,tp=2", "f64")):
            with self.subTest(f"{mesh} {dtype}"):
                ranks = 1
                for part in mesh.split(",") if mesh else ():
                    ranks *= int(part.split("=")[1])
                command = [sys.executable, os.path.join(RECORDED, "check_hf.py"), PROGRAM, *(os.path.join(RECORDED, name) for name in FOLDERS),
                           "--run", f"{DTRUN} -n {ranks}" if mesh else "", "--mesh", mesh, "--dtype", dtype, *extra]
                result = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=200)
                self.assertEqual(0, result.returncode, result.stdout + result.stderr)
                self.assertEqual(len(FOLDERS), result.stdout.count(": ok"))

    def logits_of(self, model, *arguments, ranks=1):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3, 5, 8, 13], [2, 7, 1, 8, 2, 8]])
        self.run_ok(ranks, "--model", model, "--dtype", "f64", "--tokens", self.path("tokens.npy"), "--logits", self.path("logits.npy"), *arguments)
        with open(self.path("logits.npy"), "rb") as file:
            return file.read()

    def test_older_names_and_buffers_of_gpt2(self):
        expected = self.logits_of(os.path.join(RECORDED, "gpt2"))
        header, data = read_safetensors(os.path.join(RECORDED, "gpt2", "model.safetensors"))
        tensors = {name.replace("transformer.", ""): (of["dtype"], of["shape"], data[slice(*of["data_offsets"])])
                   for name, of in header.items() if name != "__metadata__"}
        for layer in range(2):
            tensors[f"h.{layer}.attn.bias"] = ("BOOL", [1, 1, 64, 64], b"\1" * 4096)
            tensors[f"h.{layer}.attn.masked_bias"] = ("F32", [], b"\0\0\0\0")
        tensors["lm_head.weight"] = tensors["wte.weight"]
        model = self.copy_folder("gpt2")
        write_safetensors(os.path.join(model, "model.safetensors"), tensors)
        self.assertEqual(expected, self.logits_of(model))
        del tensors["h.1.ln_2.bias"], tensors["wpe.weight"]
        tensors["h.0.attn.rotary.weight"] = ("F32", [1], b"\0\0\0\0")
        write_safetensors(os.path.join(model, "model.safetensors"), tensors)
        result = self.run_program(2, "--model", model, "--tokens", self.path("tokens.npy"), "--logits", self.path("logits.npy"))
        self.assertEqual(1, result.returncode)
        self.assertIn("the map does not fit: 2 missing: transformer.wpe.weight, transformer.h.1.ln_2.bias; "
                      "1 that it does not name: h.0.attn.rotary.weight", result.stderr)

    def test_settings_are_refused_by_name(self):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3]])
        for name, key, value in (("gpt2", "activation_function", "gelu_10"), ("gpt2", "add_cross_attention", True), ("llama", "mlp_bias", True),
                                 ("llama", "rope_parameters", {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0}),
                                 ("llama-sharded", "rope_scaling", {"type": "dynamic", "factor": 2.0}), ("llama", "tie_word_embeddings", "no"),
                                 ("llama", "quantization_config", {"quant_method": "gptq"}), ("llama", "model_type", "mistral"),
                                 ("llama", "num_hidden_layers", 1), ("llama3", "tie_word_embeddings", False),
                                 ("llama", "rope_scaling", {"rope_type": "yarn", "factor": 2.0}), ("llama", "rope_parameters", 3),
                                 ("llama", "rope_parameters", {"rope_type": "llama3", "rope_theta": 1e4}),
                                 ("llama", "rope_parameters", {"full_attention": {"rope_type": "default", "rope_theta": 5.0}}),
                                 ("llama", "rope_parameters", {"rope_type": "default", "partial_rotary_factor": 0.5}),
                                 ("llama", "partial_rotary_factor", 0.5), ("llama", "head_dim", -2)):
            with self.subTest(f"{key}: {value}"):
                model = self.copy_folder(name, **{key: value})
                result = self.run_program(1, "--model", model, "--tokens", self.path("tokens.npy"), "--logits", self.path("logits.npy"))
                self.assertEqual(1, result.returncode, result.stderr)
                self.assertIn({"num_hidden_layers": "the number of layers"}.get(key, key), result.stderr)
                self.assertRegex(result.stderr, r"is not implemented|expected")

    def test_older_spelling_of_rotary_settings_wins(self):
        theta = {"rope_type": "default", "rope_theta": 99.0}
        expected = self.logits_of(self.copy_folder("llama", rope_parameters=theta))
        for settings in ({"rope_parameters": None, "rope_theta": 99.0}, {"rope_scaling": {"type": "default", "rope_theta": 99.0}, "rope_theta": 7.0},
                         {"rope_scaling": {"type": "linear", "rope_type": "default", "rope_theta": 99}}):
            self.assertEqual(expected, self.logits_of(self.copy_folder("llama", **settings)), settings)

    def test_length_of_training_outside_of_the_rotary_settings_wins(self):
        def settings(length, **more):
            return {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                        "original_max_position_embeddings": length}, **more}
        expected = self.logits_of(self.copy_folder("llama3", **settings(16)))
        self.assertEqual(expected, self.logits_of(self.copy_folder("llama3", **settings(64, original_max_position_embeddings=16))))
        self.assertNotEqual(expected, self.logits_of(self.copy_folder("llama3", **settings(64))))

    def test_sizes_of_gpt2_by_the_names_of_other_models(self):
        expected = self.logits_of(os.path.join(RECORDED, "gpt2"))
        names = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
        self.assertEqual(expected, self.logits_of(self.copy_folder("gpt2", n_embd=None, n_layer=None, n_head=8, **names)))

    def tensors_of(self, folder):
        header, data = read_safetensors(os.path.join(folder, "model.safetensors"))
        return {name: (of["dtype"], of["shape"], data[slice(*of["data_offsets"])]) for name, of in header.items() if name != "__metadata__"}

    def test_an_output_layer_is_tied_unless_it_differs(self):
        """As in transformers: what the files have wins over tie_word_embeddings. A second copy is not saved."""
        tensors = self.tensors_of(os.path.join(RECORDED, "gpt2"))
        dtype, shape, data = tensors["transformer.wte.weight"]
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        expected = self.logits_of(os.path.join(RECORDED, "gpt2"), "--mesh", "tp=2", ranks=2)
        for change in 0.0, 0.5:
            with self.subTest(change):
                model = self.copy_folder("gpt2")
                head = struct.pack(f"<{len(numbers)}f", *(number + change for number in numbers))
                write_safetensors(os.path.join(model, "model.safetensors"), {**tensors, "lm_head.weight": (dtype, shape, head)})
                got = self.logits_of(model, "--mesh", "tp=2", "--train", "1", "--lr", "0", "--save", self.path("saved"), ranks=2)
                (self.assertNotEqual if change else self.assertEqual)(expected, got)
                saved = self.tensors_of(self.path("saved")).get("lm_head.weight")
                self.assertEqual(struct.pack(f"<{len(numbers)}d", *struct.unpack(f"<{len(numbers)}f", head)) if change else None, saved and saved[2])

    def test_the_embedding_of_padding_is_not_trained(self):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3, 4, 5, 1], [5, 3, 3, 2, 1, 4]])
        for padding, expected, mesh in (3, [1, 2, 4, 5], "dp=2"), (-92, [1, 2, 3, 5], "tp=2"), (None, [1, 2, 3, 4, 5], "tp=2"):
            with self.subTest(padding):
                model = self.copy_folder("llama", pad_token_id=padding)
                self.run_ok(2, "--model", model, "--mesh", mesh, "--tokens", self.path("tokens.npy"), "--train", "1", "--weight-decay", "0",
                            "--save", self.path("saved"))
                (_, shape, before), (_, _, after) = (self.tensors_of(folder)["model.embed_tokens.weight"] for folder in (model, self.path("saved")))
                rows = [slice(4 * shape[1] * row, 4 * shape[1] * (row + 1)) for row in range(shape[0])]
                self.assertEqual(expected, [row for row in range(shape[0]) if before[rows[row]] != after[rows[row]]])

    def test_files_that_cannot_be_written_are_errors(self):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3]])
        for ranks in 1, 2:
            for arguments in (["--generate", "2", "--out"], ["--train", "1", "--log"], ["--train", "1", "--save"], ["--logits"]):
                result = self.run_program(ranks, "--model", os.path.join(RECORDED, "llama"), "--tokens", self.path("tokens.npy"), *arguments,
                                          self.path("none/file"))
                self.assertEqual(0 if "--save" in arguments else 1, result.returncode, (arguments, result.stderr))
        for arguments in (["--generate", "1.5"], ["--train", "nan"], ["--generate", "1e300"]):
            result = self.run_program(1, "--model", os.path.join(RECORDED, "llama"), "--tokens", self.path("tokens.npy"), *arguments)
            self.assertEqual(2, result.returncode, result.stderr)

    def test_settings_change_the_result(self):
        for name, settings in (("gpt2", {"scale_attn_by_inverse_layer_idx": True}), ("gpt2", {"scale_attn_weights": False}),
                               ("gpt2", {"activation_function": "relu"}), ("gpt2", {"layer_norm_epsilon": 0.1}),
                               ("llama", {"rms_norm_eps": 0.1}), ("llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 99.0}}),
                               ("llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}})):
            with self.subTest(str(settings)):
                expected = self.logits_of(self.copy_folder(name, **settings))
                self.assertNotEqual(expected, self.logits_of(os.path.join(RECORDED, name)))

    def test_draws_do_not_depend_on_ranks(self):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3]])
        made = []
        for ranks, *arguments in ((1,), (2, "--mesh", "tp=2"), (1, "--seed", "2"), (1, "--top-p", "1e-9"), (1, "--temperature", "0")):
            self.run_ok(ranks, "--model", os.path.join(RECORDED, "llama"), "--dtype", "f64", "--tokens", self.path("tokens.npy"), "--generate",
                        "12", "--temperature", "0.9", "--top-p", "0.95", "--out", self.path("made.json"), *arguments)
            with open(self.path("made.json"), encoding="utf-8") as file:
                made.append(json.load(file)["tokens"])
        self.assertEqual(made[0], made[1])
        self.assertNotEqual(made[0], made[2])
        self.assertEqual(made[3], made[4])

    def test_saved_folders_have_the_original_names(self):
        write_tokens(self.path("tokens.npy"), [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
        for name, dtype, stored, mesh in (("gpt2", "f64", "F64", "dp=2"), ("llama-sharded", "bf16", "BF16", "tp=2"), ("llama", "f32", "F32", "fsdp=2")):
            with self.subTest(name):
                self.run_ok(2, "--model", os.path.join(RECORDED, name), "--dtype", dtype, "--mesh", mesh, "--tokens", self.path("tokens.npy"),
                            "--train", "1", "--lr", "0", "--weight-decay", "0", "--save", self.path("saved"))
                saved, data = read_safetensors(self.path("saved/model.safetensors"))
                self.assertEqual({"format": "pt"}, saved.pop("__metadata__"))
                files = [file for file in os.listdir(os.path.join(RECORDED, name)) if file.endswith(".safetensors")]
                expected = {}
                for file in files:
                    header, numbers = read_safetensors(os.path.join(RECORDED, name, file))
                    expected.update({key: (of, numbers) for key, of in header.items() if key != "__metadata__"})
                self.assertEqual(sorted(expected), sorted(saved))
                for key, (of, numbers) in expected.items():
                    self.assertEqual((stored, of["shape"]), (saved[key]["dtype"], saved[key]["shape"]), key)
                    if of["dtype"] == stored:  # nothing was learned, so these are the bytes that were read
                        self.assertEqual(numbers[slice(*of["data_offsets"])], data[slice(*saved[key]["data_offsets"])], key)
                with open(self.path("saved/config.json"), encoding="utf-8") as file:
                    config = json.load(file)
                self.assertEqual({"F64": "float64", "F32": "float32", "BF16": "bfloat16"}[stored], config.get("dtype", config.get("torch_dtype")))
                self.assertEqual(["config.json", "model.safetensors"], sorted(os.listdir(self.path("saved"))))

    def test_the_safetensors_package_reads_what_is_saved(self):
        try:
            from safetensors import safe_open
        except ImportError:
            self.skipTest("no safetensors package")
        write_tokens(self.path("tokens.npy"), [[1, 2, 3, 4, 5]])
        self.run_ok(1, "--model", os.path.join(RECORDED, "gpt2"), "--tokens", self.path("tokens.npy"), "--train", "1", "--save", self.path("saved"))
        with safe_open(self.path("saved/model.safetensors"), framework="np") as file:
            self.assertEqual((61, 32), file.get_tensor("transformer.wte.weight").shape)
            self.assertEqual({"format": "pt"}, file.metadata())


if __name__ == "__main__":
    unittest.main()
