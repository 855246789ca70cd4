"""A learned pattern as its admin page shows it: what it would do, what the guardrails say to
that now, and what speaks for and against it.

What strangers or the model wrote is plain text here, with its hidden characters shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import prefetch_related_objects

from audit.ledger import people
from audit.ledger.ids import uuid7
from guardrails.actions import registry
from guardrails.contracts import ActionRequest, Origin
from guardrails.facts.text import visible
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.learn import evidence, in_words
from guardrails.models import LearnedPattern, PatternEvidence
from guardrails.models.patterns import UNUSED
from guardrails.policies import explain, simulation

MAX_LINES = 10
Side = PatternEvidence.Side
ORDER = (Side.CONTRADICTING, Side.SUPPORTING, Side.UNDECIDED)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One action, and what the guardrails say to it now."""

    title: str
    arguments: str
    verdict: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """One mail, and what became of it."""

    subject: str
    at: str
    sentence: str
    by_person: bool


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What it would have done with past mail: it `fires` so often, and what was done `agrees` so
    often; of that by a person, or by the agent where the user saw it and left it so."""

    at: str
    mails: int
    since: str
    fires: int
    agrees: int
    by_person: int
    seen: int
    otherwise: int
    undecided: int

    @property
    def percent(self) -> str:
        """Of what was decided about."""
        decided = self.agrees + self.otherwise
        return f"{self.agrees / decided:.0%}" if decided else ""


def context(pattern: LearnedPattern) -> dict[str, Any]:
    """The page's values. Asks the provider about the newest mail that the pattern fits."""
    account = pattern.account
    zone = ZoneInfo(account.time_zone)
    found = list(pattern.evidence.all())
    sides = {side: [one for one in found if one.side == side] for side in ORDER}
    hits = pattern.hit_rows.all()[:MAX_LINES]
    tried_on = found[0] if found else None
    return {
        "pattern": pattern,
        "headline": visible(pattern.name),
        "matches": list(_matches(pattern)),
        "proposed_by": pattern.get_proposed_by_display(),
        "approved_by": visible(people.name_one(account.organisation_id, pattern.approved_by)),
        "from_mail": pattern.proposed_by == LearnedPattern.ProposedBy.MAIL,
        "example": visible(pattern.example_id),
        "said": visible(pattern.reason),
        "steps": list(_steps(pattern, tried_on)),
        "tried_on": _line(tried_on, zone) if tried_on else None,
        "evidence": [
            (side.label, len(rows), [_line(one, zone) for one in rows[:MAX_LINES]])
            for side, rows in sides.items()
        ],
        "tried": _tried(pattern, sides, zone),
        "unused_days": UNUSED.days,
        "hits": [
            Line(
                subject=visible(hit.subject) or "(no subject)",
                at=_moment(hit.at, zone),
                sentence=hit.correction or "Nobody put it back.",
                by_person=hit.corrected_at is not None,
            )
            for hit in hits
        ],
        "percent": None if pattern.precision is None else f"{pattern.precision:.0%}",
        "times": list(_times(pattern, zone)),
        "lack": evidence.refuse_approval(pattern, found),
        "is_approved": pattern.state == LearnedPattern.State.APPROVED,
    }


def _tried(
    pattern: LearnedPattern, sides: Mapping[Side, Sequence[PatternEvidence]], zone: ZoneInfo
) -> Trial | None:
    """None where it was not tried on past mail as it is now."""
    if pattern.tried_at is None:
        return None
    alike = sides[Side.SUPPORTING]
    return Trial(
        at=_moment(pattern.tried_at, zone),
        mails=pattern.tried_mails,
        since=f"{pattern.tried_since.astimezone(zone):%Y-%m-%d}" if pattern.tried_since else "",
        fires=sum(map(len, sides.values())),
        agrees=len(alike),
        by_person=sum(one.by_person for one in alike),
        seen=sum(one.seen and not one.by_person for one in alike),
        otherwise=len(sides[Side.CONTRADICTING]),
        undecided=len(sides[Side.UNDECIDED]),
    )


def _matches(pattern: LearnedPattern) -> Iterator[tuple[str, str]]:
    for label, value in (
        ("Sender, proved by DMARC", pattern.sender_address),
        ("Domain of the sender, proved by DMARC", pattern.sender_domain),
        ("Mailing list", pattern.list_id),
        ("Subject, numbers ignored", pattern.subject),
    ):
        if value:
            yield label, visible(value)


def _steps(pattern: LearnedPattern, tried_on: PatternEvidence | None) -> Iterator[Step]:
    """Every action as the guardrails would decide it now, on the newest mail that fits; where
    there is none, what the allowed action says in general."""
    account = pattern.account.ref()
    policy = policy_snapshot(account)
    in_general = {one.action_type: one for one in explain.effective(policy, account.source)}
    prefetch_related_objects([pattern], "actions")
    names = in_words.load_names([pattern])
    for row in pattern.actions.all():
        if tried_on is None:
            known = in_general.get(row.action_type)
            verdict = known.verdict if known else "refuse"
            sentence = f"{known.sentence} {known.strictest}" if known else ""
        else:
            found = simulation.simulate(
                ActionRequest(
                    action_id=uuid7(),
                    account=account,
                    action_type=row.action_type,
                    arguments=registry.pattern_arguments(
                        row.action_type, row.arguments, item_id=tried_on.item_id
                    ),
                    origin=Origin(
                        trigger="pattern",
                        pattern_id=str(pattern.pk),
                        item_source_id=tried_on.item_id,
                        thread_id=tried_on.thread_id,
                    ),
                ),
                policy=policy,
            ).decision
            verdict, sentence = found.verdict, found.sentence
        yield Step(
            title=row.get_action_type_display(),
            arguments=in_words.describe_arguments(account.id, row.arguments, names),
            verdict=verdict,
            sentence=visible(sentence),
        )


def _line(row: PatternEvidence, zone: ZoneInfo) -> Line:
    return Line(
        subject=visible(row.subject) or "(no subject)",
        at=_moment(row.occurred_at, zone),
        sentence=visible(row.sentence),
        by_person=row.by_person,
    )


def _moment(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M} {zone.key}"


def _times(pattern: LearnedPattern, zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    moments = {
        "Proposed": pattern.created_at,
        "Approved": pattern.approved_at,
        "Suspended": pattern.suspended_at,
        "Expires": pattern.expires_at,
        "Last hit": pattern.last_hit_at,
    }
    for label, at in moments.items():
        if at is not None:
            yield label, _moment(at, zone)
