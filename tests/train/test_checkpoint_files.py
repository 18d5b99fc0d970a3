# SPDX-License-Identifier: Apache-2.0
"""The files of checkpoints, as others read them: a run saves some, and this test parses them by itself and, where it is installed,
with the safetensors package; `dtensor checkpoint` prints and converts them."""
import fcntl
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import killed_runs  # noqa: E402
from killed_runs import launch  # noqa: E402

DTENSOR = str(launch.BUILD / "bin" / "dtensor")
SIZES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "I64": 8}


def read_file(path):
    """Metadata, and dtype, shape and bytes by name; every rule of the format is checked."""
    content = path.read_bytes()
    n = struct.unpack("<Q", content[:8])[0]
    assert n % 8 == 0 and content[8:9] == b"{", path
    header = json.loads(content[8:8 + n], object_pairs_hook=unique)
    metadata, data, end = header.pop("__metadata__"), content[8 + n:], 0
    assert all(isinstance(value, str) for value in metadata.values()), metadata
    tensors = {}
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = tensor["data_offsets"]
        size = SIZES[tensor["dtype"]]
        for length in tensor["shape"]:
            size *= length
        assert begin == end and stop - begin == size and begin % SIZES[tensor["dtype"]] == 0, (path, name, tensor)
        tensors[name] = (tensor["dtype"], tensor["shape"], data[begin:stop])
        end = stop
    assert end == len(data), path
    return metadata, tensors


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def read_folder(folder, stem):
    """Metadata and tensors of a model or an optimizer, from one file or several."""
    index = folder / f"{stem}.safetensors.index.json"
    if not index.exists():
        return read_file(folder / f"{stem}.safetensors")
    listed, tensors = json.loads(index.read_text()), {}
    for name in sorted(set(listed["weight_map"].values())):
        metadata, found = read_file(folder / name)
        assert {key for key, file in listed["weight_map"].items() if file == name} == set(found), name
        tensors.update(found)
    assert listed["metadata"]["total_size"] == sum(len(data) for _, _, data in tensors.values())
    return metadata, tensors


def numbers(tensor):
    dtype, _, data = tensor
    if dtype == "BF16":
        data = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
    letter = {"F64": "d", "F32": "f", "BF16": "f", "F16": "e", "I64": "q"}[dtype]
    return struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)


class Files(launch.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = killed_runs.make_folder("files")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        code, _, err = launch.Launch("-n", 3, killed_runs.PROGRAM, cls.folder, 20).end()
        assert code == 0, err
        cls.newest = cls.folder / "run" / "step-000020"

    def dtensor(self, *arguments, code=0):
        done = subprocess.run([DTENSOR, "checkpoint", *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def test_files__have_the_format(self):
        metadata, model = read_folder(self.newest, "model")
        self.assertEqual((metadata["format"], metadata["step"], metadata["batches"], metadata["optimizer"]),
                         ("pt", "20", "20", "AdamW"))
        self.assertEqual({name: shape for name, (_, shape, _) in model.items()},
                         {"tok.weight": [61, 48], "hidden.weight": [48, 48], "hidden.bias": [48], "output.weight": [61, 48]})
        _, state = read_folder(self.newest, "optimizer")
        self.assertEqual(set(state), {f"{kind}.{name}" for kind in ("exp_avg", "exp_avg_sq", "step") for name in model})
        self.assertEqual({numbers(state[f"step.{name}"]) for name in model}, {(20,)})

    def test_files__are_read_by_the_safetensors_package(self):
        try:
            from safetensors import safe_open
        except ImportError:
            self.skipTest("there is no safetensors package")
        for path in self.newest.glob("*.safetensors"):
            metadata, tensors = read_file(path)
            with safe_open(path, framework="np") as file:
                self.assertEqual((file.metadata(), set(file.keys())), (metadata, set(tensors)))
                for name, (_, shape, data) in tensors.items():
                    found = file.get_tensor(name)
                    self.assertEqual((list(found.shape), found.tobytes()), (shape, data), name)

    def test_command__prints_the_newest(self):
        answer = json.loads(self.dtensor(self.folder / "run", "--json"))
        self.assertEqual((answer["path"], answer["metadata"]["step"]), (str(self.newest), "20"))
        expected = {**read_folder(self.newest, "model")[1], **read_folder(self.newest, "optimizer")[1]}
        self.assertEqual({t["name"]: (t["dtype"], t["shape"], t["bytes"]) for t in answer["tensors"]},
                         {name: (dtype, shape, len(data)) for name, (dtype, shape, data) in expected.items()})
        self.assertEqual(answer["bytes"], sum(len(data) for _, _, data in expected.values()))
        text = self.dtensor(self.newest)
        for part in ("output.weight", "F32", "[61,48]", "11712", "format=pt", "16 tensors"):
            self.assertIn(part, text)
        one = next(self.newest.glob("model-00001-*"))
        self.assertIn(one.name, self.dtensor(one))

    def test_command__converts(self):
        with tempfile.TemporaryDirectory(prefix="dtensor_convert_") as name:
            folder = pathlib.Path(name)
            metadata, model = read_folder(self.newest, "model")
            self.dtensor(self.newest, "--convert", folder / "wide", "--dtype", "f64")
            self.assertEqual(sorted(path.name for path in (folder / "wide").iterdir()), ["model.safetensors", "optimizer.safetensors"])
            self.assertEqual(read_folder(folder / "wide", "optimizer"), read_folder(self.newest, "optimizer"))
            found, wide = read_folder(folder / "wide", "model")
            self.assertEqual(found, metadata)
            self.assertEqual({name: ("F64", shape, numbers(tensor)) for name, tensor in model.items() for shape in [tensor[1]]},
                             {name: (tensor[0], tensor[1], numbers(tensor)) for name, tensor in wide.items()})
            self.dtensor(folder / "wide", "--convert", folder / "half", "--dtype", "bf16", "--file-bytes", "6K")
            _, half = read_folder(folder / "half", "model")
            self.assertEqual(len(list((folder / "half").glob("model-*-of-00003.safetensors"))), 3)
            for name, tensor in model.items():
                for before, after in zip(numbers(tensor), numbers(half[name])):
                    self.assertLessEqual(abs(before - after), abs(before) * 2**-8)
            self.dtensor(folder / "wide", "--convert", folder / "all.npz", "--npz")
            with zipfile.ZipFile(folder / "all.npz") as file:
                self.assertIsNone(file.testzip())
                self.assertEqual(len(file.namelist()), 16)
                self.assertTrue(file.read("hidden.bias.npy").endswith(wide["hidden.bias"][2]))
            self.assertEqual(sorted(path.name for path in folder.iterdir()), ["all.npz", "half", "wide"])
            self.assertIn("expected a path that does not exist", self.dtensor(self.newest, "--convert", folder / "wide", code=1))
            self.assertIn("expected f64, f32, f16 or bf16", self.dtensor(self.newest, "--convert", folder / "x", "--dtype", "i8", code=2))
            self.assertIn("expected --convert", self.dtensor(self.newest, "--npz", code=2))
            self.assertIn("there is no checkpoint", self.dtensor(folder, code=1))
            self.assertIn("No such file", self.dtensor(folder / "nothing", code=1))

    def test_command__removes_what_an_interrupted_copy_has_left(self):
        with tempfile.TemporaryDirectory(prefix="dtensor_convert_") as name:
            folder = pathlib.Path(name)
            abandoned, written, *others = [folder / part for part in (
                ".conv.0123456789abcdef.part", ".conv.fedcba9876543210.part", ".conv2.0123456789abcdef.part", ".conv.mine.part",
                "conv.part")]
            for part in (abandoned, written, *others):
                part.mkdir()
                (part / "model.safetensors").touch()
            lock = os.open(written, os.O_RDONLY)
            self.addCleanup(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)  # as a process that writes it
            self.dtensor(self.newest, "--convert", folder / "conv")
            self.assertEqual(sorted(folder.iterdir()), sorted([folder / "conv", written, *others]))
            self.assertEqual(read_folder(folder / "conv", "model"), read_folder(self.newest, "model"))
            self.assertIn("No such file", self.dtensor(self.newest, "--convert", folder / "nothing" / "conv", code=1))
            (folder / "link").symlink_to("nothing")
            self.assertIn("expected a path that does not exist", self.dtensor(self.newest, "--convert", folder / "link", code=1))
            done = subprocess.run([DTENSOR, "checkpoint", self.newest, "--convert", "wide/", "--dtype", "f64"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual({tensor[0] for tensor in read_folder(folder / "wide", "model")[1].values()}, {"F64"})


launch.main()
