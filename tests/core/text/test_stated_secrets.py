"""Secrets that a sentence states: a list of made texts, and the harmless texts that look like them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.quality.screening import misses, outcome, right
from muisti.core.text.recognise import found_in
from muisti.core.text.secrets import RULES, SHORTEST, secrets_in, stated_in

MADE = [json.loads(line) for line in Path(__file__).with_name("stated.jsonl").read_text("utf-8").split("\n") if line]
STATED = [one for one in MADE if one["secret"] is not None]
HARMLESS = [one for one in MADE if one["secret"] is None]


def test_nine_of_ten_made_secrets_are_found_and_three_of_four_surely():
    scores = outcome([right(one["text"], one["secret"]) for one in STATED])
    assert (scores.texts, scores.passed <= 30, scores.refused >= 230) == (300, True, True)


def test_no_harmless_text_is_refused():
    assert [one["text"] for one in HARMLESS if any(found.sure for found in secrets_in(one["text"]))] == []
    assert sum(bool(secrets_in(one["text"])) for one in HARMLESS) <= 2


@pytest.mark.parametrize(("text", "secret"), [
    ("My password is hunter2-XY99!", "hunter2-XY99!"),
    ("the password for ftp is Tr0ub4dor&3zzk, port 21", "Tr0ub4dor&3zzk"),
    ("password=hunter2", "hunter2"),
    ("PASSWORD=S3cr3tPassw0rd99xyz", "S3cr3tPassw0rd99xyz"),
    ("Tr0ub4dor&3 is the passphrase", "Tr0ub4dor&3"),
    ("She set the garage PIN to 4821.", "4821"),
    ("İ: das Passwort für das WLAN lautet Birke88wald", "Birke88wald"),
])  # fmt: skip
def test_a_stated_secret_is_found_whole_and_surely(text: str, secret: str):
    assert [(text[one.start : one.stop], one.sure) for one in secrets_in(text)] == [(secret, True)]


@pytest.mark.parametrize(
    "text", ["PIN 4821 opens it", "my door code is 4711", 'the password is "opensesame"', "passphrase: one two six ten"]
)
def test_what_may_be_an_ordinary_word_is_found_as_unsure(text: str):
    assert [one.sure for one in stated_in(text)] == [False]


def test_the_table_of_misses_counts_each_text_once():
    rows = [*misses(MADE)][2:]
    assert rows[0].startswith("| with a secret | 300 |") and rows[1].startswith("| harmless | 161 |")
    assert sum(int(row.split("|")[2]) for row in rows if "language" in row) == 300


PARTS = ["pin", "pwd", "mdp", "pass", "key", "code", "token", "clé", "akia", "sk-", "eyJ", "://", "a1B", "48"]


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.sampled_from(" :='\"@.-_0aZ")), max_size=7))
def test_no_text_that_is_too_short_to_be_searched_holds_a_secret(parts: list[str]):
    text = "".join(parts)[: SHORTEST - 1]
    assert not stated_in(text) and not found_in(text, RULES)
    for shortest in ("pin:4821", "PIN 4821", "pin=4821"):
        assert len(shortest) == SHORTEST and secrets_in(shortest)
