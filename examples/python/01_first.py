# SPDX-License-Identifier: Apache-2.0
"""1: tensors on a mesh. Started alone, a program is a world of one rank; four ranks:

    $ dtrun -n 4 python3 01_first.py
"""
import dtensor as dt

mesh = dt.init_device_mesh("cpu", (-1,), mesh_dim_names=("tp",))

# Each rank makes its own shard; 5 rows need not divide by the number of ranks.
x = dt.randn(5, 4, device_mesh=mesh, placements=[dt.Shard(0)])
w = dt.randn(4, 6, device_mesh=mesh, placements=[dt.Replicate()], requires_grad=True)

# Ops run on the local tensors, and the library derives the placements of the result: rows stay sharded, and a sum over
# them leaves partial sums, still without a message.
y = (x @ w).relu()
total = y.sum()
print(f"rank {dt.get_rank()} holds {list(y.local_shape)} of {y}")

# Gradients are placed as their tensors; reading a value communicates.
total.backward()
value = total.item()
if dt.get_rank() == 0:
    print(f"the sum is {value:.4f}, and the gradient of w has the placements {w.grad.placements}")
