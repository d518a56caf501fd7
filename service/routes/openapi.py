"""`python -m service.routes.openapi > docs/openapi.json` writes the document as it is committed."""

import sys

from service.app import create_app
from service.openapi import canonical, document
from service.settings import Settings

if __name__ == "__main__":
    sys.stdout.write(canonical(document(create_app(Settings()))))
