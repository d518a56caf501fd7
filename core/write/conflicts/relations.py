"""Relations of which a subject has one value at a time, the verbs that state them, and values that rule each other out.

All lists are of common words of English. A line of a list is one relation or one kind.
"""

from collections.abc import Mapping
from typing import Literal

from muisti.core.text.terms import tokenize

Strength = Literal["sure", "maybe"]

# Relation: verbs / participles after `is`.
_FORMS = """
is: happen occur equal / located situated scheduled held set limited planned
base: / based headquartered
live: live reside dwell /
work: work / employed
name: / called named titled nicknamed
start: start begin commence /
end: end finish expire /
due: / due
open: open /
close: close shut /
leave: leave depart /
arrive: arrive land /
meet: meet /
run: run / run powered
write: / written coded programmed implemented
build: / built
host: / hosted deployed
keep: / kept stored saved archived
own: belong / owned
lead: lead manage head chair maintain oversee / led managed headed chaired maintained
report: report /
marry: / married engaged
listen: listen /
cost: cost / priced
last: last take /
weigh: weigh /
have: have has contain hold /
allow: allow support accept permit /
need: need require / required
use: use /
prefer: prefer favor favour /
drive: drive /
study: study /
speak: /
format: / formatted
pay: / paid billed
deploy: deploy release ship /
collect: / collected delivered cleaned watered
assign: / assigned
go: go /
eat: eat /
"""
# Relation and preposition of a thing that a subject has one of. `sure` holds for names.
_SINGLE = """
is in: sure
live in: sure
base in: sure
work at: sure
work as: maybe
name: sure
due on: sure
run on: sure
run with: sure
write in: sure
write with: sure
build with: sure
build in: maybe
host on: sure
host in: sure
host by: sure
keep in: sure
keep on: maybe
own by: maybe
own to: maybe
lead: maybe
lead by: maybe
report to: sure
marry to: sure
prefer: maybe
drive: maybe
study: maybe
study in: maybe
study at: maybe
format as: maybe
pay by: maybe
pay in: maybe
assign to: maybe
born in: sure
up in: maybe
leave from: maybe
use as: maybe
"""
# Posts that one person holds, and persons of whom somebody has one.
_POSTS = """
ceo cto cfo coo cio president chairman chairwoman chairperson principal headmaster landlord landlady boss manager
supervisor director mayor captain spouse wife husband fiance fiancee mother father mum mom dad dentist capital
"""
# Nouns for a property of a thing, which has one value.
_PROPERTIES = """
name nickname title color type kind size age height weight birthday address email number username password hometown
nationality religion status state license theme format version model brand owner author branch timezone currency unit
language engine editor manager provider host port path role job profession deadline priority major
"""
STATED_BY = {"name": "name", "price": "cost", "cost": "cost", "weight": "weigh"}
"""Nouns of a subject, and the relation that states the same."""
CHANGING = frozenset(
    {"is", "name", "base", "live", "work", "use", "host", "run", "keep", "prefer", "start", "end", "due", "cost"}
)
"""Relations whose value a text may announce to have changed: `was moved to`."""
# Measures by whose name a subject may be longer: `the rate limit of the API allows 5 requests`.
_MEASURES = "rate limit number count total quota size amount capacity"
# Persons of whom somebody may have several.
_SOME = """
brother sister parent son daughter child grandfather grandmother aunt uncle cousin friend colleague neighbor roommate
teammate classmate guest client customer
"""
# Subjects whose value is another one soon.
_PASSING = "today tomorrow yesterday tonight time date weather temperature mood"
_OPINIONS = "best worst greatest nicest"
_UNIQUE = "favorite preferred default primary main official only maximum minimum max min"
# Kinds of which a thing has one: values of a line rule each other out.
_KINDS = """
red orange yellow green blue purple violet pink brown black white gray grey silver gold beige teal turquoise navy maroon
tabs spaces
postgres postgresql mysql mariadb sqlite mongodb oracle cassandra dynamodb cockroachdb couchdb
aws azure gcp heroku hetzner digitalocean vercel netlify
npm pnpm yarn bun
pip poetry pipenv uv conda
slack teams discord zulip mattermost
jira linear trello asana
github gitlab bitbucket gitea
jenkins circleci travis buildkite
vim emacs vscode neovim
react vue angular svelte
django flask fastapi
rabbitmq kafka nats
maven gradle bazel
jest vitest mocha
windows macos linux
vegetarian vegan omnivore pescatarian
single married divorced widowed engaged
petrol gasoline diesel electric hybrid
"""
# Names that contain places: someone may live in both Lyon and France.
_WIDE = """
europe asia africa america oceania scandinavia afghanistan albania algeria andorra angola argentina armenia australia
austria azerbaijan bahamas bahrain bangladesh barbados belarus belgium belize benin bhutan bolivia bosnia botswana
brazil brunei bulgaria burundi cambodia cameroon canada chad chile china colombia congo croatia cuba cyprus czechia
denmark djibouti ecuador egypt eritrea estonia ethiopia fiji finland france gabon gambia georgia germany ghana greece
grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica
japan jordan kazakhstan kenya kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein
lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico moldova monaco
mongolia montenegro morocco mozambique myanmar namibia nepal netherlands holland nicaragua niger nigeria norway oman
pakistan palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda senegal serbia
singapore slovakia slovenia somalia spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand
togo tunisia turkey turkmenistan uganda ukraine uruguay uzbekistan venezuela vietnam yemen zambia zimbabwe england
scotland wales britain uk usa us california texas florida bavaria catalonia ontario quebec
"""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _verbs() -> tuple[dict[str, str], dict[str, str], dict[str, frozenset[str]]]:
    verbs: dict[str, str] = {}
    states: dict[str, str] = {}
    terms: dict[str, frozenset[str]] = {}
    for line in _FORMS.strip().splitlines():
        relation, _, forms = line.partition(":")
        plain, participles = (part.split() for part in forms.split("/"))
        verbs |= dict.fromkeys(plain, relation)
        states |= dict.fromkeys(participles, relation)
        terms[relation] = frozenset(term for form in plain for term in tokenize(form))
    return verbs, states, terms


_VERBS, STATES, TERMS = _verbs()
SINGLE: Mapping[tuple[str, str], Strength] = {
    (relation, preposition): "sure" if strength == "sure" else "maybe"
    for relation, preposition, strength in (
        ((*place.split(), "")[0], (*place.split(), "")[1], strength.strip())
        for place, _, strength in (line.partition(":") for line in _SINGLE.strip().splitlines())
    )
}
POSTS, PROPERTIES, UNIQUE, MEASURES, WIDE, SOME, PASSING, OPINIONS = map(
    _words, (_POSTS, _PROPERTIES, _UNIQUE, _MEASURES, _WIDE, _SOME, _PASSING, _OPINIONS)
)
_KIND = {word: number for number, line in enumerate(_KINDS.strip().splitlines()) for word in line.split()}


def relation_of(verb: str) -> str | None:
    """Return the relation that a verb in the present states, in any person, or None.

    >>> relation_of("lives"), relation_of("begins"), relation_of("finishes"), relation_of("sings")
    ('live', 'start', 'end', None)
    """
    bare = verb.removesuffix("s"), verb.removesuffix("es"), f"{verb.removesuffix('ies')}y"
    return next((_VERBS[each] for each in (verb, *bare) if each in _VERBS), None)


def rivals(one: str, other: str) -> bool:
    """Return whether two words are values of one kind.

    >>> rivals("red", "teal"), rivals("red", "tall"), rivals("npm", "yarn")
    (True, False, True)
    """
    return one != other and one in _KIND and _KIND[one] == _KIND.get(other)
