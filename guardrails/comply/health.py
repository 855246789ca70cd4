"""One organisation's month in sentences and numbers, all counted from the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from audit.formats.text import cell, csv_lines
from audit.ledger import queries, selectors
from audit.ledger.months import Month
from audit.ledger.selectors import about_ledger
from audit.ledger.tally import Tally, count_period
from audit.ledger.timeline import reveal
from audit.verification.verify import ACTION_TYPE as VERIFICATION
from guardrails.actions import registry
from guardrails.comply.reconciliation.rows import SUMMARY
from guardrails.facts.reasons import SENTENCES
from guardrails.policies.changes import ACTION_TYPE as POLICY_CHANGE

MAX_CHANGES = 5000


@dataclass(frozen=True, kw_only=True)
class Health:
    """A month (UTC). `verified` and `reconciled` are the last words on that before its end;
    empty where there was none."""

    month: Month
    tally: Tally
    patterns_suspended: int
    verified: str
    is_sound: bool
    reconciled: str

    @property
    def is_empty(self) -> bool:
        return self.tally.rows == 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What there is to say, the worst first."""
        return tuple(_sentences(self))

    @property
    def actions(self) -> list[tuple[str, str, int]]:
        return [(_title(name), status, number) for name, status, number in self.tally.actions]

    @property
    def refusals(self) -> list[tuple[str, int]]:
        return [(SENTENCES.get(code, reveal(code)), number) for code, number in self.tally.refusals]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Every other number, with what it counts."""
        found = self.tally
        return [
            ("Records in the ledger", f"{found.rows:,}"),
            ("Questions to people", f"{found.asked:,}"),
            ("Approved", f"{found.approved:,}"),
            ("Rejected", f"{found.rejected:,}"),
            ("Expired without an answer", f"{found.expired:,}"),
            ("Median time to decide", _seconds(found.seconds_to_decide)),
            ("Attempts still open", f"{found.open_attempts:,}"),
            ("Actions with an unknown outcome", f"{found.of_status('unknown'):,}"),
            ("Held sends recalled", f"{found.recalled:,}"),
            ("Actions undone", f"{found.undone:,}"),
            ("Refused because a rate was reached", f"{found.rates_hit:,}"),
            ("From record to signature, median", _seconds(found.lag_median)),
            ("From record to signature, 99 of 100", _seconds(found.lag_p99)),
            ("Records that was measured on", f"{found.lag_measured:,}"),
            ("Records with clocks more than 2 s apart", f"{found.clocks_apart:,}"),
            ("Erasures", f"{found.erasures:,}"),
            ("Exports", f"{found.exports:,}"),
            ("Changes of policy", f"{found.policy_changes:,}"),
            ("Patterns suspended", f"{self.patterns_suspended:,}"),
            ("Disagreements with a provider", f"{found.incidents:,}"),
            ("Last verification", self.verified or "none"),
            ("Last reconciliation", self.reconciled or "none"),
        ]


def health(organisation_id: UUID, *, month: Month) -> Health:
    """This month, as the ledger stands now."""
    since, until = month.bounds
    verified = about_ledger(organisation_id, VERIFICATION, until=until, limit=1)
    reconciled = about_ledger(organisation_id, SUMMARY, since=since, until=until, limit=1)
    return Health(
        month=month,
        tally=count_period(tenant_id=organisation_id, since=since, until=until),
        patterns_suspended=_suspended(organisation_id, since, until),
        verified=str(verified[0].payload.get("sentence", "")) if verified else "",
        is_sound=not verified or verified[0].status == "recorded",
        reconciled=str(reconciled[0].payload.get("sentence", "")) if reconciled else "",
    )


def as_csv(found: Health) -> bytes:
    """For spreadsheets: what is said, then every number. Cells never run as formulas."""
    rows: list[tuple[str, str, str, object]] = [("section", "what", "status", "value")]
    rows += [("said", sentence, "", "") for sentence in found.sentences]
    rows += [("actions", title, status, number) for title, status, number in found.actions]
    rows += [("refusals", words, "", number) for words, number in found.refusals]
    rows += [("figures", name, "", value) for name, value in found.figures]
    return csv_lines([[cell(value) for value in row] for row in rows])


def _suspended(organisation_id: UUID, since: datetime, until: datetime) -> int:
    rows = queries.select_with_payload().filter(
        tenant_id=organisation_id, action_type=POLICY_CHANGE, resource_type="learnedpattern"
    )
    rows = queries.select_between(rows, since=since, until=until).order_by("-action_id")
    found = 0
    for row in selectors.values(rows[:MAX_CHANGES]):
        before, after = row.payload.get("before") or {}, row.payload.get("after") or {}
        found += after.get("state") == "suspended" != before.get("state")
    return found


def _sentences(found: Health) -> Iterator[str]:
    counted = found.tally
    if found.is_empty:
        yield "Nothing was recorded in this month."
        return
    if not found.is_sound:
        yield f"The ledger does NOT verify: {found.verified}"
    if counted.incidents:
        yield f"Provider and ledger disagreed {_times(counted.incidents)}."
    if unknown := counted.of_status("unknown") + counted.open_attempts:
        were = "was" if unknown == 1 else "were"
        yield f"Nobody knows yet whether {_actions(unknown)} {were} done."
    if counted.clocks_apart:
        yield (
            "Worker and database disagreed about the time, by more than 2 s, in "
            f"{counted.clocks_apart:,} record{'' if counted.clocks_apart == 1 else 's'}."
        )
    done, noop = counted.of_status("succeeded"), counted.of_status("noop")
    yield (
        f"{_actions(done)} were done, {counted.of_status('blocked')} refused and "
        f"{counted.of_status('failed')} failed; {noop} were already like that."
    )
    if counted.asked:
        decided = counted.approved + counted.rejected
        how_long = _seconds(counted.seconds_to_decide)
        yield (
            f"People were asked {_times(counted.asked)} and decided {decided}"
            + (f", half of them within {how_long}" if decided else "")
            + f"; {counted.expired} expired."
        )
    else:
        yield "Nobody was asked anything."
    if counted.recalled or counted.undone:
        yield f"{counted.recalled} held sends were recalled and {counted.undone} actions undone."
    if found.is_sound and found.verified:
        yield f"Verified: {found.verified}"
    yield (
        f"Reconciled: {found.reconciled}"
        if found.reconciled
        else "It was not compared with the providers in this month."
    )


def _title(name: str) -> str:
    action = registry.BY_NAME.get(name)
    return action.title if action else reveal(name)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _actions(number: int) -> str:
    return f"{number:,} action{'' if number == 1 else 's'}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "nothing to measure"
    return f"{value:,.1f} s" if value < 120 else f"{value / 60:,.0f} min"
