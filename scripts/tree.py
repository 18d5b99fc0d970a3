# SPDX-License-Identifier: Apache-2.0
"""The project's files, for the checks that look at all of them."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".c", ".h", ".cpp", ".hpp")
# Folders whose files have a form of their own: inputs of the fuzzer, and what is copied from elsewhere and kept as it is.
EXEMPT = (("fuzz", "corpus"), ("tests", "golden"), ("tests", "conformance"))


def files(*endings, exempt=EXEMPT):
    """Paths relative to ROOT of what is or would be committed, without the exempt folders; outside a repository, of all that is
    not built."""
    listing = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode == 0:
        names = [pathlib.Path(name) for name in listing.stdout.split("\0") if name]
    else:
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        names = [name for name in names if not name.parts[0].startswith("build")]
    return sorted(name for name in set(names)
                  if name.parts[:2] not in exempt and (ROOT / name).is_file() and (not endings or name.name.endswith(endings)))
