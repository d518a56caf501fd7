"""Write equations of Office and of MathML as LaTeX."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from muisti.core.parsing.formats.package import Element, attribute

_SYMBOLS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda",
    "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "∞": "infty", "×": "times", "·": "cdot",
    "÷": "div", "±": "pm", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "∈": "in", "∑": "sum", "∫": "int",
    "∏": "prod", "∂": "partial", "∇": "nabla", "√": "sqrt", "→": "to", "⇒": "Rightarrow", "…": "ldots", "⋯": "cdots",
}  # fmt: skip
_TEX = {ord(symbol): f" \\{name} " for symbol, name in _SYMBOLS.items()}
_FUNCTIONS = frozenset({"sin", "cos", "tan", "log", "ln", "lim", "exp", "max", "min", "det", "arg"})
_BRACKETS = {"{": "\\{", "}": "\\}"}


def latex(equation: Element) -> str:
    """Return an equation as LaTeX, without dollar signs."""
    return " ".join(_all(equation).split())


def _all(element: Element | None) -> str:
    return "" if element is None else "".join(map(_one, element))


def _one(element: Element) -> str:
    kind = element.tag.removeprefix("m-")
    if kind == "t":
        return (element.text or "").translate(_TEX)
    if kind.endswith("Pr"):
        return ""
    form = _FORMS.get(kind)
    return form(element) if form is not None else _all(element)


def _part(element: Element, name: str) -> str:
    return _all(element.find(f"m-{name}")).strip()


def _property(element: Element, name: str, default: str) -> str:
    found = element.find(f"m-{element.tag.removeprefix('m-')}Pr/m-{name}")
    value = None if found is None else attribute(found, "val")
    return default if value is None else value


def _scripts(element: Element) -> str:
    under, over = _part(element, "sub"), _part(element, "sup")
    return _part(element, "e") + (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")


def _root(element: Element) -> str:
    degree = _part(element, "deg")
    return "\\sqrt" + (f"[{degree}]" if degree else "") + f"{{{_part(element, 'e')}}}"


def _large(element: Element) -> str:
    sign = _property(element, "chr", "∫").translate(_TEX).strip()
    under, over = _part(element, "sub"), _part(element, "sup")
    return f"{sign}_{{{under}}}^{{{over}}}{_part(element, 'e')}" if under or over else f"{sign} {_part(element, 'e')}"


def _delimited(element: Element) -> str:
    left, right = _property(element, "begChr", "("), _property(element, "endChr", ")")
    inner = _property(element, "sepChr", "|").join(_all(one) for one in element.findall("m-e"))
    left, right = (_BRACKETS.get(one, one) or "." for one in (left, right))
    return f"\\left{left}{inner}\\right{right}"


def _function(element: Element) -> str:
    name = _part(element, "fName")
    for known in _FUNCTIONS:
        if name.startswith(known):
            name = "\\" + name
            break
    return f"{name}({_part(element, 'e')})" if "\\left" not in _part(element, "e") else name + _part(element, "e")


def _matrix(element: Element) -> str:
    rows = (" & ".join(_all(cell) for cell in row.findall("m-e")) for row in element.findall("m-mr"))
    return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"


def _limit(element: Element) -> str:
    mark = "_" if element.tag == "m-limLow" else "^"
    return f"{_part(element, 'e')}{mark}{{{_part(element, 'lim')}}}"


_FORMS: Mapping[str, Callable[[Element], str]] = {
    "f": lambda one: f"\\frac{{{_part(one, 'num')}}}{{{_part(one, 'den')}}}",
    "eqArr": lambda one: " \\\\ ".join(map(_all, one.findall("m-e"))),
    "acc": lambda one: f"\\hat{{{_part(one, 'e')}}}",
    "bar": lambda one: f"\\overline{{{_part(one, 'e')}}}",
    "sSub": _scripts, "sSup": _scripts, "sSubSup": _scripts, "rad": _root, "nary": _large,
    "d": _delimited, "func": _function, "m": _matrix, "limLow": _limit, "limUpp": _limit,
}  # fmt: skip


DEEP = 60  # levels of an equation above which only its letters are kept


class Math(NamedTuple):
    """An element of MathML."""

    tag: str
    text: str
    inner: "list[Math]"
    encoding: str = ""


def of_element(element: Element, depth: int = 0) -> Math:
    """Return an element of MathML of an XML part."""
    if depth == DEEP:
        return Math("mtext", "".join(element.itertext()), [])
    tag = element.tag.rpartition("}")[2]
    inner = [of_element(child, depth + 1) for child in element]
    return Math(tag, element.text or "", inner, attribute(element, "encoding") or "")


def written(math: Math) -> str:
    """Return MathML as LaTeX without dollar signs: as its author wrote it, where it says so.

    >>> x, two = Math("mi", "x", []), Math("mn", "2", [])
    >>> written(Math("math", "", [Math("msup", "", [x, two]), Math("mo", "≤", []), Math("mfrac", "", [x, two])]))
    'x^{2} \\\\leq \\\\frac{x}{2}'
    """
    return " ".join(_written(math).split())


def _joined(maths: Iterable[Math]) -> str:
    return "".join(map(_written, maths))


def _written(math: Math) -> str:
    if math.tag in ("annotation", "annotation-xml"):
        return ""
    if math.tag == "semantics":
        stated = next((one.text for one in math.inner if "tex" in one.encoding.lower() and one.text.strip()), None)
        return stated if stated is not None else _joined(math.inner)
    pattern = _LAYOUTS.get(math.tag)
    if pattern is not None and len(math.inner) == pattern.count("%s"):
        parts = [_written(one).strip() for one in math.inner]
        return pattern % tuple(parts if math.tag != "mroot" else parts[::-1])
    inner = _joined(math.inner) if math.inner else math.text.translate(_TEX)
    return _AROUND.get(math.tag, "%s") % inner


# How the parts of an element are laid out, and what is around all of them.
_LAYOUTS = {
    "mfrac": "\\frac{%s}{%s}", "msup": "%s^{%s}", "msub": "%s_{%s}", "msubsup": "%s_{%s}^{%s}",
    "munder": "%s_{%s}", "mover": "%s^{%s}", "munderover": "%s_{%s}^{%s}", "mroot": "\\sqrt[%s]{%s}",
}  # fmt: skip
_AROUND = {
    "msqrt": "\\sqrt{%s}", "mfenced": "(%s)", "mtable": "\\begin{matrix}%s\\end{matrix}", "mtr": "%s \\\\ ",
    "mtd": "%s & ", "mtext": " %s ", "mspace": " %s",
}  # fmt: skip
