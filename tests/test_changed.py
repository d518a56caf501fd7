"""Which tests a change asks for."""

import pytest

from tests.changed import ROOT, SMOKE, chosen, examples, imported, typed

TESTS = {
    "tests/core/test_backup.py": "import os\n",
    "tests/core/test_many.py": "from muisti.core.store import backup, copying\nfrom muisti.core import engine\n",
    "tests/core/test_one.py": "from muisti.core.store.backup import save\n",
    "tests/test_docs.py": "TEXT = open('docs/guide.md')\n",
    "tests/remote/test_backup.py": "from muisti.core.store import backup\n",
    "tests/core/text/test_words.py": "",
    "tests/core/text/test_terms.py": "",
    "tests/core/test_other.py": "from tests.core.fakes import add\n",
}


def asked_for(*changed: str) -> list[str]:
    return [choice.test for choice in chosen(changed, TESTS)]


def test_a_changed_test_comes_first_however_slow_and_is_chosen_once():
    assert asked_for("core/store/copying.py", "tests/remote/test_backup.py") == [
        "tests/remote/test_backup.py",
        "tests/core/test_many.py",
    ]
    (first, *_) = found = chosen(["core/store/backup.py", "tests/core/test_one.py"], TESTS)
    assert (first.test, first.why, len(found)) == ("tests/core/test_one.py", "has changed", 3)


@pytest.mark.parametrize(("path", "wanted"), [
    ("core/store/backup.py", ["tests/core/test_backup.py", "tests/core/test_one.py", "tests/core/test_many.py"]),
    ("docs/guide.md", ["tests/test_docs.py"]),
    ("tests/core/fakes.py", ["tests/core/test_other.py"]),
    ("core/text/terms.py", ["tests/core/text/test_terms.py", "tests/core/text/test_words.py"]),
    ("core/text/when/dates.py", ["tests/core/text/test_terms.py", "tests/core/text/test_words.py"]),
    ("core/model/ids.py", []),
    ("LICENSE", []),
])  # fmt: skip
def test_files_ask_for_tests_that_name_or_import_them_or_are_in_the_folder(path: str, wanted: list[str]):
    assert asked_for(path) == wanted


def test_imports_are_found_in_all_their_forms():
    text = "import a.b\nfrom c.d import e\ndef f():\n    from g import h as i\n"
    assert imported(text) == {"a.b", "c.d", "c.d.e", "g", "g.h"}


def test_types_are_checked_in_what_changed_and_in_what_imports_it():
    texts = {
        "core/a.py": "", "core/b.py": "from muisti.core import a\n", "core/c.py": "from muisti.core.a import A\n",
        "service/d.py": "from muisti.core.b import B\n",
    }  # fmt: skip
    assert typed(["core/a.py", "docs/guide.md", "tests/test_docs.py"], texts) == (
        ["core/a.py"],
        ["core/b.py", "core/c.py"],
    )


def test_examples_are_those_of_changed_modules():
    texts = {"core/a.py": '""">>> 1"""', "core/b.py": ""}
    assert [test.partition("[")[2] for test in examples(["core/a.py", "core/b.py"], texts)] == ["muisti.core.a]"]


def test_the_smoke_set_is_there():
    assert [test for test in SMOKE if not (ROOT / test).is_file()] == []
