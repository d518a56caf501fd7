"""Give `buildah build` the way to package registries: certificates and pip's configuration, as options.

`python -m deploy.image.mounts FOLDER` writes what the build needs to the folder and prints the options. They mount
files for the time of the build alone, of which the image keeps the empty places. Docker's builder has no such option.
"""

import ast
import configparser
import shlex
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

CERTIFICATES = "/run/certificates.crt"
APT = f'Acquire::https::CAInfo "{CERTIFICATES}";\n'


def main() -> None:
    folder = Path(sys.argv[1])
    print(shlex.join(f"--volume={host}:{inside}:ro" for host, inside in mounts(folder)))  # noqa: T201  # its purpose


def mounts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file to mount into the build, with its path inside the container."""
    settings = {**settings_of_pip()}
    certificates = ssl.get_default_verify_paths().cafile
    if certificates is not None:
        settings["cert"] = CERTIFICATES
        (folder / "apt.conf").write_text(APT)
        yield Path(certificates).resolve(), CERTIFICATES
        yield folder / "apt.conf", "/etc/apt/apt.conf.d/90certificates"
    parser = configparser.RawConfigParser()
    parser["global"] = settings
    with (folder / "pip.conf").open("w", encoding="utf-8") as file:
        parser.write(file)
    yield folder / "pip.conf", "/etc/pip.conf"
    for path in paths_in(settings):
        yield path, str(path)


def settings_of_pip() -> Mapping[str, str]:
    """Return pip's settings from its files and environment variables, without those of single commands.

    A variable wins over a file.
    """
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found: dict[str, dict[str, str]] = {"global": {}, ":env:": {}}
    for line in listed.splitlines():
        section, _, rest = line.partition(".")
        name, _, value = rest.partition("=")
        if section in found:
            found[section][name] = str(ast.literal_eval(value))
    return found["global"] | found[":env:"]


def paths_in(settings: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files and folders of this machine that settings name. A `file:` index has its files in its folder."""
    words = " ".join(value for name, value in settings.items() if name != "cert").split()
    plain = (Path(word) for word in words if word.startswith("/"))
    indexes = (Path(word.removeprefix("file://")).parent for word in words if word.startswith("file:///"))
    yield from (path for path in dict.fromkeys((*plain, *indexes)) if path.exists())


if __name__ == "__main__":
    main()
