"""Three evaluations of a filter agree row by row: the SQL, the mask, and a plain evaluator of the JSON."""

import json
import re
from functools import cache
from itertools import combinations, pairwise

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.columns import Keywords, Lists, Numbers
from muisti.core.index.rows import Rows
from muisti.core.index.selections import Selections
from muisti.core.model.ids import id_text
from muisti.core.query.filters import DEPTH_MAX, SIZE_MAX, Not, parse
from muisti.core.store.migrate import migrations
from muisti.core.store.sql.filters import where
from muisti.core.text.terms import fold
from tests.examples import USUAL, examples

TEXTS = ["", "a", "A", "ab", "aB", "b", "ß", "ẞ", "ss", "Σ", "σ", "ς", "é", "e\u0301", "É", "\uffff", "\U0001f600", "1"]
SMALL = [0, 1, 1.0, -0.0, 0.5, -1, 1e300]
LARGE = [2**53 - 1, 2**53, 2.0**53, 2**53 + 1, 2.0**53 + 2, 2**63 - 1, 2.0**63, -(2**63)]
RANKS = {"low": 0, "medium": 1, "high": 2, "critical": 3}
IDS = {id_text(bytes([i]) * 16): bytes([i]) * 16 for i in (0, 1, 255)}
TIMES = {
    "1969-12-31T23:59:59.999999Z": -1, "1970-01-01": 0, "1970-01-01T02:00:00.000001+02:00": 1,
    "2026-01-01T00:00:00": 1_767_225_600_000_000,
}  # fmt: skip

MOMENTS = ("created_at", "updated_at", "event_at", "valid_from", "valid_to", "expires_at")

# What the values of a field may be, as a filter states them.
OPERANDS = {
    **dict.fromkeys(("category", "key", "author", "source", "tags"), TEXTS),
    "kind": ["memory", "chunk", "exchange", "topic"],
    **dict.fromkeys(("session", "conversation", "topic"), ["", "a", "A", "ab", "1"]),
    "turn": [0, 1, 2, 2**53],
    "type": ["fact", "guard", "procedure"],
    "status": ["active", "candidate"],
    "importance": [*RANKS],
    **dict.fromkeys(MOMENTS, [*TIMES]),
    "parent_id": [*IDS],
    "source_class": ["user", "unknown", "web"],
    "trust": [0, 20, 50, 100],
    "derived_from": [*IDS],
    **dict.fromkeys(("metadata.x", "metadata.y", "metadata.x.y", "metadata.z"), [*TEXTS, *SMALL, *LARGE, True, False]),
}
OPTIONAL = (
    "category", "key", "author", "source", "event_at", "valid_from", "valid_to", "expires_at", "parent_id",
    "session", "conversation", "topic", "turn",
)  # fmt: skip
LISTED = ("tags", "derived_from")
PLAIN = [field for field in OPERANDS if field not in LISTED and not field.startswith("metadata.")]


def operators(field):
    """The operators that take one value, and those that take several."""
    listed = field in LISTED or field.startswith("metadata.")
    ordered = field not in ("kind", "type", "status", "parent_id", "source_class", *LISTED)
    text = field.startswith("metadata.") or OPERANDS[field] is TEXTS or field in ("session", "conversation", "topic")
    single = ["eq", "ne"] + ["gt", "gte", "lt", "lte"] * ordered + ["prefix", "glob"] * text
    return single, ["in"] + ["any", "all"] * listed


def typed(field, operand):
    """An operand as the store has the value."""
    if field in ("category", "author", "tags"):
        return fold(operand)
    return as_stored(field, operand)


def as_stored(field, value):
    names = {"importance": RANKS, "parent_id": IDS}.get(field, TIMES if field in MOMENTS else {})
    return names.get(value, value)


# Memories and filters.

operand_of = {field: st.sampled_from(operands) for field, operands in OPERANDS.items()}
names = st.sampled_from(["x", "y"])
metadata = st.recursive(
    st.none() | operand_of["metadata.x"],
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
memories = st.fixed_dictionaries(
    {
        field: st.sampled_from([as_stored(field, value) for value in OPERANDS[field]] + [None] * (field in OPTIONAL))
        for field in PLAIN
    }
    | {field: st.lists(operand_of[field], max_size=3) for field in LISTED}
    | {"metadata": st.dictionaries(names, metadata, max_size=2)}
)


@st.composite
def leaves(draw):
    field = draw(st.sampled_from(["tags", "metadata.x"]) | st.sampled_from([*OPERANDS]))
    one, many = operand_of[field], st.lists(operand_of[field], min_size=1, max_size=3)
    single, several = operators(field)
    ops = dict.fromkeys(single, one) | dict.fromkeys(several, many) | {"exists": st.booleans()}
    if "prefix" in ops:
        ops["prefix"] = operand_of["tags"]
        ops["glob"] = st.lists(st.sampled_from(["*", "?", "[", "]", "^", "!", "a", "A", "1", "%"]), max_size=4).map(
            "".join
        )
    used = draw(st.lists(st.sampled_from([*ops]), min_size=1, max_size=2))
    return {field: draw(one | many | st.fixed_dictionaries({op: ops[op] for op in used}))}


def grouped(inner):
    group = st.builds(
        lambda word, parts: {word: parts}, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3)
    )
    group |= inner.map(lambda part: {"not": part})
    return group | st.builds(dict.__or__, leaves(), group)


filters = st.recursive(leaves(), grouped, max_leaves=6)

# The plain evaluator; None is unknown.


def judged(filter, memory):
    verdicts = []
    for name, value in filter.items():
        if name in ("and", "or"):
            parts = [judged(part, memory) for part in value]
            verdicts.append(every(parts) if name == "and" else opposite(every(map(opposite, parts))))
        elif name == "not":
            verdicts.append(opposite(judged(value, memory)))
        else:
            ops = value if isinstance(value, dict) else {"in" if isinstance(value, list) else "eq": value}
            verdicts += [compared(name, op, operand, elements(name, memory)) for op, operand in ops.items()]
    return every(verdicts)


def every(verdicts):
    verdicts = [*verdicts]
    return False if False in verdicts else None if None in verdicts else True


def opposite(verdict):
    return None if verdict is None else not verdict


def elements(field, memory):
    if field.startswith("metadata."):
        return walk(memory["metadata"], field.split(".")[1:])
    values = memory[field] if field in LISTED else [memory[field]]
    return [typed(field, value) for value in values if value is not None]


def walk(value, path):
    if isinstance(value, list):
        return [found for item in value for found in walk(item, path)]
    if isinstance(value, dict):
        return walk(value[path[0]], path[1:]) if path and path[0] in value else []
    return [] if value is None or path else [value]


def alike(a, b):
    return isinstance(a, bool) == isinstance(b, bool) and isinstance(a, str) == isinstance(b, str)


def compared(field, op, operand, found):
    if op == "exists":
        return bool(found) == operand
    if not found and field not in LISTED:
        return None
    if op in ("in", "any", "all"):
        each = [compared(field, "eq", one, found) for one in operand]
        return all(each) if op == "all" else any(each)
    if op == "ne" and not field.startswith("metadata."):
        return not compared(field, "eq", operand, found)
    want = typed(field, operand)
    found = [value for value in found if alike(value, want)]
    if op == "glob":
        pattern = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in want)
        return any(re.fullmatch(pattern, value, re.DOTALL) for value in found)
    if op == "prefix":
        return any(value[: len(want)] == want for value in found)
    signs = {"eq": {0}, "ne": {-1, 1}, "gt": {1}, "gte": {0, 1}, "lt": {-1}, "lte": {-1, 0}}
    return any((value > want) - (value < want) in signs[op] for value in found if value == want or op != "eq")


# The memories as rows and as columns.


@pytest.fixture(scope="module")
def db():
    with apsw.Connection(":memory:") as connection:
        for _, script in migrations():
            for _ in connection.execute(script):
                pass
        insert(connection, "spaces", id=1, name="s", epoch="e", created_at=0, committed_at=0, settings="{}")
        yield connection


def insert(db, table, **row):
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])


def scalars_of(value, path=""):
    """Path and value of each scalar in metadata."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from scalars_of(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars_of(inner, path)
    elif value is not None:
        yield path, value


def store(db, rows):
    for table in ("versions", "tags", "metadata"):
        db.execute(f"DELETE FROM {table}")
    for number, memory in enumerate(rows):
        folded = {f"{field}_folded": next(iter(elements(field, memory)), None) for field in ("category", "author")}
        texts = {field: json.dumps(memory[field]) for field in LISTED} | {"metadata": json.dumps(memory["metadata"])}
        ids = {
            "id": number, "space_id": 1, "memory_id": number.to_bytes(16, "big"), "version": 1, "born": number,
            "died": number + 1,
        }  # fmt: skip
        insert(db, "versions", **memory | folded | texts | ids, content="c", content_hash=b"", tokens=1)
        for tag in {*elements("tags", memory)}:
            insert(db, "tags", version_id=number, tag=tag, spelling=tag)
        for position, (path, value) in enumerate(scalars_of(memory["metadata"])):
            kind = "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
            insert(db, "metadata", version_id=number, path=path, position=position, type=kind, value=value)


def columns_of(rows):
    @cache
    def column(field):
        if field.startswith("metadata."):
            found = Lists()
            path = field.removeprefix("metadata.")
            found.extend([[value for name, value in scalars_of(row["metadata"]) if name == path] for row in rows])
        elif field in LISTED:
            found = Lists()
            found.extend([elements(field, row) for row in rows])
        else:
            found = Numbers() if field in ("importance", "trust", "turn", *MOMENTS) else Keywords()
            found.extend([next(iter(elements(field, row)), None) for row in rows])
        return found

    return column


def judged_by_sql(db, filter):
    sql, bound = where(parse(filter))
    verdicts = [row[0] for row in db.execute(f"SELECT {sql} FROM versions v ORDER BY v.id", bound)]
    chosen = {row[0] for row in db.execute(f"SELECT v.id FROM versions v WHERE v.space_id = 1 AND {sql}", bound)}
    assert chosen == {number for number, verdict in enumerate(verdicts) if verdict}
    return [None if verdict is None else bool(verdict) for verdict in verdicts]


def selections_of(columns):
    return Selections(Rows(0), lambda field, size: columns(field))


def judged_by_mask(selections, filter, n):
    parsed = parse(filter)
    true, false = selections.mask(parsed, n), selections.mask(Not(parsed), n)
    assert not (true & false).any()
    return [True if t else False if f else None for t, f in zip(true, false, strict=True)]


# The laws.


@examples(4 * USUAL // 3)
@given(filters, st.lists(memories, min_size=1, max_size=5))
def test_the_sql_and_the_mask_select_what_the_filter_says(db, filter, rows):
    expected = [judged(filter, memory) for memory in rows]
    with db:
        store(db, rows)
        assert judged_by_sql(db, filter) == expected
    assert judged_by_mask(selections_of(columns_of(rows)), filter, len(rows)) == expected


def test_valid_at_selects_what_holds_then(db):
    at, ends = TIMES["1970-01-01"], (None, -1, 0, 1)
    blank = every_memory("kind")[0]
    rows = [blank | {"valid_from": start, "valid_to": end} for start in ends for end in ends]
    holds = [
        (row["valid_from"] is None or row["valid_from"] <= at) and (row["valid_to"] is None or row["valid_to"] > at)
        for row in rows
    ]
    with db:
        store(db, rows)
        for filter, expected in (
            ({"valid_at": "1970-01-01"}, holds),
            ({"not": {"valid_at": {"eq": "1970-01-01"}}}, [not verdict for verdict in holds]),
        ):
            assert judged_by_sql(db, filter) == expected
            assert judged_by_mask(selections_of(columns_of(rows)), filter, len(rows)) == expected


def every_memory(field):
    lists = {"tags": [], "derived_from": [], "metadata": {}}
    blank = {name: as_stored(name, OPERANDS[name][0]) for name in PLAIN} | lists
    values = OPERANDS[field]
    if field == "metadata.x":
        lists = map(list, combinations(["a", "A", "1", 0, 1, True, False, 2**53 + 1, 2.0**53], 2))
        return [blank | {"metadata": {"x": value}} for value in (None, [], {"x": 1}, *values, *lists)]
    if field in LISTED:
        return [blank | {field: [*some]} for size in range(3) for some in combinations(values, size)]
    return [blank | {field: as_stored(field, value)} for value in values + [None] * (field in OPTIONAL)]


def every_comparison(field):
    single, several = operators(field)
    yield from ({"exists": flag} for flag in (True, False))
    yield from (
        {op: value}
        for op in single
        for value in OPERANDS[field]
        if op not in ("prefix", "glob") or isinstance(value, str)
    )
    yield from ({op: [*values]} for op in several for values in pairwise(OPERANDS[field]))


@pytest.mark.parametrize("field", [*PLAIN, *LISTED, "metadata.x"])
def test_every_comparison_of_every_value_selects_what_the_filter_says(db, field):
    rows = every_memory(field)
    selections = selections_of(columns_of(rows))
    with db:
        store(db, rows)
        for comparison in every_comparison(field):
            filter = {field: comparison}
            expected = [judged(filter, memory) for memory in rows]
            assert (filter, judged_by_sql(db, filter)) == (filter, expected)
            assert (filter, judged_by_mask(selections, filter, len(rows))) == (filter, expected)


@given(st.lists(filters, min_size=1, max_size=4), st.lists(memories, min_size=1, max_size=3), st.data())
def test_what_is_remembered_grows_to_what_was_never_asked_before(asked, few, data):
    """With more rows than a word has bits, in steps, and filters that share comparisons."""
    rows = few * 50
    steps = sorted(data.draw(st.lists(st.integers(1, len(rows)), max_size=4)))
    warm = selections_of(columns_of(rows))
    expected = [[judged(filter, memory) for memory in few] * 50 for filter in asked]
    for size in (*steps, len(rows), *steps):
        for filter, verdicts in zip(asked, expected, strict=True):
            assert judged_by_mask(warm, filter, size) == verdicts[:size]


def deepest():
    filter = {"tags": ["a", "b"], "valid_at": "2026-01-01"}
    for _ in range(DEPTH_MAX - 1):
        filter = {"metadata.x": ["a", 1], "not": filter}
    return filter


@pytest.mark.parametrize("filter", [
    deepest(), {"and": [{"metadata.x": {"ne": 1}}] * (SIZE_MAX - 1)},
    {"or": [{"tags": {"prefix": "a"}}] * (SIZE_MAX - 1)}, {"metadata.x": {"all": [1] * SIZE_MAX}},
    {"metadata.x": [*range(SIZE_MAX)]}, {"or": [{"valid_at": "2026-01-01"}] * (SIZE_MAX - 1)},
], ids=["deepest", "and", "or", "all", "in", "valid_at"])  # fmt: skip
def test_the_largest_filter_is_within_the_limits_of_sql(db, filter):
    sql, bound = where(parse(filter))
    assert [*db.execute(f"SELECT 1 FROM versions v WHERE v.space_id = 1 AND {sql} AND 0", bound)] == []
