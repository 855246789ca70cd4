"""The catalogue of what accounts have at their providers: labels, folders, projects, people and
calendars. People pick from it. What decides never looks here: it asks the provider itself."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from integrations.accounts import reads
from integrations.contracts import AccountRef, Named
from integrations.exceptions import NotFound
from integrations.models import Account, Credential, ProviderResource
from integrations.ports.account import Reader
from integrations.ports.calendar import CalendarReader
from integrations.ports.files import FilesReader
from integrations.ports.issues import IssuesReader
from integrations.ports.mail import MailReader
from integrations.ports.registry import BY_SOURCE

EVERY = timedelta(minutes=15)
DUE_AT_ONCE = 50  # a sweep
# A provider that names more of one type is not listed beyond them.
MOST = 5_000
# The members of each are asked for one by one. Where there are more projects, nobody is listed.
MOST_PROJECTS = 50
PAGE = 100
LONGEST = 500  # of an id or a name, as rows keep them
Type = ProviderResource.Type


class Listed(NamedTuple):
    id: str
    name: str
    metadata: dict[str, object]


def is_listed(source: str) -> bool:
    """Whether accounts of this source have such lists."""
    return BY_SOURCE[source].is_writable and BY_SOURCE[source].kind in _LISTS


def read(account: AccountRef, *, now: datetime) -> None:
    """Read the account's lists, and keep them as they are now. Raises ProviderError: then what was
    known before stays."""
    found = _LISTS[account.kind](reads.reader(account))
    with transaction.atomic():
        # Two reads at once are kept one after the other.
        Account.objects.select_for_update(no_key=True).get(id=account.id)
        for resource_type, listed in found.items():
            _keep(account, resource_type, listed)
        ProviderResource.objects.filter(account_id=account.id).exclude(
            resource_type__in=found
        ).delete()
        Account.objects.filter(id=account.id).update(listed_at=now, lists_due_at=now + EVERY)


def ask_again(account_id: UUID) -> None:
    """Have the lists read by the next sweep."""
    Account.objects.filter(id=account_id).update(lists_due_at=None)


def claim_due(*, now: datetime) -> list[UUID]:
    """Accounts whose lists are to be read now. Nobody else gets them until the next time."""
    signed_in = Q(credential__state=Credential.State.GOOD)
    due = Account.objects.filter(
        Q(lists_due_at=None) | Q(lists_due_at__lte=now),
        signed_in | ~Q(provider__in=reads.SEALED),
        source__in=[source for source in BY_SOURCE if is_listed(source)],
    )
    with transaction.atomic():
        rows = due.order_by("lists_due_at", "pk").select_for_update(
            skip_locked=True, of=("self",), no_key=True
        )
        ids = [row.pk for row in rows[:DUE_AT_ONCE]]
        Account.objects.filter(pk__in=ids).update(lists_due_at=now + EVERY)
    return ids


def _keep(account: AccountRef, resource_type: str, listed: Iterable[Listed]) -> None:
    """Write what differs, and nothing else: most reads find nothing new."""
    fitting = (one for one in listed if 0 < len(one.id) <= LONGEST and len(one.name) <= LONGEST)
    present = {one.id: one for _, one in zip(range(MOST), fitting, strict=False)}
    rows = ProviderResource.objects.filter(account_id=account.id, resource_type=resource_type)
    known = {row.external_id: row for row in rows}
    rows.filter(external_id__in=known.keys() - present.keys()).delete()
    changed = []
    for row in known.values():
        one = present.get(row.external_id)
        if one and (row.name, row.metadata) != (one.name, one.metadata):
            row.name, row.metadata = one.name, one.metadata
            changed.append(row)
    ProviderResource.objects.bulk_update(changed, ["name", "metadata"], batch_size=500)
    ProviderResource.objects.bulk_create(
        [
            ProviderResource(
                account_id=account.id,
                resource_type=resource_type,
                external_id=one.id,
                name=one.name,
                metadata=one.metadata,
            )
            for one in present.values()
            if one.id not in known
        ],
        batch_size=500,
    )


Lists = Mapping[str, list[Listed]]


def _of_mail(reader: Reader) -> Lists:
    if not isinstance(reader, MailReader):
        return {}
    people: list[Listed] = []
    cursor: str | None = None
    try:
        while len(people) < MOST:
            page = reader.directory(cursor=cursor, limit=PAGE)
            people += [Listed(one.address, one.name, {"group": one.group}) for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
    except NotFound:
        people = []  # it keeps no directory
    folders = [one for one in reader.folders() if one.kind == "mail"]
    return {Type.LABEL: _named(reader.labels()), Type.FOLDER: _named(folders), Type.PERSON: people}


def _of_files(reader: Reader) -> Lists:
    if not isinstance(reader, FilesReader):
        return {}
    return {Type.FOLDER: _named(one for one in reader.folders() if one.kind == "drive")}


def _of_calendar(reader: Reader) -> Lists:
    return {Type.CALENDAR: _named(reader.calendars())} if isinstance(reader, CalendarReader) else {}


def _of_issues(reader: Reader) -> Lists:
    if not isinstance(reader, IssuesReader):
        return {}
    projects = reader.projects()
    if len(projects) > MOST_PROJECTS:
        return {Type.PROJECT: _named(projects)}
    names: dict[str, str] = {}
    works_in: dict[str, list[str]] = {}
    for project in projects:
        for member in _members(reader, project.id):
            names[member.id] = member.name
            works_in.setdefault(member.id, []).append(project.id)
    people = [
        Listed(address, name, {"projects": works_in[address]}) for address, name in names.items()
    ]
    return {Type.PROJECT: _named(projects), Type.PERSON: people}


def _members(reader: IssuesReader, project_key: str) -> list[Named]:
    try:
        return [Named(id=one.address, name=one.name) for one in reader.members(project_key)]
    except NotFound:
        return []  # gone meanwhile, or the user may not see them


def _named(found: Iterable[Named]) -> list[Listed]:
    return [Listed(one.id, one.name, {}) for one in found]


_LISTS: Mapping[str, Callable[[Reader], Lists]] = {
    "mail": _of_mail,
    "files": _of_files,
    "calendar": _of_calendar,
    "issues": _of_issues,
}
