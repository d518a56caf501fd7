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
from typing import Any

import httpx

from muisti.service.pages.ask import CONTEXT, SEARCH, Server, snippets
from muisti.service.pages.asking.settings import asked_of, wanted_of
from tests.conformance.__main__ import serving
from tests.service.pages.asking.test_snippets import ASKED, NOTES
from tests.test_recipes import TASKS

BESIDE = ("typescript", "@types/node")  # installed beside the package, in the versions that the client pins
SCENARIOS = Path(__file__).parent / "scenarios"
ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "clients" / "typescript" / "README.md", ROOT / "docs" / "how-to" / "clients.md")
# What the examples of these pages print.
SAID = """\
We deploy on Tuesdays
We deploy on Thursdays
[ 4, 3, 2, 1 ]
[ 'Bob prefers coffee' ]
Bob prefers coffee
We deploy on Thursdays
duplicate Anna prefers tea
created We deploy on Tuesdays
superseded We deploy on Thursdays
0
The office opens at eight
created The office opens at eight
"""
CALL = """import { NotFound, muisti } from "muisti-client";
import type { Change, RememberOptions } from "muisti-client";
const client = muisti();
const space = client.space("stranger");
"""
RIGHT = """
const options: RememberOptions = { tags: ["tea"], metadata: { cups: 2 }, on_conflict: "keep" };
const { id, similar } = await space.remember("Anna drinks tea", options);
export const found: string | undefined = (await space.search("tea", { limit: 3, tags: "tea" })).hits[0]?.memory.content;
for await (const memory of space.list({ filter: { not: { author: "Ann" } } })) console.log(memory.version + 1);
export const change: Change | undefined = (await space.changes({ limit: 1 }).next()).value ?? undefined;
const many = await space.rememberMany(["x", { content: "y", type: "guard" }]);
export const codes: (string | undefined)[] = many.map((one) => one.problem?.code);
await space.update({ category: "rules", key: "tea" }, { author: null, version: 2 });
try {
  await space.forget(id, { signal: AbortSignal.timeout(1000) });
} catch (error) {
  if (error instanceof NotFound) console.log(error.code.length, error.problem.detail, similar.length);
}
const { data, error } = await client.api.GET("/v1/spaces/{space}/stats", { params: { path: { space: space.name } } });
export const count: number | undefined = error ? error.status : data.memories;
"""
WRONG = {
    "an option that does not exist": 'await space.remember("tea", { tagz: ["x"] });',
    "an option of another type": 'await space.search("tea", { limit: "three" });',
    "a value that is none of the known": 'await space.remember("tea", { importance: "urgent" });',
    "a kind of change that does not exist": 'space.changes({ change: "vanished" });',
    "a verb that does not exist": 'await space.recollect("tea");',
    "a list that is not awaited": "for (const memory of space.list()) console.log(memory);",
    "a reply taken for another type": "export const count: number = (await space.get('x')).content;",
    "a field of a reply that does not exist": "console.log((await space.search('x')).hits[0]?.content);",
    "a field of a body that does not exist": """
import type { components } from "muisti-client";
export const body: components["schemas"]["JointSearchBody"] = { query: "tea", nonsense: 1 };
""",
    "a field of a body of another type": 'await client.api.POST("/v1/search", { body: { query: 1 } });',
    "a missing parameter": 'await client.api.POST("/v1/spaces/{space}/search", { body: { query: "tea" } });',
    "a route that does not exist": 'await client.api.GET("/v1/nonsense");',
    "an answer taken for another type": """
const { data } = await client.api.GET("/v1/spaces");
export const count: number = data!.items[0]!.name;
""",
}
MODES = (("--module", "nodenext"), ("--module", "esnext", "--moduleResolution", "bundler"))
COMPILE = ("--target", "es2022", "--lib", "es2023,dom,dom.iterable,dom.asynciterable", "--types", "node", "--strict")


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

    def refused(self, folder: Path, programs: Sequence[str], *options: str) -> set[str]:
        """Return those files of a project in which TypeScript finds errors."""
        run = self._run(folder, [*_compiler(folder), *options, "--noEmit", "--pretty", "false", *programs], {})
        return set(re.findall(r"^(\S+)\(\d+,\d+\): error TS", run.stdout, re.MULTILINE))

    def _run(
        self, folder: Path, words: Sequence[str | Path], environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        command = ["node", *words]
        return subprocess.run(command, cwd=folder, env={**self._environ, **environ}, stdout=subprocess.PIPE, text=True)


def main(folder: Path, node: Path) -> None:
    """Raise SystemExit when a check fails. `folder` has the client with its packages."""
    tools = Tools(node)
    package = packed(folder, tools)
    publishable(folder, package, tools)
    with tempfile.TemporaryDirectory() as place, serving(MUISTI_EMBEDDINGS="on") as url:
        served = {"MUISTI_URL": url, "MUISTI_SCENARIOS": str(SCENARIOS)}
        sys.stdout.write(tools.node(folder, "--test", "--test-reporter=spec", "test/*.test.js", environ=served))
        project = Path(place)
        install(project, package, json.loads((folder / "package.json").read_text("utf-8")), tools)
        typed(project, tools)
        copies = copied(project, url, tools, served)
        said = examples(project, tools, served)
        recipes(project, tools)
    if said != SAID:
        raise SystemExit(f"the examples say {said!r}")
    sys.stdout.write(
        f"{package.name}: {package.stat().st_size / 1000:.0f} kB; publint and arethetypeswrong find nothing; "
        f"types accept 1 right program and refuse {len(WRONG)} wrong ones, "
        f"in {len(MODES)} ways to resolve modules; the examples and {copies} copies of the console run\n"
    )


def packed(folder: Path, tools: Tools) -> Path:
    """Build and pack the client as `npm publish` would. Raises SystemExit when a file is missing."""
    for old in folder.glob("*.tgz"):
        old.unlink()
    tools.npm(folder, "pack", "--loglevel", "error")
    (package,) = folder.glob("*.tgz")
    with tarfile.open(package) as archive:
        names = {Path(name).relative_to("package").as_posix() for name in archive.getnames()}
    lost = {"dist/index.js", "dist/index.d.ts", "dist/schema.d.ts", "LICENSE", "README.md"} - names
    if lost:
        raise SystemExit(f"{package.name} lacks {', '.join(sorted(lost))}")
    return package


def publishable(folder: Path, package: Path, tools: Tools) -> None:
    """Let publint and arethetypeswrong look at a packed file. Raises SystemExit when one finds something."""
    modules = folder.absolute() / "node_modules"
    tools.node(folder, modules / "publint" / "src" / "cli.js", "run", package.name, "--strict")
    # The package is of ES modules alone, as the field `type` says: what CommonJS makes of it does not count.
    attw = modules / "@arethetypeswrong" / "cli" / "dist" / "index.js"
    tools.node(folder, attw, package.name, "--profile", "esm-only", "--no-color", "--no-emoji")


def typed(project: Path, tools: Tools) -> None:
    """Raise SystemExit when the types of an installed package refuse a right program, or accept a wrong one."""
    programs = {"right.ts": RIGHT} | {f"wrong{number}.ts": program for number, program in enumerate(WRONG.values())}
    for name, program in programs.items():
        (project / name).write_text(CALL + program, "utf-8")
    for mode in MODES:
        for skipped in ("true", "false"):  # most templates skip the check of libraries, which hides lacking types
            refused = tools.refused(project, [*programs], *mode, "--skipLibCheck", skipped)
            if refused != programs.keys() - {"right.ts"}:
                raise SystemExit(
                    f"with {mode} and {skipped=} the types refuse {sorted(refused)}, not every wrong program"
                )


def install(project: Path, package: Path, manifest: Mapping[str, Mapping[str, str]], tools: Tools) -> None:
    """Make an empty project and install the packed client in it."""
    (project / "package.json").write_text('{"name": "stranger", "private": true, "type": "module"}', "utf-8")
    beside = [f"{name}@{manifest['devDependencies'][name]}" for name in BESIDE]
    tools.npm(project, "install", "--no-audit", "--no-fund", "--loglevel", "error", package.absolute(), *beside)


def examples(project: Path, tools: Tools, served: Mapping[str, str]) -> str:
    """Compile and run the examples of the pages in a project, and return what they print."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    text = text.replace('"http://127.0.0.1:8321"', "process.env.MUISTI_URL")
    blocks = re.findall(r"```ts\n(.*?)```", text, re.DOTALL)
    return "".join(ran(project, "example", blocks, tools, served))


def copied(project: Path, url: str, tools: Tools, served: Mapping[str, str]) -> int:
    """Run requests that the console gives to copy, and return how many. Raises SystemExit when one finds others."""
    server = Server(url, "copies", keyed=False)
    httpx.post(f"{url}/v1/spaces", json={"name": server.space}).raise_for_status()
    batch = {"memories": NOTES, "on_conflict": "keep"}
    httpx.post(f"{url}/v1/spaces/copies/memories/batch", json=batch).raise_for_status()
    asked = [(SEARCH, asked_of(params).body()) for params in ASKED] + [(CONTEXT, wanted_of({"q": "deploy"}).body())]
    expected = [
        httpx.post(f"{url}/v1/spaces/copies/{operation.verb}", json=body).raise_for_status().json()
        for operation, body in asked
    ]
    shown = "console.log(JSON.stringify(found));\n"
    programs = [
        f"{one.text}{shown}"
        for operation, body in asked
        for one in snippets(server, operation, body)
        if one.name == "TypeScript"
    ]
    for answer, program, said in zip(expected, programs, ran(project, "copied", programs, tools, served), strict=True):
        if _told(json.loads(said)) != _told(answer):
            raise SystemExit(f"what the console gives to copy finds something else: {program}")
    return len(programs)


def _told(answer: Any) -> Any:
    return answer["text"] if "text" in answer else [hit["memory"]["id"] for hit in answer["hits"]]


def ran(project: Path, name: str, programs: Sequence[str], tools: Tools, served: Mapping[str, str]) -> list[str]:
    """Compile and run programs in a project, and return what each prints."""
    names = [f"{name}{number}" for number in range(len(programs))]
    for file, program in zip(names, programs, strict=True):
        (project / f"{file}.ts").write_text(program, "utf-8")
    sources = [f"{file}.ts" for file in names]
    tools.node(project, *_compiler(project), *MODES[0], "--skipLibCheck", *sources)
    return [tools.node(project, f"{file}.js", environ=served) for file in names]


def recipes(project: Path, tools: Tools) -> None:
    """Compile and run the everyday tasks of the documents on a server. Raises SystemExit when a line is missing."""
    code, expected = "", list[str]()
    for _, ways, lines in TASKS:
        code += ways.get("TypeScript", "")
        expected += lines if "TypeScript" in ways else []
    (project / "recipes.ts").write_text(code.replace('"http://127.0.0.1:8321"', "process.env.MUISTI_URL"), "utf-8")
    tools.node(project, *_compiler(project), *MODES[0], "--skipLibCheck", "recipes.ts")
    with serving(MUISTI_EMBEDDINGS="on") as url:
        said = tools.node(project, "recipes.js", environ={"MUISTI_URL": url})
    missing = [line for line in expected if said.count(line) < expected.count(line)]
    if missing:
        raise SystemExit(f"everyday tasks do not print {missing}: {said!r}")


def _compiler(project: Path) -> list[str | Path]:
    return [project / "node_modules" / "typescript" / "bin" / "tsc", *COMPILE]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
