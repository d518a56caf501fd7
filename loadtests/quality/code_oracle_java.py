"""The targets of calls in Java, as javac tells them: of methods, and of classes that are made."""

import json
import subprocess
import tempfile
from pathlib import Path

from loadtests.quality.code_sites import NAMES, Site, Sites, Target
from muisti.core.code.records import Record

_CHECKER = r"""
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
        checker.write_text(_CHECKER, "utf-8")
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
