"""`llms.txt`, a map of the site for language models, and `llms-full.txt`, the text of all its pages."""

import re
from collections.abc import Mapping, Sequence

SUMMARY = "Muisti is a memory service for AI agents: HTTP, MCP, a command line and a library, on one SQLite file."
NOT_PROSE = re.compile(r"[#|`!\[\-=<>]|\d+\. ")  # beginnings of lines that are no paragraph


def title(page: str) -> str:
    """Return the heading of a page.

    >>> title("# Guide to it\\n\\nText")
    'Guide to it'
    """
    return re.search(r"^# (.+)$", page, re.MULTILINE).group(1).replace("`", "")  # pyright: ignore


def first_sentence(page: str) -> str:
    """Return the first sentence of the first paragraph of a page, without its links.

    >>> first_sentence("# A\\n\\n| table |\\n\\nOne [link](a.md). Two.")
    'One link.'
    >>> first_sentence("# A\\n\\n    muisti import a.db\\n\\nIt reads.")
    'It reads.'
    """
    for paragraph in re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE).split("\n\n"):
        words = paragraph.strip()
        is_code = paragraph.strip("\n").startswith("    ")
        if words and not is_code and not NOT_PROSE.match(words):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(words.split()))
            return re.split(r"(?<=[.?!:]) (?=[A-Z`])", text)[0].removesuffix(":")
    return ""


def index(sections: Mapping[str, Sequence[str]], pages: Mapping[str, str]) -> str:
    """Return `llms.txt`: a line for each page, below the title of its section. Error codes share one line."""
    lines = ["# Muisti", "", f"> {SUMMARY}"]
    for section, names in sections.items():
        lines += ["", f"## {section}", ""]
        lines += [f"- [{title(pages[name])}]({name}): {first_sentence(pages[name])}" for name in names]
    return "\n".join(lines) + "\n"


def full(pages: Mapping[str, str], order: Sequence[str]) -> str:
    """Return `llms-full.txt`: the pages one after the other, each below its path."""
    return "\n\n".join(f"<!-- {name} -->\n\n{pages[name].strip()}" for name in order) + "\n"
