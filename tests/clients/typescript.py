"""`make clients-test`: build, test and pack the TypeScript client, then use the package as another project would.

The checks of types run on the packed file in an empty project, because only that shows what `npm install` brings.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conformance.__main__ import serving

BESIDE = ("typescript", "@types/node")  # installed beside the package, in the versions that the client pins
CALL = """import { muisti } from "muisti-client";
const client = muisti();
const params = { path: { space: "default" } };
"""
SEARCH = 'client.POST("/v1/spaces/{space}/search", '
RIGHT = f"""
const {{ data, error }} = await {SEARCH}{{ params, body: {{ query: "tea", limit: 3 }} }});
export const found: string | undefined = error ? error.code : data.hits[0]?.memory.content;
"""
WRONG = {
    "a field of another type": f'await {SEARCH}{{ params, body: {{ query: "tea", limit: "three" }} }});',
    "a field that does not exist": """
import type { components } from "muisti-client";
export const body: components["schemas"]["SearchBody"] = { query: "tea", nonsense: 1 };
""",
    "a missing parameter": f'await {SEARCH}{{ body: {{ query: "tea" }} }});',
    "a route that does not exist": 'await client.GET("/v1/nonsense");',
    "an answer taken for another type": f"""
const {{ data }} = await {SEARCH}{{ params, body: {{ query: "tea" }} }});
export const count: number = data!.hits[0]!.memory.content;
""",
}
COMPILE = (
    *("--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom,dom.iterable", "--types", "node"),
    *("--strict", "--skipLibCheck"),  # `skipLibCheck` as in most templates: it hides what a package lacks
)


class Tools:
    """Runs programs of Node with the Node of the development environment."""

    def __init__(self, node: Path) -> None:
        """`node` is the folder of Node's programs."""
        self._npm = (node / ".." / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js").absolute()
        self._environ = {**os.environ, "PATH": f"{node.absolute()}{os.pathsep}{os.environ['PATH']}"}

    def node(self, folder: Path, *words: str | Path, environ: Mapping[str, str] | None = None) -> str:
        """Run a program and return what it printed. Raises SystemExit with that output when it fails."""
        run = self._run(folder, words, environ or {})
        if run.returncode:
            raise SystemExit(f"{run.stdout}\nnode {' '.join(map(str, words))} ended with {run.returncode}")
        return run.stdout

    def npm(self, folder: Path, *words: str | Path) -> str:
        """Run npm as `node` runs a program."""
        return self.node(folder, self._npm, *words)

    def compiles(self, folder: Path, program: str) -> bool:
        """Whether TypeScript accepts a program written to the file program.ts of a project."""
        (folder / "program.ts").write_text(program, "utf-8")
        return not self._run(folder, [*_compiler(folder), "--noEmit", "program.ts"], {}).returncode

    def _run(
        self, folder: Path, words: Sequence[str | Path], environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        command = ["node", *words]
        return subprocess.run(command, cwd=folder, env={**self._environ, **environ}, stdout=subprocess.PIPE, text=True)


def main(folder: Path, node: Path) -> None:
    """Raise SystemExit when a check fails. `folder` has the client with its packages."""
    tools = Tools(node)
    package = packed(folder, tools)
    with tempfile.TemporaryDirectory() as place, serving() as url:
        served = {"MUISTI_URL": url}
        sys.stdout.write(tools.node(folder, "--test", "test/client.test.js", environ=served))
        project = Path(place)
        install(project, package, json.loads((folder / "package.json").read_text("utf-8")), tools)
        if not tools.compiles(project, CALL + RIGHT):
            raise SystemExit("a program that uses the package rightly does not compile")
        accepted = [name for name, program in WRONG.items() if tools.compiles(project, CALL + program)]
        if accepted:
            raise SystemExit(f"the package accepts {', '.join(accepted)}: it carries no types")
        said = readme(project, folder / "README.md", tools, served)
    if said != "We deploy on Tuesdays\n0\n":
        raise SystemExit(f"the README's example says {said!r}")
    sys.stdout.write(
        f"{package.name}: types accept 1 right program and refuse {len(WRONG)} wrong ones; the README runs\n"
    )


def packed(folder: Path, tools: Tools) -> Path:
    """Build and pack the client as `npm publish` would. Raises SystemExit when a file of types is missing."""
    for old in folder.glob("*.tgz"):
        old.unlink()
    tools.npm(folder, "pack", "--loglevel", "error")
    (package,) = folder.glob("*.tgz")
    with tarfile.open(package) as archive:
        names = {Path(name).relative_to("package").as_posix() for name in archive.getnames()}
    lost = {"dist/index.js", "dist/index.d.ts", "dist/schema.d.ts"} - names
    if lost:
        raise SystemExit(f"{package.name} lacks {', '.join(sorted(lost))}")
    return package


def install(project: Path, package: Path, manifest: Mapping[str, Mapping[str, str]], tools: Tools) -> None:
    """Make an empty project and install the packed client in it."""
    (project / "package.json").write_text('{"name": "stranger", "private": true, "type": "module"}', "utf-8")
    beside = [f"{name}@{manifest['devDependencies'][name]}" for name in BESIDE]
    tools.npm(project, "install", "--no-audit", "--no-fund", "--loglevel", "error", package.absolute(), *beside)


def readme(project: Path, text: Path, tools: Tools, served: Mapping[str, str]) -> str:
    """Compile and run the examples of the README in a project, and return what they print."""
    example = "\n".join(re.findall(r"```ts\n(.*?)```", text.read_text("utf-8"), re.DOTALL))
    (project / "readme.ts").write_text(example.replace('"http://127.0.0.1:8321"', "process.env.MUISTI_URL"), "utf-8")
    tools.node(project, *_compiler(project), "readme.ts")
    return tools.node(project, "readme.js", environ=served)


def _compiler(project: Path) -> list[str | Path]:
    return [project / "node_modules" / "typescript" / "bin" / "tsc", *COMPILE]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
