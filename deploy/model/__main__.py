"""Builds Muisti's model. The build folder keeps finished stages, so an interrupted build resumes."""

import argparse
import os
import time
from collections import Counter
from pathlib import Path
from subprocess import CalledProcessError

from deploy.model import corpus, export, packages
from deploy.model.card import Facts, write_card
from deploy.model.decontaminate import Contamination
from deploy.model.progress import say
from deploy.model.stages import Build, teach, train_student

SEED = 20_261_122
WARNING = """
NOT DECONTAMINATED: no folder of evaluation data was given. The model's scores on any judged set that overlaps its
training texts are worth nothing. Give one: make model DATA=path/to/folder
"""
FETCHING = """
Debian's packages need `apt-get update` first. For a version that a registry no longer carries, put the current one into
deploy/model/sources.toml.
"""


def main() -> None:
    options = _options()
    began = time.monotonic()

    def stage(said: str) -> None:
        say(f"[{(time.monotonic() - began) / 60:5.1f} min, {_processor_seconds() / 60:5.1f} of processor] {said}")

    build = Build(options.build, options.threads, SEED, options.decontaminate is not None, options.from_scratch)
    stage("1/5 fetching packages by pip, npm and apt-get (Debian's need `apt-get update` first)")
    sources = packages.listed()
    try:
        packages.fetch(sources, build.downloads)
    except CalledProcessError as error:
        raise SystemExit(f"{error.cmd[0]} could not fetch what it names above. {FETCHING}") from error
    stage("2/5 reading texts into pairs")
    contamination = _contamination(options.decontaminate)
    texts = packages.texts(sources)
    shelf = corpus.Shelf(build.downloads, build.pairs, contamination, SEED)
    readings = corpus.read_all(texts, shelf, options.threads)
    pairs = {source: corpus.load_pairs(source, build.pairs, SEED) for source in texts}
    stage("3/5 the teacher embeds its lessons")
    lesson = teach(build, pairs)
    stage("4/5 training")
    trained = train_student(build, pairs, lesson)
    stage("5/5 writing the model and its card")
    export.save(trained.arrays, trained.tokenizer, options.output)
    kinds = Counter(pair.kind for found in pairs.values() for pair in found)
    facts = Facts(
        readings,
        kinds,
        trained.pairs,
        len(lesson.pairs),
        len(trained.arrays.weights),
        build.decontaminated,
        build.from_scratch,
    )
    write_card(options.output, facts)
    stage(f"done: {options.output}" + ("" if build.decontaminated else WARNING))


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of its ended children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _contamination(folder: Path | None) -> Contamination | None:
    if folder is None:
        say(WARNING)
        return None
    found = Contamination.of_folder(folder)
    say(f"  no pair may share one of {len(found):,} runs of nine words in {folder}")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make model", description=__doc__)
    parser.add_argument("--decontaminate", type=Path, metavar="FOLDER", help="evaluation data: *.jsonl, at any depth")
    parser.add_argument(
        "--build", type=Path, default=Path("build/model"), help="downloads and stages, kept between runs"
    )
    parser.add_argument("--output", type=Path, default=Path("build/model/output"), help="where the model is written")
    parser.add_argument("--from-scratch", action="store_true", help="start from the teacher, not from the ancestor")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of the teacher, and readers")
    return parser.parse_args()


if __name__ == "__main__":
    main()
