"""Numbers of examples that a property is tried on."""

from hypothesis import settings

USUAL = settings.get_profile("prove").max_examples


def examples(number: int) -> settings:
    """Return settings that give a property so many examples in `make prove`, and a third of them in `make test`."""
    return settings(max_examples=max(2, number * settings().max_examples // USUAL))


few = examples(USUAL // 3)  # for what opens databases
