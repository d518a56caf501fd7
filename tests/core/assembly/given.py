"""The choices of an operator that tests build parts from."""

from muisti.core.assembly.parts import Given
from muisti.core.engine import MEMORY, Engine
from muisti.core.model.outcomes import Quota
from muisti.core.model.spaces import Policy
from muisti.core.parsing.workers import Workers
from muisti.core.query.evidence import Calibration
from muisti.core.store.database import Database
from tests.core.fakes import Clock
from tests.graph.plain import toy_reader


def given_of(database: Database, engine: Engine) -> Given:
    """Return the usual choices for a database that an engine has opened."""
    return Given(
        database=database, models=engine.models, clock=Clock(), meters=engine.meters, notifier=engine.notifier,
        index_memory=MEMORY, retention_us=0, calibration=Calibration(), quota=Quota(), policy=Policy(),
        workers=Workers(), graph_reader=toy_reader, second_query="mapped", second_query_seconds=0.0,
    )  # fmt: skip
