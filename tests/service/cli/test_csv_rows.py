"""Answers as CSV: the standard library reads back what was stored, whatever it is."""

import csv
import io
import json
from collections.abc import Callable

from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.cli.output import as_csv
from tests.service.cli.test_cli import added

Run = Callable[..., Result]
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"))


def read(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text, newline=""))]


@given(st.lists(st.fixed_dictionaries({"content": WORDS, "tags": st.lists(WORDS.filter(lambda w: "," not in w))})))
def test_every_text_comes_back(items: list[dict[str, object]]):
    assert [row["content"] for row in read(as_csv({"items": items}))] == [item["content"] for item in items]


def test_a_hit_has_the_fields_of_its_memory_and_its_score(run: Run):
    made = added(run, 'say "tea", twice\nor not', "--tag", "a,b", "--metadata", '{"n": 1}')
    (row,) = read(run("search", "tea", "--csv").stdout)
    assert (row["id"], row["content"], row["tags"]) == (made["id"], made["content"], "a,b")
    assert float(row["score"]) > 0 and json.loads(row["metadata"]) == {"n": 1} and row["author"] == ""


def test_lists_and_single_answers_have_rows_and_no_answer_has_none(run: Run):
    added(run, "We deploy", "--category", "rules", "--key", "deploy")
    assert [row["content"] for row in read(run("list", "--csv").stdout)] == ["We deploy"]
    assert [row["key"] for row in read(run("get", "rules/deploy", "--csv").stdout)] == ["deploy"]
    assert [row["name"] for row in read(run("categories", "--csv").stdout)] == ["rules"]
    assert run("tags", "--csv").stdout == ""


def test_the_last_format_that_is_named_wins_and_tables_go_into_pipes(run: Run):
    added(run, "We deploy", "--category", "rules")
    assert json.loads(run("list", "--csv", "--json").stdout)["items"]
    assert run("--json", "list", "--csv").stdout.startswith("id,")
    table = run("list", "--table").stdout
    assert "stored" in table and "category/key" in table and "We deploy" in table
    assert "\t" in run("list", "--table", "--plain").stdout
