"""A server announces itself beside its file; only a live server, announced by the owner of the file, is found."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from muisti.service.runtime.running import Announcement, Running, running_on
from muisti.service.version import installed_version

URL = "http://127.0.0.1:8321"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    path.touch()
    return path


def left_over(database: Path) -> Path:
    return Path(f"{database}-server")


def test_a_server_is_found_from_its_announcement_to_its_end(database: Path):
    assert running_on(database) is None
    with Announcement(database) as announcement:
        assert running_on(database) is None and not left_over(database).exists()
        assert announcement.publish(URL)
        assert running_on(database) == Running(URL, announcement.secret, os.getpid(), installed_version())
    assert running_on(database) is None and not left_over(database).exists()


def test_the_secret_is_for_the_user_alone_and_not_in_words(database: Path):
    with Announcement(database) as announcement:
        announcement.publish(URL)
        assert left_over(database).stat().st_mode & 0o777 == 0o600
        found = running_on(database)
        assert found is not None and len(found.secret) >= 40 and found.secret not in repr(found)
    with Announcement(database) as another:
        assert another.secret != announcement.secret


def test_what_a_killed_server_left_is_not_believed(database: Path):
    code = (
        "import sys, time; from pathlib import Path; from muisti.service.runtime.running import Announcement\n"
        f"Announcement(Path(sys.argv[1])).publish({URL!r}); print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, database], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        found = running_on(database)
        assert found is not None and found.pid == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left_over(database).exists() and running_on(database) is None
    with Announcement(database) as announcement:  # the next server takes its place
        assert announcement.publish(URL) and running_on(database) is not None


def loosen(path: Path) -> None:
    path.chmod(0o640)


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(path, 12345, -1)


def scribble(path: Path) -> None:
    path.write_bytes(b"{")


def link(path: Path) -> None:
    kept = path.rename(path.with_name("kept"))
    path.symlink_to(kept)


@pytest.mark.parametrize("spoil", [loosen, give_away, scribble, link])
def test_an_announcement_that_another_could_have_made_is_not_believed(database: Path, spoil: Callable[[Path], None]):
    with Announcement(database) as announcement:
        announcement.publish(URL)
        spoil(left_over(database))
        assert running_on(database) is None


def test_the_first_of_two_servers_is_found(database: Path):
    with Announcement(database) as first, Announcement(database) as second:
        assert first.publish(URL) and not second.publish("http://127.0.0.1:1")
        found = running_on(database)
        assert found is not None and found.url == URL


def test_a_folder_that_cannot_be_written_and_a_database_elsewhere_announce_nothing(tmp_path: Path):
    assert not Announcement(tmp_path / "missing" / "m.db").publish(URL)
    assert not Announcement(None).publish(URL)
