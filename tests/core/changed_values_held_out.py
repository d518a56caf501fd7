"""Made pairs that no rule was chosen by, written before the last mends of the rules (`docs/why/quality.md`)."""

from collections.abc import Mapping, Sequence

from tests.core.changed_values import Frame

CHANGED: Mapping[str, Sequence[Frame]] = {
    "quantity": (
        ("The battery lasts {0}.", "The battery lasts {1}.", (("10 hours", "7 hours"), ("90 minutes", "2 hours"))),
        ("The mail server keeps logs for {0}.", "The mail server keeps logs for {1}.", (("14 days", "4 weeks"),)),
        (
            "The salary of a junior is {0}.",
            "The salary of a junior was increased to {1}.",
            (("3000 euros", "3200 euros"),),
        ),
        ("The pool has {0} connections.", "The pool now has {1} connections.", (("20", "50"),)),
        ("A pallet holds {0} boxes.", "A pallet holds {1} boxes.", (("40", "48"),)),
        ("The cluster has {0} nodes.", "We reduced the cluster from {0} to {1} nodes.", (("12", "8"),)),
    ),
    "frequency": (
        ("The heartbeat is sent every {0}.", "The heartbeat is sent every {1}.", (("5 seconds", "minute"),)),
        ("Invoices go out {0}.", "Invoices go out {1}.", (("monthly", "quarterly"),)),
        ("The user trains {0} a week.", "The user trains {1} a week.", (("twice", "four times"),)),
    ),
    "place": (
        ("Mia lives in {0}.", "Mia relocated from {0} to {1}.", (("Hamburg", "Vienna"),)),
        ("The backup site is in {0}.", "The backup site is in {1}.", (("Ireland", "Sweden"),)),
        ("Our headquarters are located in {0}.", "Our headquarters moved from {0} to {1}.", (("Lyon", "Nantes"),)),
    ),
    "preference": (
        ("The user prefers {0} answers.", "The user prefers {1} answers.", (("short", "long"),)),
        ("Tom prefers {0} to {1}.", "Tom prefers {1} to {0}.", (("Vim", "Emacs"),)),
        ("The user prefers {0} units.", "The user now prefers {1} units.", (("metric", "imperial"),)),
        ("The user uses {0} theme at night.", "The user uses {1} theme at night.", (("light", "dark"),)),
    ),
    "version": (
        ("The backend uses {0}.", "The backend uses {1}.", (("Java 17", "Java 21"), ("Rails 6", "Rails 7"))),
        ("The runner is on {0}.", "The runner was upgraded from {0} to {1}.", (("Ubuntu 20.04", "Ubuntu 24.04"),)),
        ("The minimum supported version is {0}.", "The minimum supported version is now {1}.", (("3.9", "3.11"),)),
    ),
    "date": (
        ("The contract ends on {0}.", "The contract ends on {1}.", (("June 30", "December 31"),)),
        ("Standup is at {0}.", "Standup was moved to {1}.", (("9:15", "10:00"),)),
        ("The exam takes place on {0}.", "The exam was postponed to {1}.", (("Monday", "Thursday"),)),
        ("The invoice is due on {0}.", "The invoice is due on {1}.", (("2026-05-01", "2026-06-01"),)),
    ),
    "tool": (
        ("The team uses {0} as its editor.", "The team switched from {0} to {1} as its editor.", (("Atom", "Zed"),)),
        ("We deploy with {0}.", "We deploy with {1} instead of {0}.", (("Ansible", "Nomad"),)),
        ("We store secrets in {0}.", "We migrated secrets from {0} to {1}.", (("Vault", "Doppler"),)),
    ),
    "holder": (
        ("{0} is the lead of the search team.", "{1} is the lead of the search team.", (("Nora", "Paul"),)),
        ("{0} manages the Tampere office.", "{1} manages the Tampere office.", (("Nora", "Paul"),)),
        ("The wiki is maintained by {0}.", "The wiki is maintained by {1}.", (("Nora", "Paul"),)),
    ),
    "negation": (
        ("The user drinks coffee.", "The user no longer drinks coffee.", ((),)),
        ("The API supports batch requests.", "The API doesn't support batch requests anymore.", ((),)),
        ("The feature flag is active.", "The feature flag is inactive.", ((),)),
    ),
    "other author": (
        ("Mia says the limit is {0}.", "Paul says the limit is {1}.", (("5 MB", "8 MB"),)),
        ("According to Mia, backups run {0}.", "Paul says that backups run {1}.", (("daily", "weekly"),)),
        ("The token expires after {0}.", "Paul said the token expires after {1}.", (("1 hour", "8 hours"),)),
    ),
}

KEPT: Mapping[str, Sequence[Frame]] = {
    "other subject": (
        ("The read timeout is {0}.", "The write timeout is {1}.", (("5 s", "10 s"),)),
        ("The Helsinki office has {0} desks.", "The Tampere office has {1} desks.", (("40", "25"),)),
        ("Mia's desk is on floor {0}.", "Paul's desk is on floor {1}.", (("3", "5"),)),
        ("The staging token expires after {0}.", "The production token expires after {1}.", (("1 hour", "8 hours"),)),
        ("Mia lives in {0}.", "Mia's brother moved from {0} to {1}.", (("Hamburg", "Vienna"),)),
        ("Chapter 2 has {0} pages.", "Chapter 7 has {1} pages.", (("20", "35"),)),
    ),
    "as well": (
        ("We deploy with {0}.", "We also deploy with {1}.", (("Ansible", "Nomad"),)),
        ("The shop is open on {0}.", "The shop is open on {1} too.", (("Saturday", "Sunday"),)),
        ("The app requires {0}.", "In addition the app requires {1}.", (("Java 17", "Python 3.12"),)),
    ),
    "past and future": (
        ("The battery lasted {0} when it was new.", "The battery lasts {1}.", (("10 hours", "7 hours"),)),
        ("The fee is {0}.", "The fee was {1} two years ago.", (("5 euros", "4 euros"),)),
        ("The office is in {0}.", "The office will soon be in {1}.", (("Lyon", "Nantes"),)),
        ("The pool had {0} connections in March.", "The pool has {1} connections.", (("20", "50"),)),
    ),
    "events": (
        ("Mia drove to {0} yesterday.", "Mia drove to {1} yesterday.", (("Lyon", "Nantes"),)),
        ("The restart took {0}.", "The restart took {1}.", (("4 minutes", "6 minutes"),)),
        ("Paul bought {0} apples.", "Paul bought {1} apples.", (("3", "6"),)),
        ("The outage began at {0}.", "The outage began at {1}.", (("9:15", "10:00"),)),
        ("Run 41 scored {0}.", "Run 42 scored {1}.", (("0.81", "0.84"),)),
    ),
    "question": (
        ("The battery lasts {0}.", "Does the battery last {1}?", (("10 hours", "7 hours"),)),
        ("Is the contract over on {0}?", "The contract ends on {1}.", (("June 30", "December 31"),)),
    ),
    "quote": (
        ("The fee is {0}.", 'Paul joked: "the fee is {1} now".', (("5 euros", "4 euros"),)),
        ("The API supports batch requests.", 'The error says "the API does not support batch requests".', ((),)),
    ),
    "plan": (
        ("The pool has {0} connections.", "The pool should have {1} connections.", (("20", "50"),)),
        ("We deploy with {0}.", "We are thinking about moving from {0} to {1}.", (("Ansible", "Nomad"),)),
        ("The contract ends on {0}.", "The contract would end on {1} if we renew it.", (("June 30", "December 31"),)),
        ("The team uses {0}.", "The team decided against switching from {0} to {1}.", (("Atom", "Zed"),)),
    ),
    "same value": (
        (
            "The token expires after {0}.",
            "The token expires after {1}.",
            (("1 hour", "60 minutes"), ("2 weeks", "14 days")),
        ),
        ("Standup is at {0}.", "Standup is at {1}.", (("9:15", "9:15 AM"), ("2 PM", "14:00"))),
        ("The file has {0}.", "The file has {1}.", (("3 GB", "3000 MB"),)),
        ("The cluster has {0} nodes.", "The cluster has {1} nodes.", (("twelve", "12"),)),
    ),
    "scope": (
        ("The fee is {0} for students.", "The fee is {1} for teachers.", (("5 euros", "9 euros"),)),
        ("On Mondays the gym opens at {0}.", "On Sundays the gym opens at {1}.", (("7:00", "9:00"),)),
        ("In winter the ferry runs {0}.", "In summer the ferry runs {1}.", (("weekly", "daily"),)),
        (
            "The user prefers {0} answers to questions.",
            "The user prefers {1} answers in reviews.",
            (("short", "long"),),
        ),
    ),
    "many at a time": (
        ("Paul plays {0}.", "Paul plays {1}.", (("chess", "tennis"), ("Tetris", "Doom"))),
        ("Mia has a cat named {0}.", "Mia has a dog named {1}.", (("Otto", "Rex"),)),
        ("We have customers in {0}.", "We have customers in {1}.", (("Norway", "Spain"),)),
        ("The user is interested in {0}.", "The user is interested in {1}.", (("astronomy", "gardening"),)),
    ),
}
