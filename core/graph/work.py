"""The kind of task that reads many versions of a space into its graph, with progress."""

from muisti.core.graph.indexing import GraphIndex
from muisti.core.identity.caller import OWNER
from muisti.core.model.graph import Extension
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.tasks.claim import CRASHED, Claim, FencedCommit
from muisti.core.tasks.tasks import Tasks

KIND = "graph"
MANY = 2_000  # versions that a task reads, and not small steps


class GraphWork:
    """Read all pending versions of a space, and those about which the chosen recogniser gave no answer.

    The position of the task is the change up to which all is read.

    Each batch commits its rows together with the progress, so that a task which goes on after a crash reads no version
    twice.
    """

    name = KIND
    crashed = CRASHED

    def __init__(self, database: Database, index: GraphIndex) -> None:
        self._database, self._index = database, index

    def run(self, claim: Claim) -> object:
        """Read until nothing is pending, and return how much this process has read and found.

        Raises:
            NotFound: the space was erased meanwhile.
        """
        finished = claim.task.finished

        def fenced(through: int, versions: int) -> FencedCommit:
            nonlocal finished
            finished += versions
            return claim.fenced(position=str(through), done=versions, total=max(finished, claim.task.total))

        if not self._index.is_on(find_space(self._database, claim.task.space)):
            return {"read": 0, "mentions": 0, "relations": 0, "off": True}
        mended = self._index.mend(claim.task.space, claim.check, fenced) if self._index.waits else Extension()
        found = self._index.extend(claim.task.space, None, claim.check, fenced).then(mended)
        told = {"read": found.read, "mentions": found.mentions, "relations": found.relations, "off": False}
        return {**told, "fallbacks": found.fallbacks, "dropped": found.dropped} if self._index.waits else told


def step(tasks: Tasks, index: GraphIndex, space: str, versions: int) -> bool:
    """Read some versions of a space, or make a task when many are pending, or a model elsewhere reads them.

    Return whether more are left to read. After a task that was cancelled or has failed, many versions wait for a
    question or a further task. So do all those that a model elsewhere would read.

    Raises:
        NotFound: there is no such space.
    """
    pending = index.pending(find_space(index.database, space))
    if not pending:
        return False
    if pending <= MANY and not index.waits:
        return index.extend(space, versions).pending > 0
    last = tasks.list(space, OWNER, kinds=[KIND], limit=1).items
    if not last or last[0].state in ("succeeded", "partial"):
        tasks.submit(space, KIND, {"again": False}, OWNER, total=pending)
    return False
