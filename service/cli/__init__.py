"""The `muisti` command: a client of the HTTP API, which runs in this process unless `--url` names a server.

What is imported here is paid for by every `--help`: click alone. Each command's module comes when it is called.
"""

import click

from service.cli.base import CONTEXT, Main, global_options

SECTIONS = {
    "Begin": {
        "demo": ("service.cli.demo:demo", "Try Muisti on a made-up project."),
        "connect": ("service.cli.connect:connect", "Let an agent client use Muisti."),
        "serve": ("service.cli.serve:serve", "Start the server."),
        "mcp": ("service.cli.mcp:mcp", "Serve MCP on standard input and output."),
        "skill": ("service.cli.skill:skill", "Show what an agent should know about remembering."),
        "hook": ("service.cli.hook:hook", "Keep what happens in an agent client."),
        "completion": (
            "service.cli.completion:completion",
            "Print a script that completes commands, options and names.",
        ),
    },
    "Memories": {
        "add": ("service.cli.write:add", "Remember a text."),
        "search": ("service.cli.search:search", "Find the memories that best answer a query."),
        "list": ("service.cli.read:list_memories", "List memories, newest first."),
        "get": ("service.cli.read:get", "Show one memory."),
        "put": ("service.cli.write:put", "Store a text at a category and key, in place of what is there."),
        "update": ("service.cli.write:update", "Change fields of a memory."),
        "supersede": ("service.cli.write:supersede", "Put a new memory in place of one."),
        "delete": ("service.cli.write:delete", "Delete a memory."),
        "validate": ("service.cli.validate:validate", "Tell what storing a text would meet."),
        "categories": ("service.cli.read:categories", "List categories and how many memories each has."),
        "tags": ("service.cli.read:tags", "List tags and how many memories each has."),
    },
    "What was": {
        "history": ("service.cli.history:history", "Show the versions of a memory and what each changed."),
        "restore": ("service.cli.history:restore", "Restore an earlier version of a memory."),
        "undo": ("service.cli.history:undo", "Take back the last changes."),
        "changes": ("service.cli.feed:changes", "Show what has changed in a space, oldest first."),
        "checkpoint": ("service.cli.checkpoints:checkpoint", "Name points of a space's history."),
        "diff": ("service.cli.checkpoints:diff", "Show what changed between two points."),
        "rollback": ("service.cli.checkpoints:rollback", "Let the whole space stand as it stood at a point."),
    },
    "Keep in order": {
        "lint": ("service.cli.lint:lint", "Tell what is wrong with the memories of a space."),
        "conflicts": ("service.cli.conflicts:conflicts", "Decide on memories that contradict others."),
        "feedback": ("service.cli.reviews:feedback", "Say that a memory was useful, or not."),
        "telemetry": ("service.cli.reviews:telemetry", "Tell how often a memory was found, and what was said of it."),
        "promote": ("service.cli.reviews:promote", "Make candidates active that were retrieved often."),
        "prune": ("service.cli.reviews:prune", "Deprecate old candidates that nobody asked for."),
        "purge": ("service.cli.erasure:purge", "Erase memories for good, with a signed report."),
        "verify-report": ("service.cli.erasure:verify_report", "Check who signed the report of a purge."),
    },
    "Spaces": {
        "space": ("service.cli.spaces:space", "Show which space is used here, and why."),
        "spaces": ("service.cli.spaces:spaces", "List the spaces."),
        "stats": ("service.cli.read:stats", "Show the sizes of a space."),
        "policy": ("service.cli.policy:policy", "Show or set what a space lets in, and how long it keeps it."),
        "quota": ("service.cli.quotas:quota", "Set how much a space may hold."),
    },
    "Move": {
        "export": ("service.cli.moving:export", "Write a space into a file, or into a folder of notes."),
        "import": ("service.cli.moving:import_files", "Take in an export, or the memories of another system."),
        "backup": ("service.cli.backups:backup", "Copy the database while it is in use."),
        "restore-backup": ("service.cli.backups:restore", "Put a copy in the place of the database."),
    },
    "Run a server": {
        "doctor": ("service.cli.doctor:doctor", "Check the installation and the database."),
        "top": ("service.cli.top:top", "Watch a server at work."),
        "keys": ("service.cli.keys:keys", "Make, list, revoke and rotate keys."),
        "audit": ("service.cli.keys:audit", "Show who administered or deleted what."),
        "webhook": ("service.cli.webhooks:webhook", "Tell others of the changes of a space."),
        "reembed": ("service.cli.reembed:reembed", "Embed a space again, with the model that runs."),
    },
    "Measure": {
        "eval": ("service.cli.evaluate:evaluate", "Measure retrieval quality on judged data."),
        "calibrate": ("service.cli.calibrate:calibrate", "Fit the thresholds of evidence."),
        "probe": ("service.cli.probes:probe", "Pin questions, and see whether they find what they should."),
        "receipt": ("service.cli.receipts:receipt", "Look up a search that was kept, or ask it again."),
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
