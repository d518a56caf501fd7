"""`python -m muisti.service.app.openapi > docs/openapi.json` writes the document as it is committed."""

import sys

from muisti.service.app.app import create_app
from muisti.service.openapi.specification import canonical, document
from muisti.service.settings import Settings

if __name__ == "__main__":
    sys.stdout.write(canonical(document(create_app(Settings()))))
