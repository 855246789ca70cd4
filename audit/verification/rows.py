"""Does the ledger still say what was appended to it?

Finds rows, payloads, artifacts and policies that were altered, and parts that are missing: first
by what the rows say about themselves, then by the seals, which also know of rows that are gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain as concatenated, groupby
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, prefetch_related_objects

from audit.database import guards
from audit.keeping import end
from audit.ledger import chain, ids, policies, queries, selectors, vault
from audit.ledger.keys import tenant_key
from audit.models import ActionArtifact, ExecutedAgentAction, LedgerPayload, envelope
from audit.verification import seals

KEY_IS_GONE = "Its payload cannot be read: the data key is gone and no recorded end says why."


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that is not as it was appended. No row: it is about the whole ledger."""

    sentence: str
    row_id: int | None = None
    action_id: UUID | None = None

    def __str__(self) -> str:
        return f"row {self.row_id}: {self.sentence}" if self.row_id else self.sentence


@dataclass
class Verification:
    """Of one tenant, or of the whole ledger. Iterate over it (once) for the findings; the
    rest is complete afterwards.

    The ledger is read as it stands now, in pages, so memory stays flat.
    `open_attempts` are no findings: nobody knows yet what became of them.
    """

    tenant_id: UUID | None = None
    since: datetime | None = None  # only actions asked for since then, and what was sealed since
    erased: set[int] = field(default_factory=set)
    ended: set[UUID] = field(default_factory=set)
    policies: dict[tuple[UUID, str], bool] = field(default_factory=dict)  # whether it is there
    rows: int = 0
    actions: int = 0
    open_attempts: list[tuple[int, UUID, datetime]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Finding]:
        if not guards.are_installed():
            yield Finding(sentence="The ledger's tables are missing.")
            return
        for sentence in guards.find_problems():
            yield Finding(sentence=sentence)
        now = queries.take_snapshot().text
        rows = queries.select_with_payload(now)
        if self.tenant_id:
            rows = rows.filter(tenant_id=self.tenant_id)
        rows = queries.select_between(rows, since=self.since, until=None)
        self.erased = find_erased(rows)
        ends = rows.filter(action_type=end.ACTION_TYPE, status="succeeded")
        self.ended = set(ends.values_list("tenant_id", flat=True))
        in_order = concatenated.from_iterable(map(add_artifacts, queries.iterate_pages(rows)))
        for _, group in groupby(in_order, key=lambda row: (row.tenant_id, row.action_id)):
            phases = list(group)
            self.rows += len(phases)
            self.actions += 1
            yield from self.check_action(phases)
        yield from self.find_orphans()
        for sentence, row_id in seals.find_problems(self.tenant_id, since=self.since):
            yield Finding(sentence=sentence, row_id=row_id)

    def check_action(self, phases: list[ExecutedAgentAction]) -> Iterator[Finding]:
        attempts: dict[int, ExecutedAgentAction] = {}
        for row in phases:
            sentences = [
                sentence
                for sentence in find_alterations(row)
                if sentence != KEY_IS_GONE or row.tenant_id not in self.ended
            ]
            if row.content is None and row.id not in self.erased:
                sentences.append("Its payload is missing and no redaction says why.")
            if row.policy_digest and not self.has_policy(row.tenant_id, row.policy_digest):
                sentences.append("The policy that decided it is missing or altered.")
            if row.phase == "outcome" and attempts.pop(row.attempt_no, None) is None:
                sentences.append("This outcome has no attempt before it.")
            if row.phase == "attempt":
                attempts[row.attempt_no] = row
            for sentence in sentences:
                yield Finding(sentence=sentence, row_id=row.id, action_id=row.action_id)
        self.open_attempts += [
            (row.id, row.action_id, row.recorded_at) for row in attempts.values()
        ]

    def has_policy(self, tenant_id: UUID, digest: str) -> bool:
        """Whether the policy is there as it was, or went with its organisation's end."""
        if (tenant_id, digest) not in self.policies:
            self.policies[tenant_id, digest] = tenant_id in self.ended or has_policy(
                tenant_id, digest
            )
        return self.policies[tenant_id, digest]

    def find_orphans(self) -> Iterator[Finding]:
        """Payloads and artifacts whose row is gone, or is another tenant's now."""
        row = ExecutedAgentAction.objects.filter(
            action_id=OuterRef("action_id"), id=OuterRef("row_id"), tenant_id=OuterRef("tenant_id")
        )
        of_tenant: dict[str, object] = {"tenant_id": self.tenant_id} if self.tenant_id else {}
        if self.since:
            of_tenant["action_id__gte"] = ids.floor(self.since)
        for name, model in (("payload", LedgerPayload), ("artifact", ActionArtifact)):
            left = model.objects.filter(~Exists(row), **of_tenant).order_by("row_id")
            for row_id in left.values_list("row_id", flat=True).iterator():
                yield Finding(
                    sentence=f"The row was removed: its {name} is still there.", row_id=row_id
                )


def has_policy(tenant_id: UUID, digest: str) -> bool:
    try:
        return policies.body(tenant_id=tenant_id, digest=digest) is not None
    except policies.Altered:
        return False


def find_erased(rows: queries.Rows) -> set[int]:
    """The rows whose payload and artifacts were erased, by what redactions say."""
    found: set[int] = set()
    for row in rows.filter(phase="redaction").iterator():
        content = selectors.body(row) or {"payload": {}}
        found.update(content["payload"].get("rows", []))
    return found


def add_artifacts(page: list[ExecutedAgentAction]) -> list[ExecutedAgentAction]:
    """The page with its artifacts, looked for among those of its actions."""
    of_page = (page[0].action_id, page[-1].action_id)
    found = ActionArtifact.objects.filter(action_id__range=of_page)
    prefetch_related_objects(page, Prefetch("artifacts", queryset=found))
    return page


def find_alterations(row: ExecutedAgentAction) -> Iterator[str]:
    key = tenant_key(row.tenant_id)
    if chain.envelope_mac(key, envelope(row)) != row.envelope_mac:
        yield "Its columns are not what was appended."
    artifacts = list(row.artifacts.all())
    if row.content is None and not artifacts:
        return  # erased, or hidden: the redactions tell
    if chain.artifacts_digest([artifact.digest for artifact in artifacts]) != row.artifacts_digest:
        yield "Its artifacts are not those that were appended."
    if row.content is None:
        return
    try:
        opened = selectors.opened(row)
    except vault.Unreadable:
        opened = b"", ""
    if opened is None:
        yield KEY_IS_GONE
        return
    if chain.payload_commitment(opened[0], opened[1].encode()) != row.payload_commitment:
        yield "Its payload is not the one that was appended."
        return
    if not row.artifacts_digest:
        return
    named = selectors.value(row).artifacts
    appended = [
        [
            (
                number,
                artifact.kind,
                artifact.provider,
                stored_as(artifact.external_id),
                chain.keyed(key, artifact.url),
                chain.artifact_digest(artifact),
            )
            for number, artifact in enumerate(named, start=1)
        ]
        for stored_as in (partial(chain.keyed, key), str)  # as they are: before ids were keyed
    ]
    stored = [
        (a.ordinal, a.kind, a.provider, a.external_id, a.url_key, a.digest) for a in artifacts
    ]
    if stored not in appended:
        yield "A column of its artifacts is not what was appended."
