"""An organisation's end: what becomes of its ledger when it leaves for good.

First it gets its whole ledger as a bundle. Then its data key is destroyed, which a row of the
ledger records in the same transaction, and nothing is recorded for it any more, so that no
action of it runs. Then the contents of its rows are erased, each named by a redaction. Rows,
leaves and checkpoints stay until their month leaves, so the bundle verifies for ever.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef

from audit.formats.export import ACTION_TYPE as EXPORT
from audit.keeping import erasure
from audit.ledger import events, ledger, queries, selectors, vault
from audit.models import ExecutedAgentAction, Leaf
from audit.seals import progress

ACTION_TYPE = selectors.END
END = "SELECT audit_end(%s, %s, %s)"


class CannotEnd(Exception):
    """This organisation's ledger cannot end now. The message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What the end of an organisation's ledger would be about."""

    tenant_id: UUID
    rows: int
    contents: int
    open_attempts: int
    legal_holds: int
    has_ended: bool
    bundle: UUID | None  # the export that delivered all of its rows
    bundle_digest: str = ""

    @property
    def sentence(self) -> str:
        ended = "It has ended already. " if self.has_ended else ""
        complete = f"The bundle {self.bundle} holds all of them. " if self.bundle else ""
        return (
            f"{ended}{self.rows} rows, {self.contents} with contents to erase. {complete}"
            f"{self.open_attempts} attempts have no outcome: none can be recorded any more."
        )

    @property
    def refusals(self) -> list[str]:
        """Why it cannot end now; empty if it may."""
        found = []
        if not self.rows:
            return ["The ledger knows no such organisation."]
        if self.legal_holds:
            found.append(f"Legal holds in force: {self.legal_holds}. Release them first.")
        if not self.has_ended and self.bundle is None:
            found.append(
                "No bundle holds all of its rows. Export one of the whole period first, after "
                "its last action, and to its end."
            )
        return found


def load_state(tenant_id: UUID) -> State:
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id)
    outcome = rows.filter(
        action_id=OuterRef("action_id"), attempt_no=OuterRef("attempt_no"), phase="outcome"
    )
    bundle, digest = find_final_bundle(tenant_id)
    return State(
        tenant_id=tenant_id,
        rows=rows.count(),
        contents=erasure.select_rows(erasure.Scope(tenant_id=tenant_id)).count(),
        open_attempts=rows.filter(~Exists(outcome), phase="attempt").count(),
        legal_holds=len(erasure.list_legal_holds(tenant_id)),
        has_ended=has_ended(tenant_id),
        bundle=bundle,
        bundle_digest=digest,
    )


def has_ended(tenant_id: UUID) -> bool:
    rows = queries.keep_about_ledger(queries.select_phases())
    return rows.filter(tenant_id=tenant_id, action_type=ACTION_TYPE, status="succeeded").exists()


def find_final_bundle(tenant_id: UUID) -> tuple[UUID | None, str]:
    """The newest bundle that was read to its end and holds every row but those of exports,
    and the digest of its checkpoint, whose root is over each of them."""
    exports = ExecutedAgentAction.objects.filter(
        tenant_id=tenant_id, action_type=EXPORT, status="succeeded"
    )
    for row in queries.join_payload(exports).order_by("-id")[:20]:
        content = selectors.body(row)
        manifest = content["payload"]["manifest"] if content else {}
        whole = manifest.get("completeness") == "proven" and manifest["first"] == 0
        if whole and nothing_follows(tenant_id, manifest["size"]):
            return row.action_id, manifest["files"]["checkpoint.note"]
    return None, ""


def nothing_follows(tenant_id: UUID, size: int) -> bool:
    """Whether only rows of exports come behind the first `size` places, sealed or not."""
    newest = progress.find_newest_checkpoint(tenant_id)
    if newest is None or newest.size < size:
        return False
    before = Leaf.objects.filter(row_id=OuterRef("id"), leaf_index__lt=size)
    behind = ExecutedAgentAction.objects.filter(~Exists(before), tenant_id=tenant_id)
    return not behind.exclude(action_type=EXPORT).exists()


def end(
    tenant_id: UUID,
    *,
    reason: str,
    actor_id: str,
    at_most: int | None = None,
    say: Callable[[str], None] = erasure.ignore_progress,
) -> int:
    """End this organisation's ledger; returns how many rows' contents were erased, and erases no
    more when `at_most` are. `say` is called with the progress. What is left then, or by a crash,
    nobody can read any more: calling again erases the rest.

    Raises CannotEnd, and audit.keeping.erasure.Held for a legal hold that was set meanwhile.
    """
    found = load_state(tenant_id)
    if found.refusals:
        raise CannotEnd(" ".join(found.refusals))
    if not found.has_ended:
        destroy_key(found, reason=reason, actor_id=actor_id)
        say("The data key is destroyed: nobody can read the contents any more.")
    why = f"end of the organisation: {reason}"
    scope = erasure.Scope(tenant_id=tenant_id)
    return erasure.erase(scope, reason=why, actor_id=actor_id, at_most=at_most, say=say)[1]


def destroy_key(found: State, *, reason: str, actor_id: str) -> None:
    entry = events.build_entry(
        ACTION_TYPE,
        tenant_id=found.tenant_id,
        status="succeeded",
        actor_type="admin",
        actor_id=actor_id,
        payload={
            "reason": reason,
            "bundle": found.bundle,
            "bundle_checkpoint_sha256": found.bundle_digest,
            "rows": found.rows,
            "open_attempts": found.open_attempts,
        },
    )
    with erasure.unless_held() as cursor:
        cursor.execute(END, ledger.in_the_clear(entry))
    vault.keys.forget(found.tenant_id)
