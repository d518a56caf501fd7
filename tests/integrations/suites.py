"""The suites of the frameworks themselves, run on our classes in the place of theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

OWN_SCORES = "compares scores of a test embedding; Muisti scores by its own model, and by words"
OWN_PARTS = "looks at private parts of the framework's own class"
NO_SWEEP = "counts what a sweep deletes; here nothing that has expired is left to sweep"
FILE_SYSTEM = "is about symlinks, modes and bytes of a file system, of which there is none"
SQL = "is about tables and locks of the framework's own SQLite database"


@dataclass(frozen=True)
class Suite:
    """Tests in the source package of a framework. `left_out` has, for a reason, the tests that cannot hold here."""

    framework: str
    package: str
    paths: Sequence[str]
    stand_in: str
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    options: Sequence[str] = ()


SUITES = (
    Suite(
        "LangGraph, `InMemoryStore`", "langgraph-checkpoint", ["tests/test_store.py"], "stand_in_langgraph",
        {OWN_SCORES: ["test_embed_with_path"]},
    ),
    Suite(
        "LangGraph, `SqliteStore` and `AsyncSqliteStore`", "langgraph-checkpoint-sqlite",
        ["tests/test_store.py", "tests/test_ttl.py", "tests/test_async_store.py"], "stand_in_langgraph",
        {
            OWN_SCORES: ["test_embed_with_path", "test_embed_with_path_operation_config", "test_scores"],
            OWN_PARTS: ["test_vector_store_initialization", "test_nonnull_migrations"], NO_SWEEP: ["test_ttl_refresh"],
            "wants an error for a name that could be SQL; here names are values": ["test_sql_injection_vulnerability"],
            "reads without a refresh; LangGraph documents `refresh_on_read` as true": ["test_ttl_override_default"],
            "wants an error from the event loop's thread; here such calls wait, as `InMemoryStore`'s do": [
                "test_no_running_loop"
            ],
        },
    ),
    Suite(
        "Anthropic, file tools", "anthropic", ["tests/lib/tools/memory_tools/test_filesystem.py"], "stand_in_anthropic",
        {
            FILE_SYSTEM: [
                "test_mkdir_parents_not_world_writable_under_permissive_umask",
                "test_read_rejects_symlink_created_after_validation",
                "test_read_rejects_file_replaced_with_symlink_before_open",
                "test_view_rejects_directory_symlink_created_after_validation",
                "test_symlink_validation_reject_symlink_pointing_outside_memories",
                "test_view_lists_symlinks_only_when_they_stay_inside_memories",
                "test_symlink_validation_reject_creating_files_through_symlink_pointing_outside",
                "test_symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside",
                "test_validate_path_returns_resolved_path_not_symlink_target",
            ],
            "makes a file of 5 MB; a memory has at most 102,400 characters": [
                "test_view_error_for_files_with_too_many_lines"
            ],
        },
        ["--noconftest"],
    ),
    Suite(
        "Anthropic, memory stores", "anthropic",
        ["tests/api_resources/beta/test_memory_stores.py", "tests/api_resources/beta/memory_stores"],
        "stand_in_memory_stores", {}, ["--noconftest"],
    ),
    Suite(
        "OpenAI Agents SDK, `SQLiteSession`", "openai-agents", ["tests/memory/test_session.py"],
        "stand_in_openai_agents",
        {
            SQL: [
                "test_sqlite_session_close_closes_worker_thread_connections",
                "test_sqlite_session_reaps_connections_from_exited_worker_threads",
                "test_sqlite_session_closes_retired_connections_before_the_next_allocation",
                "test_sqlite_session_keeps_connections_of_live_worker_threads",
                "test_sqlite_session_closed_rejects_empty_add_items",
                "test_sqlite_session_pop_item_skips_corrupt_most_recent",
                "test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt_rows",
                "test_sqlite_session_get_items_limit_skips_corrupt_newest_rows",
                "test_sqlite_session_get_items_session_settings_limit_skips_corrupt_rows",
                "test_sqlite_session_file_lock_is_shared_across_instances",
                "test_sqlite_session_failed_add_items_releases_write_lock",
                "test_sqlite_session_failed_clear_session_rolls_back",
                "test_sqlite_session_failed_pop_item_releases_write_lock",
                "test_sqlite_session_rollback_failure_evicts_connection",
                "test_sqlite_session_close_retries_quarantined_connection",
                "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome",
            ]
        },
    ),
)  # fmt: skip
