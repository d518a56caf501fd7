"""Commands, as the tests of the service run them."""

from tests.service.conftest import run as run
