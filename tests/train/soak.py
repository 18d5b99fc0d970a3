# SPDX-License-Identifier: Apache-2.0
"""Rounds of faults while gradients, optimizers, files and checkpoints are in progress. A round starts prog_soak.c and disturbs it, by one fault or two at a
time, from outside (signals to ranks, to dtrun and its supervisor, a full disk, a limit of address space) and from inside (a rank that exits,
closes, fails, diverges, or runs out of memory). In some rounds calls or replicas are checked. Then must hold:

- the launch ends, and none of its processes is left;
- it ends with 0 only if its values are those of an undisturbed run, and always if no fault of it is fatal;
- no rank ends with a signal that was not sent, and none finds wrong values;
- the folder has nothing but one complete file, or none; of checkpoints, complete ones and what an interrupted save left.

Everything follows from DTENSOR_TEST_SEED and the number of a round, except for moments. To try one round again:
    python3 tests/train/test_soak.py --first NUMBER --rounds 1
"""
import collections
import json
import multiprocessing.pool
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dtrun"))
import launch  # noqa: E402
from seed import SEED, test_seed  # noqa: E402

PROGRAM = str(launch.BUILD / "tests" / "train.soak")
WORKS = {"gradients": 600, "optimizers": 1500, "files": 500, "checkpoints": 300}  # and the steps of a run
TIMEOUT_S = 1.5
MODELS = 12
UNSENT = {128 + number for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)}

# Faults from outside. Each waits a moment, acts on a launch, and may be fatal: the launch then may end with any error.
Fault = collections.namedtuple("Fault", "name fatal act")


def ranks(running):
    """The processes of ranks, which are children of the supervisor."""
    return running.roles()["others"]


def signal_rank(number):
    def act(running, rng):
        pids = ranks(running)
        if pids:
            os.kill(rng.choice(pids), number)
    return act


def signal_front(number):
    return lambda running, rng: os.kill(running.pid, number)


def takes(pid, field):
    """Whether SIGUSR1 is in a set of signals of a process: before it has started, the signal would end it."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return int(status.split(f"{field}:")[1].split()[0], 16) >> (signal.SIGUSR1 - 1) & 1


def ask_front(running, rng):
    if takes(running.pid, "SigBlk"):
        os.kill(running.pid, signal.SIGUSR1)


def ask_rank(running, rng):
    pids = [pid for pid in ranks(running) if takes(pid, "SigCgt")]
    if pids:
        os.kill(rng.choice(pids), signal.SIGUSR1)


def kill_role(role):
    def act(running, rng):
        pids = running.roles()[role]
        if pids:
            os.kill(pids[0], signal.SIGKILL)
    return act


def all_ranks(running):
    """The processes of ranks once all have been started: ranks that run while others are stopped count that time."""
    launch.wait_until(lambda: len(ranks(running)) == running.n_ranks or running.process.poll() is not None, 2)
    return ranks(running)


def stop_for(seconds, everyone):
    """Stops a rank, or all, and continues them."""
    def act(running, rng):
        pids = all_ranks(running) if everyone else ranks(running)[:1]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    return act


OUTSIDE = [
    Fault("kill a rank", True, signal_rank(signal.SIGKILL)),
    Fault("stop a rank", True, signal_rank(signal.SIGSTOP)),
    Fault("end a rank", True, signal_rank(signal.SIGTERM)),
    Fault("end dtrun", True, signal_front(signal.SIGTERM)),
    Fault("interrupt dtrun", True, signal_front(signal.SIGINT)),
    Fault("kill dtrun", True, kill_role("front")),
    Fault("kill supervisor", True, kill_role("supervisor")),
    Fault("pause a rank", False, stop_for(TIMEOUT_S / 5, False)),
    Fault("pause the job", False, stop_for(TIMEOUT_S + 0.5, True)),
    Fault("ask dtrun", False, ask_front),
    Fault("ask a rank", False, ask_rank),
]
# Faults of the surroundings and of a rank itself; "none" leaves the round to the ones above.
AROUND = {"none": False, "full disk": True, "ulimit -v": True}
INSIDE = {"none": False, "exit": True, "close": True, "abort": True, "diverge": True, "rate": True, "skip": True, "error": False, "memory": False}
ABORTS = 128 + signal.SIGABRT

MODES = ["", "", "DTENSOR_CHECK_CALLS", "DTENSOR_CHECK_REPLICAS"]

Round = collections.namedtuple("Round", "number work n model outside around inside rank n_steps step delays limit mode")


def draw(number):
    """The round of this number: up to two faults, and every kind alone in turn."""
    rng = random.Random(test_seed(2 * number))
    n = rng.randint(2, 5)
    kinds = ([("outside", fault) for fault in OUTSIDE] + [("around", name) for name in AROUND if name != "none"]
             + [("inside", name) for name in INSIDE if name != "none"])
    chosen = [kinds[number % len(kinds)]]
    if rng.random() < 0.5:  # a rank commits one fault, and has one kind of surroundings
        chosen.append(rng.choice([kind for kind in kinds if kind[0] == "outside" or kind[0] != chosen[0][0]]))
    work = rng.choice(list(WORKS))
    around = next((fault for place, fault in chosen if place == "around"), "none")
    if around == "full disk":
        work = rng.choice(["files", "checkpoints"])
    inside = next((fault for place, fault in chosen if place == "inside"), "none")
    if work != "optimizers" and inside == "rate":
        work = "optimizers"
    outside = [fault for place, fault in chosen if place == "outside"]
    mode = rng.choice(MODES)
    n_steps = WORKS[work] // (4 if mode else 1)  # which take longer
    return Round(number, work, n, rng.randrange(MODELS), outside, around, inside, rng.randrange(n), n_steps, rng.randrange(n_steps),
                 [rng.random() ** 2 * 0.4 for _ in outside], rng.randrange(1 << 28, 1 << 33), mode)


def name_of(round):
    names = [fault.name for fault in round.outside] + [name for name in (round.around, f"rank: {round.inside}") if not name.endswith("none")]
    return " + ".join(sorted(names))


def command(round, folder, inside):
    words = ["-n", round.n, "--timeout", f"{int(TIMEOUT_S * 1000)}ms", "--heap", "64M", PROGRAM, round.work, round.model, round.n_steps, folder]
    return words + ([round.inside, round.rank, round.step] if inside else [])


def surroundings(round):
    """Options of a launch: its mode, and a limit of its address space, if the round says so."""
    options = {"environment": {round.mode: "1"} if round.mode else {}}
    if round.around != "ulimit -v":
        return options
    return {**options, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (round.limit, resource.RLIM_INFINITY))}


def start(round, folder):
    """The launch of a round, in its surroundings."""
    if round.around == "full disk":  # in a namespace of its own
        script = f"mount -t tmpfs -o size={4 << round.limit % 3}k none {folder} && exec {launch.DTRUN} \"$@\""
        return launch.Launch("--mount", "sh", "-c", script, "sh", *command(round, folder, True), executable=shutil.which("unshare"),
                             **surroundings(round))
    return launch.Launch(*command(round, folder, True), **surroundings(round))


def end(running, seconds):
    """Waits for the end; returns exit code, output and errors. The code is None if it does not come; the errors then say what ranks
    were doing."""
    try:
        out, err = running.process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        ask_front(running, None)
        time.sleep(2)
        for pid in launch.processes(running.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out, err = running.process.communicate()
        return None, out.decode(errors="replace"), err.decode(errors="replace")
    return running.process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


class Undisturbed(Exception):
    """A run without faults that fails."""


class Reference:
    """Undisturbed runs, each made once: the hash, and the seconds that it took."""

    def __init__(self):
        self.known, self.lock = {}, threading.Lock()

    def run(self, round):
        """The hash is None if a limit of address space ends the run. Under such a limit, products may be made without the BLAS."""
        is_limited = round.around == "ulimit -v"
        key = round.work, round.n, round.model, round.n_steps, is_limited and (round.limit, round.mode)
        with self.lock:
            if key not in self.known:
                with tempfile.TemporaryDirectory() as folder:
                    began = time.monotonic()
                    code, out, err = end(launch.Launch(*command(round, folder, False), **surroundings(round)), 1200)
                if code is None or not is_limited and (code != 0 or not out.startswith("hash ")):
                    raise Undisturbed(f"the undisturbed run ended with {code} and {out!r}:\n{err}")
                self.known[key] = out if code == 0 else None, time.monotonic() - began
            return self.known[key]


def disturb(running, round, rng):
    for fault, delay in zip(round.outside, round.delays):
        time.sleep(delay)
        try:
            fault.act(running, rng)
        except ProcessLookupError:
            pass  # it has ended


def stored_bytes(path):
    """What a safetensors file must have: its header and the bytes that the header lists."""
    with open(path, "rb") as file:
        n = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(n))
    return 8 + n + max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")


def check_checkpoints(folder):
    for name in os.listdir(folder):
        if name.startswith(".step-") and name.endswith(".part"):
            continue
        path = os.path.join(folder, name)
        files = sorted(os.listdir(path)) if name.startswith("step-") else None
        if files != ["model.safetensors", "optimizer.safetensors"]:
            return f"the checkpoint {name} has {files}"
        for file in files:
            if os.path.getsize(os.path.join(path, file)) != stored_bytes(os.path.join(path, file)):
                return f"{name}/{file} is not complete"
    return None


def check_folder(folder):
    files = sorted(os.listdir(folder))
    if files == ["run"]:
        return check_checkpoints(os.path.join(folder, "run"))
    if files not in ([], ["parameters.npz"]):
        return f"the folder has {files}"
    if files:
        with zipfile.ZipFile(os.path.join(folder, files[0])) as file:
            if file.testzip():
                return "the file is not complete"
    return None


def judge(round, code, out, expected):
    """What is wrong with the end of a launch; None: nothing."""
    fatal = any(fault.fatal for fault in round.outside) or AROUND[round.around] or INSIDE[round.inside]
    if code == 3:
        return "wrong values"
    if code in UNSENT or (code == ABORTS and round.inside != "abort"):
        return f"exit code {code}"
    if code == 0 and expected and out != expected and round.inside not in ("error", "memory"):  # which skip a step
        return f"ended with 0 and {out!r}, expected {expected!r}"
    if code != 0 and not fatal:
        return f"ended with {code}, although nothing was fatal"
    return None


def run_round(number, reference):
    """(round, "continued" or "ended", what is wrong or None)."""
    round = draw(number)
    try:
        expected, seconds = reference.run(round)
    except Undisturbed as error:
        return round, "ended", str(error)
    with tempfile.TemporaryDirectory() as folder:
        running = start(round, folder)
        running.n_ranks = round.n
        disturb(running, round, random.Random(test_seed(2 * number + 1)))
        limit = 120 + 10 * seconds  # cores may be shared with other work
        code, out, err = end(running, limit)
        if code is None:
            return round, "ended", f"did not end in {limit:.0f} s\n{err}"
        left = running.remaining_processes(10)
        if left:
            running.destroy()
        lost = any(fault.name in ("kill dtrun", "kill supervisor") for fault in round.outside)
        wrong = f"processes are left: {left}" if left else judge(round, code, out, expected)
        if not wrong and not lost:
            wrong = check_folder(folder)
        return round, "continued" if code == 0 else "ended", f"{wrong}\n{err}" if wrong else None


def can_mount():
    """Whether this user may mount a file system of its own, for full disks."""
    if not shutil.which("unshare"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode == 0


def print_table(rounds):
    """Rounds by kind: how many of each work, and how they ended. A round of two faults counts in the rows of both."""
    rows, total = collections.defaultdict(collections.Counter), collections.Counter()
    for round, ended, wrong in rounds:
        kinds = name_of(round).split(" + ")
        counted = ["rounds", round.work, ended] + (["wrong"] if wrong else [])
        total.update(counted)
        for kind in set(kinds) | ({"two at a time"} if len(kinds) > 1 else set()):
            rows[kind].update(counted)
    columns = ["rounds", *WORKS, "continued", "ended", "wrong"]
    print(f"{'fault':<18}" + "".join(f"{column:>12}" for column in columns))
    for kind in sorted(rows, key=lambda kind: (kind == "two at a time", kind)):
        print(f"{kind:<18}" + "".join(f"{rows[kind][column]:>12}" for column in columns))
    print(f"{'all':<18}" + "".join(f"{total[column]:>12}" for column in columns))


def run(first, n_rounds, n_parallel=2):
    """Runs rounds; prints each that is wrong, and the table. The number of wrong ones."""
    reference, mounts, began = Reference(), can_mount(), time.monotonic()
    numbers = [number for number in range(first, first + n_rounds) if mounts or draw(number).around != "full disk"]
    if not mounts:
        print("rounds with full disks are left out: this user cannot mount a file system")
    results = []
    with multiprocessing.pool.ThreadPool(n_parallel) as pool:
        for round, ended, wrong in pool.imap_unordered(lambda number: run_round(number, reference), numbers):
            results.append((round, ended, wrong))
            if wrong:
                print(f"round {round.number}: {round.work}, {round.n} ranks, model {round.model}, "
                      f"{round.mode or 'no checks'}: {name_of(round)}: {wrong}", flush=True)
            elif len(results) % 100 == 0:
                print(f"{len(results)} rounds, {60 * len(results) / (time.monotonic() - began):.0f} a minute", flush=True)
    print_table(results)
    print(f"{len(results)} rounds in {time.monotonic() - began:.0f} s, seed {SEED}")
    return sum(1 for *_, wrong in results if wrong)
