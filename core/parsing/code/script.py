"""Reading of JavaScript and TypeScript files into records."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from muisti.core.parsing.code.building import DOC, Builder, nodes, text
from muisti.core.parsing.code.records import TOP, Chain, Export, Form, Kind, Record
from muisti.core.parsing.code.script_syntax import (
    FUNCTIONS,
    PATTERNS,
    THROUGH,
    UNBOUND,
    alternatives,
    base_chain,
    bases_of,
    chain,
    function_pair,
    parameters,
    place_of,
    required_module,
    returned,
)
from muisti.core.parsing.code.types import types

if TYPE_CHECKING:
    from tree_sitter import Node

_ORDER = {"export": 0, "variable": 1, "field": 1, "assignment": 1, "class": 2, "function": 2}


def read(path: str, source: bytes, language: str) -> Record:
    """Return the record of a file of JavaScript, TypeScript or TSX. Broken code gives what could be read of it."""
    file = _File(Builder(path, language, source))
    for name, node in nodes(source, language, PATTERNS[language], _ORDER):
        getattr(file, f"on_{name}")(file.builder.enter(node.start_byte), node)
    return file.builder.record()


class _File:
    """Handlers of the captured nodes, each of which gets the scope that it is in."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._named: dict[
            int, tuple[str, Kind]
        ] = {}  # of functions, classes and objects that get their names from outside
        self._comments: dict[int, str] = {}

    def on_class(self, scope: int, node: "Node") -> None:
        builder = self.builder
        name = text(node.child_by_field_name("name")) or self._named.get(node.id, ("", "class"))[0]
        bases = [*bases_of(node)]
        for base in bases:
            builder.mention(scope, "inherit", base_chain(base), place_of(base))
        body = node.child_by_field_name("body")
        number = builder.define(
            node,
            name or "default",
            "interface" if node.type == "interface_declaration" else "class",
            scope,
            scope=node,
            signature=builder.slice(node.start_byte, node.end_byte if body is None else body.start_byte),
            doc=self._doc(node),
            bases=tuple(found for one in bases if (found := base_chain(one))),
        )
        self._parameters_of_types(number, node)

    def on_function(self, scope: int, node: "Node") -> None:
        builder = self.builder
        given = node.child_by_field_name("name")
        name = self._named.get(node.id, ("", "function"))[0] or ("" if node.type in FUNCTIONS else text(given))
        method = node.type == "method_definition"
        if method and builder.kind(scope) not in ("class", "object"):
            name, method = "", False  # of an object that has no name
        flags = ("unbound",) if node.type in UNBOUND else ()
        if method and any(one.type == "get" for one in node.children[:3]):
            flags = ("property",)
        number = self._define(scope, node, name, method or builder.kind(scope) == "class", flags)
        self._parameters_of_types(number, node)
        for parameter in parameters(node):
            self._parameter(scope, number, name, parameter)
        body = node.child_by_field_name("body")
        if node.type == "arrow_function" and body is not None and body.type != "statement_block":
            builder.gives.setdefault(number, []).extend(alternatives(body))

    def _define(self, scope: int, node: "Node", name: str, method: bool, flags: tuple[str, ...]) -> int:
        builder = self.builder
        body = node.child_by_field_name("body")
        return builder.define(
            node,
            name,
            "method" if method and name else "function",
            scope,
            scope=node,
            signature=self._signature(node, name, body) if name else "",
            doc=self._doc(node) if name else "",
            returns=returned(node),
            flags=flags if name else (*flags, "anonymous"),
        )

    def on_signature(self, scope: int, node: "Node") -> None:
        name = text(node.child_by_field_name("name"))
        self._define(scope, node, name, self.builder.kind(scope) in ("class", "interface"), ())

    def on_alias(self, scope: int, node: "Node") -> None:
        builder, value = self.builder, node.child_by_field_name("value")
        builder.define(
            node,
            text(node.child_by_field_name("name")),
            "type",
            scope,
            scope=node,
            signature=builder.slice(node.start_byte, node.end_byte, 120),
            doc=self._doc(node),
            returns=types(text(value)),
        )

    def on_variable(self, scope: int, node: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        required = required_module(value)
        if name.type == "identifier":
            if required:
                self.builder.bind(scope, text(name), "from", [(required, "*")])
                self.builder.imports.append((required, node.start_point[0] + 1))
            else:
                self._value(scope, node, text(name), value, node.child_by_field_name("type"))
        else:
            self._pattern(scope, name, [] if required else alternatives(value), required)

    def on_field(self, scope: int, node: "Node") -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None or self.builder.kind(scope) not in ("class", "interface"):
            return
        self._value(scope, node, text(name), node.child_by_field_name("value"), node.child_by_field_name("type"))

    def on_assignment(self, scope: int, node: "Node") -> None:
        left, right = chain(node.child_by_field_name("left")), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left == ("module", "exports"):
            self._exported_object(scope, right)
        elif left[0] == "exports" and len(left) == 2 or left[:2] == ("module", "exports") and len(left) == 3:
            self.builder.exports.append(Export(left[-1], left[-1]))
            self._value(scope, node, left[-1], right, None)
        elif left[0] == "this" and len(left) == 2:
            self._own(scope, node, left[1], right)
        elif right.type in FUNCTIONS and len(left) == 3 and left[1] == "prototype":
            self._named[right.id] = (left[2], "function")

    def on_import(self, scope: int, node: "Node") -> None:
        module = text(node.child_by_field_name("source"))[1:-1]
        if not module:
            return
        self.builder.imports.append((module, node.start_point[0] + 1))
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for one in clause.named_children:
                if one.type == "identifier":
                    self._import(scope, one, text(one), module, "default")
                elif one.type == "namespace_import" and one.named_child_count:
                    self._import(scope, one, text(one.named_children[0]), module, "*")
                elif one.type == "named_imports":
                    for each in one.named_children:
                        name, alias = text(each.child_by_field_name("name")), each.child_by_field_name("alias")
                        self._import(scope, each, text(alias) if alias is not None else name, module, name)

    def on_export(self, scope: int, node: "Node") -> None:
        module = text(node.child_by_field_name("source"))[1:-1]
        if module:
            self.builder.imports.append((module, node.start_point[0] + 1))
        clauses = [one for one in node.named_children if one.type in ("export_clause", "namespace_export")]
        for clause in clauses:
            if clause.type == "namespace_export" and clause.named_child_count:
                self.builder.exports.append(Export(text(clause.named_children[0]), "*", module))
                continue
            for one in clause.named_children:
                name, alias = text(one.child_by_field_name("name")), one.child_by_field_name("alias")
                self.builder.exports.append(Export(text(alias) if alias is not None else name, name, module))
        if module and not clauses:
            self.builder.stars.append(module)
        if any(one.type == "default" for one in node.children):
            given = node.child_by_field_name("declaration") or node.child_by_field_name("value")
            if given is not None:
                self._default(given)

    def on_call(self, scope: int, node: "Node") -> None:
        function = node.child_by_field_name("function" if node.type == "call_expression" else "constructor")
        while function is not None and function.type in THROUGH and function.named_child_count:
            function = function.named_children[0]
        if function is None or function.type == "import":
            return
        place, found = place_of(function), chain(function)
        if found is None and function.type == "member_expression":
            found = ("?", text(place))
        self.builder.mention(scope, "call", found, place)

    def on_return(self, scope: int, node: "Node") -> None:
        if scope >= 0 and self.builder.kind(scope) in ("function", "method") and node.named_child_count:
            self.builder.gives.setdefault(scope, []).extend(alternatives(node.named_children[0])[:2])

    def on_for(self, scope: int, node: "Node") -> None:
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            values = alternatives(node.child_by_field_name("right"))
            of = text(node.child_by_field_name("operator")) == "of"
            self._bind(scope, text(left), "element", values if of else [])
        elif left is not None:
            self._pattern(scope, left, [], "")

    def on_catch(self, scope: int, node: "Node") -> None:
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            self._pattern(scope, parameter, [], "")

    def on_decorator(self, scope: int, node: "Node") -> None:
        inner = node.named_children[0] if node.named_child_count else None
        if inner is not None and inner.type in ("identifier", "member_expression"):
            self.builder.mention(scope, "reference", chain(inner), place_of(inner))

    def on_reference(self, scope: int, node: "Node") -> None:
        self.builder.mention(scope, "reference", (text(node),), node)

    on_type = on_reference

    # Names

    def _value(self, scope: int, node: "Node", name: str, value: "Node | None", declared: "Node | None") -> None:
        """Take in a name with its value: a function, a class or an object of that name, or a value of known origin."""
        builder = self.builder
        if value is not None and value.type in (*FUNCTIONS, "class"):
            self._named[value.id] = (name, "function")
            self._comments[value.id] = self._doc(node)
            return
        if declared is not None and (named := types(text(declared).lstrip("?!: "))):
            builder.bind(scope, name, "type", named)
        else:
            self._bind(scope, name, "value", alternatives(value))
        if value is not None and value.type == "object" and scope == TOP:
            self._object(scope, node, name, value)
        elif scope == TOP or builder.kind(scope) == "class":
            self._constant(scope, node, name)

    def _object(self, scope: int, node: "Node", name: str, value: "Node") -> None:
        builder = self.builder
        functions = [one for one in value.named_children if one.type == "method_definition" or function_pair(one)]
        if not functions:
            self._constant(scope, node, name)
            return
        builder.define(
            node,
            name,
            "object",
            scope,
            scope=value,
            signature=builder.slice(node.start_byte, node.end_byte, 80),
            doc=self._doc(node),
        )
        for one in functions:
            if (inner := function_pair(one)) is not None:
                self._named[inner.id] = (text(one.child_by_field_name("key")).strip("'\""), "function")

    def _constant(self, scope: int, node: "Node", name: str) -> None:
        end = self.builder.source.find(b"\n", node.start_byte)
        line = self.builder.slice(node.start_byte, node.end_byte if end < 0 else min(end, node.end_byte), 120)
        self.builder.define(node, name, "constant", scope, signature=line, doc=self._doc(node))

    def _own(self, scope: int, node: "Node", name: str, value: "Node") -> None:
        """Take in `this.name = value` in a method."""
        at = scope
        while at != TOP and self.builder.kind(at) not in ("class", "object"):
            at = self.builder.definitions[at].parent
        if at == TOP:
            return
        if value.type in FUNCTIONS:
            self._named[value.id] = (name, "function")
        elif found := alternatives(value):
            self.builder.bind(at, name, "value", found, scope)

    def _parameter(self, scope: int, number: int, function: str, node: "Node") -> None:
        builder = self.builder
        pattern = (
            node
            if node.type in ("identifier", "object_pattern", "array_pattern", "rest_pattern", "assignment_pattern")
            else node.child_by_field_name("pattern")
        )
        if pattern is None:
            return
        if pattern.type == "assignment_pattern":
            pattern = pattern.child_by_field_name("left") or pattern
        declared = node.child_by_field_name("type")
        if pattern.type != "identifier":
            self._pattern(number, pattern, [], "")
            return
        named = types(text(declared).lstrip("?: ")) if declared is not None else ()
        value = node.child_by_field_name("value")
        if named:
            builder.bind(number, text(pattern), "type", named, number)
        else:
            self._bind(number, text(pattern), "value", alternatives(value))
        if function == "constructor" and any(
            one.type in ("accessibility_modifier", "readonly") for one in node.children
        ):
            builder.bind(scope, text(pattern), "type", named, number)

    def _parameters_of_types(self, number: int, node: "Node") -> None:
        given = node.child_by_field_name("type_parameters")
        for one in () if given is None else given.named_children:
            limit = one.child_by_field_name("constraint")
            named = types(text(limit).removeprefix("extends").strip()) if limit is not None else ()
            self.builder.bind(number, text(one.child_by_field_name("name")), "type" if named else "opaque", named)

    def _pattern(self, scope: int, pattern: "Node", values: list[Chain], required: str) -> None:
        """Take in the names of a destructuring pattern."""
        pending: list[tuple[Node, list[Chain]]] = [(pattern, values)]
        while pending:
            node, found = pending.pop()
            kind = node.type
            if kind in ("identifier", "shorthand_property_identifier_pattern"):
                self._bind(scope, text(node), "value", found)
                if required and node.parent is not None and node.parent.id == pattern.id:
                    self.builder.bind(scope, text(node), "from", [(required, text(node))])
                continue
            for one in node.named_children:
                if one.type == "shorthand_property_identifier_pattern":
                    inner = [(*each, text(one)) for each in found]
                elif one.type == "pair_pattern":
                    key, target = text(one.child_by_field_name("key")), one.child_by_field_name("value")
                    if target is not None:
                        pending.append((target, [(*each, key) for each in found]))
                    continue
                elif kind in ("object_assignment_pattern", "assignment_pattern"):
                    inner = [(*each, text(one)) for each in found] if kind[0] == "o" else found
                    pending.append((one, inner))
                    break
                else:
                    inner = [(*each, "[]") for each in found] if kind == "array_pattern" else []
                    inner = found if one.type == "object_assignment_pattern" else inner
                pending.append((one, inner))

    def _bind(self, scope: int, name: str, form: Form, chains: Sequence[Chain]) -> None:
        self.builder.bind(scope, name, form if chains else "opaque", chains)

    def _import(self, scope: int, node: "Node", name: str, module: str, of: str) -> None:
        self.builder.bind(scope, name, "from", [(module, of)])
        if of != "*":
            self.builder.mention(scope, "reference", (name,), node)

    def _default(self, given: "Node") -> None:
        name = text(given.child_by_field_name("name"))
        if not name and given.type in (*FUNCTIONS, "class", "function_declaration", "class_declaration"):
            self._named[given.id] = ("default", "function")
            name = "default"
        found = (name,) if name else chain(given)
        if found is not None and "()" not in found and "@new" not in found:
            self.builder.exports.append(Export("default", ".".join(found)))
        elif given.type == "object":
            self._object(TOP, given, "default", given)
        elif found is not None:
            self.builder.bind(TOP, "default", "value", [found])

    def _exported_object(self, scope: int, value: "Node") -> None:
        if value.type == "object":
            for one in value.named_children:
                if one.type == "shorthand_property_identifier":
                    self.builder.exports.append(Export(text(one), text(one)))
                elif one.type == "pair" and (found := chain(one.child_by_field_name("value"))) is not None:
                    self.builder.exports.append(Export(text(one.child_by_field_name("key")), ".".join(found)))
        elif (found := chain(value)) is not None and "()" not in found:
            self.builder.exports.append(Export("=", ".".join(found)))
        elif value.type in (*FUNCTIONS, "class"):
            self._named[value.id] = ("default", "function")
            self.builder.exports.append(Export("=", "default"))

    # Words

    def _signature(self, node: "Node", name: str, body: "Node | None") -> str:
        written = self.builder.slice(node.start_byte, node.end_byte if body is None else body.start_byte)
        written = written.removesuffix("=>").rstrip()
        return written if node.child_by_field_name("name") is not None else f"{name} = {written}"

    def _doc(self, node: "Node") -> str:
        """Return the first line of the comment before a definition."""
        if node.id in self._comments:
            return self._comments[node.id]
        start = node.start_byte
        line = self.builder.source.rfind(b"\n", 0, start)
        head = self.builder.source[max(0, line - 2_000) : max(0, line)].rstrip() if line > 0 else b""
        if head.endswith(b"*/"):
            begin = head.rfind(b"/*")
            words = head[begin:].decode("utf-8", "ignore").strip("/* \n") if begin >= 0 else ""
            lines = [one.strip(" *\t") for one in words.splitlines()]
            return next((one for one in lines if one and not one.startswith("@")), "")[:DOC]
        last = head.rsplit(b"\n", 1)[-1].strip()
        return last.lstrip(b"/ ").decode("utf-8", "ignore")[:DOC] if last.startswith(b"//") else ""
