"""The benchmark of parsers: which files are judged, how they are scored, and a run of Muisti's own parsers."""

from pathlib import Path

from click.testing import CliRunner

from loadtests.quality import parsing
from tests.core.parsing import samples as made


def put(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_the_order_of_words_counts_and_markup_does_not():
    assert parsing.score("# One **two** [three](http://x.org)", "one two three") == 1.0
    assert parsing.score("three two one", "one two three") == 0.0
    assert parsing.score("three two one", "one two three", run=1) == 1.0
    assert parsing.score("", "one two three") == 0.0


def test_expected_texts_are_found_and_equal_files_count_once(tmp_path: Path):
    page = made.pdf("A page of words.")
    put(tmp_path / "pdf/sources/deep/a.pdf", page)
    put(tmp_path / "pdf/groundtruth/deep/a.pdf.md", "A page of words.")
    put(tmp_path / "copies/b.pdf", page)
    put(tmp_path / "tests/c.pdf", made.pdf("Other words are here."))
    put(tmp_path / "tests/expected_outputs/c.md", "Other words are here.")
    put(tmp_path / "tests/d.pdf", made.pdf("More."))
    put(tmp_path / "tests/expected_outputs/d.md", "More")  # too short to judge
    found = {one.path.name: one.expected for one in parsing.samples([tmp_path])}
    assert found == {"a.pdf": "A page of words.", "c.pdf": "Other words are here.", "d.pdf": None}


def test_a_run_prints_a_row_with_scores_and_refusals(tmp_path: Path):
    put(tmp_path / "docx/sources/a.docx", made.docx(made.word_document(made.paragraph("Some words of a report."))))
    put(tmp_path / "docx/groundtruth/a.docx.md", "Some words of a report.")
    put(tmp_path / "docx/sources/b.docx", b"no document")
    put(tmp_path / "docx/sources/c.docx", made.docx(made.word_document("")))
    result = CliRunner().invoke(parsing.main, [str(tmp_path), "--library", "muisti", "--files"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "docx: 3 files, 1 judged"
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells[:3] == ["muisti", "1.000", "1.000"]
    assert cells[6:] == ["1 document.empty", "0"]
    assert any(line.startswith("| c.docx | document.empty") for line in lines)
