"""The caller as which a command works on the database file, within the limits of `service.terminal.configuration`."""

from muisti.core.identity.grants import ANY, Grant, check_grant
from muisti.core.model.values import LOCAL
from muisti.service.auth.access import OWNER, Access, Need, check
from muisti.service.schemas.access_modes import MODES
from muisti.service.schemas.errors import HttpError
from muisti.service.terminal.base import ERROR, Failure, Globals
from muisti.service.terminal.configuration import category_of, in_words, limited, mode_of


def access_of(options: Globals) -> Access:
    """Return the caller on the database file, limited by the options and the environment.

    Raises:
        Failure: the access mode is unknown.
        InvalidInput: the category's name is not valid.
    """
    if not limited(options):
        return OWNER
    grant = grant_of(mode_of(options), (ANY,), category_of(options))
    return Access(LOCAL, grant)


def grant_of(mode: str, spaces: tuple[str, ...], category: str | None) -> Grant:
    """Return the grant of an access mode in some spaces, perhaps limited to one category.

    Raises:
        InvalidInput: the category's name is not valid.
    """
    grant = Grant(frozenset(dict(MODES)[mode]), spaces, category)  # pyright: ignore[reportArgumentType]  # one of MODES
    check_grant(grant)
    return grant


def demand(options: Globals, need: Need) -> None:
    """Check that the command has the scope `need`, for work on the database file without the service.

    Raises:
        Failure: the access mode or the category of the command does not allow it.
    """
    access = access_of(options)
    try:
        check(access, need)
    except HttpError as error:
        raise Failure(in_words(options, error.detail), ERROR) from error
