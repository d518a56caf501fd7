"""The first command of an installation without compiled loops compiles them once, and says so on stderr."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from muisti.core.operations.compiled_kernels import Compiled
from muisti.service.terminal import progress
from muisti.service.terminal.base import Globals

PENDING = Compiled(ahead=False, pending=True, place="/cache/muisti", why=None, warning=None)
BY_NUMBA = Compiled(ahead=False, pending=False, place="/cache/muisti", why="there is no C compiler (gcc)", warning=None)
MADE = Compiled(ahead=False, pending=False, place="/cache/muisti", why=None, warning=None)
AHEAD = Compiled(ahead=True, pending=False, place=None, why=None, warning=None)
NOWHERE = Compiled(ahead=False, pending=False, place=None, why=None, warning="compiled kernels cannot be kept")


class Kernels:
    """A folder of kernels: `states` before and after each compilation."""

    def __init__(self, *states: Compiled, fails: bool = False) -> None:
        self._states: Iterator[Compiled] = iter(states)
        self.state = next(self._states)
        self._fails, self.compiled = fails, 0

    def compiled_kernels(self) -> Compiled:
        return self.state

    def compile_kernels(self, report: Callable[[int, int], None]) -> Compiled:
        if self._fails:
            raise OSError(28, "No space left on device")
        report(1, 1)
        self.compiled += 1
        self.state = next(self._states)
        return self.state


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `compile_once` on kernels and return what it printed, all on stderr."""

    def run(kernels: Kernels, *, again: bool = False) -> str:
        functions = SimpleNamespace(compiled_kernels=kernels.compiled_kernels, compile_kernels=kernels.compile_kernels)
        monkeypatch.setattr(progress, "compiled_kernels", functions)
        progress.compile_once(Globals(), again=again)
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err

    return run


def test_it_compiles_once_and_says_where_and_why(once: Callable[..., str]):
    kernels = Kernels(PENDING, BY_NUMBA)
    said = once(kernels).splitlines()
    assert said[0].startswith("Compiling Muisti's search loops into /cache/muisti, once")
    assert "there is no C compiler (gcc)" in said[-1] and "muisti doctor" in said[-1]
    assert once(kernels) == "" and kernels.compiled == 1


def test_doctor_tries_again_for_a_compiler_that_is_there_now(once: Callable[..., str]):
    kernels = Kernels(BY_NUMBA, MADE)
    assert "the next start loads a library from /cache/muisti" in once(kernels, again=True)
    assert kernels.compiled == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_library_that_is_loaded_is_left_alone(once: Callable[..., str], again: bool):
    kernels = Kernels(AHEAD)
    assert once(kernels, again=again) == "" and kernels.compiled == 0


def test_where_nothing_can_be_kept_nothing_is_compiled_in_advance(once: Callable[..., str]):
    kernels = Kernels(NOWHERE)
    assert once(kernels) == "Note: compiled kernels cannot be kept.\n" and kernels.compiled == 0


def test_a_full_disk_is_told_and_the_command_goes_on(once: Callable[..., str]):
    assert "cannot be kept in /cache/muisti: No space left on device" in once(Kernels(PENDING, fails=True))
