# SPDX-License-Identifier: Apache-2.0
"""4: conjugate gradients on a symmetric positive definite matrix whose rows are sharded. The method is written as for
one device; products with the matrix and inner products communicate where they must.

    $ dtrun -n 3 python3 04_conjugate_gradient.py
"""
import dtensor as dt

n = 101
mesh = dt.init_device_mesh("cpu", (-1,))
index = dt.arange(n, dtype="f64", device_mesh=mesh, placements="S(0)")
columns = dt.arange(n, dtype="f64", device_mesh=mesh, placements="R")
distance = (index.view(n, 1) - columns.view(1, n)).abs()
a = 2.5 * (distance == 0).double() - (distance == 1).double()  # [n,n] S(0)
b = dt.ones(n, dtype="f64", device_mesh=mesh, placements="S(0)")

x = dt.zeros_like(b)
r = b.clone()
p = r.clone()
rr = (r * r).sum().item()
for step in range(200):
    ap = a @ p
    alpha = rr / (p * ap).sum().item()
    x = x + alpha * p
    r = r - alpha * ap
    previous, rr = rr, (r * r).sum().item()
    if rr < 1e-20:
        break
    p = r + (rr / previous) * p

residual = (b - a @ x).abs().max().item()
if dt.get_rank() == 0:
    print(f"{step + 1} steps, residual {residual:.1e}")
    assert residual < 1e-9
