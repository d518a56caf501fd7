"""Cost of starting a command: it imports only the modules that it needs."""

import subprocess
import sys

HEAVY = {
    "apsw", "muisti.core.model.values", "httpx", "litestar", "mcp", "model2vec", "numba", "numpy", "rich", "structlog",
}  # fmt: skip


def imported(code: str) -> list[str]:
    """Return the heavy modules that a new process has imported after running the code."""
    code += f"\nimport sys; print(*sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-600:]
    return done.stderr.split()


def test_help_of_no_command_imports_a_heavy_module():
    walk = """
import sys, click
from muisti.service.cli import main

def helps(command, words):
    context = click.Context(command, info_name=words[-1])
    before = set(sys.modules)
    shown = command.get_help(context).partition("\\nExamples:")[2]
    assert f"\\n  {' '.join(words)}" in shown or words == ["muisti"] or " | muisti hook run" in shown, words
    heavy = HEAVY & (set(sys.modules) - before)
    assert not heavy, f"{' '.join(words)} imports {heavy}"
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        found = command.get_command(context, name)
        heavy = HEAVY & (set(sys.modules) - before)
        assert not heavy, f"{' '.join([*words, name])} imports {heavy}"
        helps(found, [*words, name])

helps(main, ["muisti"])
"""
    assert imported(f"HEAVY = {HEAVY!r}\n{walk}") == []


def test_a_command_for_a_server_does_not_load_the_service():
    code = "import contextlib, click\nfrom muisti.service.cli import main\n"
    code += "with contextlib.suppress(click.ClickException):\n"
    code += "    main(['list', '--url', 'http://127.0.0.1:1'], standalone_mode=False)"
    assert set(imported(code)) <= {"muisti.core.model.values", "httpx", "rich"}
