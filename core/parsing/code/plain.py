"""Reading of Go, Rust, Java and C files into records, by tables of their syntax.

Their types are followed as far as they are written; what is left over refers to the only definition of its name.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muisti.core.parsing.code.building import DOC, Builder, nodes, text
from muisti.core.parsing.code.plain_syntax import MEMBERS, SYNTAX, chain
from muisti.core.parsing.code.records import TOP, Chain, Kind, Record
from muisti.core.parsing.code.types import types

if TYPE_CHECKING:
    from tree_sitter import Node

# Imports of Go, Rust, Java and C, as modules, names and aliases


def imported(language: str, node: "Node") -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name in it and the alias of each import; no name for the module itself, `*` for all."""
    if language == "go":
        module = text(node.child_by_field_name("path")).strip('"`')
        alias = text(node.child_by_field_name("name")) or module.rpartition("/")[2]
        yield (module, "*", "") if alias == "." else (module, "", alias)
    elif language == "java":
        static = any(one.type == "static" for one in node.children)
        whole = text(node.named_children[0]) if node.named_child_count else ""
        if any(one.type == "asterisk" for one in node.named_children):
            yield f"{whole}.*", "" if static else "*", ""
        elif not static:
            yield whole, whole.rpartition(".")[2], whole.rpartition(".")[2]
    elif language == "c":
        path = node.child_by_field_name("path")
        if path is not None and path.type == "string_literal":
            yield text(path).strip('"'), "*", ""
    else:
        argument = node.child_by_field_name("argument")
        if argument is not None:
            yield from _used(argument, "")


def _used(node: "Node", above: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a `use` of Rust names, by a stack, because lists may be deep."""
    pending = [(node, above)]
    while pending:
        one, before = pending.pop()
        if one.type == "scoped_use_list":
            inner = one.child_by_field_name("list")
            path = before + text(one.child_by_field_name("path"))
            pending += [(each, f"{path}::") for each in (inner.named_children if inner is not None else ())]
        elif one.type == "use_list":
            pending += [(each, before) for each in one.named_children]
        elif one.type == "use_wildcard":
            yield before + text(one).removesuffix("::*"), "*", ""
        else:
            alias = text(one.child_by_field_name("alias")) if one.type == "use_as_clause" else ""
            path = before + text(one.child_by_field_name("path") if alias else one)
            module, _, name = path.rpartition("::")
            if name == "self":
                module, _, name = module.rpartition("::")
            if module:
                yield module, name, alias or name


LANGUAGES = tuple(SYNTAX)
_ORDER = {"class": 0, "implementation": 0, "function": 0}


def read(path: str, source: bytes, language: str) -> Record:
    """Return the record of a file of Go, Rust, Java or C. Broken code gives what could be read of it."""
    file = _File(Builder(path, language, source))
    for name, node in nodes(source, language, SYNTAX[language].patterns, _ORDER):
        getattr(file, f"on_{name}")(file.builder.enter(node.start_byte), node)
    return file.builder.record()


class _File:
    """Handlers of the captured nodes, each of which gets the scope that it is in."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def on_package(self, _scope: int, node: "Node") -> None:
        self.builder.package = text(node.named_children[-1]) if node.named_child_count else ""

    def on_import(self, scope: int, node: "Node") -> None:
        line = node.start_point[0] + 1
        for module, name, alias in imported(self.builder.language, node):
            self.builder.imports.append((module, line))
            if name == "*":
                self.builder.stars.append(module)
            elif name:
                self.builder.bind(scope, alias, "from", [(module, name)])
            elif alias:
                self.builder.bind(scope, alias, "module", [(module,)])

    def on_module(self, scope: int, node: "Node") -> None:
        if node.child_by_field_name("body") is None:
            name = text(node.child_by_field_name("name"))
            self.builder.bind(scope, name, "module", [(f"self::{name}",)])
            self.builder.imports.append((f"self::{name}", node.start_point[0] + 1))

    def on_class(self, scope: int, node: "Node") -> None:
        builder = self.builder
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        inner = node.child_by_field_name("type") if node.type == "type_spec" else None
        if name is None or (builder.language == "c" and body is None):
            return
        kind: Kind = SYNTAX[builder.language].kinds.get(node.type, "class")
        if inner is not None and inner.type not in ("struct_type", "interface_type"):
            kind = "type"
        elif inner is not None and inner.type == "interface_type":
            kind = "interface"
        bases = [one for one in _bases(node) if chain(one)]
        for base in bases:
            builder.mention(scope, "inherit", chain(base), base)
        builder.define(
            node,
            text(name),
            kind,
            scope,
            scope=node,
            signature=builder.slice(node.start_byte, (body or inner or node).start_byte, 160)
            or builder.slice(node.start_byte, node.end_byte, 120),
            doc=_doc(builder, node),
            bases=tuple(found for base in bases if (found := chain(base))),
            returns=types(text(inner)) if kind == "type" else (),
        )

    def on_typedef(self, scope: int, node: "Node") -> None:
        name = node.child_by_field_name("declarator")
        if name is not None and name.type == "type_identifier":
            self.builder.define(
                node, text(name), "type", scope, signature=self.builder.slice(node.start_byte, node.end_byte, 120)
            )

    def on_implementation(self, scope: int, node: "Node") -> None:
        builder = self.builder
        found, trait = chain(node.child_by_field_name("type")), node.child_by_field_name("trait")
        if found is None:
            return
        if trait is not None:
            builder.mention(scope, "inherit", chain(trait), trait)
        builder.reopen(self._owner(found[-1], node), node)

    def on_function(self, scope: int, node: "Node") -> None:
        builder = self.builder
        name = _function_name(node)
        if name is None:
            return
        owner, receiver = scope, node.child_by_field_name("receiver")
        declared = _declared(receiver.named_children[0]) if receiver is not None and receiver.named_child_count else []
        if declared and declared[0][1]:
            owner = self._owner(declared[0][1][0][-1], node)
        body = node.child_by_field_name("body")
        method = builder.kind(owner) in ("class", "interface")
        returned = node.child_by_field_name("result") or node.child_by_field_name("return_type")
        returned = returned or (node.child_by_field_name("type") if builder.language == "java" else None)
        number = builder.define(
            node,
            text(name),
            "method" if method else "function",
            owner,
            scope=node,
            signature=builder.slice(node.start_byte, node.end_byte if body is None else body.start_byte),
            doc=_doc(builder, node),
            returns=_returns(text(returned)),
            flags=("constructor",) if node.type == "constructor_declaration" else (),
        )
        for one, named in declared:
            builder.bind(number, one, "type" if named else "opaque", named)

    def on_macro(self, _scope: int, node: "Node") -> None:
        name = text(node.child_by_field_name("name"))
        self.builder.define(
            node, name, "function", TOP, signature=self.builder.slice(node.start_byte, node.end_byte, 80)
        )

    def on_constant(self, scope: int, node: "Node") -> None:
        name = node.child_by_field_name("name")
        if scope == TOP and name is not None:
            line = self.builder.slice(node.start_byte, node.end_byte, 120)
            self.builder.define(node, text(name), "constant", scope, signature=line)

    def on_field(self, scope: int, node: "Node") -> None:
        if self.builder.kind(scope) in ("class", "interface"):
            self.on_local(scope, node)

    def on_local(self, scope: int, node: "Node") -> None:
        for name, named in _declared(node):
            value = node.child_by_field_name("value")
            if named:
                self.builder.bind(scope, name, "type", named)
            else:
                found = chain(_first(value))
                self.builder.bind(scope, name, "value" if found else "opaque", [found] if found else [])

    def on_assignment(self, scope: int, node: "Node") -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = [] if left is None else left.named_children
        values = [] if right is None else right.named_children
        for number, name in enumerate(names):
            found = chain(
                values[number] if len(values) == len(names) else values[0] if number == 0 and values else None
            )
            self.builder.bind(scope, text(name), "value" if found else "opaque", [found] if found else [])

    def on_call(self, scope: int, node: "Node") -> None:
        if node.type == "method_invocation":
            place, whole = node.child_by_field_name("name"), chain(node)
            found = whole[:-1] if whole else None
        else:
            function = node.child_by_field_name("function")
            member = MEMBERS.get(function.type) if function is not None else None
            place = function.child_by_field_name(member[1]) if function is not None and member is not None else function
            found = chain(function)
        if place is not None:
            self.builder.mention(scope, "call", found or ("?", text(place)), place)

    def on_made(self, scope: int, node: "Node") -> None:
        named = node.child_by_field_name("type") or node.child_by_field_name("name")
        if named is not None:
            self.builder.mention(scope, "call", chain(named), named)

    def _owner(self, name: str, node: "Node") -> int:
        """Return the definition of a type in this file; one without lines of its own when another file defines it."""
        builder = self.builder
        for number, one in enumerate(builder.definitions):
            if one.name == name and one.parent == TOP and one.kind in ("class", "interface", "type"):
                return number
        return builder.define(node, name, "class", TOP, flags=("elsewhere",))


def _function_name(node: "Node") -> "Node | None":
    name = node.child_by_field_name("name")
    declarator = node.child_by_field_name("declarator")
    while name is None and declarator is not None:
        if declarator.type in ("identifier", "field_identifier"):
            return declarator
        declarator = declarator.child_by_field_name("declarator")
    return name


def _first(node: "Node | None") -> "Node | None":
    return (
        node.named_children[0]
        if node is not None and node.type == "expression_list" and node.named_child_count
        else node
    )


def _declared(node: "Node") -> list[tuple[str, tuple[Chain, ...]]]:
    """Return the names that a declaration of a field, a variable or a parameter gives, with their types."""
    written = text(node.child_by_field_name("type")).lstrip("*&").strip()
    named = types(written.replace("*", " ").replace("&", " ")) if written != "var" else ()
    names = node.children_by_field_name("name") or node.children_by_field_name("pattern")
    for one in node.children_by_field_name("declarator"):
        inner = one.child_by_field_name("name")
        names = [*names, inner if inner is not None else one]
        value = one.child_by_field_name("value")
        if not named and (found := chain(value)):
            return [(text(names[-1]), ())] if found[-1] != "@new" else [(text(names[-1]), (found[:-1],))]
    return [(text(name).removeprefix("mut ").strip(), named) for name in names]


def _returns(written: str) -> tuple[Chain, ...]:
    found = types(written.strip("() ").replace("*", " ").replace("&", " "))
    return found[:1] if written.startswith("(") else found


def _bases(node: "Node") -> "Iterator[Node]":
    for one in node.children:
        if one.type in ("superclass", "super_interfaces", "extends_interfaces", "trait_bounds"):
            for inner in one.named_children:
                yield from inner.named_children if inner.type == "type_list" else (inner,)
    inner = node.child_by_field_name("type")
    for fields in inner.named_children if inner is not None and inner.type == "struct_type" else ():
        for field in fields.named_children:
            named = field.child_by_field_name("type")
            if field.type == "field_declaration" and field.child_by_field_name("name") is None and named is not None:
                yield named.named_children[0] if named.type == "pointer_type" and named.named_child_count else named


def _doc(builder: Builder, node: "Node") -> str:
    """Return the first line of the comment right before a definition."""
    lines: list[str] = []
    at = builder.source.rfind(b"\n", 0, node.start_byte)
    for _ in range(60):
        start = builder.source.rfind(b"\n", 0, max(0, at))
        line = builder.source[start + 1 : max(0, at)].strip().decode("utf-8", "ignore") if at > 0 else ""
        if not line.startswith(("//", "/*", "*", "#[", "@")):
            break
        if not line.startswith(("#[", "@")):
            lines.append(line.strip("/*! \t"))
        at = start
    return next((line for line in reversed(lines) if line), "")[:DOC]
