"""Everything that an operator can set: one frozen value, read from flags, environment and a TOML file.

`rules` and `forms` say what a value may be, `table` has the settings, `checks` says what goes together, and `sources`
reads them.
"""

from muisti.service.settings.forms import names_in, parse_bytes
from muisti.service.settings.sources import (
    CONFIG,
    ELSEWHERE,
    SettingsError,
    asks,
    check_binding,
    find_config,
    load,
    needs_keys,
)
from muisti.service.settings.table import Option, Settings, options

__all__ = [
    "CONFIG",
    "ELSEWHERE",
    "Option",
    "Settings",
    "SettingsError",
    "asks",
    "check_binding",
    "find_config",
    "load",
    "names_in",
    "needs_keys",
    "options",
    "parse_bytes",
]
