"""The one call of sqld's administration API that Muisti makes: a checkpoint of a namespace."""

import urllib.error
import urllib.request
from urllib.parse import quote

from muisti.core.model.errors import StoreUnavailable

SECONDS = 600.0  # the server may run VACUUM before it answers
DEFAULT = "default"  # the namespace of a server without namespaces


def checkpoint(url: str, namespace: str | None, key: str | None = None) -> None:
    """Move the write-ahead log of a database into its file. `url` is that of `--admin-listen-addr`, `key` its key.

    Raises:
        StoreUnavailable: the server cannot be reached, or refuses.
    """
    target = f"{url.rstrip('/')}/v1/namespaces/{quote(namespace or DEFAULT, safe='')}/checkpoint"
    headers = {"content-type": "application/json"} | ({} if key is None else {"authorization": f"basic {key}"})
    request = urllib.request.Request(target, b"{}", headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        raise StoreUnavailable(f"sqld refuses a checkpoint: {error.code} {error.reason}") from error
    except OSError as error:
        raise StoreUnavailable(f"sqld's administration API does not answer: {error}") from error
