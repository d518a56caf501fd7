"""Programming languages and text formats by the name of a file, or by its first line."""

import re
from pathlib import PurePosixPath

# The languages of source code, each with its extensions. Names are those of tree-sitter's grammars.
_LANGUAGES = {
    "bash": "sh bash zsh ksh", "bat": "bat cmd", "c": "c h", "clojure": "clj cljs cljc edn",
    "cmake": "cmake", "cpp": "cc cpp cxx hh hpp hxx ipp inl", "csharp": "cs", "css": "css scss sass less",
    "cuda": "cu cuh", "d": "d", "dart": "dart", "elixir": "ex exs", "elm": "elm", "erlang": "erl hrl",
    "fortran": "f f90 f95 f03", "fsharp": "fs fsx fsi", "glsl": "glsl vert frag", "go": "go", "graphql": "graphql gql",
    "groovy": "groovy gradle", "haskell": "hs", "hcl": "tf hcl tfvars", "ini": "ini cfg conf properties",
    "java": "java", "javascript": "js mjs cjs jsx", "json": "json jsonl ndjson geojson json5 jsonc",
    "julia": "jl", "kotlin": "kt kts", "lisp": "lisp lsp el", "lua": "lua", "make": "mk mak", "matlab": "m",
    "nim": "nim", "nix": "nix", "objc": "mm", "ocaml": "ml mli", "pascal": "pas pp", "perl": "pl pm",
    "php": "php", "powershell": "ps1 psm1", "proto": "proto", "python": "py pyi pyw", "r": "r", "ruby": "rb rake",
    "rust": "rs", "scala": "scala sc", "scheme": "scm ss", "solidity": "sol", "sql": "sql", "svelte": "svelte",
    "swift": "swift", "toml": "toml", "tsx": "tsx", "typescript": "ts mts cts", "verilog": "v sv",
    "vim": "vim", "vue": "vue", "xml": "xml xsd xsl xslt svg plist", "yaml": "yaml yml", "zig": "zig",
}  # fmt: skip
LANGUAGES = {extension: language for language, extensions in _LANGUAGES.items() for extension in extensions.split()}
# Files that have a name instead of an extension.
_NAMED = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make",
    "rakefile": "ruby", "gemfile": "ruby", "cmakelists.txt": "cmake", "jenkinsfile": "groovy",
    "build": "python", "workspace": "python", ".bashrc": "bash", ".zshrc": "bash", ".profile": "bash",
    ".gitconfig": "ini", ".editorconfig": "ini", "go.mod": "gomod", "go.sum": "gosum",
}  # fmt: skip
_PROGRAMMING = frozenset((*_LANGUAGES, *_NAMED.values()))
_SHEBANG = re.compile(r"#!.*?[/ ](?:env +(?:-\S+ +)*)?([a-zA-Z]+)[\d.]*(?:\s|$)")
_INTERPRETERS = {
    "bash": "bash", "sh": "bash", "zsh": "bash", "dash": "bash", "ksh": "bash", "node": "javascript",
    "deno": "typescript", "bun": "typescript", "perl": "perl", "php": "php", "python": "python", "pypy": "python",
    "ruby": "ruby", "lua": "lua", "Rscript": "r", "groovy": "groovy", "make": "make", "awk": "awk", "gawk": "awk",
}  # fmt: skip


def extension(name: str) -> str:
    """Return the extension of a file name, lower case and without its dot; empty where it has none.

    >>> extension("docs/Read.ME"), extension("Makefile"), extension("a.tar.gz")
    ('me', '', 'gz')
    """
    return PurePosixPath(name.replace("\\", "/")).suffix[1:].lower()


def programming_language(name: str, start: str = "") -> str | None:
    """Return the programming language of a file by its name, or by the interpreter in its first line.

    >>> programming_language("src/app.tsx"), programming_language("run", "#!/usr/bin/env python3")
    ('tsx', 'python')
    """
    base = PurePosixPath(name.replace("\\", "/")).name.lower()
    found = _NAMED.get(base) or LANGUAGES.get(extension(name))
    if found or not start.startswith("#!"):
        return found
    interpreter = _SHEBANG.match(start.split("\n", 1)[0])
    return _INTERPRETERS.get(interpreter[1]) if interpreter else None


def is_programming_language(language: str) -> bool:
    """Return whether a language is one of source code, markup or data, and not of people.

    >>> is_programming_language("xml"), is_programming_language("en")
    (True, False)
    """
    return language in _PROGRAMMING
