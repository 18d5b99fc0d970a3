# SPDX-License-Identifier: Apache-2.0
"""The rank tests of the suite on the ranks that mpirun starts: both MPIs, 1 to 4 ranks, one node and two pretended
ones. In each of these cells there is every kind of test: collectives, redistribution, ops, gradients, random numbers,
faults. The other programs run once for each number of ranks that is listed, on two nodes, where they have most to do,
under one MPI or the other in turn: what differs between the MPIs is below what they test."""
# ctest: labels=long timeout=1800 processors=2
import sys

import matrix

# program, or program/pattern of its tests
EVERYWHERE = """
    comm.collectives/*dtype* comm.clear move.execute move.redistribute move.divergence dispatch.list_ops autograd.backward
    random.tensors
""".split()
TWO_TO_FOUR_RANKS = """
    comm.groups move.execute_calls dispatch.meet dispatch.several_calls autograd.leaf_gradients random.ranks
""".split()
THREE_RANKS = "dispatch.values autograd.op_gradients dispatch.faults".split()
FOUR_RANKS = """
    comm.collectives comm.random_programs mesh.groups comm.waiting
    move.redistribute_list move.reduced move.dtypes move.files/files__* tensor.npz_compressed/*shard_by_shard
    move.execute_random move.execute_conformance move.print move.global_shape move.threads
    dispatch.collectives dispatch.comm_stats dispatch.cross_entropy
    dispatch.decomposition dispatch.tensor_views dispatch.op_trace dispatch.conformance dispatch.local_map dispatch.windows
    dispatch.meeting_ops dispatch.faults dispatch.use_placement dispatch.written dispatch.copied_views
    dispatch.error_sites dispatch.comm_policy dispatch.maker_place dispatch.op_by_name
    dispatch.own_elementwise autograd.records autograd.shared_storage autograd.published
    autograd.remaining_gradients autograd.checkpoint autograd.op_gradients ops.optimizers ops.attention tensor.make
    train.optimizer train.grad_norm
""".split()

cells = []
mpis = matrix.installed()
for mpi in mpis:
    for n in 1, 2, 3, 4:
        for nodes in (1, 2)[:n]:
            cells += [(mpi, n, nodes, program) for program in EVERYWHERE]
others = [(n, program) for program in TWO_TO_FOUR_RANKS for n in (2, 3, 4)]
others += [(3, program) for program in THREE_RANKS] + [(4, program) for program in FOUR_RANKS]
cells += [(mpis[i % len(mpis)], n, 2, program) for i, (n, program) in enumerate(others)]
sys.exit(matrix.run_all(cells))
