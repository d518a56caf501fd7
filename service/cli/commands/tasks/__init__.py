"""Commands about tasks, work that outlives the command or request that asked for it."""

from typing import TYPE_CHECKING, get_args

import click

from muisti.core.model.terms import TaskState
from muisti.core.support.lazy import Lazy
from muisti.service.cli.base import Command, Globals, Subcommands
from muisti.service.cli.options import dry_run_option

if TYPE_CHECKING:
    from muisti.service.cli.commands.tasks import watching
else:  # with rich, which `--help` does without
    watching = Lazy("muisti.service.cli.commands.tasks.watching")

COMMANDS = {
    "list": ("tasks:list_tasks", "List tasks, newest first."),
    "show": ("tasks:show", "Show how far a task is, and which items have failed."),
    "watch": ("tasks:watch", "Follow a task until it ends."),
    "cancel": ("tasks:cancel", "End a task; what it has stored stays."),
}

tasks = Subcommands(
    "tasks",
    commands_at=COMMANDS,
    examples=("muisti tasks list --state running", "muisti tasks watch 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11"),
    help="Follow and end work that goes on after its command.\n\nA task of a server is worked on by "
    "the server. A task in a database file is worked on by a command that waits for it, such as `muisti tasks watch`.",
)


@click.command("list", cls=Command, examples=("muisti tasks list", "muisti tasks list --state queued --state running"))
@click.option("--state", "states", type=click.Choice(get_args(TaskState)), multiple=True, help="Only this state.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind of work; repeat it.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Largest number of tasks.")
@click.pass_obj
def list_tasks(options: Globals, states: tuple[str, ...], kinds: tuple[str, ...], limit: int) -> None:
    """List tasks, newest first.

    Prints the ID, the kind, the state, the finished and all items, the failed ones, and when the task was made.
    """
    watching.show_all(options, states, kinds, limit)


@click.command(cls=Command, examples=("muisti tasks show 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11",))
@click.argument("task_id", metavar="ID")
@click.pass_obj
def show(options: Globals, task_id: str) -> None:
    """Show how far a task is, and which items have failed."""
    watching.show(options, task_id)


@click.command(cls=Command, examples=("muisti tasks watch 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11",))
@click.argument("task_id", metavar="ID")
@click.pass_context
def watch(context: click.Context, task_id: str) -> None:
    """Follow a task until it ends.

    On a database file, this command does the work that is left. The exit code is 1 when the task fails.
    """
    context.exit(watching.watch(context.ensure_object(Globals), task_id))


@click.command(cls=Command, examples=("muisti tasks cancel 0b9a3f7e-6c1d-4a52-9d6e-2f1f6f0f8a11",))
@click.argument("task_id", metavar="ID")
@dry_run_option
@click.pass_obj
def cancel(options: Globals, task_id: str, dry_run: bool) -> None:
    """End a task; what it has stored stays.

    Prints the items that were finished. A task that has ended stays as it is.
    """
    watching.cancel(options, task_id, dry_run=dry_run)
