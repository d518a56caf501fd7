"""The skill command: instructions for agents on when to store and search memories."""

from importlib import resources
from pathlib import Path

import click

from muisti.service.cli.base import Failure, Globals, command
from muisti.service.cli.options import flag, option
from muisti.service.cli.output import talk

SKILL = Path("skills") / "muisti" / "SKILL.md"


@command("muisti skill", "muisti skill --install", "muisti skill --install --to .agents", "muisti skill > SKILL.md")
@flag("--install", "Write it where agents look for skills.")
@option(
    "--to folder",
    "Settings folder of the agent.  [default: ~/.claude]",
    click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
)
def skill(options: Globals, install: bool, folder: Path | None) -> None:
    """Print the skill file that teaches an agent to use memory.

    The file (SKILL.md) says when to remember, recall and supersede, and has conventions for categories and tags.
    --install writes it to skills/muisti/SKILL.md in ~/.claude, or in the folder that --to names.
    """
    text = resources.files("muisti.service").joinpath("static", "skill.md").read_text("utf-8")
    if not install:
        click.echo(text, nl=False)
        return
    path = (folder or Path.home() / ".claude") / SKILL
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from error
    click.echo(str(path))
    talk("Agents read it when they start. To remove it, delete that file.")
