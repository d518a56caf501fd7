"""Base classes of the commands: global options, loading on first use, help with examples, exit codes."""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import click

from muisti.core.support.lazy import Lazy
from muisti.service.schemas.access_modes import MODES
from muisti.service.terminal.values import OneOf, line_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from muisti.core.engine import Engine
    from muisti.service.auth.access import Access
    from muisti.service.settings import Settings
    from muisti.service.terminal import error_messages, stored_names
    from muisti.service.terminal.client import Client
else:  # needed only for failures and for shell completion, with the settings and a client
    error_messages = Lazy("muisti.service.terminal.error_messages")
    stored_names = Lazy("muisti.service.terminal.stored_names")

Kind = Literal["space", "category", "key", "tag", "author", "memory"]  # of names that are completed
Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]

OK, ERROR, CONFLICT, TOO_LONG, USAGE = 0, 1, 2, 3, 64
GLOBAL = "Global options"
DEBUG = "MUISTI_DEBUG"
SERVICE, COMMANDS = "muisti.service", "cli.commands"  # the folder of modules that a table names without one
WIDTH = 110  # columns of help, where the terminal has them
ACCESS_MODES = tuple(MODES)
HELP_NAMES = ("-h", "--help")
CONTEXT: Mapping[str, Any] = {"max_content_width": WIDTH}
# Words of one meaning, a row each. An unknown command is answered with the commands of its row.
SYNONYMS = tuple(
    words.split()
    for words in (
        "delete rm remove del forget drop erase revoke",
        "get show cat view read which",
        "search find query recall ask grep",
        "list ls all",
        "add create new remember store save put",
        "update edit change patch modify set",
        "serve start run server up",
        "import load restore-backup",
        "export dump backup",
        "undo revert rollback",
        "history log versions",
        "stats info status count",
        "connect setup install init",
        "reembed reindex",
        "space project workspace",
    )
)
FORMATS = ("json", "plain", "csv", "table")  # of an answer; the last one given wins
FIRST = re.compile(r"\n|(?<=\.) ")  # ends the first sentence of a help text
FLAGS = {"help": "--help", "version": "--version"}


class Application(Protocol):
    """The service in this process. The entry point gives it to the frame, which knows no application."""

    def start(self, settings: "Settings", access: "Access" = ..., ensured: str | None = None) -> "Client":
        """Start the application, and return a client of it for one caller. It creates the space `ensured`."""
        ...

    def open_here(self, settings: "Settings") -> "Engine":
        """Open the engine on the database of this machine."""
        ...


@dataclass(slots=True)
class Globals:
    """The global options as given, before or after the name of the command; None means not given."""

    application: ClassVar[Application]
    url: str | None = None
    space: str | None = None
    database: str | None = None
    config: str | None = None
    access: str | None = None
    only_category: str | None = None
    json: bool | None = None
    plain: bool | None = None
    csv: bool | None = None
    table: bool | None = None
    no_color: bool | None = None
    reported_database: bool = False  # the database in use has been reported
    opened: "Client | None" = None  # client that a command shares with the commands that it runs
    debug: bool | None = None
    allowed: tuple[str, ...] = ()  # parts of the policy of the space that do not apply, such as `secrets`


class Failure(click.ClickException):
    """Error that ends a command with its exit code. The message goes to stderr."""

    def __init__(self, message: str, exit_code: int = ERROR) -> None:
        super().__init__(message)
        self.status = exit_code


def global_options() -> list[click.Parameter]:
    """Return the options that are valid before and after the command's name; the last one given wins."""
    return [
        _global("--url", metavar="URL", help="Use the server at this URL, not a database file.  [env: MUISTI_URL]"),
        _global(
            "-s",
            "--space",
            metavar="NAME",
            help="Set of memories to work in; without it, this project's.  [env: MUISTI_SPACE]",
            shell_complete=completes("space"),
        ),
        _global("--database", metavar="FILE", help="Database: a path or a URL.  [env: MUISTI_DATABASE_URL]"),
        _global("--config", metavar="FILE", help="Settings file.  [env: MUISTI_CONFIG; default: muisti.toml here]"),
        _global(
            "--access",
            type=OneOf(ACCESS_MODES),
            metavar="MODE",
            help=f"Limit what a command may do to a database file: {', '.join(ACCESS_MODES)}.  [env: MUISTI_ACCESS]",
        ),
        _global(
            "--only-category",
            metavar="NAME",
            help="Limit a command on a database file to this category.  [env: MUISTI_ONLY_CATEGORY]",
        ),
        _global("--json", is_flag=True, help="Print the JSON of the HTTP API and nothing else."),
        _global("--plain", is_flag=True, help="Print lines with tabs between the values, as into a pipe."),
        _global("--csv", is_flag=True, help="Print CSV: a line of names, then a line for each item."),
        _global("--table", is_flag=True, help="Print tables, as on a terminal, also into a pipe."),
        _global("--no-color", is_flag=True, help="Print without colours.  [env: NO_COLOR]"),
        _global("--debug", is_flag=True, help="Print the stack trace of an error.  [env: MUISTI_DEBUG]"),
    ]


def completes(kind: Kind) -> Complete:
    """Return a function for click that completes names of this kind."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        item = import_module("click.shell_completion").CompletionItem
        done, comma, begun = incomplete.rpartition(",") if kind == "tag" else ("", "", incomplete)
        options = context.ensure_object(Globals)
        return [
            item(f"{done}{comma}{name}", help=about or None)
            for name, about in stored_names.names_of(options, kind)
            if name.startswith(begun)
        ]

    return complete


def _global(*names: str, **attributes: Any) -> click.Option:
    def note(context: click.Context, option: click.Parameter, value: object) -> None:
        noted = context.ensure_object(Globals)
        if value and option.name in FORMATS:
            for other in FORMATS:
                setattr(noted, other, None)
        if value:
            setattr(noted, str(option.name), value)

    return click.Option([*names], expose_value=False, callback=note, **attributes)


class Helped(click.Command):
    """Command whose help shows examples before its options, and names the global options apart."""

    examples: Sequence[str] = ()
    shared: Sequence[click.Parameter] = ()
    own_title = "Options"

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the same names under any context: click keeps the first option of help that it makes."""
        return [*HELP_NAMES]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {example}\n")
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and param not in self.shared]
        rows = [row for param in own if (row := param.get_help_record(ctx)) is not None]
        if rows:
            with formatter.section(self.own_title):
                formatter.write_dl(rows)
        self.format_shared(formatter)

    def format_shared(self, formatter: click.HelpFormatter) -> None:
        """Name the global options, which the main help describes."""
        if self.shared:
            names = ", ".join(max(param.opts, key=len) for param in self.shared)
            with formatter.section(GLOBAL):
                formatter.write_text(f"{names}: see muisti --help")


class Command(Helped):
    """A command with examples, and with the global options."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, context_settings={**CONTEXT}, **attributes)
        self.examples = tuple(examples)
        self.shared = global_options()
        self.params = [*self.params, *self.shared]


def command(
    *examples: str, name: str | None = None, help: str | None = None
) -> Callable[[Callable[..., object]], click.Command]:
    """Return a decorator that makes a command of a function, which gets the global options first.

    Its docstring is the help, unless `help` is given. It may return an exit code.
    """

    def made(function: Callable[..., object]) -> click.Command:
        return click.command(name, cls=Command, examples=examples, help=help)(click.pass_obj(function))

    return made


class Commands(Helped, click.Group):
    """A group of commands, listed in the order in which they are declared. Unknown ones are answered with a hint."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries())

    def summaries(self) -> dict[str, str]:
        """Return what each command does, by its name: the first sentence of its help."""
        return {name: FIRST.split(one.help or "")[0] for name, one in self.commands.items()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.summaries() and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no command {name!r}.{self._meant(ctx, name.lower())}", ctx)
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, name: str) -> str:
        """Return a hint at the command that was meant: by the meaning of the word, else by its letters."""
        if name in FLAGS:
            return f" Did you mean `{ctx.command_path} {FLAGS[name]}`?"
        known = self.summaries()
        same = [word for words in SYNONYMS if name in words for word in words if word in known]
        near = same or get_close_matches(name, known, n=1)
        hint = " or ".join(repr(word) for word in near[:2])
        return f" Did you mean {hint}?" if near else f" There are: {', '.join(known)}."

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete names of commands and options, without importing the commands."""
        item = import_module("click.shell_completion").CompletionItem
        named = [item(name, help=text) for name, text in self.summaries().items() if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


class Main(Commands):
    """Group of all commands, which are imported when they are called.

    `sections` maps a title to commands, and each to (module:attribute, summary); the module is one of `service`. It
    imports little, so that its help is fast; work that needs the core loads when it runs.
    """

    own_title = GLOBAL

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Mapping[str, tuple[str, str]]],
        examples: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.commands_at = {name: at for section in sections.values() for name, at in section.items()}
        self.sections, self.examples = sections, tuple(examples)

    def summaries(self) -> dict[str, str]:
        return {name: summary for name, (_, summary) in self.commands_at.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands_at:
            return None
        module, _, attribute = self.commands_at[cmd_name][0].partition(":")
        return getattr(Lazy(f"{SERVICE}.{module if '.' in module else f'{COMMANDS}.{module}'}"), attribute)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in section.items()])
        super().format_options(ctx, formatter)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _enough():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _enough():
            return super().invoke(ctx)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command and exit. Usage errors exit with 64 instead of click's 2, which means a conflict here.

        A fault outside of Muisti, such as a full disk, prints one line; --debug or MUISTI_DEBUG adds its stack trace.
        """
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        given = args[0] if args else extra.get("args")
        debug = "--debug" in (sys.argv[1:] if given is None else given) or os.environ.get(DEBUG, "") not in ("", "0")
        try:
            result = super().main(*args, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:  # to ask for nothing is to ask what there is
            click.echo(error.format_message())
            sys.exit(OK)
        except click.Abort:
            click.echo("Stopped.", err=True)
            sys.exit(ERROR)
        except Exception as error:  # Muisti's own faults are raised again below, all others become one line
            failure = _one_line(error) if isinstance(error, click.ClickException) else error_messages.failure_of(error)
            if failure is None:  # a fault of Muisti's own
                raise
            if debug:
                import_module("traceback").print_exception(error)
            failure.show()
            sys.exit(_exit_code(failure))
        sys.exit(result if isinstance(result, int) else OK)


class Subcommands(Commands):
    """A group below the main one, with examples and the global options. Each of its commands has them too."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        helps = not attributes.get("invoke_without_command")
        super().__init__(*args, context_settings={**CONTEXT}, no_args_is_help=helps, **attributes)
        self.examples = tuple(examples)
        self.shared = global_options()
        self.params = [*self.params, *self.shared]

    def has(
        self, *examples: str, name: str | None = None, help: str | None = None
    ) -> Callable[[Callable[..., object]], click.Command]:
        """Return a decorator that makes a command of a function, as `command` does, and adds it to the group."""

        def made(function: Callable[..., object]) -> click.Command:
            below = command(*examples, name=name, help=help)(function)
            self.add_command(below)
            return below

        return made

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([*self.summaries().items()])


@contextmanager
def _enough() -> Iterator[None]:
    """Exit with 0 when a reader such as `head` closes the pipe: click would exit with 1, a failure to a shell."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        raise click.exceptions.Exit(OK) from error


def _one_line(error: click.ClickException) -> click.ClickException:
    """Return the error; a wrong value becomes one line without the usage of the command."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return Failure(line_of(error), USAGE)
    return error


def _exit_code(error: click.ClickException) -> int:
    if isinstance(error, Failure):
        return error.status
    return USAGE if isinstance(error, click.UsageError) else ERROR
