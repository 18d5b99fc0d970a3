# SPDX-License-Identifier: Apache-2.0
"""The shared library exports what the public headers declare, and nothing else; the static one has no other external names, and
needs no MPI."""
import os
import subprocess
import sys

import headers
import tree

LIBRARIES = os.path.join(os.environ["DTENSOR_BUILD"], "lib")


def declared():
    return {name for header in headers.public_headers()
            for _, name, _ in headers.exported_functions((tree.ROOT / header).read_text())}


def nm(*arguments):
    output = subprocess.run(["nm", *arguments], check=True, capture_output=True, text=True).stdout
    return [fields[-1] for fields in map(str.split, output.splitlines()) if len(fields) == 3]


def main():
    wrong = []
    exported = [name for name in nm("-D", "--defined-only", f"{LIBRARIES}/libdtensor.so") if name != "DTENSOR_0"]
    wrong += [f"{name} is exported without the version DTENSOR_0" for name in exported
              if not name.endswith("@@DTENSOR_0")]
    exported = {name.split("@")[0] for name in exported}
    wrong += [f"{name} is declared DT_API and not exported" for name in sorted(declared() - exported)]
    wrong += [f"{name} is exported and not declared DT_API" for name in sorted(exported - declared())]
    if "dt_version" not in exported & declared():
        wrong.append("dt_version is missing: this test does not find what it checks")
    wrong += [f"{name} of the static library does not begin with dt_"
              for name in nm("--defined-only", "--extern-only", f"{LIBRARIES}/libdtensor.a")
              if not name.startswith("dt_")]
    undefined = subprocess.run(["nm", "--undefined-only", f"{LIBRARIES}/libdtensor.a"], check=True, capture_output=True,
                               text=True).stdout.split()
    if "malloc" not in undefined and "realloc" not in undefined:
        wrong.append("no undefined symbols are found: this test does not find what it checks")
    wrong += [f"{name} of MPI is used: MPI belongs into the module" for name in sorted(set(undefined))
              if name.startswith(("MPI_", "ompi_", "MPIR_"))]
    dynamic = subprocess.run(["readelf", "-d", f"{LIBRARIES}/libdtensor.so"], check=True, capture_output=True, text=True)
    if "soname: [libdtensor.so.0]" not in dynamic.stdout:
        wrong.append("the soname is not libdtensor.so.0")
    print("\n".join(wrong) or f"{len(exported)} names are exported")
    return 1 if wrong else 0


sys.exit(main())
