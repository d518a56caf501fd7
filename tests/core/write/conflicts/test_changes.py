"""Values that change, in made pairs: what opens a review, and what contradicts nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.model.choices import SIMILARITY_MIN
from muisti.core.write.conflicts.changes import changed_value
from muisti.core.write.conflicts.judgement import Verdict, judge
from muisti.core.write.conflicts.words import read
from tests.core.changed_values import Made, made
from tests.core.sentences import BOTH, CONFLICTS, DUPLICATES, POSSIBLE

MODEL = StaticEncoder()
CALLED = ("conflict", "possible_conflict")
PAIRS = tuple(made())
# Changes that no rule finds: a subject of any kind with one plain word, and speakers who are marked by a colon alone.
MISSED = ("Our package manager is npm.", "Ana: the lease ends on May 3.")

texts = st.text(max_size=200) | st.sampled_from([text for pair in PAIRS for text in (pair.existing, pair.new)])


def verdict(existing: str, new: str) -> tuple[Verdict | None, float]:
    one, other = MODEL.encode([existing, new])
    cosine = float(one @ other)
    return judge(existing, new, cosine, MODEL.encode), cosine


def name(pair: Made) -> str:
    return f"{pair.kind}: {pair.existing} {pair.new}"


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.changed and pair.existing not in MISSED], ids=name)
def test_a_value_that_changes_is_called_where_the_texts_are_alike_at_all(pair: Made):
    found, cosine = verdict(pair.existing, pair.new)
    assert cosine < SIMILARITY_MIN or (found is not None and found.kind in CALLED)


KEPT = [(pair.existing, pair.new) for pair in PAIRS if not pair.changed]
ASKED = [(one, f"{new.rstrip('.')}?") for one, new in [*(pair[:2] for pair in CONFLICTS), *POSSIBLE]]
ASKED += [(f"{one.rstrip('.')}?", new) for one, new in [*(pair[:2] for pair in CONFLICTS), *POSSIBLE]]
SPOKEN = [(f"Ana says {one}", f"Ben says {new}") for one, new in (*DUPLICATES, *BOTH)]


@pytest.mark.parametrize(("existing", "new"), [*KEPT, *ASKED, *SPOKEN])
def test_what_can_both_be_true_is_asked_or_is_said_by_two_is_not_called(existing: str, new: str):
    found, _ = verdict(existing, new)
    assert found is None or found.kind not in CALLED


@pytest.mark.parametrize(("existing", "new", "values"), [
    ("Ann lives in Berlin.", "Ann moved from Berlin to Oslo.", ("Berlin", "Oslo")),
    ("We use Slack for chat.", "We use Zulip instead of Slack for chat.", ("Slack", "Zulip")),
    ("Sessions expire after 30 minutes.", "Sessions expire after 2 hours.", ("30 minutes", "2 hours")),
    ("The lease ends on May 3.", "The lease ends on June 10.", ("May 3", "June 10")),
    ("Staging runs Postgres 14.", "Staging was upgraded to Postgres 16.", ("14", "16")),
    ("I have read 3 chapters of the book.", "I have read 5 chapters of the book.", ("3", "5")),
])  # fmt: skip
def test_the_values_that_differ_are_named(existing: str, new: str, values: tuple[str, str]):
    found = changed_value(read(existing), read(new))
    assert found is not None and (found.existing, found.new) == values


@given(texts, texts)
def test_any_two_texts_can_be_compared_and_nothing_changes_itself(existing: str, new: str):
    found = changed_value(read(existing), read(new))
    assert found is None or found.existing or found.new
    assert changed_value(read(new), read(new)) is None


@pytest.mark.parametrize(("existing", "new", "kind"), CONFLICTS)
def test_two_speakers_are_never_refused(existing: str, new: str, kind: str):
    found, _ = verdict(f"Ana says that {existing}", f"Ben says that {new}")
    assert found is None or found.kind != "conflict"
