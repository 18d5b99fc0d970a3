# SPDX-License-Identifier: Apache-2.0
"""Estimates of programs against the programs: on every rank, the peaks of memory by kind and the collectives and bytes by scope, op and line
of a run on real ranks are equal to those of the estimate of that rank."""
import json
import os
import subprocess
import tempfile
import unittest

import tool
from gpt import DTRUN, RECORDED, ranks_of

GPT = os.path.join(tool.BUILD, "examples", "10_gpt")
MLP = os.path.join(tool.BUILD, "examples", "09_mlp")
PROGRAM = os.path.join(tool.BUILD, "tests", "tools.estimated")
SMALL = "--layers 2 --width 24 --heads 3 --seq 11 --batch 5 --steps 2 --sample 0 --vocab 61".split()


class EstimateTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def report(self, command, ranks, rank, tag, **changes):
        """The report of a rank of a run, which runs unless tag names one that has run."""
        file = os.path.join(self.folder, tag + ".json")
        if command:
            result = subprocess.run(command, capture_output=True, env=tool.environment(DTENSOR_REPORT=file, **changes), timeout=120)
            self.assertEqual(0, result.returncode, (command, changes, result.stderr.decode()))
        name = file if ranks == 1 else os.path.join(self.folder, f"{tag}.{rank}.json")
        with open(name, encoding="utf-8") as text:
            return json.load(text)

    def check(self, ranks, *command, threads="1"):
        launched = [DTRUN, "-n", str(ranks), *command] if ranks > 1 else list(command)
        self.report(launched, ranks, 0, "real", DTENSOR_THREADS=threads)
        for rank in range(ranks):
            real = self.report(None, ranks, rank, "real")
            estimate = self.report(list(command), ranks, rank, "estimate", DTENSOR_THREADS=threads,
                                   DTENSOR_ESTIMATE=f"world={ranks},rank={rank}")
            with self.subTest(command=command, ranks=ranks, rank=rank):
                self.assertEqual((False, True), (real["estimated"], estimate["estimated"]))
                self.assertGreater(real["memory"]["all"]["peak"], 0)
                self.assertEqual(real["memory"], estimate["memory"])
                self.assertEqual(*([{**line, "us": 0} for line in report["communication"]] for report in (real, estimate)))


class Equality(EstimateTest):
    def test_gpt(self):
        for mesh, *options in (["dp=1"], ["dp=2"], ["fsdp=3"], ["tp=3"], ["dp=2,tp=2"], ["dp=2,fsdp=2", "--dtype", "bf16"],
                               ["tp=2", "--sequence-parallel", "--seq", "13"], ["fsdp=2,tp=2", "--sequence-parallel"],
                               ["fsdp=3", "--checkpoint"], ["dp=7", "--dtype", "f64"], ["dp=2", "--tied", "0", "--dtype", "bf16"]):
            self.check(ranks_of(mesh), GPT, *SMALL, "--mesh", mesh, *options)

    def test_threads(self):
        self.check(2, GPT, *SMALL, "--mesh", "tp=2", threads="3")

    def test_mlp(self):
        for ranks in 1, 3, 8:
            self.check(ranks, MLP)

    def test_optimizers_accumulation_and_checkpoints(self):
        for mesh, *words in (["dp=1", "adamw"], ["dp=3", "sgd", "hold"], ["dp=2,fsdp=2", "rmsprop", "hold", "bf16"], ["fsdp=3", "lion", "checkpoint"],
                             ["tp=2", "nadam", "f64"], ["dp=2,tp=2", "adagrad", "hold", "checkpoint", "bf16"], ["fsdp=2,tp=3", "adamw", "checkpoint"]):
            self.check(ranks_of(mesh), PROGRAM, mesh, *words)

    def test_pipelines(self):
        # Two links between the same two ranks (zb-v, interleaved, dualpipe-v) have memory for messages of their own.
        for mesh, schedule, *options in (["pp=2", "zb-v"], ["pp=2,fsdp=2", "interleaved"], ["pp=3", "zb-h1", "--tied", "0"],
                                         ["pp=2", "dualpipe-v", "--dtype", "bf16"], ["dp=2,pp=2", "1f1b"], ["pp=2,tp=2", "gpipe"]):
            self.check(ranks_of(mesh), GPT, *SMALL, "--mesh", mesh, "--schedule", schedule, "--micro", "4", *options)

    def test_calls_of_every_way(self):
        for mesh in "dp=1,tp=1", "dp=2,tp=3", "dp=5,tp=1", "dp=1,tp=4":
            self.check(ranks_of(mesh), PROGRAM, mesh, "calls")


class Command(EstimateTest):
    """`dtensor estimate`, and what an estimated program sees."""

    def estimate(self, *arguments, code=0):
        result = tool.run("estimate", *arguments, DTENSOR_THREADS="1")
        self.assertEqual(code, result[0], result[2])
        return result[2 if code else 1]

    def json(self, *arguments):
        return json.loads(self.estimate("--json", *arguments))

    def test_every_rank_of_a_small_world_is_in_a_class(self):
        answer = self.json("--ranks", "6", "--", GPT, *SMALL, "--mesh", "dp=6")
        self.assertEqual([[0, 1, 2, 3, 4], [5]], [run["run"] for run in answer["classes"]])  # five sequences
        self.assertEqual(6, sum(run["ranks"] for run in answer["classes"]))
        self.assertIsNone(answer["memory"])

    def test_one_rank_stands_for_a_class_of_a_large_world(self):
        answer = self.json("--ranks", "4096", "--", PROGRAM, "dp=1024,tp=4", "sgd")
        self.assertEqual(4096, sum(run["ranks"] for run in answer["classes"]))
        self.assertLess(len(answer["classes"]), 20)
        peaks = {rank: run["report"]["memory"]["all"]["peak"] for run in answer["classes"] for rank in run["run"]}
        self.assertIn(0, peaks)
        for rank in 39, 40, 4095:  # 10 rows: of rank 40 on, nothing; and widths of 9 and 8 along tp
            alone = self.json("--ranks", "4096", "--rank", str(rank), "--", PROGRAM, "dp=1024,tp=4", "sgd")
            self.assertIn(alone["classes"][0]["report"]["memory"]["all"]["peak"], peaks.values())

    def test_a_large_model_takes_little_memory(self):
        # 65 G parameters on 4,096 ranks; one of them would need 58 GiB.
        options = "--layers 80 --width 8192 --heads 64 --vocab 32000 --seq 4096 --batch 512 --steps 1 --sample 0 --mesh dp=8,fsdp=64,tp=8"
        file = os.path.join(self.folder, "large.json")
        process = subprocess.Popen([GPT, *options.split()], stdout=subprocess.DEVNULL,
                                   env=tool.environment(DTENSOR_ESTIMATE="world=4096,rank=9,threads=1", DTENSOR_REPORT=file))
        _, status, usage = os.wait4(process.pid, 0)
        self.assertEqual(0, status)
        self.assertLess(usage.ru_maxrss, 200 << 10)  # KiB
        with open(os.path.join(self.folder, "large.9.json"), encoding="utf-8") as text:
            self.assertGreater(json.load(text)["memory"]["all"]["peak"], 32 << 30)

    def test_values_are_stand_ins_with_their_lines(self):
        report = self.json("--ranks", "3", "--rank", "1", "--value", "-2e30", "--", PROGRAM, "dp=3", "sgd")["classes"][0]["report"]
        (item,) = report["stand_ins"]
        self.assertEqual(("item", 4), (item["what"], item["times"]))
        with open(os.path.join(tool.SOURCE, "tests", "tools", "prog_estimated.c"), encoding="utf-8") as source:
            self.assertIn("dt_item", source.readlines()[item["line"] - 1])
        report = self.json("--ranks", "2", "--rank", "0", "--", PROGRAM, "dp=2,tp=1", "calls")["classes"][0]["report"]
        self.assertEqual({"data", "item"}, {note["what"] for note in report["stand_ins"]})
        data, = (note for note in report["stand_ins"] if note["what"] == "data")  # dt_data has no line: the tensor's is listed
        with open(os.path.join(tool.SOURCE, "tests", "tools", "prog_estimated.c"), encoding="utf-8") as source:
            self.assertIn("dt_full_tensor", source.readlines()[data["line"] - 1])

    def test_what_depends_on_values_asks_for_a_number(self):
        self.assertEqual(0, subprocess.run([DTRUN, "-n", "2", PROGRAM, "dp=2,tp=1", "read"], env=tool.environment(), timeout=60).returncode)
        error = self.estimate("--ranks", "2", "--", PROGRAM, "dp=2,tp=1", "read", code=1)
        self.assertIn("num_classes is read from values, and a call that is only planned has none: expected a number", error)

    def test_functions_of_the_program_are_listed(self):
        report = self.json("--ranks", "2", "--rank", "1", "--", PROGRAM, "dp=2,tp=1", "mapped")["classes"][0]["report"]
        self.assertEqual([("local_map", 1)], [(note["what"], note["times"]) for note in report["stand_ins"]])

    def test_kernels_of_the_program_are_not_run(self):
        example = os.path.join(tool.BUILD, "examples", "08_custom_op")
        report = self.json("--ranks", "3", "--rank", "2", "--", example)["classes"][0]["report"]
        self.assertEqual({"row_norm", "swiglu"}, {note["what"] for note in report["not_run"]})
        self.assertTrue(all(note["file"].endswith("08_custom_op.c") and note["line"] > 0 for note in report["not_run"]))

    def test_files_are_read_and_not_written(self):
        recorded = os.path.join(RECORDED, "a")
        with open(os.path.join(recorded, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        options = [word for name in ("layers", "width", "heads", "vocab", "seq", "batch", "steps") for word in ("--" + name, str(config[name]))]
        options += ["--sample", "0", "--mesh", "dp=3", "--init", os.path.join(recorded, "weights.npz")]
        for tokens, code in (os.path.join(recorded, "tokens.npy"), 0), (os.path.join(self.folder, "none.npy"), 1):
            self.estimate("--ranks", "3", "--", GPT, *options, "--tokens", tokens, code=code)
        saved = os.path.join(self.folder, "saved.npz")
        report = self.json("--ranks", "4", "--rank", "0", "--", GPT, *SMALL, "--save", saved)["classes"][0]["report"]
        self.assertEqual(["save_npz"], [note["what"] for note in report["not_run"]])
        self.assertFalse(os.path.exists(saved))

    def test_the_largest_blocks_have_their_lines(self):
        report = self.json("--ranks", "2", "--rank", "0", "--", GPT, *SMALL, "--width", "96", "--mesh", "tp=2")["classes"][0]["report"]
        sizes = [block["bytes"] for block in report["largest"]]
        self.assertEqual((10, sorted(sizes, reverse=True)), (len(sizes), sizes))
        self.assertLessEqual(sum(sizes), report["memory"]["all"]["peak"])
        self.assertTrue(any(block["file"].endswith("10_gpt.c") and "mesh(tp=2)" in block.get("tensor", "") for block in report["largest"]))

    def test_what_does_not_fit_gets_help_that_was_tried(self):
        peak = self.json("--ranks", "4", "--", GPT, *SMALL, "--mesh", "dp=4")["classes"][0]["report"]["memory"]["all"]["peak"]
        answer = self.json("--ranks", "4", "--memory", str(peak - 1), "--", GPT, *SMALL, "--mesh", "dp=4")
        self.assertFalse(answer["fits"])
        helps = {help["change"]: help["peak"] for help in answer["helps"]}
        sharded = self.json("--ranks", "4", "--rank", "0", "--", GPT, *SMALL, "--mesh", "fsdp=4")["classes"][0]["report"]
        self.assertEqual(sharded["memory"]["all"]["peak"], helps["--mesh fsdp=4"])
        text = self.estimate("--ranks", "4", "--memory", str(peak - 1), "--", GPT, *SMALL, "--mesh", "dp=4")
        self.assertIn("does not fit", text)
        self.assertIn("fsdp instead of dp (--mesh fsdp=4)", text)
        answer = self.json("--ranks", "2", "--memory", "1M", "--", GPT, *SMALL, "--layers", "4", "--batch", "16", "--mesh", "dp=2")
        helps = {help["change"]: help["peak"] for help in answer["helps"]}
        self.assertLess(helps["--checkpoint"], 0.9 * answer["classes"][0]["report"]["memory"]["all"]["peak"])
        self.assertTrue(self.json("--ranks", "4", "--memory", "64GB", "--", GPT, *SMALL, "--mesh", "dp=4")["fits"])

    def test_help_depends_on_the_arguments(self):
        text = self.estimate("--ranks", "3", "--memory", "1K", "--", GPT, "--steps", "1", "--sample", "0", "--dtype", "bf16")
        self.assertRegex(text, r"fsdp instead of dp \(--mesh fsdp=3\): \d")
        self.assertIn("  bf16: not tried, it is in use\n", text)
        self.assertIn("  half the batch: not tried, the command has no --batch to halve\n", text)
        pipeline = ["--ranks", "2", "--memory", "1K", "--", GPT, *SMALL, "--batch", "8", "--mesh", "pp=2", "--micro", "2"]
        answer = self.json(*pipeline)
        peaks = {help["change"]: help["peak"] for help in answer["helps"]}
        self.assertLess(peaks["--micro 4"], answer["classes"][0]["report"]["memory"]["all"]["peak"])
        text = self.estimate(*pipeline, "--checkpoint")
        self.assertIn("  fsdp instead of dp: not tried, --mesh has no dp\n", text)
        self.assertIn("  gradient checkpoints (dt_checkpoint): not tried, it is in use\n", text)

    def test_memory_of_a_rank_is_in_the_machine_model(self):
        model = os.path.join(self.folder, "machine.txt")
        peak = self.json("--ranks", "4", "--", GPT, *SMALL, "--mesh", "dp=4")["classes"][0]["report"]["memory"]["all"]["peak"]
        for memory, fits in (2 * peak - 2, False), (2 * peak, True):  # of the two ranks of a node
            with open(model, "w", encoding="utf-8") as file:
                file.write(f"dtensor-machine 1\nranks_per_host 2\nnode cores=2 memory_bytes={memory}\ncopy bytes_per_us=1\n"
                           "within start_us=1 peer_us=0 bytes_per_us=1\nbetween start_us=1 peer_us=0 bytes_per_us=1\n")
            answer = self.json("--ranks", "4", "--machine", model, "--", GPT, *SMALL, "--mesh", "dp=4")
            self.assertEqual((memory // 2, fits), (answer["memory"], answer["fits"]))

    def test_tables_are_those_of_a_run(self):
        program = [PROGRAM, "dp=2,tp=3", "adamw", "hold", "stats"]
        run = subprocess.run([DTRUN, "-n", "6", *program], capture_output=True, env=tool.environment(DTENSOR_THREADS="1"), timeout=60)
        memory, communication = run.stdout.decode().split("\n\n")
        self.assertEqual(7, len(memory.splitlines()))
        self.assertRegex(communication, r"^scope +all_gather +all_reduce +bytes received\nall ")
        text = self.estimate("--ranks", "6", "--rank", "0", "--", *program)
        self.assertIn(f"\n\n{memory}\n\n", text)
        self.assertIn(f"\n\n{communication}\n", text)

    def test_classes_that_are_too_many_are_named(self):
        # Every coordinate of a mesh dim that a tensor is not on is a class.
        answer = self.json("--ranks", "600", "--", PROGRAM, "pp=300,dp=2", "slice")
        self.assertEqual((512, 88), (sum(run["ranks"] for run in answer["classes"]), answer["not_estimated"]))
        answer = self.json("--ranks", "34", "--", PROGRAM, "pp=17,dp=2", "slice")
        self.assertEqual((34, 0), (sum(run["ranks"] for run in answer["classes"]), answer["not_estimated"]))

    def test_times_follow_from_the_machine_model(self):
        model = os.path.join(self.folder, "machine.txt")

        def microseconds(rate, lines="", what="product"):
            with open(model, "w", encoding="utf-8") as file:
                file.write("dtensor-machine 1\nranks_per_host 0\ncopy bytes_per_us=1000\nwithin start_us=1 peer_us=0 bytes_per_us=1000\n"
                           f"rate multiply f32 size=1 per_us={rate}\nrate touch size=1 per_us=1e12\n{lines}")
            report = self.json("--ranks", "2", "--rank", "0", "--machine", model, "--", PROGRAM, "dp=1,tp=2", what)
            return report["classes"][0]["report"]["us"]

        # [64,128] x [128,256] with the inner dim on two ranks is 2 * 64 * 64 * 256 flops on each.
        self.assertAlmostEqual(2 * 64 * 64 * 256 / 100, microseconds(100), delta=0.1)
        self.assertAlmostEqual(2 * 64 * 64 * 256 / 10, microseconds(10), delta=1)
        # An op may have rates of its own, in the flops of its rule; those of the sizes between two lines are interpolated.
        own = "rate matmul f32 size=1 per_us=1e9\nrate matmul f32 size=2097152 per_us=50\nrate matmul f32 size=1e9 per_us=1\n"
        self.assertAlmostEqual(2 * 64 * 64 * 256 / 50, microseconds(100, own), delta=0.1)
        self.assertAlmostEqual(2 * 64 * 64 * 256 / 100, microseconds(100, "rate gelu f32 size=1 per_us=1\n"), delta=0.1)
        # Each item of a list is read and written at the rate of the list.
        items = "rate mul_ f32 size=800 per_us=800\nrate mul_ f32 size=2400 per_us=8\n"
        self.assertAlmostEqual(3 * 800 / 8, microseconds(100, items, "list"), delta=0.1)
        self.assertAlmostEqual(800 / 8, microseconds(100, "rate clone f32 size=800 per_us=8\n", "copy"), delta=0.1)
        # Rows that indices name are added up, not multiplied.
        self.assertLess(microseconds(1e-6, what="embedding"), 100)
        self.assertAlmostEqual(2 * 64 ** 3 / 3 / 10, microseconds(10, what="cholesky"), delta=2)
        self.assertAlmostEqual(2 * 2 * 8 * 16 * 16 * 6 * 3 * 3 / 100, microseconds(100, what="convolution"), delta=50)
        untimed = self.json("--ranks", "2", "--rank", "0", "--", PROGRAM, "dp=1,tp=2", "product")["classes"][0]["report"]
        self.assertFalse(untimed["timed"])

    def test_ranks_wait_for_each_other(self):
        model = os.path.join(tool.SOURCE, "examples", "machines", "two_cores.txt")

        def times(ranks, *arguments):
            answer = self.json("--ranks", str(ranks), "--machine", model, "--", GPT, *SMALL, *arguments)
            return {rank: (run["report"]["us"] + run["waited_us"], run["waited_us"]) for run in answer["classes"] for rank in run["run"]}

        # Of a batch of 5 over 6 ranks, the last one has nothing: it waits for the others, which wait for nobody.
        ended = times(6, "--mesh", "dp=6")
        self.assertAlmostEqual(0, ended[0][1], delta=0.0015)  # both are written with three decimals
        self.assertGreater(ended[5][1], 0.2 * ended[5][0])
        self.assertAlmostEqual(ended[0][0], ended[5][0], delta=0.02 * ended[0][0])
        # All ranks of a pipeline end together, and a schedule with less idle time ends earlier, also by classes of ranks.
        ends = {}
        for schedule in "1f1b", "zb-h1":
            ended = times(3, "--mesh", "pp=3", "--micro", "5", "--schedule", schedule)
            self.assertGreater(max(wait for _, wait in ended.values()), 0)
            for end, _ in ended.values():
                self.assertAlmostEqual(ended[0][0], end, delta=0.05 * end)
            ends[schedule] = ended[0][0]
        self.assertLess(ends["zb-h1"], ends["1f1b"])
        each, classes = (times(2 * n, "--mesh", f"pp=2,dp={n}", "--batch", str(4 * n), "--micro", "4") for n in (2, 32))
        self.assertEqual(4, len(each))
        self.assertEqual([0, 32], sorted(classes))
        self.assertAlmostEqual(each[0][0], classes[0][0], delta=0.2 * each[0][0])
        self.assertIn("waiting for other ranks", self.estimate("--ranks", "2", "--machine", model, "--", GPT, *SMALL, "--mesh", "pp=2"))
        # One rank alone meets nobody.
        self.assertIsNone(self.json("--ranks", "2", "--rank", "0", "--machine", model, "--", GPT, *SMALL)["classes"][0]["waited_us"])

    def test_machine_models_are_printed_and_checked(self):
        folder = os.path.join(tool.SOURCE, "examples", "machines")
        for name in sorted(os.listdir(folder)):
            code, text, error = tool.run("machine", os.path.join(folder, name))
            self.assertEqual((0, ""), (code, error), name)
            self.assertIn("products of bf16", text)
            self.assertIn("rates", json.loads(tool.run("machine", "--json", os.path.join(folder, name))[1]))
        bad = os.path.join(self.folder, "bad.txt")
        for line, reason in (("rate di-vide f32 size=1 per_us=1", 'rate: expected multiply, touch or the name of an op, got "di-vide"'),
                             ("rate divide size=1 per_us=1", 'rate divide: expected a dtype such as f32, got "size=1"'),
                             ("rate gelu f32 size=1 per_us=1\nrate gelu f32 size=1 per_us=2", "rate: expected size=1 once, got it twice"),
                             ("rate multiply f7 size=1 per_us=1", 'rate multiply: expected a dtype such as f32, got "f7"'),
                             ("rate touch size=1", "rate: expected the field per_us, got none"),
                             ("rate touch size=1 per_us=1\nrate touch size=1 per_us=2", "rate: expected size=1 once, got it twice"),
                             ("node cores=0", 'cores: expected an integer from 1 to 1048576, got "0"')):
            with open(bad, "w", encoding="utf-8") as file:
                file.write(f"dtensor-machine 1\ncopy bytes_per_us=1\nwithin start_us=1 peer_us=0 bytes_per_us=1\n{line}\n")
            code, _, error = tool.run("machine", bad)
            self.assertEqual(1, code, line)
            self.assertIn(reason, error)

    def test_mistakes(self):
        self.assertIn("expected a rank below --ranks 2, got 2", self.estimate("--ranks", "2", "--rank", "2", "--", GPT, code=2))
        self.assertIn("--memory: expected a size such as 64G, got 'much'", self.estimate("--memory", "much", "--", GPT, code=2))
        self.assertIn("--value: expected a number, got '1x'", self.estimate("--value", "1x", "--", GPT, code=2))
        self.assertIn("expected exit code 0, got 1", self.estimate("--", "false", code=1))
        self.assertIn("got no report", self.estimate("--", "true", code=1))
        for text in "world=0", "world=4,rank=4", "rank=1", "world=2,what=3", "world=2 rank=1", "value=x", "world=2.5":
            result = subprocess.run([PROGRAM, "dp=1", "sgd"], capture_output=True, env=tool.environment(DTENSOR_ESTIMATE=text), timeout=60)
            self.assertEqual(1, result.returncode, text)
            self.assertIn(f'DTENSOR_ESTIMATE: expected a text such as world=8,rank=3,threads=1,cores=8,value=1 with a rank of the world, got "{text}"',
                          result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
