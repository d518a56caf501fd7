"""Results of purges that are tasks: their signed reports."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from muisti.core.engine import Engine
from muisti.core.model.operations import Erasure
from muisti.core.support.lazy import Lazy
from muisti.service.schemas.erasure import ErasureReply, ReportReply
from muisti.service.settings import Settings

if TYPE_CHECKING:
    from muisti.service.auth import signing
else:  # 45 ms: cryptography, with the first report
    signing = Lazy("muisti.service.auth.signing")


def signer(engine: Engine, settings: Settings) -> Callable[[Erasure], object]:
    """Return a function that makes the result of a purge from its report: the report, plain and signed."""

    def signed(erasure: Erasure) -> object:
        report = ReportReply.of(erasure)
        payload = msgspec.json.encode(report)
        return ErasureReply(report=report, signed=signing.sign(engine, settings.signing_key_file, payload))

    return signed
