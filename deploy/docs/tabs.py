"""Tabs: blocks of code that follow each other and have titles become one block, with a tab for each."""

import re
from collections.abc import Iterator, Sequence

# A fence with a title, such as ```sh title="curl", up to its end.
BLOCK = re.compile(r'^```(?P<language>\w+) title="(?P<title>[^"]+)"\n(?P<code>.*?)^```$', re.DOTALL | re.MULTILINE)


def blocks(text: str) -> list[re.Match[str]]:
    """Return the blocks of a page that have titles."""
    return [*BLOCK.finditer(text)]


def groups(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the titled blocks of a page, those together that only blank lines part."""
    group: list[re.Match[str]] = []
    for block in blocks(text):
        if group and text[group[-1].end() : block.start()].strip():
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def tabbed(text: str) -> str:
    """Return a page whose groups of titled blocks are tabs, in the syntax of pymdownx.tabbed.

    >>> print(tabbed('```sh title="curl"\\nls\\n```\\n\\n```python title="Python"\\nx = 1\\n```'))
    === "curl"
    <BLANKLINE>
        ```sh
        ls
        ```
    <BLANKLINE>
    === "Python"
    <BLANKLINE>
        ```python
        x = 1
        ```
    """
    for group in reversed([*groups(text)]):
        text = text[: group[0].start()] + _tabs(group) + text[group[-1].end() :]
    return text


def _tabs(group: Sequence[re.Match[str]]) -> str:
    return "\n\n".join(f'=== "{block["title"]}"\n\n{_indented(_plain(block))}' for block in group)


def _plain(block: re.Match[str]) -> str:
    return f"```{block['language']}\n{block['code']}```"


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in code.split("\n"))
