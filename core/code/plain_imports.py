"""Imports of Go, Rust, Java and C, as modules, names and aliases."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muisti.core.code.building import text

if TYPE_CHECKING:
    from tree_sitter import Node


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
