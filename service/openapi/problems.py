"""Examples of problems, by code."""

from collections.abc import Mapping

from muisti.core.model.collisions import AddressTaken, Contradiction, Duplicate
from muisti.core.model.errors import InvalidInput, QuotaExceeded, SensitiveContent, Stale
from muisti.core.model.errors import Problem as BadField
from muisti.core.model.values import Seq
from muisti.core.text.recognise import advice
from muisti.service.openapi.story import ALIKE, AT_ADDRESS, CONTRARY, EPOCH, FULL, RULE_ID, UPDATED
from muisti.service.schemas.errors import KINDS, Problem, problem, problem_of


def refused(path: str) -> Problem:
    """Return the problem of a blank field."""
    return problem_of(InvalidInput.at(path, "must not be empty or blank"))


# Problems by code; those that carry more than prose, as the story would bring them about.
PROBLEMS: Mapping[str, Problem] = {code: problem(code, kind.meaning) for code, kind in KINDS.items()} | {
    "invalid_input": refused("$.content"),
    "sensitive_content": problem_of(SensitiveContent([BadField("$.content", advice("aws-access-key"))])),
    "duplicate": problem_of(Duplicate([ALIKE], checked_at=Seq(EPOCH, 1))),
    "contradiction": problem_of(Contradiction([CONTRARY], checked_at=Seq(EPOCH, 1))),
    "address_taken": problem_of(AddressTaken("rules", "deploy", [AT_ADDRESS])),
    "quota_exceeded": problem_of(QuotaExceeded("default", FULL)),
    "stale_version": problem_of(Stale(RULE_ID, UPDATED.version)),
}
