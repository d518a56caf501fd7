"""The `muisti` command: a client of the HTTP API, which runs in this process unless `--url` names a server.

This module imports click alone, because every `--help` waits for its imports. A command's module loads when called.
"""

from typing import TYPE_CHECKING

import click

from muisti.core.support.lazy import Lazy
from muisti.service.terminal.base import CONTEXT, Globals, Main, global_options

if TYPE_CHECKING:
    from muisti.service.app import local
else:  # the whole service, which a server has itself
    local = Lazy("muisti.service.app.local")

SECTIONS = {
    "Get started": {
        "demo": ("demo:demo", "Try Muisti on a made-up project."),
        "connect": ("clients:connect", "Connect agent clients to Muisti."),
        "serve": ("serve:serve", "Start the server, for HTTP and MCP."),
        "mcp": ("clients:mcp", "Serve MCP on standard input and output."),
        "skill": ("clients:skill", "Print the skill file that teaches an agent to use memory."),
        "hook": ("clients:hook", "Recall in an agent client without being asked."),
        "completion": (
            "clients:completion",
            "Print a shell script that completes commands, options and names.",
        ),
    },
    "Memories": {
        "add": ("write:add", "Store a text as a new memory."),
        "search": ("search:search", "Find the memories that best answer a query."),
        "context": ("context:context", "Make the text for a prompt, within a number of tokens."),
        "handoff": ("context:handoff", "Make the text that hands work over to the next agent."),
        "code": ("code:code", "Find symbols of stored source code, and what uses them."),
        "graph": ("graph.commands:graph", "Ask who and what the memories are about."),
        "list": ("get_list_stats:list_memories", "List memories, newest first."),
        "get": ("get_list_stats:get", "Show one memory."),
        "put": ("write:put", "Store a text at a category and key, replacing any memory there."),
        "update": ("write:update", "Change fields of a memory."),
        "supersede": (
            "write:supersede",
            "Replace a memory by a new one; the old one stays in the history.",
        ),
        "delete": ("write:delete", "Delete a memory."),
        "validate": ("write:validate", "Check a text without storing it."),
        "categories": ("get_list_stats:categories", "List categories and how many memories each has."),
        "tags": ("get_list_stats:tags", "List tags and how many memories each has."),
    },
    "Documents": {
        "ingest": ("documents.commands:ingest", "Store files as documents, in chunks that searches find."),
        "documents": ("documents.commands:documents", "List, show and delete documents."),
        "hooks": ("documents.commands:hooks", "Make git bring each commit into the documents."),
    },
    "Conversations": {
        "conversations": (
            "conversations.topic_commands:conversations",
            "Store and read conversations turn by turn.",
        )
    },
    "History": {
        "history": ("history:history", "Show the versions of a memory and what each changed."),
        "restore": ("history:restore", "Restore an earlier version of a memory."),
        "undo": ("history:undo", "Undo the last call."),
        "changes": ("history:changes", "Show the changes of a space, oldest first."),
        "checkpoint": ("checkpoints.commands:checkpoint", "Name points in a space's history, to return to."),
        "diff": ("checkpoints.commands:diff", "Show what changed between two points."),
        "rollback": ("checkpoints.commands:rollback", "Restore a whole space to an earlier point."),
    },
    "Review and clean up": {
        "lint": ("review:lint", "Find problems in the memories of a space."),
        "conflicts": ("review:conflicts", "Resolve memories that duplicate or contradict others."),
        "feedback": ("review:feedback", "Mark a memory as useful or not useful."),
        "telemetry": ("review:telemetry", "Show how often a memory was retrieved, and its feedback."),
        "promote": ("review:promote", "Activate candidates that were retrieved often."),
        "prune": ("review:prune", "Deprecate old candidates that were rarely retrieved."),
        "purge": ("erasure.commands:purge", "Erase memories permanently, with a signed report."),
        "verify-report": ("erasure.commands:verify_report", "Check the signature of a purge report."),
    },
    "Spaces": {
        "space": ("spaces:space", "Show which space is used here, and why."),
        "spaces": ("spaces:spaces", "List the spaces."),
        "stats": ("get_list_stats:stats", "Show how many memories and bytes a space has."),
        "policy": (
            "spaces:policy",
            "Show or set which texts a space accepts, and how long it keeps them.",
        ),
        "quota": ("quotas.commands:quota", "Limit the memories and bytes of a space."),
    },
    "Import, export, backup": {
        "export": ("transfer:export", "Write a space to a file, or to a folder of Markdown notes."),
        "import": (
            "transfer:import_files",
            "Import an export of Muisti, or the memories of another system.",
        ),
        "tasks": ("tasks:tasks", "Follow and end work that goes on after its command."),
        "backup": ("backups:backup", "Back up the database while it is in use."),
        "restore-backup": ("backups:restore", "Restore the database from a backup."),
        "scrub": ("backups:scrub", "Remove from the files of sqld what purges have left in them."),
    },
    "Run a server": {
        "doctor": ("server:doctor", "Check the installation and the database."),
        "top": ("server:top", "Watch the load of a running server."),
        "keys": ("keys:keys", "Create, list, revoke and rotate API keys."),
        "audit": ("keys:audit", "Show who administered or deleted what."),
        "placement": ("placement.commands:placement", "Spread spaces over several databases."),
        "webhook": ("webhooks.commands:webhook", "Send the changes of a space to a URL."),
        "generations": (
            "models:generations",
            "Exchange the embedding model of a space while it is in use.",
        ),
        "models": ("models:models", "Try the embedding models that the settings name."),
        "reembed": ("models:reembed", "Compute all vectors of a space again, with the current model."),
    },
    "Measure quality": {
        "eval": ("evaluation:evaluate", "Measure retrieval quality on judged data."),
        "calibrate": ("evaluation:calibrate", "Fit the thresholds that tell answers from near misses."),
        "probe": (
            "probes.commands:probe",
            "Save test questions, and check that searches find the expected memory.",
        ),
        "reads": ("server:reads", "Show who has read a space, and which questions found nothing."),
        "receipt": ("receipts.commands:receipt", "List and show recorded searches, or run them again."),
    },
}
Globals.application = local
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

    A memory is a short text with fields such as category, tags and author. A space is a separate set of memories; each
    project has its own. Commands use a database file in your data folder, or muisti.db in this project if there is one.
    With --url they use a server.

    Exit codes: 0 done, 1 error or not found, 2 conflict, 3 content too long, 64 wrong usage.
    """
