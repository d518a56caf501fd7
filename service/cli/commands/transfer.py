"""Commands that move memories between spaces, files and systems: export and import."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import Failure, Globals, command
from muisti.service.terminal.options import Moment, allowing, choice, flag, integer, option
from muisti.service.terminal.output import STDOUT, check_folder, print_json, talk, write_file
from muisti.service.terminal.session import space_choice

if TYPE_CHECKING:
    from muisti.service.cli.commands import import_work, local_work
    from muisti.service.formats import line_stream, markdown
    from muisti.service.terminal import transfer_ends
else:  # with the core
    transfer_ends = Lazy("muisti.service.terminal.transfer_ends")
    line_stream = Lazy("muisti.service.formats.line_stream")
    markdown = Lazy("muisti.service.formats.markdown")
    import_work = Lazy("muisti.service.cli.commands.import_work")
    local_work = Lazy("muisti.service.cli.commands.local_work")

SUFFIX = ".ndjson"


@command(
    "muisti export memories.ndjson",
    "muisti export memories.ndjson.zst",
    "muisti export - | gzip > memories.gz",
    "muisti export --format markdown Memories",
    "muisti export --all Everything",
)
@click.argument("file", metavar="FILE")
@flag("--all every", "Export every space: FILE is a folder, with a file for each.")
@choice("--format form", "Lines of JSON, or a folder of notes in Markdown.", ("lines", "markdown"), default="lines")
@flag("--no-vectors", "Leave the vectors out; an import computes them again.")
@flag("--force", "Overwrite an existing file.")
def export(options: Globals, file: str, *, every: bool, form: str, no_vectors: bool, force: bool) -> None:
    """Write a space to a file, or to a folder of Markdown notes.

    The file has lines of JSON (docs/how-to/export.md), with the history and the vectors of the space. It is compressed
    when FILE ends in .zst; - is standard output. The file shows one point in history, whatever is written during the
    export. With --format markdown, FILE is a folder with a note for each current memory. --all writes every space into
    a folder. `muisti import FILE` reads all three; from a folder of --all, it restores each space under its name.
    """
    if every:
        _export_all(options, file, notes=form == "markdown", vectors=not no_vectors, force=force)
        return
    if form == "markdown" and file == STDOUT:
        raise click.UsageError("notes in Markdown are written into a folder")
    vectors, space = form == "lines" and not no_vectors, space_choice(options).space
    with (
        transfer_ends.opened_end(options, need="read") as end,
        transfer_ends.existing(space),
        end.export(space, vectors=vectors) as pieces,
    ):
        if form == "markdown":
            count = _write_notes(pieces, Path(file), force=force)
            talk(f"Wrote {count:,} notes to {file}.")
            return
        _write(pieces, Path(file), force=force)
        if file != STDOUT:
            talk(f"Wrote {Path(file).stat().st_size:,} bytes to {file}.")


def _export_all(options: Globals, folder: str, *, notes: bool, vectors: bool, force: bool) -> None:
    """Write every space into a folder: a file for each, or a folder of notes for each. Prints the space and its file.

    Raises:
        Failure: a file is there already and `force` is not given, or one cannot be written. Files before it stay.
    """
    if folder == STDOUT:
        raise click.UsageError("all spaces are written into a folder")
    if options.space is not None:
        raise click.UsageError("give --all or --space, not both")
    written: list[dict[str, str]] = []
    with transfer_ends.opened_end(options, need="read") as end:
        for space in sorted(end.spaces()):
            path = Path(folder) / (space if notes else space + SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            with end.export(space, vectors=vectors and not notes) as pieces:
                (_write_notes if notes else _write)(pieces, path, force=force)
            written.append({"space": space, "file": str(path)})
            if not options.json:
                click.echo(f"{space}\t{path}")
    if options.json:
        print_json({"items": written})


def _write(pieces: Iterator[bytes], file: Path, *, force: bool) -> None:
    write_file(line_stream.compressed(pieces) if file.suffix == ".zst" else pieces, file, force=force)


def _write_notes(pieces: Iterable[bytes], folder: Path, *, force: bool) -> int:
    """Write a note for each current memory of an export, and return their number.

    Raises:
        Failure: the folder has files already and `force` is not given, or it cannot be written.
    """
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    check_folder(folder)
    try:
        is_free = not folder.exists() or folder.is_dir() and not any(folder.iterdir())
        if not (is_free or force):
            raise Failure(f"{folder} contains files; --force overwrites those of the same names")
        part.mkdir()
        count = 0
        for memory in _current(pieces):
            _write_note(part, memory)
            count += 1
        if is_free:
            part.replace(folder)
        else:
            _move(part, folder)
    except OSError as error:
        raise Failure(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count


def _current(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    waiting: list[bytes] = []
    reader = line_stream.Lines(waiting.extend)
    for piece in pieces:
        reader.feed(piece)
        found, waiting[:] = list(waiting), []
        for line in found:
            record = msgspec.json.decode(line)
            if record["type"] == "version" and record["died"] is None and record["memory"]["status"] != "superseded":
                yield record["memory"]


def _write_note(root: Path, memory: dict[str, Any]) -> None:
    """Write a note under a unique name: its key, or its first words and the end of its id."""
    folder, name = markdown.path_of(memory)
    place = root / folder if folder else root
    place.mkdir(exist_ok=True)
    ends = (f" ({memory['id'][-8:]})", f" ({memory['id']})")
    for end in ("", *ends) if memory.get("key") else ends:
        try:
            with (place / f"{name}{end}.md").open("x", encoding="utf-8", newline="") as file:
                file.write(markdown.note_of(memory))
        except FileExistsError:
            continue
        return
    raise Failure(f"there is a note of the memory {memory['id']} already")


def _move(part: Path, folder: Path) -> None:
    for note in sorted(part.rglob("*.md")):
        place = folder / note.relative_to(part)
        place.parent.mkdir(exist_ok=True)
        note.replace(place)


SYSTEMS = (
    "muisti", "markdown", "basic-memory", "chatgpt", "claude", "claude-code", "codex", "cogx", "cursor", "discord",
    "gemini-cli", "google-keep", "hazina", "joplin", "json", "letta", "librechat", "mcp-memory", "mcp-memory-service",
    "mem0", "memorg", "messenger", "notion", "obsidian", "rules", "simplenote", "slack", "telegram", "vipune",
    "whatsapp", "zakira", "zapomni", "zep",
)  # fmt: skip
AGENTS = (
    "claude-code", "codex", "cursor", "gemini-cli", "windsurf", "cline", "roo", "copilot-cli", "kiro", "jetbrains",
    "opencode", "goose", "zed",
)  # fmt: skip


@command(
    "muisti import memories.ndjson --dry-run",
    "muisti import zakira.db",
    "muisti import ~/Vault",
    """echo '["We deploy on Tuesdays"]' | muisti import -""",
    "muisti import --from mem0 export.json",
    "muisti import ~/.vipune/memories.db --project acme/web",
    "ssh laptop muisti export - | muisti import -",
    "muisti import --local --dry-run",
    "muisti import --local --client codex --since 30d",
    "muisti import --list",
    "muisti import --undo 3",
    name="import",
)
@click.argument("files", metavar="FILE…", nargs=-1)
@choice("--from system", "System that the file comes from, if its content does not show it.", SYSTEMS)
@flag("--dry-run", "Print what the import would do, and change nothing.")
@flag("--each", "Import the valid lines even if others are not.  [default: all or none]")
@option("--project projects", "Only this project of the file, or --local of this folder; repeat it.", multiple=True)
@flag("--local", "Import what the agents of this machine keep, each project into its space.")
@choice("--client agents", "With --local, only of this agent; repeat it.", AGENTS, multiple=True)
@option("--since", "With --local, only what was changed since.", Moment(), metavar="TIME")
@flag("--yes", "With --local, import without asking.")
@allowing("secrets", "Also import texts that look like a password or a key.")
@allowing("personal_data", "Also import texts that look like personal data.")
@flag("--list listed", "List the imports of the space.")
@integer("--undo", "Delete the memories of import N.", 1)
def import_files(options: Globals, files: tuple[str, ...], **how: Any) -> None:
    """Import an export of Muisti, or the memories of another system.

    FILE is a file or folder whose content shows the format (docs/how-to/importing.md); - is standard input. JSON of
    your own is a list of texts or of objects with a text, or one of either in each line. Or it is an object of texts by
    id. Projects and workspaces of other systems become spaces; with --space everything goes into that one. Memories
    that exist already are skipped, so a repeated import changes nothing. Prints how many memories were imported, and
    why others were not.

    --local finds transcripts, memories and rules, such as CLAUDE.md, of the agents on this machine. It shows them and
    asks. What looks like a secret is left out.
    """
    asked = sum((bool(files), how["listed"], how["undo"] is not None, how["local"]))
    if asked != 1:
        raise click.UsageError("give files to import, or --local, or --list, or --undo N")
    if not how["local"] and (how["agents"] or how["since"] or how["yes"]):
        raise click.UsageError("--client, --since and --yes belong to --local")
    if how["local"]:
        local_work.run(options, local_work.wanted(options, how), dry_run=how["dry_run"], yes=how["yes"])
    elif how["listed"]:
        import_work.show_imports(options)
    elif how["undo"] is not None:
        import_work.undo_import(options, how["undo"])
    else:
        way = import_work.How(how["system"], how["dry_run"], not how["each"], how["projects"])
        import_work.bring(options, files, way)
