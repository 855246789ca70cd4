"""What became of the mails of a run: how far it is, figures by action with examples, and its log.
It only reads."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count

from agents.models import PastMail, PastRun, Turn
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.facts.text import visible
from guardrails.models import AllowedActionOption

EXAMPLES = 3  # of one line
LOG = 25
PLACES = frozenset({"label", "folder"})
# Under which of a line's figures an action counts.
DONE, NOTHING, ASKED, REFUSED = "done", "nothing", "asked", "refused"
COUNTS_AS = {
    "succeeded": DONE,
    "held": DONE,
    "noop": NOTHING,
    "pending": ASKED,
}
# What is said of one that was not simply done, or would be.
BECAME = {NOTHING: "so already", ASKED: "asks a person", REFUSED: "refused"}


@dataclass(frozen=True, kw_only=True)
class Head:
    """A mail in one line, with the turn that says all about it, and what became of the action."""

    sender: str
    subject: str
    occurred_at: datetime
    turn_id: UUID | None
    became: str = ""


@dataclass(kw_only=True)
class Line:
    """One action, with the label or folder that it is about."""

    title: str
    place: str
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # why it was refused or asked about
    examples: list[Head] = field(default_factory=list)

    @property
    def why(self) -> list[tuple[str, int]]:
        """The reasons, the most frequent first."""
        return self.reasons.most_common()


@dataclass(frozen=True, kw_only=True)
class Progress:
    """total = done + skipped + failed + to come."""

    total: int
    done: int
    skipped: Mapping[str, int]
    failed: Mapping[str, int]

    @property
    def finished(self) -> int:
        return self.done + sum(self.skipped.values()) + sum(self.failed.values())

    @property
    def percent(self) -> int:
        return 100 * self.finished // self.total if self.total else 100


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of the mails that were worked through: `alone` are those about which nothing was wanted, and
    `by_pattern` those for which no model was asked."""

    lines: tuple[Line, ...]
    looked_at: int
    alone: int
    by_pattern: int
    tokens: int
    examples_alone: tuple[Head, ...]


def count_progress(run: PastRun) -> Progress:
    """One query."""
    skipped, failed, done, total = Counter[str](), Counter[str](), 0, 0
    rows = PastMail.objects.filter(run=run).order_by().values_list("state", "reason")
    for state, reason, number in rows.annotate(number=Count("id")):
        total += number
        if state == PastMail.State.DONE:
            done += number
        elif state == PastMail.State.SKIPPED:
            skipped[reason] += number
        elif state == PastMail.State.FAILED:
            failed[reason] += number
    return Progress(total=total, done=done, skipped=skipped, failed=failed)


def count(run: PastRun) -> Figures:
    """By action, the most frequent first. Two queries."""
    names = name_places(run.account_id)
    lines: dict[tuple[str, str], Line] = {}
    looked_at = by_pattern = tokens = alone = 0
    examples: list[Head] = []
    rows = PastMail.objects.filter(run=run, state=PastMail.State.DONE).select_related("turn")
    for mail in rows.order_by("-position").iterator():
        looked_at += 1
        turn = mail.turn
        if turn is None:
            continue
        by_pattern += turn.ending == Turn.Ending.PATTERN
        tokens += turn.prompt_tokens + turn.completion_tokens
        if not turn.actions:
            alone += 1
            examples += [head(mail)] if len(examples) < EXAMPLES else []
        for key, action in _distinct(turn.actions, names):
            line = lines.setdefault(key, Line(title=key[0], place=key[1]))
            counted = COUNTS_AS.get(action["status"], REFUSED)
            line.counts[counted] += 1
            if counted in (ASKED, REFUSED):
                line.reasons[action["sentence"]] += 1
            if len(line.examples) < EXAMPLES:
                line.examples.append(head(mail, became=BECAME.get(counted, "")))
    return Figures(
        lines=tuple(sorted(lines.values(), key=lambda one: (-one.counts.total(), one.title))),
        looked_at=looked_at,
        alone=alone,
        by_pattern=by_pattern,
        tokens=tokens,
        examples_alone=tuple(examples),
    )


def list_log(run: PastRun) -> list[PastMail]:
    """What was finished last, newest first, with its turn."""
    rows = PastMail.objects.filter(run=run).exclude(state=PastMail.State.QUEUED)
    return list(rows.select_related("turn").order_by("-finished_at", "-position")[:LOG])


def name_places(account_id: UUID) -> dict[str, str]:
    """What listed labels and folders of the account are called, by id. One query."""
    rows = AllowedActionOption.objects.filter(account_id=account_id, kind__in=PLACES)
    return dict(rows.values_list("external_id", "name"))


def head(mail: PastMail, *, became: str = "") -> Head:
    return Head(
        sender=visible(mail.sender, limit=80),
        subject=visible(mail.subject, limit=120) or "(no subject)",
        occurred_at=mail.occurred_at,
        turn_id=mail.turn_id,
        became=became,
    )


def say(action: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """An action in a few words, and what became of it where it was not simply done."""
    became = BECAME.get(COUNTS_AS.get(action["status"], REFUSED), "")
    said = ": ".join(filter(None, describe(action, names)))
    return f"{said} ({became})" if became else said


def describe(action: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, str]:
    """An action's title, and the label or folder that it is about."""
    known = registry.BY_NAME.get(str(action["type"]))
    if known is None:
        return "Something that is no action", ""
    try:
        arguments = known.parse(action.get("params", {}))
    except InvalidArguments:
        return known.title, ""
    places = [one.value for one in known.targets(arguments) if one.kind in PLACES]
    return known.title, ", ".join(visible(names.get(one, one), limit=80) for one in places)


def _distinct(
    actions: Iterable[Mapping[str, Any]], names: Mapping[str, str]
) -> Iterable[tuple[tuple[str, str], Mapping[str, Any]]]:
    """Each action of one mail once, as it ended: what was refused and then put right counts as what
    it became."""
    return {describe(one, names): one for one in actions}.items()
