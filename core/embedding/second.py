"""The second models that a process has, by name. Each loads when a space first needs it."""

from collections.abc import Iterator, Mapping

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.hosted import UNSEEN, Hosted
from muisti.core.model.errors import InvalidInput
from muisti.core.model.spaces import Space
from muisti.core.model.terms import OFF
from muisti.core.support.waiting import refuse_long


class SecondModels:
    """Encoders by the name by which a setting or a space chooses them. Thread-safe.

    `default` is the name for spaces that choose none. `problems` says in words why models cannot be used, by name.
    """

    def __init__(self, encoders: Mapping[str, Encoder] | None = None, default: str = OFF) -> None:
        self.encoders = dict(encoders or {})
        self._ready: dict[str, Encoder] = {}
        self.default = default
        self.problems: dict[str, str] = {}

    def __iter__(self) -> Iterator[Encoder]:
        yield from self.encoders.values()

    @property
    def names(self) -> list[str]:
        """The names that a space may choose."""
        return sorted(self.encoders)

    def chosen(self, space: Space) -> str:
        """Return the name of the second model that a space should have, "off" for none."""
        return space.policy.second_model or self.default

    def named(self, name: str) -> Encoder | None:
        """Return a model that can be used now, loading it first; None for one that cannot, or is not in this process.

        A model behind an endpoint cannot be used before it has answered once.
        """
        encoder = self._ready.get(name) or self.encoders.get(name)
        if encoder is None or name in self.problems:
            return None
        if name not in self._ready:
            refuse_long()
            try:
                if encoder.identity.endswith(UNSEEN) and isinstance(encoder, Hosted):
                    return None
            except InvalidInput as error:
                self.problems[name] = str(error)
                return None
            self._ready[name] = encoder
        return encoder

    def of(self, space: Space) -> Encoder | None:
        """Return the second model that a space has; None without one, or where this process cannot use it."""
        if space.second is None:
            return None
        encoder = self.named(self.chosen(space))
        return encoder if encoder is not None and encoder.identity == space.second else None

    def check(self, name: str) -> None:
        """Raise `InvalidInput` unless a space may choose this name here."""
        if name == OFF:
            return
        if name not in self.encoders:
            known = ", ".join(repr(each) for each in (OFF, *self.names))
            raise InvalidInput.at("$.second_model", f"this server has no second model {name!r}; it has {known}")
        encoder = self.encoders[name]
        if not isinstance(encoder, Hosted):
            self.problems.pop(name, None)  # it may have been installed since
            encoder.identity  # noqa: B018  # which loads it
