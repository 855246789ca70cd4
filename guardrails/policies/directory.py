"""An organisation's directory, changed as a whole: from a file, or as a provider has it.

Nothing is changed before its differences were shown, and then all of it or nothing. Each changed
row is in the history of policy. What an operator entered or imported, no provider changes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db import transaction

from guardrails.facts.text import visible
from guardrails.models import Person
from guardrails.policies import changes
from guardrails.policies.changes import Author
from guardrails.policies.directory_file import (
    MOST_LINES,
    MOST_PROBLEMS,
    DirectoryFileError,
    Entry,
    build_entry,
)
from integrations.accounts import reads
from integrations.contracts import AccountRef
from integrations.models import Organisation
from integrations.ports.registry import PROVIDERS

PAGE = 200
VOUCHED = {
    Person.Source.OPERATOR: "entered or imported",
    Person.Source.PROVIDER: "read from the provider",
}


def sources() -> tuple[str, ...]:
    """Of which mailboxes the provider can be asked for a directory."""
    return tuple(
        one.source
        for provider in PROVIDERS
        if provider.name in reads.READERS
        for one in provider.connectors
        if one.kind == "mail"
    )


class DirectoryChanged(Exception):
    """Something else would change than what was shown."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Somebody as the directory has them, and who vouches for it."""

    entry: Entry
    source: Person.Source

    def __str__(self) -> str:
        entry = self.entry
        others = f", also called {', '.join(entry.other_names)}" if entry.other_names else ""
        group = ", a group: many people read it" if entry.is_group else ""
        return visible(f"{entry.name}{others}{group}, {VOUCHED[self.source]}")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One address that is added to the directory, changed there or removed."""

    address: str
    before: Listed | None
    after: Listed | None

    def __str__(self) -> str:
        """As a line of a program."""
        sign = "~" if self.before and self.after else "+" if self.after else "-"
        return (
            f"{sign} {self.address}: {' → '.join(one for one in (self.was, self.becomes) if one)}"
        )

    @property
    def verb(self) -> str:
        return "changed" if self.before and self.after else "added" if self.after else "removed"

    @property
    def name(self) -> str:
        """What it is about, for people."""
        return visible(self.address)

    @property
    def was(self) -> str:
        return str(self.before) if self.before else ""

    @property
    def becomes(self) -> str:
        return str(self.after) if self.after else ""


def differences(
    organisation: Organisation, entries: Iterable[Entry], *, source: Person.Source, whole: bool
) -> tuple[Difference, ...]:
    """What the entries change of the directory, by address. What an entry does not say stays.
    With `whole`, who is not among them is removed, of those whom the same source vouches for."""
    present = {
        row.address: _listed(row) for row in Person.objects.filter(organisation=organisation)
    }
    found = []
    wanted = {one.address for one in entries}
    for entry in entries:
        before = present.get(entry.address)
        if before and before.source == Person.Source.OPERATOR != source:
            continue
        after = Listed(entry=_completed(entry, before), source=source)
        if after != before:
            found.append(Difference(address=entry.address, before=before, after=after))
    if whole:
        found += [
            Difference(address=address, before=before, after=None)
            for address, before in present.items()
            if before.source == source and address not in wanted
        ]
    return tuple(sorted(found, key=lambda one: one.address))


def apply(
    organisation: Organisation,
    entries: Iterable[Entry],
    *,
    source: Person.Source,
    whole: bool,
    author: Author,
    expected: str | None = None,
) -> tuple[Difference, ...]:
    """Makes it so, all or nothing; what was changed. Raises DirectoryChanged where it is not what
    `expected` is the digest of, and audit.contracts.LedgerError."""
    with transaction.atomic():
        Organisation.objects.select_for_update().get(pk=organisation.pk)
        found = differences(organisation, entries, source=source, whole=whole)
        if expected is not None and digest(found) != expected:
            raise DirectoryChanged
        present = Person.objects.filter(organisation=organisation).in_bulk(field_name="pk")
        by_address = {row.address: row for row in present.values()}
        rows = [
            (one, by_address.get(one.address) or Person(organisation=organisation)) for one in found
        ]
        with changes.recording(Person, [row.pk for _, row in rows], author=author):
            for one, row in rows:
                _write(row, one.after)
    return found


def digest(found: Iterable[Difference]) -> str:
    """What a person was shown, so that nothing else is applied."""
    return hashlib.sha256("\n".join(map(str, found)).encode()).hexdigest()


def read_provider(account: AccountRef) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Everybody in the directory of the organisation that the account's provider keeps, and who
    was left out and why. Raises ProviderError, and DirectoryFileError where there are more than
    `MOST_LINES`."""
    reader = reads.mail_reader(account)
    found: dict[str, Entry] = {}
    left_out: list[str] = []
    cursor: str | None = None
    while True:
        page = reader.directory(cursor=cursor, limit=PAGE)
        for one in page.items:
            try:
                entry = build_entry(
                    address=one.address,
                    name=one.name,
                    other_names=one.other_names,
                    is_group=one.group,
                )
            except ValueError as error:
                left_out.append(visible(f"“{one.address}” ({one.name}): {error}."))
            else:
                found[entry.address] = entry
        cursor = page.next_cursor
        if len(found) + len(left_out) > MOST_LINES:
            raise DirectoryFileError([f"The provider names more than {MOST_LINES} people."])
        if cursor is None:
            return tuple(found.values()), tuple(left_out[:MOST_PROBLEMS])


def _listed(row: Person) -> Listed:
    return Listed(
        entry=Entry(
            address=row.address,
            name=row.name,
            other_names=tuple(row.other_names),
            is_group=row.is_group,
        ),
        source=Person.Source(row.source),
    )


def _completed(entry: Entry, before: Listed | None) -> Entry:
    """The entry with what it does not say as it was."""
    known = before.entry if before else Entry(address="", name="", other_names=(), is_group=False)
    return replace(
        entry,
        other_names=known.other_names if entry.other_names is None else entry.other_names,
        is_group=known.is_group if entry.is_group is None else entry.is_group,
    )


def _write(row: Person, wanted: Listed | None) -> None:
    if wanted is None:
        row.delete()
        return
    entry = wanted.entry
    values: Mapping[str, object] = {
        "address": entry.address,
        "name": entry.name,
        "other_names": list(entry.other_names or ()),
        "is_group": bool(entry.is_group),
        "source": wanted.source,
    }
    for name, value in values.items():
        setattr(row, name, value)
    row.save()
