"""Names refer to the right definitions in small projects of each language."""

import pytest

from muisti.core.parsing.code.reading import LANGUAGES, read, resolve_all, source_language
from muisti.core.parsing.code.records import interface, pack, unpack


def edges(files: dict[str, str], kind: str = "calls") -> set[str]:
    """Edges as user -> path:name, with a question mark when they are probable."""
    records = {path: read(path, text, source_language(path) or "") for path, text in files.items()}
    for record in records.values():
        assert unpack(pack(record)) == record
    found = set()
    for path, one in resolve_all(records.values()).items():
        for edge in one.edges:
            if edge.kind == kind:
                user = records[path].definitions[edge.scope].qualified if edge.scope >= 0 else path
                mark = "?" if edge.certainty == "probable" else ""
                found.add(f"{user} -> {edge.path}:{edge.name}{mark}")
    return found


NAMED = ("run", "near", "part", "whole", "half", "other", "dots", "up")  # functions that name a module in some way


@pytest.mark.parametrize("root", ["", "repo/", "work/services/api/", "repo/src/"])
@pytest.mark.parametrize(
    "init", ["", "pkg/__init__.py", "pkg/inner/__init__.py", "pkg/__init__.py pkg/inner/__init__.py"]
)
def test_python_packages_need_no_init_file(root: str, init: str):
    files = {
        "pkg/inner/db.py": "def connect(): ...\n",
        "pkg/main.py": "from pkg.inner.db import connect\ndef run():\n    connect()\n",
        "pkg/near.py": "from .inner.db import connect\ndef near():\n    connect()\n",
        "pkg/part.py": "from pkg.inner import db\ndef part():\n    db.connect()\n",
        "pkg/whole.py": "import pkg.inner.db\ndef whole():\n    pkg.inner.db.connect()\n",
        "pkg/half.py": "from pkg import inner\ndef half():\n    inner.db.connect()\n",
        "pkg/other.py": "import pkg.inner as i\ndef other():\n    i.db.connect()\n",
        "pkg/dots.py": "from . import inner\ndef dots():\n    inner.db.connect()\n",
        "pkg/inner/up.py": "from .. import inner\ndef up():\n    inner.db.connect()\n",
        "pkg/no.py": "import os.path, pkg.inner\ndef no(pkg):\n    os.path.connect()\n    pkg.inner.db.connect()\n",
    }
    found = {root + path: text for path, text in files.items()} | {root + path: "" for path in init.split()}
    found |= {"elsewhere/own/inner/db.py": "def connect(): ...\n", "elsewhere/use.py": "from inner.db import connect\n"}
    target = f"{root}pkg/inner/db.py:connect"
    assert edges(found) == {f"{user} -> {target}" for user in NAMED}


def test_python_follows_scopes_imports_types_and_inheritance():
    files = {
        "pkg/__init__.py": "from .a import A as Renamed, make\nfrom .b import *\n",
        "pkg/a.py": (
            "from __future__ import annotations\nfrom . import b\nimport pkg.b as other\n"
            "class Base:\n    def hook(self): ...\n    def again(self): ...\n"
            "class A(Base):\n"
            "    field: b.B\n"
            "    def __init__(self, b: b.B):\n        self.kept = b\n        super().__init__()\n"
            "    def hook(self):\n        super().hook()\n        self.again()\n        self.kept.work()\n"
            "        self.field.work()\n        other.helper()\n"
            "    @property\n    def chosen(self) -> b.B: ...\n"
            "    @classmethod\n    def build(cls) -> A:\n        return cls(b.B()).hook()\n"
            "def make():\n    return A.build()\n"
        ),
        "pkg/b.py": "class B:\n    def work(self):\n        return helper()\ndef helper(): ...\n__all__ = ['B']\n",
        "use.py": (
            "import pkg\nfrom pkg import make, Renamed, helper\n"
            "def run(items: list[Renamed], table: dict[str, Renamed]):\n"
            "    make().hook()\n    pkg.make()\n    helper()\n    for one in items:\n        one.hook()\n"
            "    table['x'].again()\n    table.get('x').again()\n    items[0].chosen.work()\n"
            "    unknown.hook()\n    [].copy()\n    x = Renamed\n    x(1)\n"
            "def shadow(make):\n    make()\n"
        ),
    }
    assert edges(files) == {
        "A.hook -> pkg/a.py:Base.hook",
        "A.hook -> pkg/a.py:Base.again",
        "A.hook -> pkg/b.py:B.work",
        "A.hook -> pkg/b.py:helper",
        "A.build -> pkg/a.py:A",
        "A.build -> pkg/b.py:B",
        "A.build -> pkg/a.py:A.hook",
        "make -> pkg/a.py:A.build",
        "B.work -> pkg/b.py:helper",
        "run -> pkg/a.py:make",
        "run -> pkg/a.py:A.hook",
        "run -> pkg/a.py:Base.again",
        "run -> pkg/b.py:B.work",
        "run -> pkg/b.py:helper",
        "run -> pkg/a.py:A",
    }
    assert edges(files, "inherits") == {"pkg/a.py -> pkg/a.py:Base"}
    assert "use.py -> pkg/__init__.py:" in edges(files, "imports")


def test_python_finds_packages_below_src_and_leaves_the_standard_library_alone():
    files = {
        "src/web/__init__.py": "",
        "src/web/json.py": "def dumps(): ...\n",
        "src/web/app.py": "import json\nfrom web.json import dumps\nfrom . import json as own\njson.dumps()\ndumps()\n",
        "tests/test_app.py": "from web.app import dumps\ndumps()\n",
    }
    assert edges(files) == {
        "src/web/app.py -> src/web/json.py:dumps",
        "tests/test_app.py -> src/web/json.py:dumps",
    }
    assert "src/web/app.py -> src/web/json.py:" in edges(files, "imports")


def test_a_project_may_be_a_package_itself():
    files = {"__init__.py": "", "a.py": "from .b import f\nf()\n", "b.py": "def f(): ...\n"}
    assert edges(files) == {"a.py -> b.py:f"}
    edges({f"/{path}": text for path, text in files.items()})  # ends


def test_the_order_of_bases_is_that_of_python():
    files = {
        "m.py": "class A:\n def f(self): ...\nclass B(A): ...\nclass C(A):\n def f(self): ...\nclass D(B, C): ...\n"
        "class Loop(Loop): ...\nD().f()\nLoop().f()\n"
    }
    assert edges(files) == {"m.py -> m.py:C.f", "m.py -> m.py:D", "m.py -> m.py:Loop"}


def test_typescript_follows_modules_classes_and_types():
    files = {
        "src/index.ts": "export * from './a'\nexport { default as main, helper as aid } from './b'\n",
        "src/a.ts": (
            "import { helper } from './b.js'\n"
            "export abstract class Base { start(): this { return this } }\n"
            "export class App extends Base {\n  #inner: Part = new Part()\n"
            "  constructor(private part: Part) { super() }\n"
            "  run = (): Part => { this.part.go(); this.#inner.go(); helper(); return this.part }\n"
            "  get first(): Part { return this.part }\n}\n"
            "export class Part { go() {} }\nexport const table = { open() {}, close: () => {} }\n"
        ),
        "src/b.ts": "export default function main() {}\nexport function helper() {}\n",
        "src/use.tsx": (
            "import { App, aid, main, table } from '.'\nimport * as all from './index'\n"
            "function use(app: App, parts: App[], later: Promise<App>) {\n"
            "  app.start().run().go(); app.first.go(); aid(); main(); table.open(); table.close(); all.helper\n"
            "  for (const one of parts) one.run()\n  const { first } = app\n  first.go()\n"
            "  ;(app as unknown as App).run(); new all.App(null!)\n}\n"
        ),
        "src/old.js": "const { helper } = require('./b')\nhelper()\nmodule.exports = { helper }\n",
    }
    assert edges(files) == {
        "App.run -> src/a.ts:Part.go",
        "App.run -> src/b.ts:helper",
        "App -> src/a.ts:Part",
        "use -> src/a.ts:Base.start",
        "use -> src/a.ts:App.run",
        "use -> src/a.ts:Part.go",
        "use -> src/b.ts:helper",
        "use -> src/b.ts:main",
        "use -> src/a.ts:table.open",
        "use -> src/a.ts:table.close",
        "use -> src/a.ts:App",
        "src/old.js -> src/b.ts:helper",
    }


def test_typescript_follows_aliases_and_packages_of_a_workspace():
    files = {
        "tsconfig.base.json": '{"compilerOptions": {"paths": {"~shared/*": ["packages/shared/lib/*"]}}}',
        "apps/web/tsconfig.json": (
            '{ // comments, and commas at the end\n  "extends": "../../tsconfig.base", "compilerOptions": {\n'
            '    "baseUrl": "./src", /* "paths": {} */ "paths": {"@/*": ["./*"], "exact": ["deep/exact.ts"],},\n  },\n}'
        ),
        "apps/web/src/use.ts": (
            "import { a } from '@/a'\nimport { b } from 'deep/b'\nimport { c } from 'exact'\n"
            "import { d } from '~shared/d.js'\nimport { e } from '@org/tools'\nimport { f } from '@org/tools/extra'\n"
            "import { g } from 'plain/inner'\nimport { h } from 'elsewhere'\na(); b(); c(); d(); e(); f(); g(); h()\n"
        ),
        "apps/web/src/a.ts": "export const a = () => 1\n",
        "apps/web/src/deep/b/index.ts": "export const b = () => 1\n",
        "apps/web/src/deep/exact.ts": "export const c = () => 1\n",
        "packages/shared/lib/d.ts": "export const d = () => 1\n",
        "packages/tools/package.json": (
            '{"name": "@org/tools", "exports": {".": {"import": {"types": "./dist/index.d.ts"}}, "./*": "./dist/*.js"}}'
        ),
        "packages/tools/src/index.ts": "export const e = () => 1\n",
        "packages/tools/src/extra.ts": "export const f = () => 1\n",
        "packages/plain/package.json": '{"name": "plain", "main": "lib/index.js"}',
        "packages/plain/src/inner.ts": "export const g = () => 1\n",
        "apps/other/src/a.ts": "import { a } from '@/a'\na()\n",
        "apps/broken/tsconfig.json": '{"compilerOptions": ["',
        "apps/broken/a.ts": "import { a } from '@/a'\na()\n",
    }
    here = "apps/web/src/use.ts ->"
    assert edges(files) == {
        f"{here} apps/web/src/a.ts:a",
        f"{here} apps/web/src/deep/b/index.ts:b",
        f"{here} apps/web/src/deep/exact.ts:c",
        f"{here} packages/shared/lib/d.ts:d",
        f"{here} packages/tools/src/index.ts:e",
        f"{here} packages/tools/src/extra.ts:f",
        f"{here} packages/plain/src/inner.ts:g",
    }


def test_settings_that_extend_each_other_end():
    files = {
        "a/tsconfig.json": '{"extends": ["../b/tsconfig.json"]}',
        "b/tsconfig.json": '{"extends": ["../a/tsconfig.json", "../b"], "compilerOptions": {"baseUrl": "."}}',
        "a/use.ts": "import { x } from 'far'\nx()\n",
        "b/far.ts": "export const x = () => 1\n",
    }
    assert edges(files) == {"a/use.ts -> b/far.ts:x"}


def test_go_follows_packages_receivers_and_types():
    files = {
        "app/main.go": (
            'package main\nimport (\n  "example.com/mod/store"\n  q "example.com/mod/queue"\n)\n'
            "func main() { s := store.New(); s.Save(); helper(); q.Push(); lonely.Odd() }\n"
        ),
        "app/more.go": "package main\nfunc helper() {}\n",
        "store/store.go": "package store\ntype Store struct { b *Box }\nfunc New() *Store { return &Store{} }\n"
        "func (s *Store) Save() error { s.b.Put(); return s.check() }\nfunc (s *Store) check() error { return nil }\n",
        "store/box.go": "package store\ntype Box struct {}\nfunc (b *Box) Put() {}\nfunc (b *Box) Odd() {}\n",
        "queue/queue.go": "package queue\nfunc Push() {}\n",
    }
    assert edges(files) == {
        "main -> store/store.go:New",
        "main -> store/store.go:Store.Save",
        "main -> app/more.go:helper",
        "main -> queue/queue.go:Push",
        "main -> store/box.go:Box.Odd?",
        "New -> store/store.go:Store",
        "Store.Save -> store/box.go:Box.Put",
        "Store.Save -> store/store.go:Store.check",
    }


def test_rust_follows_use_modules_and_impl():
    files = {
        "src/main.rs": "mod shop;\nuse crate::shop::{Shop, open as begin};\n"
        "fn main() { let s = Shop::new(); s.sell(); begin(); shop::open(); rare(); }\n",
        "src/shop.rs": "pub struct Shop { n: i32 }\nimpl Shop { pub fn new() -> Self { Shop { n: 1 } }\n"
        " pub fn sell(&self) { self.count(); } fn count(&self) {} }\npub fn open() {}\n",
        "src/deep/mod.rs": "use super::shop::Shop;\npub fn rare() { Shop::new(); }\n",
    }
    assert edges(files) == {
        "main -> src/shop.rs:Shop.new",
        "main -> src/shop.rs:Shop.sell",
        "main -> src/shop.rs:open",
        "main -> src/deep/mod.rs:rare?",
        "Shop.new -> src/shop.rs:Shop",
        "Shop.sell -> src/shop.rs:Shop.count",
        "rare -> src/shop.rs:Shop.new",
    }


def test_java_follows_imports_packages_and_inheritance():
    files = {
        "a/App.java": "package a; import b.Tool; class App extends Base { Tool tool; App() { super(); }\n"
        " void run(Near near) { tool.use(); inherited(); own(); near.hello(); new Tool(); this.own(); }\n"
        " void own() {} }\n",
        "a/Base.java": "package a; class Base { void inherited() {} }\n",
        "a/Near.java": "package a; class Near { void hello() {} }\n",
        "b/Tool.java": "package b; public class Tool { public void use() {} public static void make() {} }\n",
        "c/Star.java": "package c; import b.*; class Star { void all() { Tool.make(); } }\n",
    }
    assert edges(files) == {
        "App.run -> b/Tool.java:Tool.use",
        "Star.all -> b/Tool.java:Tool.make",
        "App.run -> a/Base.java:Base.inherited",
        "App.run -> a/App.java:App.own",
        "App.run -> a/Near.java:Near.hello",
        "App.run -> b/Tool.java:Tool",
    }
    assert edges(files, "inherits") == {"a/App.java -> a/Base.java:Base"}


def test_java_constructors_are_no_members_and_members_from_elsewhere_have_no_edge():
    files = {
        "p/A.java": (
            "package p;\nimport java.util.List;\npublic class A {\n  A(int n) {}\n  void only() {}\n"
            "  A make(List<String> list) { list.only(); return new A(1); }\n}\n"
        )
    }
    assert edges(files) == {"A.make -> p/A.java:A"}


def test_c_macros_belong_to_the_file():
    files = {"m.c": "void f(void) {\n#define TWICE(x) ((x) * 2)\n}\nint g(void) { return TWICE(2); }\n"}
    assert edges(files) == {"g -> m.c:TWICE"}


def test_c_follows_files_and_unique_names():
    files = {
        "main.c": '#include "util.h"\n#include <stdio.h>\nstatic void near(void) {}\n'
        'int main(void) { near(); far(1); puts(""); }\n',
        "util.h": "int far(int);\nstatic inline int quick(void) { return 1; }\n",
        "util.c": '#include "util.h"\nint far(int x) { return quick(); }\n',
    }
    assert edges(files) == {"main -> main.c:near", "main -> util.c:far?", "far -> util.h:quick"}
    assert edges(files, "imports") == {"main.c -> util.h:", "util.c -> util.h:"}


HOSTILE = {
    "brackets": "f(" * 5_000,
    "calls": "f" + "()" * 70_000,
    "members": "a" + ".b" * 5_000,
    "functions": "".join(" " * n + "def f():\n" for n in range(300)),
    "braces": "function f() {" * 1_000,
    "broken": "def class import ( [ { => ; @ ¤ \x00 \ud800 'unclosed",
    "self": "x = x\ny = y.z()\nclass A(A): pass\ndef f(a=f): return f()\nfrom . import *\n",
    "types": "x: " + "list[" * 300 + "]" * 300 + " = 1\n" + "y: " + "a." * 9_000 + "b\n",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_makes_reading_fail(language: str, kind: str):
    record = read("a", HOSTILE[kind], language)
    resolve_all([record])
    assert interface(record) == interface(unpack(pack(record)))


def test_an_interface_changes_with_what_others_see_alone():
    before = interface(read("a.py", "class A:\n    def f(self):\n        x = 1\n", "python"))
    for same in ("\n\nclass A:\n    'Doc.'\n    def f(self):\n        y = g(2)\n",):
        assert interface(read("a.py", same, "python")) == before
    for other in (
        "class A:\n    def g(self):\n        x = 1\n",
        "class A(B):\n    def f(self):\n        x = 1\n",
        "class A:\n    def f(self) -> A:\n        x = 1\n",
        "from b import A\n",
    ):
        assert interface(read("a.py", other, "python")) != before


def test_definitions_have_signature_documentation_and_lines():
    record = read(
        "a.py", "class A:\n    '''Say it.\n\n    More.'''\n    def f(self, x: int = 1) -> str:\n        ...\n", "python"
    )
    (a, f) = record.definitions
    assert (a.signature, a.doc, a.start, a.end) == ("class A", "Say it.", 1, 6)
    assert (f.qualified, f.signature, f.kind) == ("A.f", "def f(self, x: int = 1) -> str", "method")
    record = read("a.ts", "/**\n * Says it.\n */\nexport const go = (n: number): string => `${n}`\n", "typescript")
    (go,) = record.definitions
    assert (go.name, go.doc, go.signature, go.start) == ("go", "Says it.", "go = (n: number): string", 4)
