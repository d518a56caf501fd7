"""`make clients-test`: build the TypeScript client from the OpenAPI document, try it and its README on a server."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conformance.__main__ import serving

GENERATE = ["../../docs/openapi.json", "-o", "src/schema.d.ts", "--default-non-nullable", "false"]


def main(folder: Path, node: Path) -> int:
    """`folder` has the client with its packages, `node` is the folder of Node's programs. 0 when all is well."""
    environ = {**os.environ, "PATH": f"{node.absolute()}{os.pathsep}{os.environ['PATH']}"}
    packages = Path("node_modules")
    example = "\n".join(re.findall(r"```ts\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL))
    written = example.replace('"muisti-client"', '"./index.js"').replace(
        '"http://127.0.0.1:8321"', "process.env.MUISTI_URL"
    )
    (folder / "src" / "readme.ts").write_text(written, "utf-8")
    for words in (
        [packages / "openapi-typescript" / "bin" / "cli.js", *GENERATE],
        [packages / "typescript" / "bin" / "tsc"],
    ):
        subprocess.run(["node", *words], cwd=folder, env=environ, check=True)
    with serving() as url:
        served = {**environ, "MUISTI_URL": url}
        tests = subprocess.run(["node", "--test", "test/client.test.js"], cwd=folder, env=served)
        said = subprocess.run(["node", "dist/readme.js"], cwd=folder, env=served, stdout=subprocess.PIPE, text=True)
        if said.stdout != "We deploy on Tuesdays\n0\n":
            raise SystemExit(f"the README's example says {said.stdout!r}")
        return tests.returncode or said.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
