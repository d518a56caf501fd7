"""Grants: what one reaches, when it covers another, and which are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.identity.grants import EVERYTHING, NOTHING, SCOPES, Grant, check_grant
from muisti.core.model.errors import InvalidInput

pytestmark = pytest.mark.one_store

NAMES = st.text(st.sampled_from("ab.*"), min_size=1, max_size=4).filter(lambda name: "*" not in name[:-1])
GRANTS = st.builds(
    Grant, st.frozensets(st.sampled_from(SCOPES)), st.lists(NAMES, max_size=3).map(tuple),
    st.sampled_from((None, "rules", "RULES", "notes")), st.sampled_from((None, "user", "web")),
)  # fmt: skip


@given(GRANTS, GRANTS, st.text(st.sampled_from("ab."), min_size=1, max_size=5))
def test_a_grant_that_covers_another_reaches_all_that_it_reaches(one: Grant, other: Grant, space: str):
    if one.covers(other):
        assert other.scopes <= one.scopes
        assert one.reaches(space) or not other.reaches(space)
        assert one.category is None or (other.category or "").lower() == one.category.lower()
        assert one.source_class in (None, other.source_class)


@given(GRANTS, GRANTS, GRANTS)
def test_covering_is_an_order(one: Grant, other: Grant, third: Grant):
    assert (
        one.covers(one)
        and EVERYTHING.covers(one)
        and one.covers(NOTHING) is (one.category is None and one.source_class is None)
    )
    if one.covers(other) and other.covers(third):
        assert one.covers(third)


@pytest.mark.parametrize(("grant", "path"), [
    (Grant(frozenset(), ("a",)), "$.scopes"),
    (Grant(frozenset(("write",)), ("a",)), "$.scopes"),
    (Grant(frozenset(("read",)), ()), "$.spaces"),
    (Grant(frozenset(("read",)), ("a*b",)), "$.spaces[0]"),
    (Grant(frozenset(("read", "admin")), ("a",), "rules"), "$.category"),
    (Grant(frozenset(("read",)), ("a",), " "), "$.category"),
])  # fmt: skip
def test_a_grant_that_makes_no_sense_is_refused_at_its_place(grant: Grant, path: str):
    for good in (EVERYTHING, Grant(frozenset(("append",)), ("acme.*", "shared"), "rules", "model")):
        check_grant(good)
    with pytest.raises(InvalidInput) as refused:
        check_grant(grant)
    assert [problem.path for problem in refused.value.problems] == [path]
