#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes dtensor-VERSION.tar.gz: the files of the project, in a folder of that name, in order and without the owner and the times of
this machine, so that equal files make equal archives. Usage: make_dist.py [FOLDER]; the default is build/dist."""
import gzip
import io
import pathlib
import re
import sys
import tarfile

import tree

EPOCH = 1767225600  # 2026-01-01: the time of all files


def version():
    text = (tree.ROOT / "include/dtensor/base.h").read_text()
    return ".".join(re.search(rf"#define DT_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def write(folder):
    name = f"dtensor-{version()}"
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in tree.files(exempt=()):
            info = archive.gettarinfo(tree.ROOT / path, f"{name}/{path}")
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            info.mtime = EPOCH
            info.mode = 0o755 if info.mode & 0o100 else 0o644
            with open(tree.ROOT / path, "rb") as data:
                archive.addfile(info, data)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{name}.tar.gz"
    with open(out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=EPOCH, filename="") as packed:
        packed.write(raw.getvalue())
    return out


def main():
    out = write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT / "build/dist")
    print(f"{out}: {out.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
