"""Settings of a space: its policy, its quota, its models, and how the database is backed up."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from muisti.client import Call, MuistiError, calls
from muisti.service.console.answers import Answer, Model, does, done, problem_of, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.settings import parse_bytes

Values = Mapping[str, Any]


class Rule(NamedTuple):
    """A field of the policy: its label, what it does, and its values with their words; a number has none."""

    name: str
    label: str
    hint: str
    values: Mapping[str, str] = {}


_SCREENED = {"allow": "store it", "redact": "redact it", "refuse": "refuse the memory"}
POLICY = (
    Rule("secrets", "Passwords, keys and tokens", "When a new text seems to contain one.", _SCREENED),
    Rule("personal_data", "Personal data", "Email addresses; phone, card and account numbers.", _SCREENED),
    Rule(
        "echoes",
        "Storing what was just recalled",
        "Otherwise one source would count twice.",
        {"allow": "store it", "flag": "mark it as derived", "refuse": "refuse the memory"},
    ),
    Rule("history_days", "Days to keep old versions", "0 keeps them forever."),
    Rule("purge_after_days", "Days until a memory is purged", "After its creation; empty means never."),
    Rule("similarity_limit", "Refuse duplicates from", "Similarity from .5 to 1; empty uses the standard rules."),
    Rule("review_limit", "Open a conflict from", "Similarity from .5 to 1; empty uses the standard rules."),
    Rule("recency_weight", "Weight of recency", "0 to 1, for searches that set none; 0 ignores age."),
    Rule("recency_half_life_days", "Half-life of recency", "In days."),
    Rule("graph", "Knowledge graph", "Reads names and facts from memories.", {"on": "on", "off": "off"}),
    Rule("second_model", "Second embedding model", "off, minilm, or another model on the server."),
    Rule("time_zone", "Time zone", "For words like “today” in questions; for example, Europe/Helsinki."),
    Rule("inherits", "Spaces that searches may add", "Names separated by commas, closest first."),
)
QUOTA = {"memories": "Max. memories", "bytes": "Max. bytes"}
NUMBERS = frozenset(
    ("history_days", "purge_after_days", "similarity_limit", "review_limit", "recency_weight", "recency_half_life_days")
)
ROLES = {"current": "answers searches", "shadow": "embeds new texts too", "left": "unused"}


@shows("settings")
async def show_settings(visit: Visit, space: str) -> View:
    """Show the settings of a space."""
    return await _shown(visit, space)


@does("settings/policy")
async def set_policy(visit: Visit, space: str) -> Answer:
    """Change what differs in the policy; an empty field goes back to the default of the server."""
    known: Any = (await visit.api.get_space(space))["policy"]
    return await _changed(visit, space, "policy", lambda: calls.set_policy(space, changes(visit.form, known)))


@does("settings/quota")
async def set_quota(visit: Visit, space: str) -> Answer:
    """Change the quota; an empty field goes back to the default of the server."""
    return await _changed(visit, space, "quota", lambda: calls.set_quota(space, limits(visit.form)))


@shows("settings/models", "models.html", block="models", roles=ROLES)
async def show_models(visit: Visit, space: str) -> Model:
    """Show the models that have embedded a space."""
    return {"models": await _models(visit, space), "may": visit.may_change("admin")}


@does("settings/models")
async def change_models(visit: Visit, space: str) -> Answer:
    """Build, exchange, bring back or delete a model of the space."""
    model, step = visit.field("model"), visit.field("step")
    made = {
        "build": lambda: calls.build_generation(space, {"model": model}),
        "switch": lambda: calls.switch_generation(space, {}),
        "rollback": lambda: calls.roll_back_generation(space, {}),
        "drop": lambda: calls.drop_generation(space, model),
    }
    return await _changed(visit, space, "models", made.get(step, made["build"]))


async def _changed(visit: Visit, space: str, part: str, made: Callable[[], Call]) -> Answer:
    try:
        call = made()
        sent = await visit.send(call)
    except ValueError as error:
        errors = [{"path": part, "message": str(error)}]
        problem: Model = {"detail": "A field cannot be read.", "errors": errors, "conflicts": []}
        return await _shown(visit, space, part, problem, 422)
    except MuistiError as error:
        if error.status not in (400, 409, 422):
            raise
        return await _shown(visit, space, part, problem_of(error), error.status)
    if call.method == "POST" and call.path.endswith("/generations"):
        return done(visit, f"tasks/{sent.data['id']}", "building")
    return done(visit, "settings", "setting_changed")


async def _shown(visit: Visit, space: str, part: str = "", problem: Model | None = None, status: int = 200) -> View:
    found: Any = await visit.api.get_space(space)
    models = await _models(visit, space) if problem and part == "models" else None
    everywhere = visit.may("admin") and visit.access["spaces"] == ["*"]
    used: Any = (await visit.send(calls.set_quota(space, {}, dry_run=True))).data["answer"] if everywhere else None
    typed = {name: str(value) for name, value in visit.form.multi_items()} if problem else {}
    model: Model = {
        "policy": [
            {**one._asdict(), "value": typed.get(one.name, text_of(found["policy"][one.name]))} for one in POLICY
        ],
        "quota": used and [_amount(name, used[name], typed.get(name)) for name in QUOTA],
        "models": models,
        "roles": ROLES,
        "may": visit.may_change("admin"),
        "problems": {**dict.fromkeys(("policy", "quota", "models")), part: problem},
    }
    return View("settings.html", model, status=status)


async def _models(visit: Visit, space: str) -> Model:
    """Return the models of a space, and the others of the server. Each vector is counted, so the page comes first."""
    found: Any = await visit.api.list_generations(space)
    used = {one["model"] for one in found["items"] if one["role"] != "left"}
    return {"used": found["items"], "others": sorted(set(found["models"]) - used)}


def _amount(name: str, one: Values, typed: str | None) -> Model:
    limit = "" if one["limit"] is None else str(one["limit"])
    return {"name": name, "label": QUOTA[name], "used": one["used"], "value": limit if typed is None else typed}


def text_of(value: Any) -> str:
    """Return a value of the policy as a field of the form has it.

    >>> text_of(None), text_of(30.0), text_of(["a", "b"])
    ('', '30', 'a, b')
    """
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else ", ".join(value) if isinstance(value, list) else str(value)


def changes(form: Values, known: Values) -> dict[str, Any]:
    """Return the fields of the form that differ from the known policy.

    Raises:
        ValueError: a number cannot be read.
    """
    given = {one.name: str(form.get(one.name, "")).strip() for one in POLICY if one.name in form}
    return {name: _value(name, text) for name, text in given.items() if text != text_of(known[name])}


def _value(name: str, text: str) -> Any:
    if not text:
        return None
    if name in NUMBERS:
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{name.replace('_', ' ')}: {text[:40]!r} is not a number") from None
    return [one.strip() for one in text.split(",") if one.strip()] if name == "inherits" else text


def limits(form: Values) -> dict[str, int | None]:
    """Return the quota of a form.

    >>> limits({"memories": "100000", "bytes": "1GiB"}), limits({"memories": "", "bytes": "0"})
    ({'memories': 100000, 'bytes': 1073741824}, {'memories': None, 'bytes': 0})
    """
    return {name: _most(str(form.get(name, "")).strip().replace(",", "")) for name in QUOTA}


def _most(text: str) -> int | None:
    if text in ("", "0"):
        return 0 if text else None
    try:
        return parse_bytes(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a number such as 1000 or 512MB") from None
