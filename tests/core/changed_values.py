"""Pairs of statements made from templates: values that change, and pairs that must not be called a contradiction.

Each pair is made, none was found in a conversation. A frame has the text that exists, the text that is new, and
fillers, which are values for both. The rules of `core.write.conflicts` were made with these pairs. Those that were not
are in `tests.core.changed_values_held_out`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Frame = tuple[str, str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Made:
    """A pair of made texts. `changed`: both cannot be true at the same time."""

    kind: str
    existing: str
    new: str
    changed: bool


CHANGED: Mapping[str, Sequence[Frame]] = {
    "quantity": (
        ("The upload limit is {0}.", "The upload limit is {1}.", (("5 MB", "10 MB"), ("200 kB", "1 MB"))),
        ("The build machine has {0} of memory.", "The build machine has {1} of memory.", (("16 GB", "64 GB"),)),
        ("Idle sessions expire after {0}.", "Idle sessions expire after {1}.", (("30 minutes", "2 hours"),)),
        ("The retry delay is {0}.", "The retry delay is now {1}.", (("200 ms", "1 second"), ("5 s", "8 s"))),
        ("The parcel weighs {0}.", "The parcel weighs {1}.", (("2 kg", "3 kg"),)),
        ("Each team gets {0} of storage.", "Each team gets {1} of storage.", (("10 GB", "50 GB"), ("1 TB", "2 TB"))),
        ("The upload limit is {0}.", "The upload limit was raised to {1}.", (("5 MB", "10 MB"),)),
        ("The page budget is {0}.", "We raised the page budget from {0} to {1}.", (("90 kB", "120 kB"),)),
        ("Test coverage of the parser is {0}.", "Test coverage of the parser is {1} now.", (("65%", "78%"),)),
        ("The rent of the studio is {0}.", "The rent of the studio went up to {1}.", (("900 euros", "950 euros"),)),
    ),
    "frequency": (
        ("The deploy key rotates every {0}.", "The deploy key rotates every {1}.", (("90 days", "30 days"),)),
        ("The sync job runs every {0}.", "The sync job runs every {1}.", (("hour", "15 minutes"), ("2 hours", "day"))),
        ("Backups run {0}.", "Backups run {1}.", (("daily", "weekly"), ("hourly", "daily"))),
        ("The report is sent {0} a week.", "The report is sent {1} a week.", (("twice", "three times"),)),
        ("Ann goes swimming {0} a week.", "Ann goes swimming {1} a week now.", (("once", "twice"),)),
        ("The plants are watered every {0}.", "The plants are watered every {1}.", (("3 days", "5 days"),)),
    ),
    "place": (
        ("Ann lives in {0}.", "Ann moved from {0} to {1}.", (("Berlin", "Oslo"), ("Turku", "Lisbon"))),
        ("The archive is in {0}.", "The archive moved from {0} to {1}.", (("Turku", "Oulu"),)),
        ("Ann lives in {0}.", "Ann now lives in {1}.", (("Berlin", "Oslo"),)),
        ("Ben works in {0}.", "Ben has moved to {1}.", (("Ghent", "Porto"),)),
        ("Ann lives in {0}.", "Ann moved to {1}.", (("Berlin", "Oslo"),)),
        ("The company is based in {0}.", "The company is now based in {1}.", (("Leeds", "York"),)),
        ("The servers are in {0}.", "The servers were moved to {1}.", (("Frankfurt", "Dublin"),)),
        ("I live in {0}.", "I moved from {0} to {1} last week.", (("Berlin", "Oslo"),)),
    ),
    "preference": (
        ("User prefers {0} mode.", "User prefers {1} mode.", (("dark", "light"), ("light", "dark"))),
        ("Ann uses {0} in the editor.", "Ann uses {1} in the editor.", (("dark mode", "light mode"),)),
        ("The user prefers {0} mode.", "The user switched to {1} mode.", (("dark", "light"),)),
        ("Ann prefers {0} over {1}.", "Ann prefers {1} over {0}.", (("tabs", "spaces"), ("trains", "planes"))),
        ("I prefer {0}.", "I prefer {1} now.", (("tea", "coffee"), ("short answers", "long answers"))),
        ("Ben's favourite team is {0}.", "Ben's favourite team is now {1}.", (("Ajax", "Celtic"),)),
        ("The user likes {0} themes.", "The user now prefers {1} themes.", (("dark", "light"),)),
        ("I prefer {0} meetings.", "I no longer prefer {0} meetings.", (("morning", ""),)),
    ),
    "version": (
        ("We use {0}.", "We use {1}.", (("Python 3.11", "Python 3.12"), ("Django 4.2", "Django 5.0"))),
        ("The service runs on {0}.", "The service runs on {1}.", (("Node 18", "Node 20"),)),
        ("Staging runs {0}.", "Staging was upgraded to {1}.", (("Postgres 14", "Postgres 16"),)),
        ("The app requires {0}.", "The app requires {1}.", (("iOS 15", "iOS 17"), ("Android 9", "Android 11"))),
        ("The current version is {0}.", "The current version is {1}.", (("2.3.1", "2.4.0"), ("v1.2", "v1.3"))),
        ("The gateway is on {0}.", "The gateway was bumped from {0} to {1}.", (("v1.8.2", "v1.9.0"),)),
    ),
    "date": (
        ("The release is on {0}.", "The release is on {1}.", (("May 3", "June 10"), ("March 1", "March 8"))),
        ("The launch date is {0}.", "The launch date is {1}.", (("2026-03-01", "2026-04-15"),)),
        ("The deadline is {0}.", "The deadline was moved to {1}.", (("Friday", "Monday"), ("May 3", "May 9"))),
        ("The review starts at {0}.", "The review starts at {1}.", (("3 PM", "4:30 PM"), ("10:00", "14:00"))),
        ("The call is on {0}.", "The call was rescheduled to {1}.", (("April 21 at 3 PM", "April 22 at 11 AM"),)),
        ("My flight leaves on {0}.", "My flight leaves on {1}.", (("Tuesday", "Thursday"),)),
    ),
    "tool": (
        ("The team uses {0} for builds.", "The team switched from {0} to {1} for builds.", (("Jenkins", "Drone"),)),
        ("We use {0} for chat.", "We moved from {0} to {1} for chat.", (("Slack", "Zulip"), ("Teams", "Matrix"))),
        ("We use {0} for tests.", "We use {1} instead of {0} for tests.", (("nose", "pytest"),)),
        ("Our package manager is {0}.", "Our package manager is {1}.", (("npm", "pnpm"), ("pip", "uv"))),
        ("The team tracks bugs in {0}.", "The team tracks bugs in {1} instead of {0}.", (("Jira", "Linear"),)),
        ("The default editor is {0}.", "The default editor is {1}.", (("Vim", "Helix"),)),
        ("We use {0} for linting.", "We replaced {0} with {1} for linting.", (("Flake8", "Ruff"),)),
        ("Payments go through {0}.", "Payments no longer go through {0}.", (("Stripe", ""),)),
    ),
    "holder": (
        ("{0} is the owner of the billing service.", "{1} is the owner of the billing service.", (("Bob", "Alice"),)),
        ("{0} leads the platform team.", "{1} leads the platform team.", (("Bob", "Alice"),)),
        ("The payroll service is owned by {0}.", "The payroll service is owned by {1}.", (("Bob", "Alice"),)),
        ("The new intern's mentor is {0}.", "The new intern's mentor is {1}.", (("Eva", "Tom"),)),
    ),
    "negation": (
        ("The API requires a token.", "The API does not require a token.", ((),)),
        ("The export includes attachments.", "The export doesn't include attachments.", ((),)),
        ("Ann eats meat.", "Ann no longer eats meat.", ((),)),
        ("The cron job is enabled.", "The cron job is no longer enabled.", ((),)),
        ("The gateway is enabled.", "The gateway is disabled.", ((),)),
        ("The night build is mandatory.", "The night build is optional.", ((),)),
    ),
    "other author": (
        (
            "Ana says the deploy key rotates every {0}.",
            "Ben says the deploy key rotates every {1}.",
            (("90 days", "30 days"),),
        ),
        ("Ana: the lease ends on {0}.", "Ben: the lease ends on {1}.", (("May 3", "June 10"),)),
        ("Ana says the deploy key rotates every {0}.", "Ben: every {1}.", (("90 days", "30 days"),)),
        (
            "According to Ana, the quota is {0} calls a day.",
            "According to Ben, the quota is {1} calls a day.",
            (("1,000", "1,200"),),
        ),
        (
            "The deploy key rotates every {0}.",
            "Ben says the deploy key rotates every {1}.",
            (("90 days", "30 days"),),
        ),
        ("The quota is {0} calls a day.", "Ben told me the quota is {1} calls a day.", (("1,000", "1,200"),)),
    ),
}

KEPT: Mapping[str, Sequence[Frame]] = {
    "other subject": (
        ("The upload limit is {0}.", "The download limit is {1}.", (("5 MB", "10 MB"),)),
        ("The web workers have {0} of memory.", "The mail workers have {1} of memory.", (("16 GB", "64 GB"),)),
        ("The deploy key rotates every {0}.", "The signing key rotates every {1}.", (("90 days", "30 days"),)),
        ("Staging runs {0}.", "Production runs {1}.", (("Postgres 14", "Postgres 16"),)),
        ("Ann lives in {0}.", "Bob lives in {1}.", (("Berlin", "Oslo"),)),
        ("Ann moved to {0}.", "Bob moved from {0} to {1}.", (("Berlin", "Oslo"),)),
        ("Ann prefers {0} mode.", "Bob prefers {1} mode.", (("dark", "light"),)),
        ("The web build uses {0}.", "The mobile build uses {1}.", (("Node 18", "Node 20"),)),
        ("Our web team uses {0}.", "Our data team switched from {0} to {1}.", (("Slack", "Zulip"),)),
        ("The first call is on {0}.", "The second call is on {1}.", (("May 3", "June 10"),)),
        ("Line 3 has {0} stops.", "Line 4 has {1} stops.", (("12", "15"),)),
        ("Room 12 holds {0} people.", "Room 14 holds {1} people.", (("20", "30"),)),
    ),
    "as well": (
        ("We use {0} for caching.", "We use {1} as well as {0} for caching.", (("Redis", "Varnish"),)),
        ("Ann likes {0} mode.", "Ann likes {1} mode as well.", (("dark", "light"),)),
        ("The user likes {0} themes.", "The user also likes {1} themes.", (("dark", "light"),)),
        ("The team uses {0} for chat.", "The team also uses {1} for chat.", (("Slack", "Zulip"),)),
        ("Ann speaks {0}.", "Ann also speaks {1}.", (("German", "Norwegian"),)),
        ("We test on {0}.", "We test on {1} too.", (("Python 3.11", "Python 3.12"),)),
        ("The report goes out on {0}.", "The report also goes out on {1}.", (("Mondays", "Fridays"),)),
        ("Ann lives in {0}.", "Ann lives in both {0} and {1}.", (("Berlin", "Oslo"),)),
        ("We ship to {0}.", "We ship to {1} in addition to {0}.", (("Norway", "Sweden"),)),
        ("The office in {0} is open.", "Another office in {1} is open.", (("Turku", "Oulu"),)),
    ),
    "past and future": (
        ("Ann lived in {0} until 2020.", "Ann lives in {1}.", (("Berlin", "Oslo"),)),
        ("The limit was {0} in 2024.", "The limit is {1}.", (("5 MB", "10 MB"),)),
        ("The limit is {0}.", "The limit will be {1} next year.", (("5 MB", "10 MB"),)),
        ("Last year the deploy key rotated every {0}.", "The deploy key rotates every {1}.", (("90 days", "30 days"),)),
        ("Ann used to prefer {0} mode.", "Ann prefers {1} mode.", (("dark", "light"),)),
        ("The meeting is at {0}.", "The meeting used to be at {1}.", (("10:00", "14:00"),)),
        ("We used {0} before 2023.", "We use {1}.", (("Python 3.8", "Python 3.12"),)),
        ("The rent is {0}.", "From next month on the rent is going to be {1}.", (("900 euros", "950 euros"),)),
    ),
    "events": (
        ("Ann flew to {0} on Monday.", "Ann flew to {1} on Friday.", (("Oslo", "Berlin"),)),
        ("The deploy took {0}.", "The deploy took {1}.", (("5 minutes", "9 minutes"),)),
        ("Ann paid {0} for lunch.", "Ann paid {1} for lunch.", (("12 euros", "15 euros"),)),
        ("We fixed {0} bugs today.", "We fixed {1} bugs today.", (("3", "5"),)),
        ("The team met on {0}.", "The team met on {1}.", (("May 3", "June 10"),)),
        ("Ben is visiting {0}.", "Ben is visiting {1}.", (("Porto", "Ghent"),)),
        ("Version 1.2 was released on {0}.", "Version 1.3 was released on {1}.", (("May 3", "June 10"),)),
        ("Ticket 12 takes {0}.", "Ticket 13 takes {1}.", (("3 days", "5 days"),)),
    ),
    "question": (
        (
            "The deploy key rotates every {0}.",
            "Does the deploy key rotate every {1}?",
            (("90 days", "30 days"),),
        ),
        ("Is the upload limit {0}?", "The upload limit is {1}.", (("5 MB", "10 MB"),)),
        ("The cache is enabled.", "Is the cache not enabled?", ((),)),
        ("Ann lives in {0}.", "Who lives in {1}?", (("Berlin", "Oslo"),)),
        ("The meeting is at {0}.", "The meeting is at {1}, right?", (("10:00", "14:00"),)),
        ("The user prefers {0} mode.", "Should the user prefer {1} mode?", (("dark", "light"),)),
    ),
    "quote": (
        ("The limit is {0}.", 'The old manual says "the limit is {1}".', (("5 MB", "10 MB"),)),
        ("The door is open.", 'The sign on the door says "the door is closed".', ((),)),
        ("The editor is in {0} mode.", 'He sang "the editor is in {1} mode" all day.', (("dark", "light"),)),
        ("The key rotates every {0}.", 'The joke goes "the key rotates every {1}".', (("90 days", "3 minutes"),)),
    ),
    "plan": (
        ("The upload limit is {0}.", "We plan to raise the upload limit to {1}.", (("5 MB", "10 MB"),)),
        ("Ann lives in {0}.", "Ann wants to move from {0} to {1}.", (("Berlin", "Oslo"),)),
        ("The team uses {0} for chat.", "The team might switch from {0} to {1}.", (("Slack", "Zulip"),)),
        ("The key rotates every {0}.", "The key should rotate every {1}.", (("90 days", "30 days"),)),
        ("The user prefers {0} mode.", "The user considers switching to {1} mode.", (("dark", "light"),)),
        ("The price is {0}.", "If we sell more, the price is {1}.", (("10 euros", "8 euros"),)),
        ("The quota is {0}.", "Maybe the quota is {1}.", (("1,000", "1,200"),)),
        ("We run {0}.", "We hope to run {1} soon.", (("Node 18", "Node 20"),)),
    ),
    "same value": (
        ("The deploy key rotates every {0}.", "The deploy key rotates every {1}.", (("90 days", "ninety days"),)),
        ("The upload limit is {0}.", "The upload limit is {1}.", (("5 MB", "5MB"), ("1,000 kB", "1000 kB"))),
        ("The timeout is {0}.", "The timeout is {1}.", (("30 seconds", "30 s"), ("0.5 s", "500 ms"))),
        ("The review starts at {0}.", "The review starts at {1}.", (("3 PM", "15:00"), ("9 am", "9:00"))),
        ("The parcel weighs {0}.", "The parcel weighs {1}.", (("2 kg", "2000 g"),)),
        ("The break lasts {0}.", "The break lasts {1}.", (("one hour", "60 minutes"), ("an hour", "1 hour"))),
        ("Ana says the quota is {0}.", "Ben says the quota is {1}.", (("1,000", "1000"),)),
        ("The lease ends on {0}.", "The lease ends on {1}.", (("May 3", "3 May"), ("May 3", "May 3rd"))),
    ),
    "scope": (
        ("The limit is {0} for guests.", "The limit is {1} for members.", (("5 MB", "10 MB"),)),
        ("The shop opens at {0} on weekdays.", "The shop opens at {1} on weekends.", (("9:00", "11:00"),)),
        ("The user prefers {0} mode at home.", "The user prefers {1} mode at work.", (("dark", "light"),)),
        ("In summer the pool closes at {0}.", "In winter the pool closes at {1}.", (("21:00", "19:00"),)),
        ("A ticket costs {0} for children.", "A ticket costs {1} for adults.", (("5 euros", "9 euros"),)),
        ("The user prefers {0} mode in the editor.", "The user prefers {1} mode in slides.", (("dark", "light"),)),
    ),
    "many at a time": (
        ("Ann is allergic to {0}.", "Ann is allergic to {1}.", (("peanuts", "shellfish"),)),
        ("We use {0} for billing.", "We use {1} for billing.", (("Postgres", "Redis"),)),
        ("The user speaks {0}.", "The user speaks {1}.", (("French", "German"),)),
        ("Ann has a sister in {0}.", "Ann has a sister in {1}.", (("Oslo", "Bergen"),)),
        ("The team meets on {0}.", "The team meets in {1}.", (("Mondays", "room 4"),)),
        ("Ann works with {0}.", "Ann works with {1}.", (("Bob", "Eva"),)),
    ),
}


def made(
    changed: Mapping[str, Sequence[Frame]] = CHANGED, kept: Mapping[str, Sequence[Frame]] = KEPT
) -> Iterator[Made]:
    """Yield the pairs of all frames."""
    for frames, is_change in ((changed, True), (kept, False)):
        for kind, (existing, new, fillers) in ((kind, one) for kind, several in frames.items() for one in several):
            for values in fillers:
                yield Made(kind, existing.format(*values), new.format(*values), is_change)
