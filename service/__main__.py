"""`python -m service` serves with the settings of the environment and the file."""

import os
import sys
from pathlib import Path

from core.errors import MuistiError
from service.settings import SettingsError, find_config, load
from service.starting import serve

if __name__ == "__main__":
    try:
        serve(load(os.environ, find_config(os.environ, Path.cwd()), {}))
    except (SettingsError, MuistiError) as refusal:
        sys.exit(str(refusal))
