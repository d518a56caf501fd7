"""Numbers of examples that a property is tried on."""

from hypothesis import settings

# A third of what is usual, for what opens databases.
few = settings(max_examples=settings().max_examples // 3)
