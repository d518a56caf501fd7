"""`make clients-test`: build the TypeScript client from the OpenAPI document, and try it on a server."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.__main__ import serving


def main(folder: Path, node: Path) -> int:
    """`folder` has the client with its packages, `node` is the folder of Node's programs. 0 when all is well."""
    environ = {**os.environ, "PATH": f"{node.absolute()}{os.pathsep}{os.environ['PATH']}"}
    packages = Path("node_modules")
    for words in (
        [packages / "openapi-typescript" / "bin" / "cli.js", "../../docs/openapi.json", "-o", "src/schema.d.ts"],
        [packages / "typescript" / "bin" / "tsc"],
    ):
        subprocess.run(["node", *words], cwd=folder, env=environ, check=True)
    with serving() as url:
        words = ["node", "--test", "test/*.test.js"]
        return subprocess.run(words, cwd=folder, env={**environ, "MUISTI_URL": url}).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
