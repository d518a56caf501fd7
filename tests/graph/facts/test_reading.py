"""Facts of texts: the author's, those of names, denials, lists, and what states nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.facts.between import AUTHOR
from muisti.core.graph.facts.reading import facts
from muisti.core.model.choices import RELATION_KINDS, EntityKind
from tests.graph.facts.saying import mention, said

STATED = {
    "I prefer tabs over spaces.": ["I prefers tabs"],
    "Please remember that I love live music.": ["I likes live music"],
    "I’m a huge fan of horror movies!": ["I likes horror movies"],
    "I'm a dog person.": ["I likes dog"],
    "My favourite foods are pizza and sushi.": ["I likes pizza", "I likes sushi"],
    "I find water sports uncomfortable.": ["I dislikes water sports"],
    "I have a strong aversion to loud bars.": ["I dislikes loud bars"],
    "I am vegan and avoid gluten.": ["I is vegan", "I avoids gluten"],
    "Since it rains, I'm allergic to dust, so I stay inside.": ["I allergic_to dust"],
    "I have a severe peanut allergy.": ["I allergic_to peanut"],
    "I'm lactose intolerant.": ["I allergic_to lactose"],
    "I only use natural soap.": ["I prefers natural soap"],
    "We use PostgreSQL for storage.": ["I uses PostgreSQL"],
    "I've got two cats.": ["I owns two cats"],
    "I bought a house in Lisbon last year.": ["I owns a house in Lisbon"],
    "We painted a mural yesterday.": ["I made a mural"],
    "I'm planning to visit Japan.": ["I plans visit Japan"],
    "I went to a charity gala last week.": ["I attended a charity gala"],
    "I have been to Korea.": ["I visited Korea"],
    "I moved to Berlin last year.": ["I lives_in Berlin"],
    "I'm a nurse at Acme.": ["I is nurse", "I works_at Acme"],
    "I'm originally from Finland.": ["I comes_from Finland"],
    "My wife Ann sings.": ["I spouse Ann"],
    "My kids Tom and Bob sing.": ["I kin Tom", "I kin Bob"],
    "Maria is my sister.": ["I kin Maria"],
    "My dog is called Rex.": ["I owns Rex"],
    "My new boss, Karen Lee, is kind.": ["I knows Karen Lee"],
    '"I like long walks."': ["I likes long walks"],
}
DENIED = {
    "I don't like jazz.": ["I dislikes jazz"],
    "I don't think I like jazz.": ["I dislikes jazz"],
    "I'm not into golf.": ["I dislikes golf"],
    "I have no interest in golf.": ["I dislikes golf"],
    "I have a low tolerance for heat.": ["I dislikes heat"],
    "I never eat meat.": ["I avoids meat"],
    "I can't eat gluten or dairy.": ["I avoids gluten", "I avoids dairy"],
    "I prefer not to sail or use ferries.": ["I avoids sail", "I avoids ferries"],
    "I prefer to avoid museums.": ["I avoids museums"],
    "I no longer eat meat.": ["I avoids meat"],
    "I stopped eating sugar.": ["I avoids sugar"],
    "I used to live in Rome.": ["I not lives_in Rome"],
    "I no longer like jazz.": ["I not likes jazz"],
    "I don't live in Berlin anymore.": ["I not lives_in Berlin"],
    "I'm not allergic to nuts.": ["I not allergic_to nuts"],
    "I don't own a car.": ["I not owns a car"],
}
LISTS = {
    "I love hiking, swimming, and painting.": ["I likes hiking", "I likes swimming", "I likes painting"],
    "I love cats but hate snakes.": ["I likes cats", "I dislikes snakes"],
    "I like self-paced, quiet courses.": ["I likes self-paced, quiet courses"],
    "I hate hot and humid climates.": ["I dislikes hot and humid climates"],
    "I love the red and blue paint.": ["I likes the red and blue paint"],
    "I like films, they're fun.": ["I likes films"],
}
NAMED: dict[tuple[str, tuple[tuple[str, EntityKind], ...]], list[str]] = {
    ("Ann works at Acme in Berlin.", (("Ann", "person"), ("Acme", "organisation"), ("Berlin", "place"))): [
        "Ann works_at Acme"
    ],
    ("I live in San Jose near my job.", (("San Jose", "place"),)): ["I lives_in San Jose"],
    ("I visited the Louvre museum.", (("Louvre", "place"),)): ["I visited Louvre"],
    ("I visited the Louvre museum shop.", (("the Louvre museum", "place"),)): ["I visited the Louvre museum"],
    ("I visited Ann's zoo.", (("Ann", "person"),)): ["I visited Ann's zoo"],
    ("I live in Berlin Mitte.", (("Ber", "place"),)): ["I lives_in Berlin Mitte"],
    ("I visited May fairs.", (("May", "date"),)): ["I visited May fairs"],
    ("I love Berlin in spring.", (("Berlin", "place"),)): ["I likes Berlin in spring"],
    ("I work at a shop of Acme.", (("Acme", "organisation"),)): ["I works_at a shop of Acme"],
}
NOTHING = [
    "I'd love to see them.", "I've got a tournament.", "Do I like tea?", "If I like it, I'll buy it.",
    "The food I love is here.", 'He said "I love tea" and left.', "I love it.", "I'm looking into jobs.",
    "I used my phone.", "I couldn't play or help the team.", "I wish I owned a boat.", "I hope you like it.",
    "I was using Excel.", "I'm gonna make it!", "I made a decision.", "I need to use the bathroom.",
    "Would you say I like tea?", "MY BROTHER AGAINST MY COUSIN", "```\nI love code\n```", "",
]  # fmt: skip


@pytest.mark.parametrize("given", NAMED)
def test_the_object_is_the_name_at_the_beginning_of_its_words(given: tuple[str, tuple[tuple[str, EntityKind], ...]]):
    text, names = given
    assert said(text, [mention(text, name, kind) for name, kind in names]) == NAMED[given]


@pytest.mark.parametrize(
    ("text", "found"), {**STATED, **DENIED, **LISTS, **dict.fromkeys(NOTHING, [])}.items(), ids=str
)
def test_what_an_author_states_is_found(text: str, found: list[str]):
    assert said(text) == found


def test_names_state_facts_as_the_author_does():
    text = "Ann works at Acme and doesn't like tea. Then Bob moved to Spain."
    names = [mention(text, "Ann", "person"), mention(text, "Acme", "organisation")]
    names += [mention(text, "Bob", "person", 0.5), mention(text, "Spain", "place")]
    assert said(text, names) == ["Ann works_at Acme", "Ann dislikes tea", "Bob lives_in Spain"]
    sure = facts(text, names, "Eve")
    assert sure[2].confidence == pytest.approx(sure[0].confidence / 2, abs=0.002)


def test_the_author_is_the_user_or_a_name_and_no_assistant():
    text = "The user prefers tabs. User lives in Oslo and doesn't eat meat. The user story is good."
    assert said(text, author=None) == ["I prefers tabs", "I lives_in Oslo", "I avoids meat"]
    assert said(text, author="user") == said(text, author=None)
    assert said(text, author="assistant") == said(text, author="Eve") == []
    for author in ("assistant", "AI"):
        assert said("I love tea. My wife Ann sings.", author=author) == []
    assert (said("You love hiking."), said("You love hiking.", two=True)) == ([], ["you likes hiking"])
    assert len(facts("My sister Ann. ", [], None)) == 1
    text = "I work at Acme Corp in Berlin."
    (fact,) = facts(text, [mention(text, "Acme Corp", "organisation")], "Eve")
    assert (fact.subject, fact.object, fact.literal) == (AUTHOR, 0, None)


def test_evidence_encloses_subject_and_object():
    text = "Well, I like tea and hate coffee."
    assert [text[one.start : one.stop] for one in facts(text, [], "Eve")] == [
        "I like tea",
        "I like tea and hate coffee",
    ]


@given(
    st.text(alphabet=st.sampled_from("I i'm like and or, not my wife Ann at to in . ? \n\"`-é版"), max_size=120),
    st.data(),
)
def test_places_lie_within_any_text(text: str, data: st.DataObject):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    names = [mention(text, text[start:stop], "person") for start, stop in zip(cuts[::2], cuts[1::2], strict=False)]
    for fact in facts(text, names, None, two=True):
        assert 0 <= fact.start < fact.stop <= len(text)
        assert fact.kind in RELATION_KINDS and 0 < fact.confidence <= 1
        assert (fact.object is None) != (fact.literal is None)
        if fact.literal:
            assert fact.start <= fact.literal[0] < fact.literal[1] <= fact.stop


@given(st.lists(st.sampled_from([*STATED, *DENIED, *LISTS]), min_size=1, max_size=4))
def test_sentences_do_not_change_each_other(texts: list[str]):
    together = "\n".join(texts)
    assert said(together) == [*(one for text in texts for one in said(text))]
