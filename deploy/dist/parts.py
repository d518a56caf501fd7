"""Writes the list of the parts (SBOM) of an environment, in CycloneDX's JSON: for the wheel, and in the image.

`python parts.py PYTHON PYPROJECT FILE`. What only installs packages is left out. Equal environments give equal lists.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOLS = {"pip", "setuptools", "wheel"}


def listed(python: str, pyproject: str) -> dict[str, Any]:
    """Return the list of the packages that are installed for an interpreter.

    Raises:
        subprocess.CalledProcessError: the environment cannot be read.
    """
    program = Path(sys.executable).with_name("cyclonedx-py")
    command = [str(program), "environment", "--pyproject", pyproject, "--output-reproducible", python]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    dropped = {part["bom-ref"] for part in found["components"] if part["name"] in TOOLS}
    found["components"] = [part for part in found["components"] if part["bom-ref"] not in dropped]
    found["dependencies"] = [
        {**one, "dependsOn": [ref for ref in one["dependsOn"] if ref not in dropped]} if "dependsOn" in one else one
        for one in found["dependencies"]
        if one["ref"] not in dropped
    ]
    return found


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(listed(*sys.argv[1:3]), indent=2) + "\n", "utf-8")
