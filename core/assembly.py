"""The parts of the core and what each is made from: the shared ones first, then a group for each view."""

import msgspec

from muisti.core.conversations.adopting import Adopter
from muisti.core.conversations.objects import Objects
from muisti.core.conversations.reading import Reader
from muisti.core.conversations.streaming import Streamer
from muisti.core.embedding.encoder import Encoder
from muisti.core.erasure.eraser import Eraser
from muisti.core.index.cache import Indexes
from muisti.core.model.counts import Quota
from muisti.core.model.ids import IdSource
from muisti.core.model.spaces import Policy
from muisti.core.model.times import Clock
from muisti.core.operations.upkeep import Upkeep
from muisti.core.quality.lint import Linter
from muisti.core.quality.probes import Probes
from muisti.core.query.calibration import Calibration
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.asking import Asking
from muisti.core.search.searcher import Searcher
from muisti.core.spaces.checkpoints import Checkpoints
from muisti.core.spaces.forks import Forks
from muisti.core.spaces.registry import Spaces
from muisti.core.store.database import Database
from muisti.core.support.meters import Meters
from muisti.core.support.notifier import ChangeNotifier
from muisti.core.transfer.importing.importer import Importer
from muisti.core.views.conversations import ConversationParts
from muisti.core.views.memories import Parts
from muisti.core.views.read import ReadParts
from muisti.core.views.review import ReviewParts
from muisti.core.views.timeline import TimelineParts
from muisti.core.views.write import WriteParts
from muisti.core.write.arrivals import Arrivals
from muisti.core.write.decisions import Conflicts
from muisti.core.write.echo_check import EchoCheck
from muisti.core.write.expiry import Expirer
from muisti.core.write.intake import Intake
from muisti.core.write.lifecycle import Lifecycle
from muisti.core.write.provenance import Provenance
from muisti.core.write.recent_results import RecentResults
from muisti.core.write.review import Reviewer
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions
from muisti.core.write.undo import Undoer
from muisti.core.write.writer import Writer


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What the parts are made from: a database in this schema, a model, a clock, and the operator's choices.

    `index_memory` is in bytes, `retention_us` in microseconds.
    """

    database: Database
    encoder: Encoder | None
    clock: Clock
    meters: Meters
    notifier: ChangeNotifier
    index_memory: int
    retention_us: int
    calibration: Calibration
    quota: Quota
    policy: Policy


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that several groups use; there must be one of each for a database."""

    ids: IdSource
    indexes: Indexes
    searcher: Searcher
    asking: Asking
    probes: Probes
    transactions: Transactions
    served: RecentResults
    screener: Screener
    intake: Intake
    retrievals: Retrievals
    importer: Importer


def shared(given: Given) -> Shared:
    """Make the parts that several groups use."""
    primary = given.database.primary
    ids = IdSource()
    indexes = Indexes(
        given.database,
        given.meters.load_seconds,
        given.notifier,
        memory=given.index_memory,
        vectors=given.encoder is not None,
    )
    searcher = Searcher(
        database=given.database,
        indexes=indexes,
        encoder=given.encoder,
        calibration=given.calibration,
        default=given.policy,
    )
    probes = Probes(database=primary, searcher=searcher, ids=ids)
    served = RecentResults()
    screener = Screener(default=given.policy)
    intake = Intake(
        screener=screener,
        echoes=EchoCheck(database=primary, served=served, default=given.policy),
        provenance=Provenance(database=primary),
    )
    return Shared(
        ids=ids,
        indexes=indexes,
        searcher=searcher,
        asking=Asking(given.database, searcher),
        probes=probes,
        transactions=Transactions(
            database=primary,
            indexes=indexes,
            encoder=given.encoder,
            retention_us=given.retention_us,
            quota=given.quota,
            changes=given.meters.changes,
            foresee=probes.foreseen,
        ),
        served=served,
        screener=screener,
        intake=intake,
        retrievals=Retrievals(database=primary),
        importer=Importer(
            database=primary,
            indexes=indexes,
            encoder=given.encoder,
            quota=given.quota,
            clock=given.clock,
            intake=intake,
        ),
    )


def views(given: Given, parts: Shared) -> Parts:
    """Make what the views of all callers share."""
    return Parts(
        clock=given.clock,
        read=ReadParts(
            database=given.database,
            searcher=parts.searcher,
            asking=parts.asking,
            retrievals=parts.retrievals,
            served=parts.served,
            importer=parts.importer,
            quota=given.quota,
        ),
        write=_write(given, parts),
        timeline=_timeline(given, parts),
        review=_review(given, parts),
        conversations=_conversations(given, parts),
    )


def registry(given: Given, parts: Shared, eraser: Eraser) -> Spaces:
    """Make the registry of spaces."""
    return Spaces(
        database=given.database,
        indexes=parts.indexes,
        eraser=eraser,
        clock=given.clock,
        quota=given.quota,
        policy=given.policy,
    )


def upkeep(given: Given, parts: Shared, eraser: Eraser) -> Upkeep:
    """Make what time asks for. Stored answers name versions, so history is kept as long as answers at least."""
    primary = given.database.primary
    return Upkeep(
        database=primary,
        expirer=Expirer(database=primary, transactions=parts.transactions),
        eraser=eraser,
        policy=given.policy,
        least_history_us=given.retention_us,
    )


def _write(given: Given, parts: Shared) -> WriteParts:
    primary = given.database.primary
    lifecycle = Lifecycle(
        database=primary,
        encoder=given.encoder,
        transactions=parts.transactions,
        ids=parts.ids,
        quota=given.quota,
        intake=parts.intake,
    )
    return WriteParts(
        database=primary,
        writer=Writer(
            database=primary,
            indexes=parts.indexes,
            encoder=given.encoder,
            transactions=parts.transactions,
            lifecycle=lifecycle,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
        ),
        lifecycle=lifecycle,
        undoer=Undoer(
            database=primary,
            encoder=given.encoder,
            transactions=parts.transactions,
            quota=given.quota,
            intake=parts.intake,
        ),
        importer=parts.importer,
    )


def _timeline(given: Given, parts: Shared) -> TimelineParts:
    arrivals = Arrivals(database=given.database.primary, encoder=given.encoder, intake=parts.intake)
    return TimelineParts(
        checkpoints=Checkpoints(
            database=given.database,
            encoder=given.encoder,
            transactions=parts.transactions,
            arrivals=arrivals,
            clock=given.clock,
        ),
        forks=Forks(
            database=given.database,
            indexes=parts.indexes,
            transactions=parts.transactions,
            arrivals=arrivals,
            quota=given.quota,
        ),
    )


def _conversations(given: Given, parts: Shared) -> ConversationParts:
    primary = given.database.primary
    return ConversationParts(
        reader=Reader(database=given.database),
        streamer=Streamer(
            database=primary,
            encoder=given.encoder,
            transactions=parts.transactions,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
        ),
        objects=Objects(
            database=primary,
            encoder=given.encoder,
            transactions=parts.transactions,
            ids=parts.ids,
            quota=given.quota,
            intake=parts.intake,
        ),
        adopter=Adopter(database=primary, transactions=parts.transactions, ids=parts.ids, intake=parts.intake),
    )


def _review(given: Given, parts: Shared) -> ReviewParts:
    primary = given.database.primary
    return ReviewParts(
        database=given.database,
        retrievals=parts.retrievals,
        conflicts=Conflicts(
            database=primary, encoder=given.encoder, transactions=parts.transactions, quota=given.quota
        ),
        reviewer=Reviewer(database=primary, transactions=parts.transactions),
        linter=Linter(database=given.database, indexes=parts.indexes, encoder=given.encoder, screener=parts.screener),
    )
