"""Types of nodes in syntax trees, of all grammars together, that tell where definitions are."""

DEFINITIONS = frozenset(
    (
        "function_definition",
        "class_definition",
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
        "method_definition",
        "method_declaration",
        "constructor_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "type_alias_declaration",
        "type_spec",
        "annotation_type_declaration",
        "internal_module",
        "function_item",
        "impl_item",
        "struct_item",
        "enum_item",
        "trait_item",
        "mod_item",
        "macro_definition",
        "union_item",
        "struct_specifier",
        "enum_specifier",
        "union_specifier",
        "class_specifier",
        "namespace_definition",
        "namespace_declaration",
        "struct_declaration",
        "object_declaration",
        "protocol_declaration",
        "trait_definition",
        "object_definition",
        "method",
        "singleton_method",
        "module",
        "class",
        "trait_declaration",
    )
)
# Nodes around a definition that belong to it.
WRAPPERS = frozenset(
    (
        "decorated_definition",
        "export_statement",
        "ambient_declaration",
        "lexical_declaration",
        "variable_declaration",
        "template_declaration",
        "type_definition",
        "type_declaration",
    )
)
# Nodes that are looked into for definitions, beside definitions and wrappers.
CONTAINERS = frozenset(
    (
        "ERROR",
        "block",
        "class_body",
        "statement_block",
        "declaration_list",
        "enum_body",
        "interface_body",
        "enum_body_declarations",
        "field_declaration_list",
        "preproc_ifdef",
        "preproc_if",
        "preproc_else",
        "linkage_specification",
        "if_statement",
        "else_clause",
        "try_statement",
        "with_statement",
        "body_statement",
        "template_body",
        "expression_statement",
    )
)

# Values of a variable that make it a definition.
FUNCTIONS = frozenset(("arrow_function", "function_expression", "function"))

# Types that are definitions only with a body, and refer to one otherwise.
REFERENCES = frozenset(("struct_specifier", "enum_specifier", "union_specifier", "class_specifier"))
