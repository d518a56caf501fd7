"""False alarms and misses of the recognition of secrets.

    python -m loadtests.quality.screening FOLDER ... --made tests/core/text/stated.jsonl

Each FOLDER holds judged data (`evaluation.dataset`), in whose texts every secret that is found counts as a false
alarm. The file of made texts has an object a line: `text`, `language`, `form`, and the `secret` in it, or null where
there is none. Nothing of a text is printed; `--show` prints what was found.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from muisti.core.text.recognise import Found
from muisti.core.text.secrets import secrets_in
from muisti.service.evaluation.dataset import DatasetError, load

PER = 10_000  # texts


@dataclass(frozen=True, slots=True)
class Outcome:
    """Texts by what screening does to them: refused, flagged, and all."""

    refused: int
    flagged: int
    texts: int

    @property
    def passed(self) -> int:
        return self.texts - self.refused - self.flagged


def outcome(found: Sequence[Sequence[Found]]) -> Outcome:
    """Count texts by what was found in each: a sure secret refuses, an unsure one flags."""
    refused = sum(any(one.sure for one in each) for each in found)
    return Outcome(refused, sum(bool(each) for each in found) - refused, len(found))


def alarms(named: Mapping[str, Sequence[Sequence[Found]]]) -> Iterator[str]:
    """Yield a table of false alarms: a row for each set of texts, and one for all."""
    yield f"| texts | number | refused | flagged | refused per {PER:,} | flagged per {PER:,} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    every = [found for texts in named.values() for found in texts]
    for name, found in [*named.items(), ("all", every)]:
        counts = outcome(found)
        rates = " | ".join(f"{PER * count / max(counts.texts, 1):.1f}" for count in (counts.refused, counts.flagged))
        yield f"| {name} | {counts.texts:,} | {counts.refused} | {counts.flagged} | {rates} |"


def misses(made: Sequence[Mapping[str, str | None]]) -> Iterator[str]:
    """Yield a table of made texts by language and by form: those with a secret, then the harmless ones."""
    yield "| made texts | number | refused | flagged | passed |"
    yield "| --- | --- | --- | --- | --- |"
    with_secret = [one for one in made if one["secret"] is not None]
    harmless = [one for one in made if one["secret"] is None]
    groups = {"with a secret": with_secret, "harmless": harmless}
    for field in ("language", "form"):
        for value in dict.fromkeys(str(one[field]) for one in with_secret):
            groups[f"with a secret, {field} {value}"] = [one for one in with_secret if one[field] == value]
    for name, group in groups.items():
        counts = outcome([right(str(one["text"]), one["secret"]) for one in group])
        yield f"| {name} | {counts.texts} | {counts.refused} | {counts.flagged} | {counts.passed} |"


def right(text: str, secret: str | None) -> list[Found]:
    """Return what is found in a text; of one with a secret only what covers the secret, but for marks at its end."""
    found = secrets_in(text)
    if secret is None:
        return found
    start = text.index(secret)
    stop = start + len(secret.rstrip("!?#%*"))
    return [one for one in found if one.start <= start and one.stop >= stop]


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--made", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="File of made texts.")
@click.option("--show", is_flag=True, help="Print what was found in the texts of the folders.")
def main(folders: Sequence[Path], made: Path | None, show: bool) -> None:
    """Measure false alarms and misses of the recognition of secrets."""
    if not folders and made is None:
        raise click.UsageError("name a folder of judged data, or --made a file, or both")
    named: dict[str, list[list[Found]]] = {}
    for folder in folders:
        try:
            dataset = load(folder)
        except DatasetError as error:
            raise click.UsageError(str(error)) from error
        texts = [one.text for documents in dataset.documents.values() for one in documents]
        named[dataset.name] = [secrets_in(text) for text in texts]
        for text, found in zip(texts, named[dataset.name], strict=True):
            for one in found if show else ():
                click.echo(f"{dataset.name}: {one.kind}: {text[max(0, one.start - 40) : one.stop]!r}", err=True)
    if named:
        click.echo("\n".join(alarms(named)))
    if made is not None:
        lines = [json.loads(line) for line in made.read_text("utf-8").split("\n") if line]
        click.echo("\n".join(misses(lines)))


if __name__ == "__main__":
    sys.exit(main())
