"""Syntax of JavaScript and TypeScript: what is captured in their trees, and what single nodes say."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from muisti.core.parsing.code.building import LONGEST_CHAIN, text
from muisti.core.parsing.code.records import Chain
from muisti.core.parsing.code.types import types

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMON = """
(class_declaration) @class
(class) @class
(function_declaration) @function
(generator_function_declaration) @function
(function_expression) @function
(arrow_function) @function
(method_definition) @function
(variable_declarator) @variable
(assignment_expression) @assignment
(import_statement) @import
(export_statement) @export
(call_expression) @call
(new_expression) @call
(return_statement) @return
(for_in_statement) @for
(catch_clause) @catch
(decorator) @decorator
(arguments (identifier) @reference)
(pair value: (identifier) @reference)
(shorthand_property_identifier) @reference
"""
_JSX = """
(jsx_opening_element name: (identifier) @reference)
(jsx_self_closing_element name: (identifier) @reference)
"""
_TYPED = """
(abstract_class_declaration) @class
(interface_declaration) @class
(enum_declaration) @class
(type_alias_declaration) @alias
(function_signature) @signature
(method_signature) @signature
(abstract_method_signature) @signature
(public_field_definition) @field
(property_signature) @field
(type_annotation (type_identifier) @type)
(type_arguments (type_identifier) @type)
"""
PATTERNS = {
    "javascript": _COMMON + _JSX + "(field_definition) @field",
    "typescript": _COMMON + _TYPED,
    "tsx": _COMMON + _JSX + _TYPED,
}
FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
UNBOUND = ("function_declaration", "function_expression", "generator_function_declaration")
_NAMES = ("identifier", "this", "type_identifier", "shorthand_property_identifier")
THROUGH = ("non_null_expression", "parenthesized_expression", "await_expression", "satisfies_expression")


def chain(node: "Node | None") -> Chain | None:
    """Return an expression of names, members and calls as a chain, None when it is something else."""
    found: list[str] = []
    while node is not None and len(found) < LONGEST_CHAIN:
        kind = node.type
        if kind in _NAMES or kind == "super":
            return (text(node), *reversed(found))
        if kind == "member_expression":
            found.append(text(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        elif kind == "subscript_expression":
            found.append("[]")
            node = node.child_by_field_name("object")
        elif kind == "call_expression":
            found.append("()")
            node = node.child_by_field_name("function")
        elif kind == "new_expression":
            found.append("@new")
            node = node.child_by_field_name("constructor")
        elif kind in THROUGH and node.named_child_count:
            node = node.named_children[0]
        elif kind == "as_expression" and node.named_child_count > 1:
            named = types(text(node.named_children[1]))
            return (
                ("@type", ".".join(named[0]), *reversed(found))
                if len(named) == 1 and named[0][0][0] not in "[{@"
                else None
            )
        elif kind in ("string", "template_string"):
            return ("''", *reversed(found))
        else:
            return None
    return None


def alternatives(node: "Node | None") -> list[Chain]:
    """Return the chains that the value of an expression may come from."""
    if node is None:
        return []
    if node.type == "ternary_expression":
        return _chains((node.child_by_field_name("consequence"), node.child_by_field_name("alternative")))
    if node.type == "binary_expression" and text(node.child_by_field_name("operator")) in ("||", "??", "&&"):
        return _chains((node.child_by_field_name("left"), node.child_by_field_name("right")))
    if node.type == "array":
        return [("[*]", *one) for one in _chains(node.named_children[:4])]
    return _chains((node,))


def _chains(found: "Iterable[Node | None]") -> list[Chain]:
    return [one for node in found if (one := chain(node))]


def function_pair(node: "Node") -> "Node | None":
    """Return the function that is the value of a pair of an object, None when it is something else."""
    value = node.child_by_field_name("value") if node.type == "pair" else None
    return value if value is not None and value.type in FUNCTIONS else None


def returned(node: "Node") -> tuple[Chain, ...]:
    """Return the declared types of what a function returns."""
    written = text(node.child_by_field_name("return_type")).lstrip(": ")
    return (("Self",),) if written == "this" else types(written) if written else ()


def parameters(node: "Node") -> "list[Node]":
    """Return the nodes of the parameters of a function."""
    if (single := node.child_by_field_name("parameter")) is not None:
        return [single]
    given = node.child_by_field_name("parameters")
    return [] if given is None else given.named_children


def bases_of(node: "Node") -> "Iterable[Node]":
    """Yield the nodes of the bases of a class or interface."""
    for one in node.named_children:
        if one.type == "extends_type_clause":
            yield from one.named_children
        elif one.type == "class_heritage":
            for clause in one.named_children:
                if clause.type == "extends_clause":
                    yield from clause.named_children[:1]
                elif clause.type == "implements_clause":
                    yield from clause.named_children
                else:
                    yield clause


def base_chain(node: "Node") -> Chain | None:
    """Return a base as a chain, without its type arguments."""
    if node.type == "generic_type":
        node = node.child_by_field_name("name") or node
    if node.type == "nested_type_identifier":
        return tuple(text(node).split("."))
    return chain(node)


def place_of(node: "Node") -> "Node":
    """Return the node of the name that an expression ends with."""
    return (node.child_by_field_name("property") if node.type == "member_expression" else None) or node


def required_module(value: "Node | None") -> str:
    """Return the module that `require` names, empty when the value is something else."""
    if value is None or value.type != "call_expression" or text(value.child_by_field_name("function")) != "require":
        return ""
    given = value.child_by_field_name("arguments")
    first = given.named_children[0] if given is not None and given.named_child_count else None
    return text(first)[1:-1] if first is not None and first.type == "string" else ""
