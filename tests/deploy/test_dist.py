"""`make dist` puts every module, model and licence into the wheel, and equal trees give equal archives."""

import io
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from deploy.dist import building, contents, parts

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
STEM = f"muisti-{PROJECT['project']['version']}"
KERNELS = f"{contents.LIBRARY}0.so"
ABOUT, DATA = f"{STEM}.dist-info", f"{STEM}.data/data/share/doc/muisti"


def wheel(folder: Path, *, without: str = "", more: tuple[str, ...] = ()) -> Path:
    """Make a wheel with the names of all files that it should have."""
    licences = [f"{ABOUT}/licenses/{name}" for name in contents.licences()]
    names = {
        KERNELS,
        *contents.NEEDED,
        *contents.modules(),
        *licences,
        f"{DATA}/CHANGELOG.md",
        f"{ABOUT}/METADATA",
        *more,
    }
    path = folder / f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name in sorted(names - {without}):
            opened.writestr(name, "")
    return path


def test_of_a_wheel_all_that_is_missing_or_too_much_is_told(tmp_path: Path):
    assert [*contents.faults(wheel(tmp_path))] == []
    for name in (
        "muisti/core/embedding/weights/model.safetensors", "muisti/core/engine.py", f"{ABOUT}/licenses/NOTICE",
        f"{ABOUT}/licenses/core/conversations/context/ranks/LICENSE",
        f"{ABOUT}/licenses/core/embedding/weights/MODEL.md",
        f"{ABOUT}/licenses/service/console/static/vendor/LICENCE.uplot.txt", f"{DATA}/CHANGELOG.md",
    ):  # fmt: skip
        assert [*contents.faults(wheel(tmp_path, without=name))] == [f"{name} is missing"]
    for name in ("core/__init__.py", "service/__init__.py", "tests/conftest.py"):  # of a second package
        [fault] = contents.faults(wheel(tmp_path, more=(name,)))
        assert fault.startswith(name.partition("/")[0])
    for name in ("muisti/core/kernels/__pycache__/native-0.so", "muisti/core/engine.pyc"):
        assert [*contents.faults(wheel(tmp_path, more=(name,)))] == [f"{name} was compiled here"]
    for given in (wheel(tmp_path, without=KERNELS), wheel(tmp_path, more=(f"{contents.LIBRARY}1.so",))):
        [fault] = contents.faults(given)
        assert fault.startswith(contents.LIBRARY)


def test_every_licence_of_the_tree_is_declared_and_named_in_the_notice():
    declared = {path for pattern in PROJECT["project"]["license-files"] for path in ROOT.glob(pattern)}
    assert {ROOT / name for name in contents.licences()} == declared
    notice = (ROOT / "NOTICE").read_text("utf-8")
    for path in sorted(declared - {ROOT / "LICENSE", ROOT / "NOTICE"}):
        folder = path.parent.relative_to(ROOT).as_posix()
        assert folder in notice, folder
        assert path.name in notice, path.name


def test_the_project_may_be_uploaded_and_names_no_host():
    assert not [one for one in PROJECT["project"]["classifiers"] if one.startswith("Private")]
    assert PROJECT["project"]["readme"] == "README.md"
    assert "urls" not in PROJECT["project"]


def test_every_folder_of_a_package_is_copied_once():
    dirs = {"muisti": "clients/python/muisti", "muisti.core": "core", "muisti.core.more": "core/more"}
    assert [*building.folders_of(dirs)] == ["clients/python/muisti", "core"]


def archive(path: Path, names: list[str], mtime: int) -> Path:
    with tarfile.open(path, "w:gz") as opened:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname, member.uid, member.mode = len(name), mtime, "me", mtime, 0o600
            opened.addfile(member, io.BytesIO(name.encode()))
    return path


def test_levelled_archives_of_equal_files_are_equal(tmp_path: Path):
    one = archive(tmp_path / "one.tar.gz", ["a/x", "a/y"], 1_000)
    other = archive(tmp_path / "other.tar.gz", ["a/y", "a/x"], 2_000)
    for path in (one, other):
        building.level(path, 1_700_000_000)
    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as opened:
        assert [(member.name, member.mtime, member.mode) for member in opened] == [
            ("a/x", 1_700_000_000, 0o644),
            ("a/y", 1_700_000_000, 0o644),
        ]
        content = opened.extractfile("a/y")
        assert content is not None and content.read() == b"a/y"


def test_the_date_of_a_build_can_be_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert building.epoch() == 1_700_000_000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert building.epoch() == building.EARLIEST
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert building.epoch() >= building.EARLIEST


def test_wheel_and_image_list_their_parts_with_one_program():
    containerfile = (ROOT / "Containerfile").read_text("utf-8")
    assert "deploy/dist/parts.py packages/bin/python /src/pyproject.toml app/sbom.cdx.json" in containerfile
    pinned = (ROOT / "deploy" / "dist" / "requirements.txt").read_text("utf-8")
    assert "-r ../image/tools.txt" in pinned
    allowed = (ROOT / ".containerignore").read_text("utf-8").splitlines()
    assert Path(parts.__file__).relative_to(ROOT).as_posix() in {line.removeprefix("!") for line in allowed}


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "MANIFEST.in"])
def test_the_image_is_built_from_what_the_wheel_is_built_from(name: str):
    assert name in building.FILES
    assert f"!{name}" in (ROOT / ".containerignore").read_text("utf-8").splitlines()
    copies = [
        line.split()[1:-1] for line in (ROOT / "Containerfile").read_text("utf-8").splitlines() if line[:5] == "COPY "
    ]
    assert any(name in copied for copied in copies)
