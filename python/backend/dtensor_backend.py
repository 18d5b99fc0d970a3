# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel of this tree with CMake (PEP 517), with nothing but the standard library of Python.

`pip install .` makes a wheel for this machine. With the setting `bundle`, as `make wheel` passes it, the wheel also has
the shared libraries that it needs, with their licenses, and a tag that states the C library that its symbols need.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What a build needs: a program or a header, and the package of Debian that has it.
PROGRAMS = {"cmake": "cmake", "ninja": "ninja-build", "cc": "gcc", "pkg-config": "pkg-config"}
LIBRARIES = {"jansson": "libjansson-dev", "hwloc": "libhwloc-dev", "zlib": "zlib1g-dev"}
# Part of every system with this C library.
SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|gcc_s|z))\.so.*")


def version():
    text = (ROOT / "include/dtensor/base.h").read_text()
    return ".".join(re.search(rf"#define DT_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def missing_packages():
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if shutil.which("pkg-config"):
        missing += [package for name, package in LIBRARIES.items()
                    if subprocess.run(["pkg-config", "--exists", name]).returncode]
    header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
    return missing + ([] if header.exists() else ["python3-dev"])


def check_machine():
    """Ends with a sentence where the package cannot be built."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("dtensor does not support free-threaded Python: use a build of Python with the GIL")
    missing = missing_packages()
    if missing:
        sys.exit(f"dtensor: the build needs packages that are missing; on Debian: apt-get install {' '.join(missing)}")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"dtensor: {' '.join(command[:2])} failed:\n{result.stdout[-4000:]}")


def build(stage):
    """Builds the package, and installs it below a folder."""
    folder = str(ROOT / "build-python")
    run("cmake", "-S", str(ROOT), "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={sys.executable}", "-DDTENSOR_FOR_WHEEL=ON")
    run("cmake", "--build", folder, "--parallel", "--target", "python_wheel")
    run("cmake", "--install", folder, "--component", "python", "--prefix", str(stage))
    # A wheel has no links: a library is there once, under the name that programs need.
    for link in [path for path in stage.rglob("*") if path.is_symlink()]:
        link.resolve().rename(link)


def needed(path):
    """The shared libraries that a file needs, by name."""
    text = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout
    return re.findall(r"NEEDED +(\S+)", text)


def find_library(name):
    text = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"{re.escape(name)} .*=> (\S+)", text)
    return pathlib.Path(found[1]).resolve() if found else None


def bundle(package):
    """Copies the shared libraries that the files of the package need, with their licenses."""
    queue = [name for path in package.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF" for name in needed(path)]
    queue.append("libopenblas.so.0")
    done = set()
    while queue:
        name = queue.pop()
        if name in done or SYSTEM.fullmatch(name) or name.startswith(("libdtensor", "libmpi", "libopen-")):
            continue
        done.add(name)
        source = find_library(name)
        if not source:
            sys.exit(f"dtensor: the wheel needs {name}, which is not installed")
        shutil.copy(source, package / "lib" / name)
        copy_license(source, package / "licenses")
        queue += needed(source)


def copy_license(library, to):
    owner = subprocess.run(["dpkg", "-S", str(library)], capture_output=True, text=True).stdout.split(":")[0]
    text = pathlib.Path("/usr/share/doc", owner, "copyright")
    to.mkdir(exist_ok=True)
    if owner and text.exists():
        shutil.copy(text, to / f"{owner}.txt")


def glibc_of(package):
    """The newest version of the C library that symbols of the package need."""
    versions = {(2, 17)}
    for path in package.rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            text = subprocess.run(["objdump", "-T", str(path)], capture_output=True, text=True).stdout
            versions |= {(int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", text)}
    return max(versions)


def tag_of(package, bundled):
    machine = os.uname().machine
    if not bundled:
        return f"cp311-abi3-linux_{machine}"
    major, minor = glibc_of(package)
    return f"cp311-abi3-manylinux_{major}_{minor}_{machine}"


def metadata_text():
    return (f"Metadata-Version: 2.1\nName: dtensor\nVersion: {version()}\nRequires-Python: >=3.11\nLicense: Apache-2.0\n"
            "Summary: Distributed tensors: meshes, placements, redistribution, ops and gradients\n"
            "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text())


ENTRY_POINTS = "[console_scripts]\ndtrun = dtensor._tools:dtrun\ndtensor = dtensor._tools:dtensor\n"


def write_wheel(stage, folder, tag):
    info = f"dtensor-{version()}.dist-info"
    files = {f"{path.relative_to(stage)}": path.read_bytes() for path in sorted(stage.rglob("*")) if path.is_file()}
    files[f"{info}/METADATA"] = metadata_text().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dtensor_backend\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"dtensor-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if "/bin/" in path or ".so" in path else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """The metadata alone, so that installers that only read it compile nothing."""
    check_machine()
    info = pathlib.Path(metadata_directory, f"dtensor-{version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(metadata_text())
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return info.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    check_machine()
    bundled = bool((config_settings or {}).get("bundle"))
    with tempfile.TemporaryDirectory() as temporary:
        stage = pathlib.Path(temporary)
        build(stage)
        if bundled:
            bundle(stage / "dtensor")
        return write_wheel(stage, wheel_directory, tag_of(stage / "dtensor", bundled))


def build_sdist(sdist_directory, config_settings=None):
    name = f"dtensor-{version()}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        sys.exit("dtensor: a source archive is made of a git repository")
    with tarfile.open(pathlib.Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for path in listed.stdout.splitlines():
            archive.add(ROOT / path, f"{name}/{path}")
    return f"{name}.tar.gz"


if __name__ == "__main__":  # make wheel
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1], {"bundle": "1"})))
