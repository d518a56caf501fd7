"""Claims of one subject: what excludes each other whatever the cosine, what does not, and which memories are found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.index.collection_statistics import Allowed
from muisti.core.model.collisions import Contradiction
from muisti.core.model.errors import NotFound
from muisti.core.model.values import Draft
from muisti.core.write.conflicts.claims import claim
from muisti.core.write.conflicts.judgement import FAR, judge
from muisti.core.write.conflicts.seeking import MOST, of_subject
from tests.core.changed_values import made
from tests.core.fakes import SPACE, open_engine
from tests.core.sentences import BOTH, CONFLICTS, DUPLICATES, POSSIBLE
from tests.stores import Stores

MODEL = StaticEncoder()
PAIRS = [*(pair[:2] for pair in CONFLICTS), *POSSIBLE, *BOTH, *DUPLICATES, *((p.existing, p.new) for p in made())]

SURE = (
    ("The archive is in Lyon.", "The archive is located in Porto."),
    ("Our president is Ada Stone.", "Iris Park is our new president."),
    ("Ravi works for Umbra.", "Ravi works at Lumen."),
    ("The name of the parrot is Kiki.", "The parrot is called Momo."),
    ("Choir practice starts at 18:30.", "Choir practice now begins at 7 pm."),
    ("Wait, the picnic is on Sunday.", "The picnic is on Saturday."),
    ("At night the pool closes at 22:00.", "The pool closes at 23:00 at night."),
    ("The gateway listens on port 7001.", "The gateway listens on port 7002."),
)
UNSURE = (
    ("The colour of the fence is white.", "The color of the fence is green."),
    ("My aunt is a plumber.", "My aunt is a dentist."),
    ("The concert is in June.", "The concert was moved to August."),
    ("Ravi lives in Lyon.", "Ravi moved to Porto last spring."),
    ("The gateway allows 5 uploads per hour.", "The rate limit of the gateway is 9 uploads per hour."),
    ("Use tabs in Makefiles.", "Use spaces in Makefiles."),
    ("The heater works.", "The heater is broken."),
    ("We go sailing every summer.", "We no longer go sailing."),
    ("I take sugar in my coffee.", "I stopped taking sugar."),
    ("He prefers trains.", "He prefers buses."),
)
FREE = (
    ("Ravi lives in Lyon.", "Ravi lives in France."),
    ("The archive is in Lyon.", "The archive is in a large red building."),
    ("The archive is in Lyon.", "The archives of Umbra are in Porto."),
    ("Ravi works for Umbra.", "Ravi works for Umbra Shipping."),
    ("The bakery opens at 7.", "The bakery opens at 9 on Sundays."),
    ("In winter the pool closes at 20:00.", "In summer the pool closes at 22:00."),
    ("My cousin is Ada.", "My cousin is Iris."),
    ("Ada is my cousin.", "Iris is my cousin."),
    ("I have a class at 9.", "I have a class at 11."),
    ("The team uses Java.", "The team uses Kafka."),
    ("The soup is hot.", "The soup is salty."),
    ("A parcel is in Lyon.", "A parcel is in Porto."),
    ("It is in Lyon.", "It is in Porto."),
    ("The archive is in Lyon.", "Ben said the archive is in Porto."),
    ("The archive is in Lyon.", "If we move, the archive is in Porto."),
    ("The archive was in Lyon.", "The archive is in Porto."),
    ("The archive is in Lyon.", "Is the archive in Porto?"),
    ("The archive is in Lyon.", "`The archive is in Porto.`"),
    ("The gateway runs on a server.", "The gateway runs every hour."),
    ("We no longer go sailing.", "We never went skiing."),
    ("Ann does not swim in winter.", "Ann swims."),
)


@pytest.fixture
def engine(stores: Stores):
    with open_engine(stores(), encoder=MODEL) as opened:
        yield opened


def far(existing: str, new: str) -> str | None:
    found = judge(existing, new, FAR, MODEL.encode)
    return found and found.kind


@pytest.mark.parametrize(("existing", "new", "kind"), [
    (*pair, kind) for pairs, kind in ((SURE, "conflict"), (UNSURE, "possible_conflict"), (FREE, None)) for pair in pairs
])  # fmt: skip
def test_two_claims_exclude_each_other_by_their_words_only(existing: str, new: str, kind: str | None):
    assert far(existing, new) == kind


@pytest.mark.parametrize("pair", PAIRS)
def test_claims_are_called_only_where_the_words_of_their_subject_are(pair: tuple[str, str]):
    if pair in BOTH or pair in DUPLICATES:
        assert far(*pair) is None
    for text in pair:
        assert far(text, text) is None
        assert far(text, f"{text.rstrip('.')}?") is None


@given(st.text(max_size=200) | st.sampled_from([text for pair in PAIRS for text in pair]))
def test_any_text_is_read_as_a_claim_or_as_none(text: str):
    found = claim(text)
    assert found is None or (found.subject and far(text, text) is None)


def test_a_claim_finds_the_memory_among_many_that_are_nearer(engine: Engine):
    nearer = [
        f"Dublin {word} the office by the harbour" for word in ("likes", "sees", "paints", "needs", "hears", "has")
    ]
    write = engine.owner.write
    write.add(SPACE, [Draft(content=text) for text in ("The office is in Frankfurt.", *nearer)], on_conflict="keep")
    with pytest.raises(Contradiction) as refused:
        write.add(SPACE, [Draft(content="The office is in Dublin.")])
    assert [one.content for one in refused.value.found] == ["The office is in Frankfurt."]


def test_a_replaced_claim_is_not_compared_and_a_batch_is(engine: Engine):
    write = engine.owner.write
    (first,) = write.add(SPACE, [Draft(content="Our office is in Lyon.")]).memories
    write.add(SPACE, [Draft(content="Our office is in Porto.")], on_conflict="supersede")
    with pytest.raises(NotFound, match="superseded"):
        engine.owner.read.get(SPACE, first.id)
    write.add(SPACE, [Draft(content="Our office is in Porto now.")], on_conflict="keep")
    texts = ("My parrot is called Kiki.", "Tea is fine.", "My parrot is named Momo.")
    with pytest.raises(Contradiction) as refused:
        write.add(SPACE, [Draft(content=text) for text in texts])
    assert (refused.value.position, refused.value.other) == (2, 0)


def test_only_few_and_allowed_memories_of_a_subject_are_compared(engine: Engine):
    texts = [f"The office is in Lyon {number}." for number in range(3 * MOST)]
    engine.owner.write.add(SPACE, [Draft(content=text) for text in texts], on_conflict="keep")
    _, snapshot = engine._indexes.fresh(SPACE)
    every = snapshot.population(0).allowed
    assert len(of_subject(snapshot, "The office is in Porto.", every)) == MOST
    nothing = Allowed(np.zeros(snapshot.size, np.bool_), 0)
    assert len(of_subject(snapshot, "The office is in Porto.", nothing)) == 0


def test_the_shortest_and_latest_memories_of_a_subject_are_compared(engine: Engine):
    texts = ["My choir is in the old town hall.", "My choir is in Lyon.", "My choir is in Porto."]
    engine.owner.write.add(SPACE, [Draft(content=text) for text in texts], on_conflict="keep")
    _, snapshot = engine._indexes.fresh(SPACE)
    rows = of_subject(snapshot, "My choir is in Ghent.", snapshot.population(0).allowed)
    assert rows.tolist() == [2, 1, 0]
