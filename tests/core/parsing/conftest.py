from collections.abc import Iterator

import pytest

from muisti.core.parsing.workers import Workers


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """One worker process for all tests, as in a server."""
    made = Workers()
    yield made
    made.close()
