"""Trials of what past mail is used for: a pattern acts on what people did and nothing else, and a
run that only tries does nothing."""

from datetime import timedelta
from typing import Literal
from uuid import UUID, uuid4

from django.utils import timezone

from agents.installation.acting import PERSON
from agents.installation.guarantees import expect
from agents.installation.office import SENDER, Office
from audit.ledger.selectors import recorded
from guardrails.contracts.learning import Pattern, PatternProposal, Precedent, Proposed, Tried
from guardrails.execute.trials import pretend
from guardrails.learn import patterns, proposals
from guardrails.models import LearnedPattern
from guardrails.policies.changes import Author

AGENT = Author(name="agent:trial", door="agent")
ENOUGH = 3  # like decisions of people, in as many runs


def pattern_without_evidence(office: Office) -> None:
    """A pattern that an agent wants is not even stored where people treated too few mails so, or
    one otherwise. Else it waits for a person."""
    for found in (_alike(ENOUGH - 1), (*_alike(ENOUGH), _precedent("contradicting"))):
        expect("It became", _propose(office, *found).status, "unproven")
    rows = LearnedPattern.objects.filter(account=office.accounts["mail"])
    expect("Patterns", rows.count(), 0)
    expect("With enough it became", _propose(office, *_alike(ENOUGH)).status, "new")
    expect("Patterns that act", _acting(office), [])


def pattern_spoken_against(office: Office) -> None:
    """A person cannot let a pattern act of which past mail says by now that people do otherwise."""
    id = _propose(office, *_alike(ENOUGH)).pattern_id
    if id is None:
        raise ValueError("a pattern on enough evidence is stored")
    for found, acts in ((_precedent("contradicting"), False), (_precedent("supporting"), True)):
        tried = Tried(precedents=(*_alike(ENOUGH), found), mails=40)
        proposals.gather(id, tried, now=timezone.now())
        approved = patterns.approve(pattern_id=id, by=PERSON, now=timezone.now())
        expect(f"Approved with one that is {found.side}", approved, acts)
        expect("Patterns that act", _acting(office), [id] if acts else [])


def tried_on_past_mail(office: Office) -> None:
    """A run over past mail that only tries decides each mail as if those before it were done, and
    does nothing."""
    office.permit("archive", conditions=[{"kind": "rate", "max": 1, "per": "hour"}])
    trial = uuid4()
    asked = [office.request("archive", email_id=office.receive()) for _ in range(2)]
    found = [pretend(one, trial=trial) for one in asked]
    expect("They became", [one.reason for one in found], ["allowed", "rate_exceeded"])
    expect("Rows in the ledger", [recorded(one.action_id) for one in found], [(), ()])
    expect("Writes at the provider", len(office.writes()), 0)
    result = office.do("archive", email_id=office.receive())
    expect("For real it became", result.status, "succeeded")


def _propose(office: Office, *found: Precedent) -> Proposed:
    pattern = Pattern(
        id=UUID(int=0),
        name="Lunch",
        sender_address=SENDER,
        sender_domain="",
        list_id="",
        subject="",
        content_type="email",
        actions=(("archive", {}),),
    )
    proposal = PatternProposal(
        account=office.accounts["mail"].ref(),
        pattern=pattern,
        proposed_by="repetition",
        example_id="mail",
        tried=Tried(precedents=found, mails=40),
    )
    return proposals.propose(proposal, author=AGENT, now=timezone.now())


def _alike(number: int) -> tuple[Precedent, ...]:
    """Mails that people archived, each in a run of its own."""
    return tuple(_precedent("supporting") for _ in range(number))


def _precedent(side: Literal["supporting", "contradicting"]) -> Precedent:
    id = uuid4().hex[:8]
    return Precedent(
        item_id=f"mail-{id}",
        thread_id="t",
        subject="Lunch?",
        occurred_at=timezone.now() - timedelta(days=1),
        side=side,
        by_person=True,
        sentence="",
        occasion=f"run-{id}",
    )


def _acting(office: Office) -> list[UUID]:
    account = office.accounts["mail"].ref()
    return [one.id for one in patterns.approved_patterns(account, now=timezone.now())]


TRIALS = (
    pattern_without_evidence,
    pattern_spoken_against,
    tried_on_past_mail,
)
