# SPDX-License-Identifier: Apache-2.0
# ctest: labels=long timeout=600
"""Faults at random moments: whatever is killed, stopped or signalled, dtrun ends and nothing of it is left.

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


def leave(running):
    """Stops reading the output."""
    if running.process.stdout:
        running.process.stdout.close()
        running.process.stdout = None


def do_fault(running, chance):
    role = chance.choice(["front", "supervisor", "others", "signal", "reader", "nothing"])
    if role == "signal":
        os.kill(running.pid, chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]))
    elif role == "reader":
        leave(running)
    elif role != "nothing":
        pids = running.roles()[role]
        if not pids:
            return "nothing"
        number = signal.SIGSTOP if role == "others" and chance.random() < 0.3 else signal.SIGKILL
        os.kill(chance.choice(pids), number)
    return role


def play(case, round_number, chance):
    script, n = chance.choice(SCRIPTS), chance.randint(1, 5)
    running = case.launch("-n", n, "sh", "-c", script)
    faults = []
    try:
        for _ in range(chance.randint(1, 2)):
            time.sleep(chance.random() ** 2 * 0.06)
            faults.append(do_fault(running, chance))
            if faults[-1] in ("front", "supervisor"):
                break  # one of the two always gets the chance to clean up
    except ProcessLookupError:
        pass
    what = f"round {round_number}: {n} x {script!r}, faults {faults}"
    if running.process.poll() is None and not {"front", "supervisor"} & set(faults):
        time.sleep(0.02)
        for _ in range(3):  # a launch that continues is ended
            running.process.poll() is None and os.kill(running.pid, signal.SIGTERM)
            time.sleep(0.05)
    leave(running)
    try:
        running.process.communicate(timeout=20)
    except launch.subprocess.TimeoutExpired:
        case.fail(f"{what}: dtrun did not end")
    case.assertEqual(running.leftovers(5), [], what)


class Faults(launch.Case):
    n_rounds = 200

    def test_faults__leave_nothing(self):
        chance = random.Random(test_seed(1))
        for round_number in range(self.n_rounds):
            play(self, round_number, chance)


if len(sys.argv) > 1:
    Faults.n_rounds = int(sys.argv.pop(1))
launch.main()
