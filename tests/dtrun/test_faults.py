# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long
"""Faults at random moments: whichever process is killed, stopped or signaled, dtrun ends and no process of it remains.

The first argument is the number of rounds.
"""
import os
import random
import signal
import sys
import time

import launch
from seed import test_seed

SCRIPTS = [
    "sleep 1000",
    "sleep 1000 & wait",
    "setsid sleep 1000 & yes",
    "yes | head -c 3000000; sleep 0.05; exit $((RANK % 2 * 7))",
    "(setsid sh -c 'sleep 1000' &); exit 0",
    "test $RANK = 0 && kill -9 $$; yes >&2",
    "true",
]


def stop_reading(running):
    """Stops reading the output."""
    if running.process.stdout:
        running.process.stdout.close()
        running.process.stdout = None


def inject_fault(running, rng):
    role = rng.choice(["front", "supervisor", "others", "signal", "reader", "nothing"])
    if role == "signal":
        os.kill(running.pid, rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]))
    elif role == "reader":
        stop_reading(running)
    elif role != "nothing":
        pids = running.roles()[role]
        if not pids:
            return "nothing"
        number = signal.SIGSTOP if role == "others" and rng.random() < 0.3 else signal.SIGKILL
        os.kill(rng.choice(pids), number)
    return role


def run_round(case, round_number, rng):
    script, n = rng.choice(SCRIPTS), rng.randint(1, 5)
    running = case.launch("-n", n, "sh", "-c", script)
    faults = []
    try:
        for _ in range(rng.randint(1, 2)):
            time.sleep(rng.random() ** 2 * 0.06)
            faults.append(inject_fault(running, rng))
            if faults[-1] in ("front", "supervisor"):
                break  # one of the two is always left to clean up
    except ProcessLookupError:
        pass
    description = f"round {round_number}: {n} x {script!r}, faults {faults}"
    if running.process.poll() is None and not {"front", "supervisor"} & set(faults):
        time.sleep(0.02)
        for _ in range(3):  # a launch that continues is ended
            running.process.poll() is None and os.kill(running.pid, signal.SIGTERM)
            time.sleep(0.05)
    stop_reading(running)
    try:
        running.process.communicate(timeout=20)
    except launch.subprocess.TimeoutExpired:
        case.fail(f"{description}: dtrun did not end")
    case.assertEqual(running.remaining_processes(5), [], description)


class Faults(launch.Case):
    n_rounds = 200

    def test_faults__leave_nothing(self):
        rng = random.Random(test_seed(1))
        for round_number in range(self.n_rounds):
            run_round(self, round_number, rng)


if len(sys.argv) > 1:
    Faults.n_rounds = int(sys.argv.pop(1))
launch.main()
