"""Every command of the command line with valid arguments, and whether it reads or writes the database.

`python -m tests.service.cli_commands FILE VALUES` runs all that read and write on a file, and prints results as JSON.
"""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import click
from click.testing import CliRunner

from muisti.service.cli import main

Kind = Literal["apart", "reads", "writes", "serves", "looks"]

# Values in braces come from `Values`. apart: needs no database, or stops before it; looks: says itself what is wrong.
COMMANDS: dict[str, tuple[Kind, str]] = {
    "demo": ("apart", ""), "connect": ("apart", "claude-code --print"), "serve": ("serves", "--port 9271"),
    "mcp": ("serves", ""), "skill": ("apart", ""), "hook run": ("apart", ""),
    "hook install": ("apart", "claude-code --dry-run"), "hook uninstall": ("apart", "claude-code --dry-run"),
    "completion": ("apart", "bash"),
    "add": ("writes", "deploys-on-Tuesdays --on-conflict keep --tag infra --category rules"),
    "put": ("writes", "rules deploy changed"), "search": ("reads", "deploys --mode keyword"),
    "context": ("reads", "deploys"), "handoff": ("reads", ""), "list": ("reads", ""), "get": ("reads", "{id}"),
    "update": ("writes", "{id} changed"), "supersede": ("writes", "{id} changed"), "delete": ("writes", "{id}"),
    "validate": ("writes", "another"), "categories": ("reads", ""), "tags": ("reads", ""), "history": ("reads", "{id}"),
    "restore": ("writes", "{id} --to 1"), "undo": ("writes", ""), "changes": ("reads", ""),
    "checkpoint create": ("writes", "another"), "checkpoint list": ("reads", ""),
    "checkpoint delete": ("writes", "here"), "diff": ("reads", "here"), "rollback": ("writes", "here"),
    "space clear": ("writes", "--confirm 'DELETE ALL MEMORIES'"), "conversations list": ("reads", ""),
    "conversations show": ("reads", "talk"), "conversations add": ("writes", "another hello --author Ann"),
    "conversations rename": ("writes", "talk changed"), "conversations move": ("writes", "talk elsewhere"),
    "conversations close": ("writes", "talk"), "conversations reopen": ("reads", "talk"),
    "conversations delete": ("writes", "talk"), "conversations suggest": ("reads", "talk"),
    "conversations adopt": ("reads", ""), "conversations topics": ("reads", "talk"),
    "conversations summarise": ("writes", "--wait"), "conversations summary": ("writes", "talk --renew"),
    "conversations working": ("reads", "talk"), "ingest": ("writes", "{sources}/app.py --as another.py"),
    "documents list": ("reads", ""), "documents show": ("reads", "code/app.py"),
    "documents text": ("reads", "code/app.py"), "documents stale": ("reads", "{sources}"),
    "documents prune": ("reads", "--dry-run"), "documents delete": ("writes", "code/app.py"),
    "hooks install": ("apart", "{sources}"), "hooks remove": ("apart", "{sources}"), "lint": ("reads", ""),
    "code find": ("reads", "nothing"), "code callers": ("reads", "check"), "code callees": ("reads", "deploy"),
    "code outline": ("reads", "code/app.py"), "code map": ("reads", ""), "graph status": ("reads", ""),
    "graph entities": ("reads", ""), "graph show": ("reads", "Ann"), "graph neighbours": ("reads", "Ann"),
    "graph path": ("reads", "Ann Ann"), "graph relations": ("reads", ""), "graph proposals": ("reads", ""),
    "graph communities": ("reads", ""), "graph merge": ("writes", "Ann Annie"),
    "graph keep-apart": ("writes", "Ann Anders"), "graph relate": ("writes", "Ann knows Bob"),
    "graph retract": ("apart", "none"), "graph build": ("writes", ""),
    "graph draw": ("reads", "{folder}/graph-{number}.svg"), "graph export": ("reads", "{folder}/graph-{number}.json"),
    "graph drop": ("writes", ""), "conflicts list": ("reads", ""), "conflicts decide": ("reads", "99 keep"),
    "feedback": ("writes", "{id} useful"), "telemetry": ("reads", "{id}"), "promote": ("apart", ""),
    "prune": ("apart", ""), "purge": ("writes", "{id} --yes --no-report"),
    "verify-report": ("apart", "{folder}/none.json"), "space which": ("apart", ""), "space list": ("reads", ""),
    "space create": ("writes", "another"), "space fork": ("writes", "another"), "space compare": ("looks", "default"),
    "space merge": ("apart", "default s"), "space delete": ("writes", "s --confirm s"), "spaces": ("reads", ""),
    "space warm": ("looks", ""), "stats": ("reads", ""),
    "policy": ("writes", "--secrets allow"), "quota": ("writes", "--memories 100"),
    "export": ("reads", "{folder}/out-{number}.jsonl"), "import": ("writes", "{file}"),
    "backup": ("looks", "{folder}/copy-{number}.db"), "restore-backup": ("looks", "{folder}/none.db"),
    "scrub": ("apart", "--admin-url http://localhost:9"), "doctor": ("looks", ""), "top": ("apart", "--once"),
    "keys create": ("writes", "agent --admin"), "keys list": ("reads", ""), "keys revoke": ("apart", "none"),
    "keys rotate": ("apart", "none"), "keys clear": ("apart", ""), "audit": ("reads", ""),
    "webhook create": ("apart", "https://hooks.example/x"), "webhook list": ("reads", ""),
    "webhook delete": ("apart", "none"), "webhook redeliver": ("apart", "none"), "tasks list": ("reads", ""),
    "generations list": ("reads", ""), "generations build": ("apart", "none"), "generations compare": ("apart", "none"),
    "generations switch": ("apart", "none"), "generations rollback": ("apart", "none"),
    "generations drop": ("apart", "none"), "tasks show": ("apart", "none"), "tasks watch": ("apart", "none"),
    "tasks cancel": ("apart", "none"), "models test": ("apart", ""), "reembed": ("apart", ""),
    "eval": ("apart", "{folder}/none"), "calibrate": ("apart", "{folder}/none"),
    "probe add": ("writes", "deploys {id}"), "probe list": ("reads", ""), "probe run": ("apart", ""),
    "probe delete": ("apart", "none"), "reads list": ("reads", ""), "reads unanswered": ("reads", ""),
    "reads forget": ("reads", ""), "receipt list": ("reads", ""), "receipt show": ("apart", "none"),
    "receipt replay": ("apart", "none"), "placement list": ("reads", ""), "placement plan": ("reads", ""),
    "placement check": ("reads", ""), "placement add": ("apart", "other file:{folder}/other.db --dry-run"),
    "placement move": ("writes", "#17 --target main"), "placement promote": ("writes", "default --target main"),
    "placement drain": ("apart", "none"),
}  # fmt: skip


@dataclass
class Ran:
    """How a command ended. `error` is what no command may raise."""

    status: int
    stdout: str
    stderr: str
    error: str = ""

    @property
    def lines(self) -> list[str]:
        """The lines on stderr that say why it failed."""
        return [line for line in self.stderr.splitlines() if line.startswith("Error:")]


def tree(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The commands with their words, groups too, as the command line itself lists them."""
    yield path, command
    context = click.Context(command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        assert inner is not None
        yield from tree(inner, (*path, name))


def of_the_tree(group: click.Group) -> set[str]:
    """The words of all commands that are no groups."""
    return {" ".join(path) for path, command in tree(group) if not isinstance(command, click.Group)}


def run(command: str, database: str, values: Mapping[str, str]) -> Ran:
    """Run a command with its arguments of the table."""
    return call(database, *command.split(), *shlex.split(COMMANDS[command][1].format(**values)))


def call(database: str, *words: str) -> Ran:
    """Run a command on a database in this process."""
    options = ["--database", database, "--space", "s"]
    result = CliRunner().invoke(main, [*words, *options], input="", prog_name="muisti")
    error = result.exception
    message = "" if error is None or isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    return Ran(result.exit_code, result.stdout, result.stderr, message)


def run_all(database: str, values: Mapping[str, str], kinds: tuple[Kind, ...]) -> dict[str, Ran]:
    """Run all commands of some kinds."""
    chosen = [name for name, (kind, _) in COMMANDS.items() if kind in kinds]
    return {name: run(name, database, {**values, "number": str(at)}) for at, name in enumerate(chosen)}


if __name__ == "__main__":
    found = run_all(sys.argv[1], json.loads(sys.argv[2]), ("reads", "writes", "looks", "serves"))
    sys.stdout.write(json.dumps({name: asdict(ran) for name, ran in found.items()}))
