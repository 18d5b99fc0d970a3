# SPDX-License-Identifier: Apache-2.0
"""docs/gradient-placements.md is what scripts/gradient_table.py makes of the ops."""
import os
import subprocess
import sys

source = os.environ.get("DTENSOR_SOURCE", ".")
sys.exit(subprocess.run([sys.executable, os.path.join(source, "scripts", "gradient_table.py"), "--check"]).returncode)
