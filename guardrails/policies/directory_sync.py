"""Reading an organisation's directory from its provider by the clock, where an operator said so.

Nobody looks at the differences first, so what looks like an accident changes nothing: an empty
directory, or one in which many of those who were read before are missing.
"""

import logging
from datetime import datetime
from uuid import UUID

from guardrails.models import DirectorySync, Person
from guardrails.policies import directory
from guardrails.policies.changes import Author
from guardrails.policies.directory_file import DirectoryFileError
from integrations.exceptions import ProviderError

log = logging.getLogger(__name__)
AUTHOR = Author(name="directory sync", door="schedule")
FEW = 5  # so many may be gone at once, of however few
MOST_GONE = 0.2  # of those whom the provider named before
PROBLEM_CHARS = 500


def due() -> tuple[UUID, ...]:
    """The syncs that are switched on, of accounts and organisations at work."""
    rows = DirectorySync.objects.filter(
        enabled=True, account__paused=False, organisation__paused=False
    )
    return tuple(rows.values_list("id", flat=True))


def run(sync_id: UUID, *, now: datetime) -> str:
    """Brings the directory up to date, and says on the row what became of it: the problem, empty
    where there was none. What is no longer switched on is left alone.

    Raises audit.contracts.LedgerError, after which nothing was changed.
    """
    row = DirectorySync.objects.select_related("account__organisation").filter(pk=sync_id).first()
    if row is None or row.id not in due():
        return ""
    DirectorySync.objects.filter(pk=row.pk).update(
        tried_at=now, problem="It did not come to an end. The log says why."
    )
    problem = _bring_up_to_date(row)
    values = {"problem": problem} if problem else {"problem": "", "done_at": now}
    DirectorySync.objects.filter(pk=row.pk).update(**values)
    if problem:
        log.warning("directory.not_synced", extra={"organisation": str(row.organisation_id)})
    return problem


def _bring_up_to_date(row: DirectorySync) -> str:
    try:
        entries, left_out = directory.read_provider(row.account.ref())
    except ProviderError as error:
        return f"The provider could not be asked ({error.code})."
    except DirectoryFileError as error:
        return " ".join(error.problems)[:PROBLEM_CHARS]
    source, whole = Person.Source.PROVIDER, True
    found = directory.differences(row.organisation, entries, source=source, whole=whole)
    gone = sum(one.after is None for one in found)
    known = Person.objects.filter(organisation=row.organisation, source=source).count()
    if gone > max(FEW, known * MOST_GONE) or (gone and not entries):
        return (
            f"{gone} of {known} people would be removed, so nothing was changed. Look at it with "
            "`manage.py directory sync`."
        )
    try:
        directory.apply(
            row.organisation,
            entries,
            source=source,
            whole=whole,
            author=AUTHOR,
            expected=directory.digest(found),
        )
    except directory.DirectoryChanged:
        return "Somebody changed the directory meanwhile. It is tried again tomorrow."
    skipped = " ".join(left_out)
    return f"Left out: {skipped}"[:PROBLEM_CHARS] if skipped else ""
