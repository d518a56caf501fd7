"""The table of pages counts sentences of prose and leaves code out."""

from pathlib import Path

from tests.language import pages


def test_a_page_has_its_long_sentences_and_words_to_replace_counted(tmp_path: Path):
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    long = " ".join(["word"] * 30)
    (tmp_path / "README.md").write_text("# A\n\nShort. Short too.\n", "utf-8")
    (tmp_path / "docs" / "how-to" / "b.md").write_text(
        f"# B\n\n{long}; {long}.\n\n```sh\n{long}\n```\n\nIt is anew.\n", "utf-8"
    )
    rows = [line.split() for line in pages.table(tmp_path).splitlines()[1:]]
    assert rows == [
        ["docs/how-to/b.md", "3", "1", "60", "1"],
        ["README.md", "3", "0", "2", "0"],
        ["all", "6", "1", "60", "1"],
    ]
