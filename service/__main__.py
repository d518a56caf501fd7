"""Run `python -m muisti.service` as `muisti`; without arguments, as `muisti serve`."""

import sys

from muisti.service.cli import main

if __name__ == "__main__":
    main(sys.argv[1:] or ["serve"], prog_name="python -m muisti.service")
