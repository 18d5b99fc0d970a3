# SPDX-License-Identifier: Apache-2.0
"""Random calls of linear algebra, for torch_ops.py."""
import torch

from calls import COMPLEX, DTYPES, INF, Call as AnyCall, family, t

MATRICES = ["f32", "f64"] + COMPLEX


def Call(op, tensors, args, kwargs, run, **rest):
    return AnyCall(op, tensors, args, kwargs, run, whole=True, matrices=True, **rest)


def batch(draw):
    return draw.choice([[], [], [1], [3], [5], [2, 3], [0]])


def size(draw):
    return draw.choice([0, 1, 1, 2, 3, 4, 5, 7])


def square(draw, dtype):
    """A matrix that is well-conditioned: rounding is compared, not what small singular values make of it."""
    lead, n = batch(draw), size(draw)
    x = draw.tensor(lead + [n, n], dtype) / 2 + 4 * torch.eye(n, dtype=DTYPES[dtype])
    return x[..., draw.sample(range(n), n), :]


def positive(draw, dtype):
    x = square(draw, dtype)
    return x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype)


def hermitian(draw, dtype):
    """Eigenvalues that are apart from each other."""
    lead, n = batch(draw), size(draw)
    x = draw.tensor(lead + [n, n], dtype)
    return (x + x.mH) / 2 + torch.diag(torch.arange(n) * 4.0 + 6).to(x.dtype)


def tall_or_wide(draw, dtype, lead=None):
    """Full rank, and singular values that are apart from each other."""
    lead, m, n = batch(draw) if lead is None else lead, size(draw), size(draw)
    x = draw.tensor(lead + [m, n], dtype) / 4
    for i in range(min(m, n)):
        x[..., i, i] += 2 + 3 * i
    return x


def linalg(op):
    return getattr(torch.linalg, op.removeprefix("linalg_"))


@family("linalg_inv linalg_det linalg_slogdet linalg_matrix_exp matrix_exp", MATRICES)
def of_square(draw, op, dtype):
    x = square(draw, dtype)
    if op.endswith("matrix_exp"):
        x = x / draw.choice([1, 4, 32])
    run = torch.matrix_exp if op == "matrix_exp" else linalg(op)  # whose matrix_exp refuses views
    return Call(op, [x], [t(0)], {}, lambda x: run(x.contiguous()), scale=4 if op.endswith("exp") else 0)


@family("logdet", MATRICES)
def logdet(draw, op, dtype):
    return Call(op, [positive(draw, dtype)], [t(0)], {}, torch.logdet)


@family("linalg_inv_ex", MATRICES)
def inverse_with_info(draw, op, dtype):
    return Call(op, [square(draw, dtype)], [t(0)], {}, torch.linalg.inv_ex)


@family("linalg_matrix_power", MATRICES)
def power(draw, op, dtype):
    n = draw.randint(-3, 5)
    return Call(op, [square(draw, dtype)], [t(0), n], {}, lambda x: torch.linalg.matrix_power(x, n))


def halves(x):
    """The gradient of a complex factor is Hermitian here; that of PyTorch has the imaginary parts of given diagonals, too."""
    return (x + x.mH) / 2 if x.is_complex() else x


@family("cholesky linalg_cholesky linalg_cholesky_ex", MATRICES)
def cholesky(draw, op, dtype):
    x, upper = positive(draw, dtype), draw.random() < 0.5
    run = torch.cholesky if op == "cholesky" else linalg(op)
    return Call(op, [x], [t(0)], {"upper": upper}, lambda x: run(halves(x), upper=upper))


@family("cholesky_inverse", MATRICES)
def cholesky_inverse(draw, op, dtype):
    x, upper = torch.linalg.cholesky(positive(draw, dtype)), draw.random() < 0.5
    x = x.mH.contiguous() if upper else x
    return Call(op, [x], [t(0)], {"upper": upper}, lambda x: torch.cholesky_inverse(x, upper))


@family("cholesky_solve", MATRICES)
def cholesky_solve(draw, op, dtype):
    x, upper = square(draw, dtype), draw.random() < 0.5
    b = draw.tensor(draw.broadcast(list(x.shape[:-2])) + [x.shape[-1], size(draw)], dtype)
    return Call(op, [b, x], [t(0), t(1)], {"upper": upper}, lambda b, x: torch.cholesky_solve(b, x, upper))


@family("linalg_solve linalg_solve_ex", MATRICES)
def solve(draw, op, dtype):
    left, kind = draw.random() < 0.7, draw.choice(["same", "vectors", "broadcast"])
    a = square(draw, dtype)
    lead, n, k = list(a.shape[:-2]), a.shape[-1], size(draw)
    if kind == "vectors" and left:
        b = draw.tensor(lead + [n] if draw.random() < 0.7 else [n], dtype)
    else:
        lead = draw.broadcast(lead) if kind == "broadcast" else lead
        b = draw.tensor(lead + ([n, k] if left else [k, n]), dtype)
    run = linalg(op)
    return Call(op, [a, b], [t(0), t(1)], {"left": left}, lambda a, b: run(a, b, left=left))


@family("linalg_solve_triangular", MATRICES)
def solve_triangular(draw, op, dtype):
    left, a, k = draw.random() < 0.5, square(draw, dtype), size(draw)
    options = {"upper": draw.random() < 0.5, "left": left, "unitriangular": draw.random() < 0.3}
    if options["unitriangular"]:
        a = a / 8
    n = a.shape[-1]
    b = draw.tensor(draw.broadcast(list(a.shape[:-2])) + ([n, k] if left else [k, n]), dtype)
    return Call(op, [a, b], [t(0), t(1)], options, lambda a, b: torch.linalg.solve_triangular(a, b, **options))


@family("linalg_lu linalg_lu_factor linalg_lu_factor_ex lu", MATRICES)
def lu(draw, op, dtype):
    x = tall_or_wide(draw, dtype)
    if op == "lu":
        infos = draw.random() < 0.5
        return Call(op, [x], [t(0)], {"get_infos": infos}, lambda x: torch.lu(x, get_infos=infos))
    pivot = draw.random() < 0.9 or 0 in x.shape
    if not pivot:
        return None  # PyTorch: on GPUs alone
    run = linalg(op)
    return Call(op, [x], [t(0)], {"pivot": pivot}, lambda x: run(x, pivot=pivot))


@family("lu_unpack", MATRICES)
def lu_unpack(draw, op, dtype):
    factors, pivots = torch.linalg.lu_factor(tall_or_wide(draw, dtype))
    data, parts = draw.random() < 0.8, draw.random() < 0.8

    def run(factors, pivots):
        return [x for x in torch.lu_unpack(factors, pivots, data, parts)]
    return Call(op, [factors, pivots], [t(0), t(1), data, parts], {}, run)


@family("lu_solve linalg_lu_solve", MATRICES)
def lu_solve(draw, op, dtype):
    factors, pivots = torch.linalg.lu_factor(square(draw, dtype))
    lead, n, k = list(factors.shape[:-2]), factors.shape[-1], size(draw)
    if op == "lu_solve":
        b = draw.tensor(lead + [n, k], dtype)
        return Call(op, [b, factors, pivots], [t(0), t(1), t(2)], {}, torch.lu_solve)
    options = {"left": draw.random() < 0.5, "adjoint": draw.random() < 0.5}
    b = draw.tensor(draw.broadcast(lead) + ([n, k] if options["left"] else [k, n]), dtype)
    return Call(op, [factors, pivots, b], [t(0), t(1), t(2)], options, lambda f, p, b: torch.linalg.lu_solve(f, p, b, **options))


@family("linalg_ldl_factor linalg_ldl_factor_ex", MATRICES)
def ldl(draw, op, dtype):
    x, options, run = hermitian(draw, dtype), {"hermitian": draw.random() < 0.5}, linalg(op)
    if not options["hermitian"]:
        x = (x + x.mT) / 2
    return Call(op, [x], [t(0)], options, lambda x: run(x, **options), fixed=(0,))


@family("linalg_ldl_solve", MATRICES)
def ldl_solve(draw, op, dtype):
    x, options = hermitian(draw, dtype), {"hermitian": draw.random() < 0.5}
    factors, pivots = torch.linalg.ldl_factor(x, **options)
    b = draw.tensor(list(x.shape[:-1]) + [size(draw)], dtype)
    return Call(op, [factors, pivots, b], [t(0), t(1), t(2)], options,
                lambda f, p, b: torch.linalg.ldl_solve(f, p, b, **options), fixed=(0, 2))


@family("linalg_qr", MATRICES)
def qr(draw, op, dtype):
    x, mode = tall_or_wide(draw, dtype), draw.choice(["reduced", "complete", "r"])
    return Call(op, [x], [t(0), mode], {}, lambda x: torch.linalg.qr(x, mode))


@family("qr", MATRICES)
def old_qr(draw, op, dtype):
    some = draw.random() < 0.7
    return Call(op, [tall_or_wide(draw, dtype)], [t(0), some], {}, lambda x: torch.qr(x, some))


@family("triangular_solve", MATRICES)
def triangular_solve(draw, op, dtype):
    a, k = square(draw, dtype), size(draw)
    options = {"upper": draw.random() < 0.5, "transpose": draw.random() < 0.5, "unitriangular": draw.random() < 0.3}
    b = draw.tensor(draw.broadcast(list(a.shape[:-2])) + [a.shape[-1], k], dtype)
    a = a / 8 if options["unitriangular"] else a
    return Call(op, [b, a], [t(0), t(1)], options, lambda b, a: list(torch.triangular_solve(b, a, **options)))


@family("geqrf", MATRICES)
def geqrf(draw, op, dtype):
    x = tall_or_wide(draw, dtype)
    return Call(op, [x], [t(0)], {}, torch.geqrf, fixed=(0,))


def reflectors(draw, dtype, lead=None):
    lead, m = batch(draw) if lead is None else lead, size(draw)
    n = draw.randint(0, m)
    x = draw.tensor(lead + [m, n], dtype)
    a, tau = torch.geqrf(x)
    return a, tau


@family("linalg_householder_product", MATRICES)
def householder_product(draw, op, dtype):
    a, tau = reflectors(draw, dtype)
    return Call(op, [a, tau], [t(0), t(1)], {}, torch.linalg.householder_product)


@family("ormqr", MATRICES)
def ormqr(draw, op, dtype):
    a, tau = reflectors(draw, dtype)
    lead, m, k = list(a.shape[:-2]), a.shape[-2], size(draw)
    left, transpose = draw.random() < 0.5, draw.random() < 0.5
    c = draw.tensor(lead + ([m, k] if left else [k, m]), dtype)
    return Call(op, [a, tau, c], [t(0), t(1), t(2), left, transpose], {}, lambda a, tau, c: torch.ormqr(a, tau, c, left, transpose))


def turned(values, vectors):
    """Eigenvectors with their largest component real and positive, as ours; the phase is a constant for gradients."""
    if vectors.numel() == 0:
        return values, vectors
    at = vectors.detach().abs().argmax(-2, keepdim=True)
    largest = vectors.gather(-2, at)
    phase = (largest.abs() / largest) if vectors.is_complex() else largest.sign().detach()
    return values, vectors * phase


@family("linalg_eigh linalg_eigvalsh", MATRICES)
def eigh(draw, op, dtype):
    x, uplo, run = hermitian(draw, dtype), draw.choice(["L", "U"]), linalg(op)
    if op == "linalg_eigvalsh":
        return Call(op, [x], [t(0), uplo], {}, lambda x: run(x, uplo))
    return Call(op, [x], [t(0), uplo], {}, lambda x: turned(*run(x, uplo)), scale=4)


@family("linalg_eig linalg_eigvals", MATRICES)
def eig(draw, op, dtype):
    x = draw.tensor(batch(draw) + [draw.choice([0, 1, 2, 3, 5])] * 2, dtype)
    for i in range(x.shape[-1]):
        x[..., i, i] += 6 * i
    if op == "linalg_eigvals":
        return Call(op, [x], [t(0)], {}, torch.linalg.eigvals)
    return Call(op, [x], [t(0)], {}, lambda x: turned(*torch.linalg.eig(x)))


@family("linalg_svdvals", MATRICES)
def svdvals(draw, op, dtype):
    x = tall_or_wide(draw, dtype)
    return Call(op, [x], [t(0)], {}, torch.linalg.svdvals, slope=4)


@family("linalg_svd", MATRICES)
def svd(draw, op, dtype):
    """Singular vectors are determined up to phases: compared are singular values, and products in which phases cancel. PyTorch's
    derivatives lose digits where singular values are large relative to their distances, here up to 5 times, in each derivative
    twice; compared with 60 digits, ours are closer. Terms of the products are as large as singular values, 20 here."""
    x, full = tall_or_wide(draw, dtype), draw.random() < 0.4
    k = min(x.shape[-2:])
    has_more = full and x.shape[-1] != x.shape[-2]
    then = [["slice", [t(0), -1, 0, k, 1]], ["slice", [t(2), -2, 0, k, 1]], ["unsqueeze", [t(1), -2]],  # U, V^H, S: 3, 4, 5
            ["mul", [t(3), t(5)]], ["matmul", [t(6), t(4)]],  # 7: U S V^H
            ["transpose", [t(3), -2, -1]], ["conj", [t(8)]], ["matmul", [t(6), t(9)]],  # 10: U S U^H
            ["transpose", [t(4), -2, -1]], ["conj", [t(11)]], ["mul", [t(12), t(5)]], ["matmul", [t(13), t(4)]],  # 14: V S V^H
            ["transpose", [t(0), -2, -1]], ["conj", [t(15)]], ["matmul", [t(16), t(0)]],  # 17: U^H U
            ["transpose", [t(2), -2, -1]], ["conj", [t(18)]], ["matmul", [t(2), t(19)]]]  # 20: V^H V

    def run(x):
        u, s, vh = torch.linalg.svd(x, full_matrices=full)
        first, last = u[..., :k], vh[..., :k, :]
        products = [s, first * s.unsqueeze(-2) @ last, first * s.unsqueeze(-2) @ first.mH, last.mH * s.unsqueeze(-2) @ last]
        return products + [u.mH @ u, vh @ vh.mH] if has_more else products
    return Call(op, [x], [t(0), full], {}, run, then=then[:18] if has_more else then[:12], fixed=(0,) if has_more else (), scale=20, slope=64,
                curvature=4096, compared=[1, 7, 10, 14] + ([17, 20] if has_more else []))


@family("linalg_pinv pinverse", MATRICES)
def pinv(draw, op, dtype):
    if op == "pinverse":
        return Call(op, [tall_or_wide(draw, dtype)], [t(0)], {}, torch.pinverse, scale=1)
    if draw.random() < 0.3:
        return Call(op, [hermitian(draw, dtype)], [t(0)], {"hermitian": True}, lambda x: torch.linalg.pinv(x, hermitian=True), scale=4)
    options = draw.choice([{}, {"rtol": 1e-3}, {"atol": 1e-2}, {"atol": 1e-3, "rtol": 1e-3}])
    return Call(op, [tall_or_wide(draw, dtype)], [t(0)], options, lambda x: torch.linalg.pinv(x, **options), scale=1)


@family("linalg_matrix_rank", MATRICES)
def matrix_rank(draw, op, dtype):
    x = tall_or_wide(draw, dtype)
    if x.numel() and draw.random() < 0.5:
        x[..., -1, :] = x[..., 0, :]
    options = draw.choice([{}, {"rtol": 1e-3}, {"atol": 1e-2}])
    return Call(op, [x], [t(0)], options, lambda x: torch.linalg.matrix_rank(x, **options))


@family("linalg_cond", MATRICES)
def cond(draw, op, dtype):
    p = draw.choice([None, 2, -2, 1, -1, INF, -INF, "fro", "nuc"])
    x = tall_or_wide(draw, dtype) if p in (None, 2, -2) else square(draw, dtype)
    return Call(op, [x], [t(0)] if p is None else [t(0), p], {}, lambda x: torch.linalg.cond(x, p))


@family("linalg_matrix_norm", MATRICES)
def matrix_norm(draw, op, dtype):
    x, keepdim = tall_or_wide(draw, dtype), draw.random() < 0.5
    order, dims = draw.choice(["fro", "nuc", 2, -2, 1, -1, INF, -INF]), draw.choice([[-2, -1], [-1, -2], [0, -1]])
    if x.dim() == 2 and dims == [0, -1] or x.dim() > 2 and 0 in dims and order in (2, -2, "nuc"):
        dims = [-2, -1]
    return Call(op, [x], [t(0), order, dims, keepdim], {}, lambda x: torch.linalg.matrix_norm(x, order, dims, keepdim), slope=4)


@family("linalg_multi_dot", MATRICES + ["f16", "bf16", "i64"])
def multi_dot(draw, op, dtype):
    sizes = [size(draw) for _ in range(draw.randint(3, 5))]
    tensors = [draw.tensor(pair, dtype) for pair in zip(sizes, sizes[1:])]
    if draw.random() < 0.3:
        tensors[0] = draw.tensor(sizes[1:2], dtype)
    if draw.random() < 0.3:
        tensors[-1] = draw.tensor(sizes[-2:-1], dtype)
    return Call(op, tensors, [[t(i) for i in range(len(tensors))]], {}, lambda *all: torch.linalg.multi_dot(all))


@family("cross linalg_cross", MATRICES + ["f16", "bf16", "i32", "i64"])
def cross(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    dim = draw.dim(len(sizes))
    sizes[dim] = 3
    other = list(sizes)
    for d in range(len(sizes)):
        if d != dim % len(sizes) and draw.random() < 0.2:
            other[d] = 1
    x, y = draw.tensor(sizes, dtype), draw.tensor(other, dtype)
    run = torch.cross if op == "cross" else torch.linalg.cross
    return Call(op, [x, y], [t(0), t(1)], {"dim": dim}, lambda x, y: run(x, y, dim=dim))


@family("linalg_vecdot", MATRICES + ["f16", "bf16"])
def vecdot(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    dim = draw.dim(len(sizes))
    other = [1 if d != dim % len(sizes) and draw.random() < 0.2 else s for d, s in enumerate(sizes)]
    return Call(op, [draw.tensor(sizes, dtype), draw.tensor(other, dtype)], [t(0), t(1)], {"dim": dim},
                lambda x, y: torch.linalg.vecdot(x, y, dim=dim))


@family("linalg_vander", MATRICES + ["i32", "i64"])
def vander(draw, op, dtype):
    n = draw.choice([None, 1, 2, 4])
    x = draw.tensor(draw.sizes(draw.choice([1, 2]), 1), dtype)
    return Call(op, [x], [t(0)], {} if n is None else {"N": n}, lambda x: torch.linalg.vander(x, N=n))


@family("linalg_diagonal", MATRICES + ["i64", "bf16"])
def diagonal(draw, op, dtype):
    x = draw.tensor(draw.sizes(draw.choice([2, 3])), dtype)
    dims = draw.sample(range(x.dim()), 2)
    options = {"offset": draw.randint(-2, 2), "dim1": dims[0], "dim2": dims[1] - x.dim()}
    return Call(op, [x], [t(0)], options, lambda x: torch.linalg.diagonal(x, **options))


@family("kron", MATRICES + ["f16", "i64"])
def kron(draw, op, dtype):
    return Call(op, [draw.tensor(draw.sizes(), dtype), draw.tensor(draw.sizes(draw.choice([0, 1, 2])), dtype)], [t(0), t(1)], {},
                lambda x, y: torch.kron(x.contiguous(), y.contiguous()))


@family("linalg_tensorinv", MATRICES)
def tensorinv(draw, op, dtype):
    sizes = draw.choice([([2, 3, 6], 2), ([6, 3, 2], 1), ([4, 2, 2], 1), ([1, 1], 1), ([2, 2, 4], 2)])
    x = draw.tensor(sizes[0], dtype)
    n = int(x.numel() ** 0.5 + 0.5)
    x = x + 4 * torch.eye(n, dtype=x.dtype).reshape(x.shape)
    return Call(op, [x], [t(0), sizes[1]], {}, lambda x: torch.linalg.tensorinv(x, sizes[1]))


@family("linalg_tensorsolve", MATRICES)
def tensorsolve(draw, op, dtype):
    a, b, dims = draw.choice([([2, 3, 6], [2, 3], None), ([6, 3, 2], [6], None), ([3, 6, 2], [6], [0, 2]), ([2, 2, 4], [2, 2], None)])
    x = draw.tensor(a, dtype)
    if dims is None:
        n = int(x.numel() ** 0.5 + 0.5)
        x = x + 4 * torch.eye(n, dtype=x.dtype).reshape(x.shape)
    return Call(op, [x, draw.tensor(b, dtype)], [t(0), t(1)], {} if dims is None else {"dims": dims},
                lambda x, b: torch.linalg.tensorsolve(x, b, dims))


@family("linalg_lstsq", MATRICES)
def lstsq(draw, op, dtype):
    a = tall_or_wide(draw, dtype, draw.choice([[], [3], [2, 2]]))
    b = draw.tensor(list(a.shape[:-1]) + [draw.randint(1, 3)], dtype)
    driver = draw.choice([None, "gels", "gelsy", "gelsd", "gelss"])
    options = {} if driver is None else {"driver": driver}
    return Call(op, [a, b], [t(0), t(1)], options, lambda a, b: list(torch.linalg.lstsq(a, b, **options)), scale=1,
                curvature=8)
