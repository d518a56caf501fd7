"""Values of names in source files, by scopes, imports, declared types and what is assigned."""

from collections.abc import Callable, Iterator, Sequence

from muisti.core.parsing.code.modules import Modules, family
from muisti.core.parsing.code.orders import Orders
from muisti.core.parsing.code.records import CONTAINERS, TOP, Binding, Chain, Definition, Record
from muisti.core.parsing.code.things import MISSING, OUTSIDE, Source, Thing, is_class
from muisti.core.parsing.code.trail import Trail

PACKAGED = ("go", "java")  # files of one folder see each other's names
DEEPEST = 14  # steps from alias to alias


class Values:
    """Finds values in the files of one project. `load` returns the record of a path; records must not change meanwhile.

    `trail` collects the files and names that a value depends on.
    """

    def __init__(self, modules: Modules, load: Callable[[str], Record]) -> None:
        self.trail = Trail()
        self._modules, self._load = modules, load
        self._sources: dict[str, Source] = {}
        self._memo: dict[tuple[str, int, str], tuple[Thing | None, set[str]]] = {}
        self._orders = Orders(self.trail, self._direct)

    def source(self, path: str) -> Source:
        """Return the indexed record of a path, on which what is looked for depends from now on."""
        self.trail.add((f"path:{path}",))
        found = self._sources.get(path)
        if found is None:
            found = self._sources[path] = Source.of(self._load(path))
        return found

    def value(self, source: Source, scope: int, chain: Chain, depth: int = 0) -> Thing | None:
        """Return the value of a chain in a scope."""
        if depth > DEEPEST or not chain:
            return None
        if chain[0] in ("[*]", "{*}"):
            inner = self.value(source, scope, chain[1:], depth + 1)
            return inner and Thing("many" if chain[0] == "[*]" else "map", inner=inner)
        found = self._followed(*self._start(source, scope, chain, depth), depth)
        if (found is None or found is OUTSIDE) and len(chain) > 2 and family(source.record.language) == "python":
            below = self._below(source, scope, chain)
            return found if below is None else self._followed(*below, depth)
        return found

    def _followed(self, found: Thing | None, rest: Chain, depth: int) -> Thing | None:
        for step in rest:
            if found is None:
                return None
            found = self._step(found, step, depth + 1)
        return found

    def _start(self, source: Source, scope: int, chain: Chain, depth: int) -> tuple[Thing | None, Chain]:
        """Return the value that a chain begins with, and the steps that follow."""
        first, rest = chain[0], chain[1:]
        if first == "''":
            return OUTSIDE, rest
        if first == "super" and family(source.record.language) == "python":
            if rest[:1] != ("()",) or len(rest) < 2:
                return OUTSIDE, rest
            return self._above(source, scope, rest[1]), rest[2:]
        if first == "super":
            return self._super(source, scope), rest
        if first == "this":
            return self._this(source, scope), rest
        if first == "@type":
            return self._instance(source, scope, (rest[0].split("."),) if rest else (), depth), rest[1:]
        return self._name(source, scope, first, depth + 1), rest

    def _below(self, source: Source, scope: int, chain: Chain) -> tuple[Thing, Chain] | None:
        """Return a module of Python that is reached through folders without `__init__.py`, which are no files."""
        at = scope
        while chain[0] not in source.bindings.get(at, {}) and at != TOP:
            if chain[0] in source.record.definitions[at].parameters:
                return None
            at = source.record.definitions[at].parent
        for one in source.bindings.get(at, {}).get(chain[0], ()):
            for given in one.chains if one.form in ("module", "from") else ():
                name = ".".join(given).replace("..", ".") if not given[0].startswith(".") else "".join(given)
                for number, step in enumerate(chain[1:-1], 2):
                    name = f"{name}.{step}"
                    if (found := self.module(source, name)) is not None:
                        return found, chain[number:]
        return None

    def _step(self, thing: Thing, step: str, depth: int) -> Thing | None:
        if thing.form == "outside":
            return thing
        if step == "()":
            return thing.inner if thing.form == "giver" else self._called(thing, depth)
        if step == "@new":
            return Thing("instance", thing.source, thing.number) if is_class(thing) else None
        if step == "[]":
            return thing.inner if thing.form in ("many", "map") else self._method_gives(thing, "__getitem__", depth)
        if thing.form == "definition" and not is_class(thing):  # an attribute of a function: of a property's value
            definition = thing.definition
            if definition is None or "property" not in definition.flags:
                return None
            value = self._called(thing, depth)
            return value and self._attribute(value, step, depth)
        return self._attribute(thing, step, depth)

    def _called(self, thing: Thing, depth: int) -> Thing | None:
        definition = thing.definition
        if thing.form == "instance":
            return self._method_gives(thing, "__call__", depth)
        if definition is None or thing.source is None or thing.form != "definition":
            return thing if thing.form in ("many", "map") else None
        if definition.kind in CONTAINERS:
            return Thing("instance", thing.source, thing.number)
        return None if depth > DEEPEST else self._given(thing, definition, depth)

    def _given(self, thing: Thing, definition: Definition, depth: int) -> Thing | None:
        """Return what a function gives: by its declared types, else by what it returns."""
        source, where = thing.source, definition.parent
        assert source is not None
        for chain in definition.returns:
            if chain[-1] == "Self" and where != TOP:
                return Thing("instance", source, where)
            found = self._typed(source, where, chain, depth + 1)
            if found is not None and found.form != "outside":
                return found
        if definition.returns:
            return OUTSIDE
        for chain in definition.gives:
            found = self.value(source, thing.number, chain, depth + 1)
            if found is not None and found.form != "outside":
                return found
        return None

    def _method_gives(self, thing: Thing, name: str, depth: int) -> Thing | None:
        if thing.form != "instance":
            return None
        method = self._attribute(thing, name, depth)
        return method and self._called(method, depth + 1)

    # Names

    def _name(self, source: Source, scope: int, name: str, depth: int) -> Thing | None:
        """Return what a name means in a scope."""
        at, first = scope, True
        lexical = family(source.record.language) == "python"
        while True:
            kind = source.record.definitions[at].kind if at != TOP else "module"
            if kind in CONTAINERS and source.record.language == "java":
                found = self._attribute(Thing("instance", source, at), name, depth)
                if found is not None and found.form != "outside":
                    return found
            elif kind not in CONTAINERS or (first and lexical):
                found = self._in_scope(source, at, name, depth)
                if found is not MISSING:
                    return found
            if at == TOP:
                break
            at, first = source.record.definitions[at].parent, False
        for module in source.record.stars:
            star = self.module(source, f"{module[:-1]}{name}" if module.endswith(".*") else module)
            found = star and star.source and self._exported(star, name, depth + 1)
            if found is not None:
                return found
        return self._of_package(source, name) or OUTSIDE

    def _of_package(self, source: Source, name: str) -> Thing | None:
        """Return what another file of the same package defines, in languages whose packages are folders."""
        language = source.record.language
        if language not in PACKAGED:
            return None
        key = next(iter(self._modules.keys(source.path, language, source.record.package)[-1:]), "")
        self.trail.add((key,))
        for path in self._modules.siblings(source.path, language):
            other = self.source(path)
            number = other.members.get(TOP, {}).get(name)
            if number is not None and "elsewhere" not in other.record.definitions[number].flags:
                return Thing("definition", other, number)
        return None

    def _in_scope(self, source: Source, scope: int, name: str, depth: int) -> "Thing | None":
        number = source.members.get(scope, {}).get(name)
        if number is not None:
            return Thing("definition", source, number)
        bound = source.bindings.get(scope, {}).get(name)
        if bound is None:
            return MISSING
        if scope != TOP and (own := self._receiver(source, scope, name)) is not None:
            return own
        return self._remembered(source, scope, name, bound, depth)

    def _remembered(self, source: Source, scope: int, name: str, bound: list[Binding], depth: int) -> Thing | None:
        key = (source.path, scope, name)
        if (known := self._memo.get(key)) is not None:
            self.trail.add(known[1])
            return known[0]
        self._memo[key] = (None, set())  # an alias of itself is unknown
        before = self.trail.begin()
        found = self._bound(source, bound, depth)
        self._memo[key] = (found, self.trail.end(before))
        if depth > DEEPEST // 2 and found is None:
            del self._memo[key]  # it may be that the steps ran out
        return found

    def _bound(self, source: Source, bound: list[Binding], depth: int) -> Thing | None:
        outside: Thing | None = None
        several = sum(len(one.chains) for one in bound if one.form != "type") > 1
        for one in bound:
            for chain in one.chains:
                found = self._binding(source, one, chain, depth + 1)
                if found is not None and found.form != "outside":
                    if several and one.form == "value" and found.form == "definition":
                        return OUTSIDE  # one of several functions
                    return found
                outside = outside or found
            if one.form == "type":
                return outside or OUTSIDE
        return outside

    def _binding(self, source: Source, one: Binding, chain: Chain, depth: int) -> Thing | None:
        if one.form == "module":
            return self.module(source, chain[0]) or OUTSIDE
        if one.form == "from":
            return self._imported(source, chain[0], chain[1], depth)
        if one.form == "type":
            return self._typed(source, one.where, chain, depth)
        found = self.value(source, one.where, chain, depth)
        if one.form == "element" and found is not None:
            if found.form == "many":
                return found.inner
            if found.form == "instance":
                many = self._method_gives(found, "__iter__", depth)
                return many.inner if many is not None and many.form == "many" else many
            return found if found.form == "outside" else None
        return found

    def _receiver(self, source: Source, scope: int, name: str) -> Thing | None:
        """Return what the first parameter of a method of Python is: an instance, or the class itself."""
        definition = source.record.definitions[scope]
        if definition.kind != "method" or source.record.language != "python" or "static" in definition.flags:
            return None
        if definition.parameters[:1] != (name,):
            return None
        of_class = "class" in definition.flags or definition.name in (
            "__new__",
            "__init_subclass__",
            "__class_getitem__",
        )
        return Thing("definition" if of_class else "instance", source, definition.parent)

    # Types

    def _typed(self, source: Source, scope: int, chain: Chain, depth: int) -> Thing | None:
        """Return a value of a type that is written in a scope."""
        if depth > DEEPEST:
            return None
        if chain[0] in ("[*]", "{*}"):
            inner = self._typed(source, scope, chain[1:], depth + 1)
            return inner and Thing("many" if chain[0] == "[*]" else "map", inner=inner)
        if chain[0] == "@":
            return self.value(source, scope, chain[1:], depth + 1)
        return self._instance(source, scope, (chain,), depth)

    def _instance(self, source: Source, scope: int, chains: Sequence[Sequence[str]], depth: int) -> Thing | None:
        for chain in chains:
            found = self.value(source, scope, tuple(chain), depth + 1)
            if found is not None and is_class(found):
                return self._alias(found, depth) or Thing("instance", found.source, found.number)
            if found is not None and found.form in ("outside", "instance", "many", "map"):
                return found
        return None

    def _alias(self, thing: Thing, depth: int) -> Thing | None:
        """Return a value of the type that an alias names, None when it is no alias."""
        definition = thing.definition
        if definition is None or thing.source is None or definition.kind != "type":
            return None
        for chain in definition.returns:
            found = self._typed(thing.source, definition.parent, chain, depth + 1)
            if found is not None:
                return found
        return None

    # Modules

    def module(self, source: Source, module: str) -> Thing | None:
        """Return the module that a name means in a file, None for one outside of the project."""
        found, asked = self._modules.find(module, source.path, source.record.language)
        self.trail.add(asked)
        return Thing("module", self.source(found[0])) if found else None

    def _imported(self, source: Source, module: str, name: str, depth: int) -> Thing | None:
        python = source.record.language == "python"
        if (found := self.module(source, module)) is not None:
            if name == "*":
                whole = found.source is not None and "=" in found.source.exports
                return self._exported(found, "=", depth + 1) if whole else found
            inner = self._exported(found, name, depth + 1)
            if inner is not None or not python:
                return inner
        if python:
            dots = "" if module.endswith(".") else "."
            if (below := self.module(source, f"{module}{dots}{name}")) is not None:
                return below
        return None if found is not None else OUTSIDE

    def _exported(self, module: Thing, name: str, depth: int) -> Thing | None:
        """Return what a module gives under a name."""
        source = module.source
        if source is None or depth > DEEPEST:
            return None
        if (export := source.exports.get(name)) is not None:
            local, other = export
            return (
                self._imported(source, other, local, depth + 1)
                if other
                else self.value(source, TOP, tuple(local.split(".")), depth + 1)
            )
        found = self._in_scope(source, TOP, name, depth + 1)
        if found is not MISSING:
            return found
        if source.record.language == "python" and source.path.endswith("__init__.py"):
            below = self.module(source, f".{name}")
            if below is not None:
                return below
        if source.record.language == "go" and (other := self._of_package(source, name)) is not None:
            return other
        for star in source.record.stars:
            inner = self.module(source, star)
            found = inner and self._exported(inner, name, depth + 1)
            if found is not None:
                return found
        return None

    # Classes

    def _attribute(self, thing: Thing, name: str, depth: int) -> Thing | None:
        if depth > DEEPEST:
            return None
        if thing.form == "module":
            return self._exported(thing, name, depth + 1)
        if thing.form in ("many", "map"):
            return self._of_collection(thing, name)
        if thing.source is None:
            return OUTSIDE
        above, open_above = self._orders.of(thing)
        for one in above:
            found = self._member(one, name, thing, depth)
            if found is not MISSING:
                return found
        return OUTSIDE if open_above else None

    def _member(self, one: Thing, name: str, receiver: Thing, depth: int) -> Thing | None:
        source = one.source
        assert source is not None
        number = source.members.get(one.number, {}).get(name)
        if number is not None:
            found = Thing("definition", source, number)
            definition = found.definition
            if definition is not None and "property" in definition.flags and receiver.form == "instance":
                return self._called(found, depth + 1) or OUTSIDE
            return found
        bound = source.bindings.get(one.number, {}).get(name)
        return MISSING if bound is None else self._remembered(source, one.number, name, bound, depth)

    def _of_collection(self, thing: Thing, name: str) -> Thing | None:
        """Return what a method of a collection gives, as far as it gives what is in it."""
        if name in ("get", "pop", "setdefault", "popleft", "at", "find", "shift", "next", "last", "unwrap"):
            return Thing("giver", inner=thing.inner)
        if name in ("values", "copy", "filter", "slice", "iter", "reverse", "concat"):
            return Thing("giver", inner=Thing("many", inner=thing.inner))
        return OUTSIDE

    def _direct(self, thing: Thing) -> Iterator[Thing | None]:
        definition, source = thing.definition, thing.source
        assert definition is not None and source is not None
        for chain in definition.bases:
            found = self.value(source, definition.parent, chain, 1)
            if found is not None and is_class(found):
                yield Thing("definition", found.source, found.number)
            elif chain != ("object",):
                yield None

    def _this(self, source: Source, scope: int) -> Thing | None:
        at = scope
        while at != TOP and source.record.definitions[at].kind not in CONTAINERS:
            if "unbound" in source.record.definitions[at].flags:
                return None
            at = source.record.definitions[at].parent
        return Thing("instance", source, at) if at != TOP else None

    def _super(self, source: Source, scope: int) -> Thing | None:
        this = self._this(source, scope)
        if this is None:
            return None
        base = next(self._direct(Thing("definition", source, this.number)), None)
        return base and Thing("instance", base.source, base.number)

    def _above(self, source: Source, scope: int, name: str) -> Thing | None:
        """Return what `super().name` is in a method of Python."""
        this = self._this(source, scope)
        if this is None:
            return None
        above, outside = self._orders.of(this)
        for one in above[1:]:
            found = self._member(one, name, this, 1)
            if found is not MISSING:
                return found
        return OUTSIDE if outside else None
