# SPDX-License-Identifier: Apache-2.0
"""`query shard` and `query mesh` against the definitions, index by index: random meshes, shapes, placements and shard
orders, with odd sizes, sizes below the number of ranks, empty dims and strided shards."""
import itertools
import math
import random
import unittest

import tool
from seed import test_seed

N_SHARDS, N_MESHES = 1500, 400


def chunks(indices, n):
    """The ceil rule: n lists, the last ones shorter or empty."""
    size = -(-len(indices) // n) if indices else 0
    return [indices[i * size:(i + 1) * size] for i in range(n)]


def split(indices, n, coordinate, factor):
    """The indices of a coordinate: its block of each of `factor` chunks."""
    return [index for chunk in chunks(indices, factor) for index in chunks(chunk, n)[coordinate]]


def held(request, coordinate):
    """Per tensor dim, the indices that a coordinate holds."""
    dims = [list(range(size)) for size in request["shape"]]
    splits = request["splits"]
    for dim in range(len(dims)):
        default_order = [m for m, c in enumerate(splits) if c and c[0] == dim]
        for m in request.get("order", {}).get(str(dim), default_order):
            dims[dim] = split(dims[dim], request["mesh"][m], coordinate[m], splits[m][1])
    return dims


def runs(indices):
    out = []
    for index in indices:
        if out and out[-1][1] == index:
            out[-1][1] += 1
        else:
            out.append([index, index + 1])
    return out


def local(request):
    """The expected answer."""
    entries = []
    for rank, coordinate in enumerate(itertools.product(*map(range, request["mesh"]))):
        dims = [sorted(indices) for indices in held(request, coordinate)]
        entries.append({
            "rank": rank,
            "shape": [len(indices) for indices in dims],
            "offset": [indices[0] if indices else size for indices, size in zip(dims, request["shape"])],
            "runs": [runs(indices) for indices in dims],
        })
    return entries


def random_shard(rng):
    mesh = [rng.choice([1, 2, 2, 3, 4, 5, 7]) for _ in range(rng.randint(1, 3))]
    shape = [rng.choice([0, 1, 2, 3, 5, 6, 7, 8, 11, 16, 24, 30]) for _ in range(rng.randint(1, 3))]
    splits, texts = [], []
    for _ in mesh:
        kind, dim = rng.choice("SSS_RP"), rng.randrange(len(shape))
        factor = rng.choice([1, 2, 3, 4]) if kind == "_" else 1
        splits.append((dim, factor) if kind in "S_" else None)
        written = rng.choice([dim, dim, dim - len(shape)])
        texts.append({"S": f"S({written})", "_": f"_S({written},{factor})", "R": "R", "P": "P(sum)"}[kind])
    request = {"q": "shard", "mesh": mesh, "shape": shape, "placements": ",".join(texts)}
    dim = rng.randrange(len(shape))
    mesh_dims = [m for m, c in enumerate(splits) if c and c[0] == dim]
    if len(mesh_dims) > 1 and rng.random() < 0.5:
        rng.shuffle(mesh_dims)
        request["order"] = {str(dim): mesh_dims}
    return request, {**request, "splits": splits}


def random_mesh(rng):
    shape = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 4))]
    names = ["dp", "cp", "tp", "pp"][:len(shape)]
    size = math.prod(shape)
    keep = [i for i in range(len(shape)) if rng.random() < 0.6] or [0]
    rank = rng.randrange(size)
    steps = [["slice", *(names[i] for i in keep)]]
    if rng.random() < 0.5:
        steps.append(["flatten", "flat"])
    return {"q": "mesh", "world": size + rng.randint(0, 3), "rank": rank, "shape": shape, "names": names, "do": steps}, keep


def sliced(request, keep):
    """Ranks of the sub-mesh that contains the rank, row-major, by enumerating all coordinates."""
    coordinates = list(itertools.product(*map(range, request["shape"])))
    own = coordinates[request["rank"]]
    return [rank for rank, coordinate in enumerate(coordinates)
            if all(coordinate[i] == own[i] for i in range(len(own)) if i not in keep)]


def flat(ranks):
    return [rank for item in ranks for rank in (flat(item) if isinstance(item, list) else [item])]


class Definition(unittest.TestCase):
    def test_shards(self):
        rng = random.Random(test_seed(1))
        pairs = [random_shard(rng) for _ in range(N_SHARDS)]
        for (request, with_splits), answer in zip(pairs, tool.query(*(request for request, _ in pairs))):
            self.assertEqual({"local": local(with_splits)}, answer, request)

    def test_slices(self):
        rng = random.Random(test_seed(2))
        pairs = [random_mesh(rng) for _ in range(N_MESHES)]
        for (request, keep), answer in zip(pairs, tool.query(*(request for request, _ in pairs))):
            self.assertNotIn("error", answer, request)
            expected = sliced(request, keep)
            self.assertEqual(expected, flat(answer["ranks"]), request)
            if len(request["do"]) == 2:
                self.assertEqual([expected], answer["groups"], request)
            self.assertIn(request["rank"], expected)


if __name__ == "__main__":
    unittest.main()
