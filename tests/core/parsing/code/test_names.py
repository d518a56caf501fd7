from pathlib import Path

import pytest

from muisti.core.parsing.code import reading
from muisti.core.parsing.code.reading import names, read

SOURCES = [*Path(reading.__file__).parent.glob("*.py"), *Path(__file__).parent.glob("*.py")]
HARD = (
    "@decorated\nclass A(B):\n    def f(self): ...\n    class C: ...\nX = 1\n",
    "def (x:\n  def g(): pass\nclass\n",
    "async def f():\n    def g(): return lambda: 0\n",
    "if x:\n    def f(): ...\nelse:\n    def f(): ...\n",
    "def naïve(): ...\n\udc80def g(): ...\n",
)


@pytest.mark.parametrize("text", [*(path.read_text() for path in SOURCES), *HARD], ids=str.__len__)
def test_the_names_of_a_python_file_are_those_of_its_record(text: str):
    wanted = [one.name for one in read("", text, "python").definitions if one.kind != "constant"]
    assert names(text, "python") == wanted
    assert names(text[len(text) // 3 :], "python") == [
        one.name for one in read("", text[len(text) // 3 :], "python").definitions if one.kind != "constant"
    ]


def test_the_names_of_other_languages_are_those_of_their_records():
    assert names("const X = 1\nfunction f() {}\nclass A { g() {} }", "javascript") == ["f", "A", "g"]
