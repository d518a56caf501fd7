"""The serve command: a flag for every setting."""

from typing import Any

import click

from muisti.service.app.starting import serve as start
from muisti.service.settings.table import Option, options
from muisti.service.terminal.base import Command, Globals
from muisti.service.terminal.configuration import in_force, refuse_for_servers
from muisti.service.terminal.session import refusals

# Settings by topic, in the order of the help.
GROUPS = {
    "Address": ("host", "port", "public_url", "hosts", "origins", "insecure", "workers", "console", "server_card"),
    "Database": (
        "database_url", "database_replica_url", "database_token", "database_token_file", "database_namespace",
        "database_timeout",
    ),
    "Search": (
        "model", "models", "second_model", "second_query", "second_query_ms", "model_tokenizer", "embeddings",
        "query_prefix", "passage_prefix", "embedding_cache",
        "calibration", "index_memory", "search_threads", "receipt_days", "read_log", "read_log_size",
    ),
    "Embedding by an endpoint": (
        "embedding_url", "embedding_model", "embedding_key", "embedding_key_file", "embedding_private",
        "embedding_dimensions", "embedding_batch", "embedding_batch_tokens", "embedding_format", "embedding_timeout",
        "embedding_query_timeout",
    ),
    "Names by an endpoint": (
        "entities_url", "entities_key", "entities_key_file", "entities_private", "entities_batch", "entities_timeout",
    ),
    "Who may call": (
        "admin_key", "jwks", "jwt_issuer", "jwt_audience", "jwt_algorithms", "jwt_scope_prefix", "jwt_spaces_claim",
        "jwt_spaces", "signing_key_file",
    ),
    "What MCP clients see": ("mcp_tools", "mcp_citations"),
    "What spaces take and keep": (
        "secrets", "personal_data", "echoes", "graph", "entities", "quota_memories", "quota_bytes", "retention_days",
        "request_retention_hours", "recency_weight", "recency_half_life_days",
    ),
    "Limits": (
        "body_limit", "upload_limit", "upload_at_once", "server_files", "parsers", "rate_limit", "concurrency_limit",
        "connection_limit", "queue_limit", "queue_seconds",
        "stream_limit", "request_timeout", "database_threads", "shutdown_grace",
    ),
    "Work in the background": (
        "upkeep", "tasks", "tasks_per_space", "task_queue", "task_lease",
        "promote_retrievals", "prune_retrievals", "prune_days", "review_hours", "backup_to", "backup_hours",
        "backup_keep", "webhook_hosts", "webhook_private", "summary_url", "summary_model", "summary_key",
    ),
    "Watching": ("log_level", "log_format", "metrics_key", "otlp_endpoint", "otlp_texts"),
}  # fmt: skip


def _flag(setting: Option) -> click.Option:
    known = f"  [default: {setting.default_text}]" if setting.default_text else ""
    return click.Option([setting.flag], metavar="VALUE", help=f"{setting.description} Takes {setting.expected}.{known}")


class Serve(Command):
    """Command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rest = {str(param.name): param for param in self.get_params(ctx) if param not in self.shared}
        for title, names in GROUPS.items():
            rows = [row for name in names if (row := rest.pop(name).get_help_record(ctx)) is not None]
            with formatter.section(title):
                formatter.write_dl(rows)
        rows = [row for param in rest.values() if (row := param.get_help_record(ctx)) is not None]
        with formatter.section("Other options"):
            formatter.write_dl(rows)
        self.format_shared(formatter)


@click.command(
    cls=Serve,
    params=[_flag(setting) for setting in options()],
    examples=(
        "muisti serve",
        "muisti serve --port 9000 --database-url file:/var/lib/muisti/muisti.db --embeddings off",
    ),
)
@click.pass_obj
def serve(given: Globals, **flags: Any) -> None:
    """Start the server, for HTTP and MCP.

    A flag overrides the environment (MUISTI_PORT and so on), which overrides the settings file. Stop the server with
    Ctrl-C: running requests finish, and accepted memories are stored.
    """
    if given.url:
        raise click.UsageError("--url names a server that runs already; give --host and --port to start one")
    if given.database and flags["database_url"]:
        raise click.UsageError("give --database or --database-url, not both")
    with refusals(given):
        refuse_for_servers(given, "a server")
        chosen = {name: value for name, value in flags.items() if value is not None}
        settings = in_force(given, chosen)
        start(settings)
