"""Make the base of the image with debootstrap, where Debian's packages are reachable and no image registry is.

`python -m deploy.image.base buildah` needs root, debootstrap and buildah, which may be followed by options of its own.
In buildah's store the base gets the name that the Containerfile has for it.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CONTAINERFILE = Path(__file__).parents[2] / "Containerfile"
# What Debian's own slim images leave out as well, now and from whatever is installed on top.
LEFT_OUT = ("usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man")
MADE_ANEW = ("var/cache/apt", "var/lib/apt/lists")
DPKG = "force-unsafe-io\n" + "".join(f"path-exclude /{name}/*\n" for name in LEFT_OUT)
APT = 'Acquire::Languages "none";\n'


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="muisti-base-") as folder:
        root = Path(folder, "root")
        sources = list(archives())
        debootstrap(root, *sources[0])
        (root / "etc/apt/sources.list").write_text("".join(f"deb {uri} {suite} main\n" for uri, suite in sources))
        (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(DPKG)
        (root / "etc/apt/apt.conf.d/slim").write_text(APT)
        for name in (*LEFT_OUT, *MADE_ANEW):
            shutil.rmtree(root / name)
            (root / name).mkdir()
        tag(root, name_of_base(), sys.argv[1:])


def archives() -> Iterator[tuple[str, str]]:
    """Where this machine has its Debian from: URI and suite of the release, of its updates, of security.

    Raises:
        SystemExit: it has it from nowhere.
    """
    wanted = "$(CODENAME) $(REPO_URI) $(RELEASE)"
    listed = output(["apt-get", "indextargets", "--format", wanted, "Created-By: Packages", "Component: main"])
    codename = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text("utf-8"), re.MULTILINE)
    suites = [line.split() for line in dict.fromkeys(listed.splitlines())]
    ours = [(uri, suite) for name, uri, suite in suites if codename and name.partition("-")[0] == codename[1]]
    if not ours:
        sys.exit("apt names no archive of this machine's Debian; run apt-get update, or see /etc/apt/sources.list.d")
    yield from sorted(ours, key=lambda archive: len(archive[1]))  # the release itself has the shortest name


def debootstrap(root: Path, uri: str, suite: str) -> None:
    """A Debian in the folder, with no more than apt needs.

    Raises:
        SystemExit: it cannot be had.
    """
    command = ["debootstrap", "--variant=minbase", suite, str(root), uri]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"debootstrap failed: {done.stdout[-500:]}")


def tag(root: Path, name: str, buildah: Sequence[str]) -> None:
    """Make the folder an image of one layer."""
    archive = root.with_suffix(".tar")  # from an archive buildah takes owners as they are
    output(["tar", "--numeric-owner", "-C", str(root), "-cf", str(archive), "."])
    container = output([*buildah, "from", "scratch"]).strip()
    try:
        output([*buildah, "add", "--quiet", container, str(archive), "/"])
        output([*buildah, "config", "--cmd", "bash", container])
        output([*buildah, "commit", "--quiet", container, name])
    finally:
        output([*buildah, "rm", container])


def name_of_base() -> str:
    """Return the default base image of the Containerfile."""
    found = re.search(r"^ARG BASE=(\S+)$", CONTAINERFILE.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
