"""The completion command."""

from importlib import import_module

import click

from muisti.service.cli.base import Command

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MUISTI_COMPLETE"


@click.command(
    cls=Command,
    examples=(
        'eval "$(muisti completion bash)"   # in ~/.bashrc',
        'eval "$(muisti completion zsh)"    # in ~/.zshrc',
        "muisti completion fish > ~/.config/fish/completions/muisti.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell script that completes commands, options and names.

    For bash (4.4 or newer), zsh or fish.
    """
    found = import_module("click.shell_completion").get_completion_class(shell)
    name = str(context.find_root().info_name or "muisti")
    script = found(context.find_root().command, {}, name, VARIABLE)
    click.echo(script.source_template % script.source_vars())
