# SPDX-License-Identifier: Apache-2.0
"""When a measurement may end: the rule of settle.h for peers in Python."""
QUIET_BATCHES, MIN_BATCH, MAX_BATCH, MAX_BUDGETS, IMPROVEMENT = 4, 3, 2000, 50, 0.01


class Settle:
    """The fastest of as many repeats as it takes until it has not become faster by more than 1 % in four batches."""

    def __init__(self, budget_s):
        self.best = self.reference = 1e30
        self.spent, self.budget_s, self.n, self.n_quiet = 0.0, budget_s, 0, 0

    def batch(self):
        """How many repeats the next batch has."""
        if self.n == 0:
            return MIN_BATCH
        return max(MIN_BATCH, min(MAX_BATCH, int(self.budget_s / (1 + QUIET_BATCHES) / self.best)))

    def continues(self, seconds):
        """Adds a batch; whether there should be another one."""
        self.spent += sum(seconds)
        self.best = min(self.best, *seconds)
        self.n += len(seconds)
        self.n_quiet += 1
        if self.best < (1 - IMPROVEMENT) * self.reference:
            self.reference, self.n_quiet = self.best, 0
        return self.n_quiet < QUIET_BATCHES and self.spent < MAX_BUDGETS * self.budget_s


def fastest(repeat, budget_s):
    """Seconds of the fastest repeat; repeat() returns the seconds of one."""
    settle = Settle(budget_s)
    while settle.continues([repeat() for _ in range(settle.batch())]):
        pass
    return settle.best
