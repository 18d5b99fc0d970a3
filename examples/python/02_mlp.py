# SPDX-License-Identifier: Apache-2.0
"""2: an MLP that is trained with data and tensor parallelism. The model is written for one device; the rules place it.

    $ dtrun -n 4 python3 02_mlp.py
"""
import dtensor as dt

RULES = """
    fc1.*       tp=col    # rows of the weight and of the bias
    fc2.weight  tp=row    # columns: the results are partial sums
    *.bias      decay=0
"""
n = dt.get_world_size()
mesh = dt.init_device_mesh("cpu", (2 if n % 2 == 0 else 1, -1), mesh_dim_names=("dp", "tp"))
dt.manual_seed(1)
params = dt.Params(device_mesh=mesh, rules=RULES)
params.param("fc1.weight", (64, 2), std=1.0)
params.param("fc1.bias", (64,))
params.param("fc2.weight", (1, 64), std=0.1)
params.param("fc2.bias", (1,))
optimizer = dt.AdamW(params, lr=0.02)


def model(x):
    h = dt.linear(x, params["fc1.weight"], params["fc1.bias"]).tanh()
    return dt.linear(h, params["fc2.weight"], params["fc2.bias"]).reduced()


# The product of two numbers, which no linear model computes.
x = dt.rand(256, 2, low=-1.0, high=1.0, device_mesh=mesh, placements="S(0),R")
target = x[:, :1] * x[:, 1:]
for step in range(200):
    optimizer.lr = dt.lr_cosine(step, 0.02, 0.001, 10, 200)
    optimizer.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    if step % 50 == 0 or step == 199:
        value = loss.item()
        if dt.get_rank() == 0:
            print(f"step {step:3}  loss {value:.5f}")
