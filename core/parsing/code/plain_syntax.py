"""Syntax of Go, Rust, Java and C: what is captured in their trees, and how their expressions are chains of names."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from muisti.core.parsing.code.building import LONGEST_CHAIN, text
from muisti.core.parsing.code.records import Chain, Kind

if TYPE_CHECKING:
    from tree_sitter import Node


class Syntax(NamedTuple):
    """Patterns of a language, whose captures have the names of handlers in `plain`."""

    patterns: str
    kinds: Mapping[str, Kind]  # of nodes that define a type


SYNTAX = {
    "go": Syntax(
        """
        (package_clause) @package
        (import_spec) @import
        (type_spec) @class
        (function_declaration) @function
        (method_declaration) @function
        (method_elem) @function
        (field_declaration) @field
        (short_var_declaration) @assignment
        (var_spec) @local
        (parameter_declaration) @local
        (call_expression) @call
        (composite_literal) @made
        (const_spec) @constant
        """,
        {"type_spec": "class"},
    ),
    "rust": Syntax(
        """
        (use_declaration) @import
        (mod_item) @module
        (struct_item) @class
        (enum_item) @class
        (trait_item) @class
        (impl_item) @implementation
        (function_item) @function
        (function_signature_item) @function
        (field_declaration) @field
        (let_declaration) @local
        (parameter) @local
        (call_expression) @call
        (struct_expression) @made
        (macro_definition) @macro
        (const_item) @constant
        (static_item) @constant
        """,
        {"struct_item": "class", "enum_item": "class", "trait_item": "interface"},
    ),
    "java": Syntax(
        """
        (package_declaration) @package
        (import_declaration) @import
        (class_declaration) @class
        (record_declaration) @class
        (enum_declaration) @class
        (interface_declaration) @class
        (method_declaration) @function
        (constructor_declaration) @function
        (field_declaration) @field
        (local_variable_declaration) @local
        (formal_parameter) @local
        (enhanced_for_statement) @local
        (method_invocation) @call
        (object_creation_expression) @made
        """,
        {"interface_declaration": "interface"},
    ),
    "c": Syntax(
        """
        (preproc_include) @import
        (struct_specifier) @class
        (union_specifier) @class
        (enum_specifier) @class
        (type_definition) @typedef
        (function_definition) @function
        (preproc_function_def) @macro
        (call_expression) @call
        """,
        {},
    ),
}
_NAMES = frozenset(
    [
        "identifier",
        "field_identifier",
        "type_identifier",
        "package_identifier",
        "self",
        "this",
        "super",
        "crate",
        "metavariable",
    ]
)
# The object and the member of each kind of access.
MEMBERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "selector_expression": (("operand",), "field"),
    "field_expression": (("value", "argument"), "field"),
    "scoped_identifier": (("path", "scope"), "name"),
    "scoped_type_identifier": (("path", "scope"), "name"),
    "field_access": (("object",), "field"),
    "qualified_type": (("package",), "name"),
}
_THROUGH = frozenset(
    [
        "parenthesized_expression",
        "try_expression",
        "await_expression",
        "reference_expression",
        "unary_expression",
        "pointer_expression",
        "generic_function",
        "generic_type",
        "cast_expression",
    ]
)


def chain(node: "Node | None") -> Chain | None:
    """Return an expression of names, members and calls as a chain, None when it is something else."""
    found: list[str] = []
    while node is not None and len(found) < LONGEST_CHAIN:
        kind = node.type
        if kind in _NAMES:
            name = text(node)
            return ("this" if name == "self" else name, *reversed(found))
        if kind in MEMBERS:
            objects, member = MEMBERS[kind]
            found.append(text(node.child_by_field_name(member)))
            node = next((one for name in objects if (one := node.child_by_field_name(name)) is not None), None)
        elif kind == "call_expression":
            found.append("()")
            node = node.child_by_field_name("function")
        elif kind == "method_invocation":
            found += ["()", text(node.child_by_field_name("name"))]
            given = node.child_by_field_name("object")
            if given is None:
                return tuple(reversed(found))
            node = given
        elif kind in ("object_creation_expression", "composite_literal", "struct_expression"):
            found.append("@new")
            node = node.child_by_field_name("type") or node.child_by_field_name("name")
        elif kind in _THROUGH and node.named_child_count:
            node = node.child_by_field_name("operand") or node.child_by_field_name("function") or node.named_children[0]
        else:
            return None
    return None
