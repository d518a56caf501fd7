"""Write the generated part of the client: `python -m clients.python.generate`."""

from clients.python import generate

generate.write()
