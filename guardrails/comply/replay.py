"""Every decision in a bundle of the ledger, decided again from what the bundle holds. Offline:
no database, no provider, no clock."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from audit.bundle import reading
from audit.contracts import Recorded
from guardrails.contracts import Decision
from guardrails.decide import evidence
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.decide.steps import CHANGED
from guardrails.facts.reasons import NO_ROOM

DECIDED = ("attempt", "blocked")
# Refusals that no policy had a part in.
WITHOUT_POLICY = ("guard_failed",)
# Refusals of what the policy would have allowed or asked about.
BESIDE_POLICY = NO_ROOM | {"changed_since_asked", "no_longer_waiting", CHANGED}

UNASKED = "It was carried out without a person's answer, but the verdict is “ask”."


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A row whose decision does not follow from its evidence and its policy."""

    row_id: int
    action_id: UUID
    sentence: str

    def __str__(self) -> str:
        return f"row {self.row_id}: {self.sentence}"


@dataclass
class Replay:
    """Iterate over it (once) for the disagreements; the counts are complete afterwards.

    Nobody can make those again whose evidence was erased (`erased`), nor refusals of arguments
    that were none or too long to keep (`unkept`).
    """

    archive: zipfile.ZipFile
    agreed: int = 0
    erased: int = 0
    unkept: int = 0
    policies: dict[str, PolicySnapshot] = field(default_factory=dict)
    # Attempts that somebody had to be asked about and nobody was: right if nothing was to do.
    unasked: dict[tuple[UUID, int], Disagreement] = field(default_factory=dict)
    # Approvals that were asked for, and those that a person gave.
    asked: set[tuple[UUID, str]] = field(default_factory=set)
    given: set[tuple[UUID, str]] = field(default_factory=set)

    def __iter__(self) -> Iterator[Disagreement]:
        self.bodies = reading.policies(self.archive)
        manifest = json.loads(self.archive.read("manifest.json"))
        # A later period may begin between a person's word and what was done on it.
        self.holds_all = manifest["completeness"] != "proven" or manifest["first"] == 0
        for row in reading.rows(self.archive):
            key = row.action_id, row.attempt_no
            if row.status == "waiting":
                self.asked.add((row.action_id, row.approval_id))
            if row.decision_reason == "approved":
                self.given.add((row.action_id, row.approval_id))
            if is_decision(row):
                sentence = self.examine(row)
                found = Disagreement(row_id=row.id, action_id=row.action_id, sentence=sentence)
                if sentence == UNASKED:
                    self.unasked[key] = found
                elif sentence:
                    yield found
            elif row.decision_reason == "already_so" and key in self.unasked:
                del self.unasked[key]
                self.agreed += 1
        yield from self.unasked.values()

    def examine(self, row: Recorded) -> str:
        """Why the row's decision does not follow; empty where it does, or nobody can tell."""
        if not row.payload:
            self.erased += 1
            return ""
        past = evidence.past(row)
        policy = self.policy(row.policy_digest)
        if past is None and row.phase == "blocked" and "proposed" in row.payload:
            self.unkept += 1
            return ""
        if past is None:
            return "It keeps no evidence that it could be decided on again."
        if policy is None:
            return "The policy that decided it is missing or altered."
        again = evidence.decide_again(past, policy)
        if again is None:
            return "Its evidence lacks facts that its policy needs."
        if (again.verdict, again.reason) != (past.verdict, past.reason):
            return (
                f"It was decided “{past.verdict}” ({past.reason}) and is “{again.verdict}” "
                f"({again.reason}) by its evidence."
            )
        sentence = self.carried_on(row, again)
        self.agreed += not sentence
        return sentence

    def carried_on(self, row: Recorded, again: Decision) -> str:
        """Why the row may not stand after this decision; empty where it may."""
        if not permits(row, again.verdict):
            return f"It was carried on as “{row.decision}”, but the verdict is “{again.verdict}”."
        if not says(row, again):
            return (
                f"It says “{row.decision}” ({row.decision_reason}), but the verdict is "
                f"“{again.verdict}” ({again.reason})."
            )
        if row.phase == "attempt" and again.verdict == "ask" and not row.approval_id:
            return UNASKED
        word = row.action_id, row.approval_id
        is_known = self.holds_all or word in self.asked
        if row.decision == "approved" and is_known and word not in self.given:
            return f"There is no record of who gave the approval {row.approval_id}."
        return ""

    def policy(self, digest: str) -> PolicySnapshot | None:
        if digest not in self.policies:
            body = self.bodies.get(digest, "")
            if hashlib.sha256(body.encode()).hexdigest() != digest:
                return None
            self.policies[digest] = evidence.policy_of(json.loads(body))
        return self.policies[digest]


def is_decision(row: Recorded) -> bool:
    waits = row.phase == "control" and row.status == "waiting"
    if row.phase == "blocked" and row.decision_reason in WITHOUT_POLICY:
        return "decided_on" in row.payload  # then the reason is not its own
    return row.phase in DECIDED or waits


def permits(row: Recorded, verdict: str) -> bool:
    """Whether the verdict is one after which this row may stand."""
    if row.phase == "blocked":
        return verdict == "refuse" or row.decision_reason in BESIDE_POLICY
    if row.phase == "attempt" or row.decision_reason == "held":
        return verdict in ("allow", "ask")
    return verdict == "ask" or (verdict == "allow" and row.decision_reason == CHANGED)


def says(row: Recorded, again: Decision) -> bool:
    """Whether the row's own columns, which lists and filters show, say what was decided."""
    if row.phase == "blocked":
        reasons = (again.reason,) if again.verdict == "refuse" else BESIDE_POLICY
        return row.decision == "blocked" and row.decision_reason in reasons
    is_held = row.phase == "control" and row.decision_reason == "held"
    if row.phase == "attempt" or is_held:
        went_on = "approved" if row.approval_id else "allowed"
        return row.decision == went_on and (is_held or row.decision_reason == again.reason)
    return row.decision == "none" and row.decision_reason in (again.reason, CHANGED)
