"""The `muisti` command: a client of the HTTP API, which runs in this process unless `--url` names a server.

What is imported here is paid for by every `--help`: click alone. Each command's module comes when it is called.
"""

import click

from muisti.service.cli.base import CONTEXT, Main, global_options

SECTIONS = {
    "Begin": {
        "demo": ("demo:demo", "Try Muisti on a made-up project."),
        "connect": ("connect:connect", "Let an agent client use Muisti."),
        "serve": ("serve:serve", "Start the server."),
        "mcp": ("mcp:mcp", "Serve MCP on standard input and output."),
        "skill": ("skill:skill", "Show what an agent should know about remembering."),
        "hook": ("hook:hook", "Keep what happens in an agent client."),
        "completion": (
            "completion:completion",
            "Print a script that completes commands, options and names.",
        ),
    },
    "Memories": {
        "add": ("write:add", "Remember a text."),
        "search": ("search:search", "Find the memories that best answer a query."),
        "list": ("read:list_memories", "List memories, newest first."),
        "get": ("read:get", "Show one memory."),
        "put": (
            "write:put",
            "Store a text at a category and key, in place of what is there.",
        ),
        "update": ("write:update", "Change fields of a memory."),
        "supersede": ("write:supersede", "Put a new memory in place of one."),
        "delete": ("write:delete", "Delete a memory."),
        "validate": ("validate:validate", "Tell what storing a text would meet."),
        "categories": (
            "read:categories",
            "List categories and how many memories each has.",
        ),
        "tags": ("read:tags", "List tags and how many memories each has."),
    },
    "What was": {
        "history": (
            "history:history",
            "Show the versions of a memory and what each changed.",
        ),
        "restore": ("history:restore", "Restore an earlier version of a memory."),
        "undo": ("history:undo", "Take back the last changes."),
        "changes": ("feed:changes", "Show what has changed in a space, oldest first."),
        "checkpoint": ("checkpoints:checkpoint", "Name points of a space's history."),
        "diff": ("checkpoints:diff", "Show what changed between two points."),
        "rollback": (
            "checkpoints:rollback",
            "Let the whole space stand as it stood at a point.",
        ),
    },
    "Keep in order": {
        "lint": ("lint:lint", "Tell what is wrong with the memories of a space."),
        "conflicts": ("conflicts:conflicts", "Decide on memories that contradict others."),
        "feedback": ("reviews:feedback", "Say that a memory was useful, or not."),
        "telemetry": (
            "reviews:telemetry",
            "Tell how often a memory was found, and what was said of it.",
        ),
        "promote": ("reviews:promote", "Make candidates active that were retrieved often."),
        "prune": ("reviews:prune", "Deprecate old candidates that nobody asked for."),
        "purge": ("erasure:purge", "Erase memories for good, with a signed report."),
        "verify-report": (
            "erasure:verify_report",
            "Check who signed the report of a purge.",
        ),
    },
    "Spaces": {
        "space": ("spaces:space", "Show which space is used here, and why."),
        "spaces": ("spaces:spaces", "List the spaces."),
        "stats": ("read:stats", "Show the sizes of a space."),
        "policy": (
            "policy:policy",
            "Show or set what a space lets in, and how long it keeps it.",
        ),
        "quota": ("quotas:quota", "Set how much a space may hold."),
    },
    "Move": {
        "export": (
            "export:export",
            "Write a space into a file, or into a folder of notes.",
        ),
        "import": (
            "imports:import_files",
            "Take in an export, or the memories of another system.",
        ),
        "backup": ("backups:backup", "Copy the database while it is in use."),
        "restore-backup": ("backups:restore", "Put a copy in the place of the database."),
    },
    "Run a server": {
        "doctor": ("doctor:doctor", "Check the installation and the database."),
        "top": ("top:top", "Watch a server at work."),
        "keys": ("keys:keys", "Make, list, revoke and rotate keys."),
        "audit": ("keys:audit", "Show who administered or deleted what."),
        "webhook": ("webhooks:webhook", "Tell others of the changes of a space."),
        "reembed": ("reembed:reembed", "Embed a space again, with the model that runs."),
    },
    "Measure": {
        "eval": ("evaluate:evaluate", "Measure retrieval quality on judged data."),
        "calibrate": ("calibrate:calibrate", "Fit the thresholds of evidence."),
        "probe": (
            "probes:probe",
            "Pin questions, and see whether they find what they should.",
        ),
        "receipt": ("receipts:receipt", "Look up a search that was kept, or ask it again."),
    },
}
COMMANDS = {name: at for section in SECTIONS.values() for name, at in section.items()}


@click.group(
    cls=Main,
    sections=SECTIONS,
    examples=(
        "muisti demo",
        'muisti add "We deploy on Tuesdays" --category rules',
        'muisti search "when do we deploy?"',
        "muisti connect claude-code",
    ),
    params=global_options(),
    no_args_is_help=True,
    context_settings={**CONTEXT},
)
@click.version_option(package_name="muisti", message="%(prog)s %(version)s", help="Print the version and stop.")
def main() -> None:
    """Memory for AI agents: store what they learn, find the right piece again.

    Works on a database file in your data folder (or on muisti.db in this project, where there is one), or on a
    server with --url. Exit codes: 0 done, 1 error or not found,
    2 conflict, 3 content too long, 64 wrong usage.
    """
