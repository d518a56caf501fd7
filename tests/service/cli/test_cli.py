"""The command line on the real service in this process, one database file for each test."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import click
import pytest
from click.testing import Result

from muisti.service.cli import COMMANDS, SECTIONS, main, output
from muisti.service.cli.base import GLOBAL
from muisti.service.cli.options import as_filter
from muisti.service.settings import options

Run = Callable[..., Result]
DOCS = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def file(home: Path) -> Path:
    """The database that commands use by default."""
    return home / "muisti" / "muisti.db"


def added(run: Run, *words: str) -> dict[str, Any]:
    result = run("add", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a terminal."""
    monkeypatch.setattr(output, "for_people", lambda _: True)


def test_what_is_added_is_found_read_changed_and_deleted(run: Run):
    memory = added(run, "We deploy on Tuesdays", "--category", "rules", "--key", "deploy", "--tag", "infra,prod")
    assert (memory["version"], memory["tags"], memory["type"]) == (1, ["infra", "prod"], "fact")
    assert run("search", "deploy").stdout.split("\t")[0] == memory["id"]
    assert run("get", "rules", "deploy").stdout.endswith("\n\nWe deploy on Tuesdays\n")
    assert run("update", memory["id"], "We deploy on Mondays", "--tag", "").stdout == f"{memory['id']}\t2\n"
    words = ("--metadata", '{"team": "core"}', "--type", "procedure", "--status", "deprecated", "--if-version", "2")
    assert run("update", memory["id"], *words).stdout == f"{memory['id']}\t3\n"
    now = json.loads(run("get", "rules", "deploy", "--json").stdout)
    assert (now["tags"], now["metadata"], now["type"], now["status"]) == (
        [],
        {"team": "core"},
        "procedure",
        "deprecated",
    )
    assert now["content"] == "We deploy on Mondays"
    assert run("delete", "rules", "deploy").stdout == f"{memory['id']}\n"
    assert run("get", memory["id"]).exit_code == 1
    assert run("list").stdout == ""


NAMING: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "get": lambda name: ["get", *name],
    "update": lambda name: ["update", *name, "--reason", "why"],
    "update with a text": lambda name: ["update", *name, "We deploy on Mondays"],
    "supersede": lambda name: ["supersede", *name, "We deploy daily"],
    "delete": lambda name: ["delete", *name],
    "history": lambda name: ["history", *name],
    "restore": lambda name: ["restore", *name, "--to", "1"],
    "purge": lambda name: ["purge", *name],
    "telemetry": lambda name: ["telemetry", *name],
    "feedback": lambda name: ["feedback", *name, "useful"],
    "probe add": lambda name: ["probe", "add", "when do we deploy?", *name],
}
OTHER_IDS = {"probe delete", "webhook delete", "webhook redeliver", "receipt show", "receipt replay",
             "graph retract", "tasks show", "tasks watch", "tasks cancel"}  # fmt: skip


def test_every_command_that_takes_an_id_says_that_it_takes_an_address():
    by_id = {
        name
        for name, command in every_command()
        for one in command.params
        if isinstance(one, click.Argument) and "ID" in (one.metavar or "")
    }
    assert by_id == {name.removesuffix(" with a text") for name in NAMING} | OTHER_IDS
    for name, command in every_command():
        if name in by_id - OTHER_IDS:
            assert any("ID | CATEGORY KEY" in (one.metavar or "") for one in command.params), name


def every_command() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for name, command in commands().items():
        found.append((name, command))
        if isinstance(command, click.Group):
            context = click.Context(command)
            below = ((one, command.get_command(context, one)) for one in command.list_commands(context))
            found += [(f"{name} {one}", inner) for one, inner in below if inner is not None]
    return found


@pytest.mark.parametrize("verb", NAMING)
def test_every_command_names_a_memory_by_id_and_by_address(verb: str, run: Run):
    memory = added(run, "We deploy on Fridays", "--category", "rules", "--key", "deploy")
    run("update", memory["id"], "--author", "ann")
    dry = ["--dry-run"] if verb not in ("get", "history", "telemetry", "probe add") else []
    for name in ([memory["id"]], [memory["id"][-8:]], ["rules", "deploy"], ["rules/deploy"]):
        result = run(*NAMING[verb](name), *dry, "--json")
        assert result.exit_code == 0, (name, result.output)
        if dry and verb != "feedback":
            assert memory["id"] in result.stdout, name
    missing = run(*NAMING[verb](["rules", "none"]), *dry, "--json")
    assert missing.exit_code == (0 if verb == "probe add" else 1), missing.output  # a probe may wait for its memory


def test_a_deleted_entry_is_read_and_brought_back_by_its_address(run: Run):
    put = run("put", "rules", "deploy", "We deploy on Fridays").stdout.split()
    assert run("put", "rules", "deploy", "We deploy on Mondays", "--if-version", "1").stdout.split() == [put[0], "2"]
    assert run("put", "rules", "deploy", "x", "--if-version", "1").exit_code == 2
    assert run("update", "rules/deploy", "--author", "ann", "--if-version", "2").exit_code == 0
    assert run("delete", "rules", "deploy").exit_code == 0
    assert run("history", "rules/deploy").exit_code == run("restore", "rules/deploy").exit_code == 0
    assert run("get", "rules/deploy").stdout.endswith("We deploy on Mondays\n")


def test_an_address_with_several_slashes_is_the_one_that_is_there(run: Run):
    run("put", "notes/2026", "plan", "Ships in May")
    assert run("get", "notes/2026/plan").exit_code == 0
    run("put", "notes", "2026/plan", "Ships in June")
    both = run("get", "notes/2026/plan")
    assert both.exit_code == 1
    assert "'notes' '2026/plan', or 'notes/2026' 'plan'" in both.stderr
    assert run("get", "notes", "2026/plan").stdout.endswith("Ships in June\n")


def test_a_quota_is_set_in_words_that_people_use(run: Run):
    added(run, "one")
    assert run("quota", "--memories", "1", "--bytes", "2KiB").stdout == "memories\t1\t1\nbytes\t7\t2048\n"
    refused = run("add", "two")
    assert refused.exit_code == 1 and "holds 1 of 1 memories" in refused.stderr
    assert "quota.memories.limit\t1\n" in run("stats").stdout
    assert run("quota", "--memories", "default").stdout == "memories\t1\tany\nbytes\t7\t2048\n"
    added(run, "two")
    for wrong in ((), ("--memories", "many"), ("--bytes", "-1")):
        assert run("quota", *wrong).exit_code == 64


def test_a_policy_is_shown_and_set(run: Run):
    added(run, "one")
    assert run("policy", "--history-days", "30", "--purge-after-days", "730").stdout.splitlines() == [
        "secrets	refuse", "personal_data	allow", "echoes	flag", "history_days	30", "purge_after_days	730",
        "similarity_limit	", "review_limit	",
        "recency_weight	0", "recency_half_life_days	30", "inherits	", "graph	on", "second_model	off",
    ]  # fmt: skip
    both = run("policy", "--history-days", "default", "--purge-after-days", "default").stdout
    assert "history_days\t365\npurge_after_days\t\n" in both
    for wrong in ("soon", "nan", "0"):
        assert run("policy", "--purge-after-days", wrong).exit_code == 64


def test_every_field_of_a_memory_can_be_given(run: Run):
    given = {
        "category": "c", "key": "k", "type": "guard", "status": "candidate", "importance": "high", "author": "Ann",
        "reason": "why", "source": "mail", "tags": ["a", "b"], "metadata": {"team": {"size": 3}},
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in given.items() if name not in ("tags", "metadata")]
    times = ("--event-at", "2026-01-31", "--expires-at", "2099-01-01T09:00:00+02:00", "--valid-from", "2026-01-30")
    memory = added(run, "x", *words, "--tag", "a", "--tag", "b", "--metadata", '{"team": {"size": 3}}', *times)
    assert {name: memory[name] for name in given} == given
    assert (memory["event_at"], memory["expires_at"]) == ("2026-01-31T00:00:00Z", "2099-01-01T07:00:00Z")
    assert (memory["valid_from"], memory["valid_to"]) == ("2026-01-30T00:00:00Z", None)


def test_standard_input_is_the_content_without_its_last_end_of_line(run: Run):
    result = run("add", "-", "--json", input="first line\nsecond line\n")
    assert json.loads(result.stdout)["content"] == "first line\nsecond line"
    assert run("add", "-", input=b"\xff").exit_code == 64


@pytest.mark.parametrize(
    "option", ["--category", "--author", "--reason", "--source", "--event-at", "--valid-to", "--expires-at"]
)
def test_an_empty_value_takes_a_field_away(option: str, run: Run):
    value = "2099-01-01" if option.endswith(("-at", "-to")) else "something"
    memory = added(run, "x", option, value)
    field = option.removeprefix("--").replace("-", "_")
    assert memory[field]
    changed = json.loads(run("update", memory["id"], option, "", "--json").stdout)
    assert changed[field] is None


def test_the_same_text_is_a_conflict_that_shows_the_memory_and_the_way_out(run: Run):
    first = added(run, "Ann likes tea")
    second = run("add", "Ann  likes tea")
    assert second.exit_code == 2
    assert second.stdout == ""
    assert f"{first['id']}  Ann likes tea" in second.stderr
    assert "--on-conflict keep" in second.stderr
    assert run("add", "Ann likes tea", "--on-conflict", "keep").exit_code == 0


def test_a_contradiction_is_shown_with_what_differs(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    first = added(run, "The staging database runs on port 5433.")
    second = run("add", "The staging database runs on port 5434.")
    assert (second.exit_code, second.stdout) == (2, "")
    assert f"{first['id']}  The staging database runs on port 5433.  (stored 5433, yours 5434)" in second.stderr
    assert "muisti update ID TEXT" in second.stderr


def test_a_refusal_with_json_prints_the_problem(run: Run):
    first = added(run, "Ann likes tea")
    problem = json.loads(run("add", "Ann likes tea", "--json").stdout)
    assert (problem["status"], problem["code"]) == (409, "duplicate")
    assert [one["id"] for one in problem["conflicts"]] == [first["id"]]


def test_an_address_that_is_taken_and_an_old_version_are_conflicts(run: Run):
    memory = added(run, "one", "--category", "c", "--key", "k")
    assert run("add", "two", "--category", "c", "--key", "k").exit_code == 2
    assert run("update", memory["id"], "three", "--if-version", "1").exit_code == 0
    assert run("update", memory["id"], "four", "--if-version", "1").exit_code == 2
    assert run("delete", memory["id"], "--if-version", "1").exit_code == 2
    assert run("delete", memory["id"], "--if-version", "2").exit_code == 0


def test_content_over_the_limit_ends_with_3(run: Run):
    assert run("add", "x" * 100_000).exit_code == 0
    result = run("add", "-", input="x" * 100_001)
    assert result.exit_code == 3
    assert "100,001" in result.stderr
    assert "100,000" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["serch"], ["add"], ["add", "x", "--type", "opinion"], ["add", "x", "--metadata", "[1]"], ["add", ""],
        ["add", "x", "--event-at", "someday"], ["add", "x", "--key", "k"], ["list", "--limit", "0"], ["update", "x"],
        ["list", "--filter", "{"], ["list", "--filter", '{"colour": "red"}'], ["search"], ["get", "a", "b", "c"],
        ["list", "--space", "No Name"], ["list", "--url", "ftp://example.org"], ["--config", "missing.toml", "list"],
        ["serve", "--port", "many"], ["serve", "--host", "0.0.0.0"], ["serve", "--url", "http://127.0.0.1:1"],
        ["reembed", "--url", "http://127.0.0.1:1"], ["eval"], ["eval", "nowhere"],
        ["search", "x", "--recency-weight", "2"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_ends_with_64(words: list[str], run: Run):
    run("add", "something", "--space", "notes-000000")
    result = run(*words)
    assert result.exit_code == 64, result.output
    assert result.stdout == ""
    assert "Error: " in result.stderr


def test_a_misspelt_command_option_or_setting_names_the_nearest(run: Run, monkeypatch: pytest.MonkeyPatch):
    assert "Did you mean 'search'?" in run("serch", "x").stderr
    assert "--tag" in run("list", "--tags", "x").stderr
    monkeypatch.setenv("MUISTI_EMBEDINGS", "off")
    assert "MUISTI_EMBEDDINGS" in run("list").stderr


@pytest.mark.parametrize("option", ["content", "reason", "metadata"])
def test_a_secret_is_refused_by_the_name_of_its_rule(option: str, run: Run):
    words = {
        "content": [f"the token is {TOKEN}"],
        "reason": ["x", "--reason", TOKEN],
        "metadata": ["x", "--metadata", json.dumps({"ci": {"tokens": ["none", TOKEN]}})],
    }[option]
    result = run("add", *words)
    assert result.exit_code == 1
    assert "github-token" in result.stderr
    assert TOKEN not in result.output
    assert run("list").stdout == ""
    assert run("add", *words, "--allow-secrets").exit_code == 0
    memory = added(run, "harmless")
    assert run("update", memory["id"], *words[1:] or words).exit_code == 1


def test_a_secret_in_metadata_is_known_by_its_name_too(run: Run):
    assert run("add", "x", "--metadata", '{"password": "correct-horse-1"}').exit_code == 1


def test_the_space_is_that_of_the_project_and_is_made_by_the_first_memory(run: Run):
    git = Path(".git")
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@github.com:Acme/Web.git\n')
    assert run("space").stdout.startswith("acme.web\tgit remote origin")
    missing = run("list")
    assert (missing.exit_code, missing.stdout) == (0, "") and "muisti add" in missing.stderr
    made = run("add", "one")
    assert "acme.web" in made.stderr
    assert made.stdout.strip() == run("list").stdout.split("\t")[0]
    empty = run("list", "--space", "default")
    assert (empty.exit_code, empty.stdout) == (0, "") and "muisti add" in empty.stderr
    assert json.loads(run("space", "--json").stdout)["space"] == "acme.web"


@pytest.mark.file_only
def test_flags_beat_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_SPACE", "from-environment")
    monkeypatch.setenv("MUISTI_DATABASE_URL", "file:environment.db")
    monkeypatch.setenv("MUISTI_URL", "http://127.0.0.1:1")
    assert run("space", "--space", "mine").stdout.startswith("mine\t")
    assert run("list").exit_code == 1
    monkeypatch.delenv("MUISTI_URL")
    run("add", "x", "--database", "flag.db")
    assert Path("flag.db").exists()
    assert not Path("environment.db").exists()


def test_global_options_stand_before_and_after_the_command(run: Run):
    run("--space", "one", "add", "x")
    assert json.loads(run("--json", "list", "-s", "one").stdout)["items"][0]["space"] == "one"


def test_a_server_that_does_not_answer_is_told_with_what_to_do(run: Run):
    result = run("list", "--url", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "muisti serve" in result.stderr
    assert "Traceback" not in result.output


def test_lists_are_filtered_and_paged(run: Run):
    for number in range(5):
        run("add", f"memory {number}", "--tag", "even" if number % 2 == 0 else "odd", "--category", "c")
    assert [line.split("\t")[3] for line in run("list", "--tag", "odd").stdout.splitlines()] == ["memory 3", "memory 1"]
    assert len(run("list", "--tag", "odd,even", "--after", "2000-01-01").stdout.splitlines()) == 5
    assert run("list", "--before", "2000-01-01").stdout == ""
    assert len(run("list", "--filter", '{"category": "c"}', "--tag", "even").stdout.splitlines()) == 3
    first = json.loads(run("list", "--limit", "2", "--json").stdout)
    second = json.loads(run("list", "--limit", "5", "--cursor", first["next_cursor"], "--json").stdout)
    contents = [memory["content"] for memory in first["items"] + second["items"]]
    assert contents == [f"memory {number}" for number in (4, 3, 2, 1, 0)]
    added(run, "it was so", "--valid-to", "2026-01-01")
    assert [len(run("list", "--valid-at", f"{year}-01-01").stdout.splitlines()) for year in (2025, 2026)] == [6, 5]
    assert second["next_cursor"] is None


def test_lists_are_sorted_by_creation_or_change_and_read_whole(run: Run):
    ids = [added(run, f"memory {number}")["id"] for number in range(4)]
    run("update", ids[0], "--author", "ann")

    def listed(*words: str) -> list[str]:
        return [line.split("\t")[0] for line in run("list", *words).stdout.splitlines()]

    assert listed() == ids[::-1]
    assert listed("--reverse") == ids
    assert listed("--sort", "updated") == listed("--sort", "updated", "--all") == [ids[0], *ids[:0:-1]]
    assert listed("--sort", "updated", "--reverse") == [*ids[1:], ids[0]]
    first = json.loads(run("list", "--sort", "updated", "--limit", "3", "--json").stdout)
    assert listed("--cursor", first["next_cursor"]) == [ids[1]]
    assert run("list", "--sort", "created", "--cursor", first["next_cursor"]).exit_code == 64
    changed = json.loads(run("get", ids[0], "--json").stdout)["updated_at"]
    assert run("list", "--sort", "updated").stdout.splitlines()[0].split("\t")[1] == changed
    assert listed("--changed-after", changed) == [ids[0]]
    assert listed("--changed-before", changed) == ids[:0:-1]


def test_a_list_is_as_long_as_it_is_asked_to_be(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.service.cli.commands.read.PAGE_MAX", 2)
    ids = [added(run, f"memory {number}")["id"] for number in range(5)]
    for order in ("created", "updated"):
        everything = run("list", "--all", "--sort", order, "--json")
        found = json.loads(everything.stdout)
        assert ([one["id"] for one in found["items"]], found["next_cursor"]) == (ids[::-1], None)
        assert "Read 2 memories" in everything.stderr
    three = json.loads(run("list", "--limit", "3", "--json").stdout)
    assert [one["id"] for one in three["items"]] == ids[:1:-1]
    rest = json.loads(run("list", "--limit", "500", "--cursor", three["next_cursor"], "--json").stdout)
    assert [one["id"] for one in rest["items"]] == ids[1::-1]
    assert run("list", "--all", "--limit", "3").exit_code == 64


def test_types_and_statuses_are_repeated_or_listed(run: Run):
    for kind in ("fact", "guard", "preference"):
        run("add", f"a {kind} of red", "--type", kind)
    run("add", "a maybe of red", "--status", "candidate")

    def count(*words: str) -> int:
        return len(run(*words).stdout.splitlines())

    assert count("list", "--type", "fact,guard") == count("list", "--type", "fact", "--type", "guard") == 2
    assert count("list", "--status", "active,candidate") == 4
    assert count("search", "red", "--status", "candidate,active", "--type", "fact", "--all") == 2
    assert run("list", "--type", "fact,nonsense").exit_code == 64


def test_metadata_is_shown_as_json(run: Run):
    id_ = added(run, "merged", "--metadata", '{"pr": "12", "done": true}', "--tag", "a,b")["id"]
    lines = dict(line.split("\t", 1) for line in run("get", id_).stdout.splitlines() if "\t" in line)
    assert json.loads(lines["metadata"]) == {"pr": "12", "done": True}
    assert lines["tags"] == "a, b"


def test_what_is_said_beside_hits_fits_them(run: Run):
    """`Nothing about this` is said when nothing is, and not when a filter or a phrase leaves nothing."""
    run("add", "penguin migration runs in winter", "--author", "ann")
    asked = ("search", "kubernetes ingress tls certificate rotation winter cluster")
    hidden, shown = run(*asked), run(*asked, "--all")
    assert hidden.stdout == "" and "Nothing about this in the space notes. --all shows" in hidden.stderr
    assert "penguin" in shown.stdout and "these memories come nearest" in shown.stderr
    for words in (("winter", "--author", "bob"), ("winter runs", "--match", "phrase"), ("zebra", "--match", "all")):
        said = run("search", *words).stderr
        assert "matches" in said and "about" not in said, words
    found = run("search", "penguin migration runs in winter")
    assert "penguin" in found.stdout and "Nothing" not in found.stderr


def test_a_merge_with_drop_may_be_repeated(run: Run):
    added(run, "one", "--space", "a")
    added(run, "two", "--space", "b")
    assert run("space", "merge", "a", "b", "--drop").exit_code == 0
    again = run("space", "merge", "a", "b", "--drop")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "merged into b before" in again.stderr
    assert run("space", "merge", "typo", "b", "--drop").exit_code == 1


def test_search_answers_are_those_of_the_api(run: Run):
    run("add", "the red house", "--tag", "a")
    run("add", "the red car is red", "--tag", "b")
    found = json.loads(run("search", "red", "--mode", "keyword", "--explain", "--highlight", "--json").stdout)
    assert found["strategy"] == "keyword"
    assert [hit["highlight"] for hit in found["hits"]] == ["the **red** car is **red**", "the **red** house"]
    assert all(hit["explain"]["bm25"] > 0 for hit in found["hits"])
    assert "house" in run("search", "red", "--tag", "a", "--all").stdout
    assert run("search", "red car", "--match", "all", "--limit", "5").stdout.count("\n") == 1
    assert run("search", "red car", "--match", "any", "--limit", "1").stdout.count("\n") == 1
    assert run("search", "red is", "--match", "phrase").stdout == ""
    run("add", "a red boat", "--category", "c", "--author", "Ann", "--type", "guard", "--status", "candidate")
    filters = ("--category", "c", "--author", "Ann", "--type", "guard")
    assert run("search", "red", *filters).stdout == "", "nobody has confirmed it"
    assert "boat" in run("search", "red", *filters, "--status", "candidate", "--all").stdout
    several = '{"type": {"in": ["guard", "fact"]}, "status": {"in": ["active", "candidate"]}}'
    assert run("search", "red", "--filter", several, "--all").stdout.count("\n") == 3
    line = run(
        "search", "red", "--recency-weight", "0.5", "--half-life", "7", "--explain", "--limit", "1", "--all"
    ).stdout
    assert "recency=" in line and "decay.function=half_life decay.half_life_days=7.0000" in line
    named = run("search", "red car last week", "--explain", "--all").stdout
    assert "time.words=last week" in named, "a factor may be words"
    assert "car" in run("search", "--mode", "recent").stdout.splitlines()[0]


def test_the_end_of_an_id_names_a_memory(run: Run):
    memories = [added(run, f"memory {number}") for number in range(3)]
    wanted = memories[1]["id"]
    assert run("get", wanted[-8:]).stdout.endswith("memory 1\n")
    assert run("update", f"…{wanted[-8:]}", "--importance", "low").exit_code == 0
    assert run("feedback", wanted[-8:], "useful").stdout == "1\t0\n"
    assert run("delete", wanted[-8:]).stdout.strip() == wanted
    assert run("get", wanted[-8:]).exit_code == 1
    assert run("history", wanted[-8:]).exit_code == 0
    assert run("restore", wanted[-8:]).stdout == f"{wanted}\t3\n"
    assert run("restore", "0" * 12).exit_code == 1


def test_facets_and_sizes_are_lists_and_objects(run: Run):
    run("add", "one", "--category", "c", "--tag", "t,u")
    run("add", "two", "--category", "c", "--tag", "t")
    assert run("categories").stdout == "c\t2\n"
    assert run("tags").stdout == "t\t2\nu\t1\n"
    assert json.loads(run("tags", "--json").stdout)["items"][0] == {"name": "t", "count": 2}
    assert json.loads(run("stats", "--json").stdout)["memories"] == 2
    assert "memories\t2\n" in run("stats").stdout
    assert {space["name"] for space in json.loads(run("spaces", "--json").stdout)["items"]} >= {"default"}


def test_an_idempotency_key_stores_once(run: Run):
    words = ["add", "x", "--on-conflict", "keep", "--idempotency-key", "k1"]
    first, second = run(*words), run(*words)
    assert first.stdout == second.stdout
    assert len(run("list").stdout.splitlines()) == 1


def test_memories_cannot_steer_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch):
    added(run, "red \x1b[31m alert", "--tag", "a\x1b[0m")
    for_a_person(monkeypatch)
    for words in (["list"], ["search", "alert"]):
        assert "\x1b[31m" not in run(*words, "--no-color").stdout


def test_tables_for_people_have_short_ids_and_relative_times(run: Run, monkeypatch: pytest.MonkeyPatch):
    memory = added(run, "We deploy on Tuesdays", "--tag", "infra", "--category", "rules")
    for_a_person(monkeypatch)
    for words in (["list"], ["search", "deploy", "--explain"], ["get", memory["id"]]):
        shown = run(*words).stdout
        assert memory["id"][-8:] in shown
        assert "We deploy on Tuesdays" in shown
        assert "ago" in shown or "now" in shown
    for words in (["categories"], ["tags"], ["stats"], ["spaces"], ["doctor"]):
        assert run(*words).exit_code == 0
    assert "**" not in run("search", "deploy", "--highlight").stdout
    assert memory["id"] in run("add", "another").stdout or run("delete", memory["id"]).exit_code == 0


@pytest.mark.file_only
def test_doctor_passes_an_empty_folder_and_changes_nothing(run: Run):
    result = run("doctor", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    names = {check["name"] for check in found["checks"]}
    assert names >= {"version", "sqlite", "kernels", "model", "database", "disk", "space"}
    assert list(Path.cwd().iterdir()) == []
    run("add", "x")
    names = {check["name"]: check["status"] for check in json.loads(run("doctor", "--json").stdout)["checks"]}
    assert (names["schema"], names["permissions"]) == ("ok", "ok")


@pytest.mark.file_only
def test_doctor_finds_what_is_wrong(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch):
    file.parent.mkdir()
    file.write_bytes(b"this is no database" * 100)
    damaged = run("doctor")
    assert damaged.exit_code == 1
    assert "integrity\tfailed" in damaged.stdout
    assert run("doctor", "--repair").exit_code == 1 and [each.name for each in file.parent.iterdir()] == ["muisti.db"]
    assert run("list").exit_code == 1
    file.unlink()
    run("add", "x")
    file.chmod(0o644)
    assert "permissions\twarning" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    monkeypatch.setenv("MUISTI_MODEL", str(Path.cwd()))
    assert "model\tfailed" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_ENTITIES", "spacy:no-such-pipeline")
    assert "entities\tfailed" in run("doctor").stdout
    monkeypatch.setenv("MUISTI_PORT", "many")
    assert "settings\tfailed" in run("doctor").stdout


@pytest.mark.file_only
def test_doctor_repairs_what_is_derived_in_place(run: Run, file: Path):
    added(run, "We deploy on Tuesdays", "--tag", "infra", "--metadata", '{"n": 1}')
    with closing(apsw.Connection(str(file))) as database:
        database.execute("UPDATE tags SET tag = 'other'; UPDATE spaces SET memories = 7")
    wrong = run("doctor", "--plain")
    assert (
        wrong.exit_code == 1 and "index\tfailed\tderived data that do not match the memories: 1 of tags" in wrong.stdout
    )
    repaired = run("doctor", "--repair", "--json")
    report = json.loads(repaired.stdout)["repair"]
    assert (repaired.exit_code, report["path"], report["lost"]) == (0, None, []) and report["mended"] >= 2
    assert run("doctor").exit_code == 0
    assert "Tuesdays" in run("list", "--tag", "infra", "--plain").stdout


@pytest.mark.file_only
def test_doctor_saves_what_a_damaged_file_holds_and_says_what_it_does_not(run: Run, file: Path):
    lost = added(run, "We deploy on Tuesdays")
    kept = added(run, "Backups are made at night")
    damaged = file.read_bytes().replace(b"Tuesdays", b"tuesdays")  # which no page tells, but the checksum
    file.write_bytes(damaged)
    found = run("doctor")
    assert found.exit_code == 1 and "memories\tfailed\t1 version does not say what was stored" in found.stdout
    repaired = run("doctor", "--repair", "--plain")
    assert repaired.exit_code == 1 and f"lost\t{lost['id']}\t1\t" in repaired.stdout
    assert file.read_bytes() == damaged
    new = next(line.split("\t")[1] for line in repaired.stdout.splitlines() if line.startswith("file\t"))
    file.with_name("muisti.db-wal").write_bytes(b"left behind")
    assert run("restore-backup", new, "--force").exit_code == 0
    assert run("list", "--plain").stdout.count(kept["id"]) == 1 and "uesdays" not in run("list").stdout
    assert run("doctor").exit_code == 0
    assert run("doctor", "--repair", "--url", "http://127.0.0.1:1").exit_code == 64


@pytest.mark.file_only
def test_doctor_knows_spaces_of_one_project(run: Run):
    run("add", "before there was a remote")
    Path(".git").mkdir()
    Path(".git/HEAD").write_text("ref: refs/heads/main")
    Path(".git/config").write_text('[remote "origin"]\n\turl = git@github.com:acme/web.git\n')
    report = run("doctor", "--quick")
    assert report.exit_code == 0 and "project\twarning" in report.stdout and "acme.web --drop" in report.stdout


def test_reembedding_gives_a_space_the_model_that_runs(run: Run, monkeypatch: pytest.MonkeyPatch):
    run("add", "We deploy on Tuesdays")
    assert run("reembed").exit_code == 64
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")
    result = run("reembed", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["generation"]
    assert json.loads(run("search", "deploy", "--mode", "semantic", "--json").stdout)["hits"]
    assert run("reembed", "--space", "missing").exit_code == 1
    run("add", "They deploy on Fridays", "--space", "other")
    every = json.loads(run("reembed", "--all", "--json").stdout)["items"]
    assert {one["name"] for one in every} >= {"notes", "other"} and all(one["generation"] for one in every)
    assert run("reembed", "--all", "--space", "other").exit_code == 64


def test_shortcuts_and_a_filter_hold_together():
    names = ("category", "author", "entity", "after", "before", "changed_after", "changed_before", "valid_at")
    none: dict[str, Any] = {**dict.fromkeys(names), "type_": (), "status": ()}
    assert as_filter(None, **none, tags=()) is None
    assert as_filter({"or": []}, **none, tags=()) == {"or": []}
    both = as_filter({"key": "k"}, **none | {"category": "c"}, tags=("a,b", "c"))
    assert both == {"and": [{"key": "k"}, {"category": "c", "tags": {"any": ["a", "b", "c"]}}]}


def commands() -> dict[str, click.Command]:
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_its_summary(name: str, run: Run):
    shown = run(name, "--help").stdout
    assert f"  muisti {name}" in shown
    assert GLOBAL in shown
    assert (commands()[name].help or "").startswith(COMMANDS[name][1])
    assert commands()[name].name == name


def test_every_help_below_has_an_example(run: Run):
    shown = run("--help").stdout
    assert "Examples:" in shown and all(f"{title}:" in shown for title in SECTIONS)
    for name, command in commands().items():
        for below in getattr(command, "commands", ()):
            examples = run(name, below, "--help").stdout.partition("Examples:")[2]
            assert f"muisti {name} {below}" in examples


def test_every_exit_code_is_documented():
    codes = DOCS.read_text().partition("## Exit codes")[2].partition("\n## ")[0]
    assert [code for code in (0, 1, 2, 3, 64) if f"| {code} |" not in codes] == []


def test_serve_has_a_flag_for_every_setting():
    flags = {param.opts[0] for param in commands()["serve"].params}
    assert {setting.flag for setting in options()} <= flags
