"""The documents that a mail takes along: read in the drive of the same user, like any other object
of a decision. Bounded by how many an action may attach."""

from collections.abc import Sequence
from dataclasses import replace

from guardrails.contracts import ActionRequest
from guardrails.facts.exposure import Authorship, Exposure
from guardrails.facts.facts import Facts, Need
from guardrails.gather.authorship import authors
from guardrails.gather.lookups import gather, namesakes
from guardrails.words.heard import hear
from guardrails.words.typed import named
from integrations.accounts import reads
from integrations.contracts import AccountRef
from integrations.database.pools import release_connections
from integrations.models import Account

NEEDS: frozenset[Need] = frozenset({"folders", "content"})


def read_attached(request: ActionRequest, document_ids: Sequence[str]) -> tuple[Facts, ...]:
    """The facts of each document that is there, in their order; none where the user has no drive,
    or a paused one. Raises ProviderError."""
    drive = _drive_of(request) if document_ids else None
    if drive is None:
        return ()
    release_connections()
    reader = reads.reader(drive)
    words = hear(request.origin).words
    found = []
    for document_id in dict.fromkeys(document_ids):
        facts = gather(
            reader,
            object_kind="document",
            object_id=document_id,
            needs=NEEDS,
            own_address=drive.address,
        )
        title = facts.object_title
        if facts.is_own and named(title, words):
            facts = replace(facts, namesakes=namesakes(reader, "document", title))
        if facts.document is not None:
            found.append(facts)
    return tuple(found)


def authors_of_attached(
    request: ActionRequest, exposures: Sequence[Exposure], attached: Sequence[Facts]
) -> tuple[Authorship, ...]:
    """Who wrote each of the documents: what the agent did to them is the drive's to tell."""
    drive = _drive_of(request) if attached else None
    if drive is None:
        return ()
    there = replace(request, account=drive)
    return tuple(
        author
        for facts in attached
        for author in authors(
            there, [one for one in exposures if facts.was_read("document", one.id)], facts
        )
    )


def _drive_of(request: ActionRequest) -> AccountRef | None:
    account = request.account
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        kind="files",
    )
    found = [row.ref() for row in rows.order_by("id")[:2]]
    return found[0] if len(found) == 1 and not found[0].paused else None
