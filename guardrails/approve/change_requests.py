"""Change requests: what a user asks operators to permit after a refusal, and what they decide.

A person asks and a person decides. No tool of an agent leads here, and a request grants nothing
while it waits. Approving it changes the account's policy, as an operator does on its pages;
nothing is carried out by that: the user hears of it and may ask the agent again.
"""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext
from django_q.tasks import async_task

from audit.contracts import Filters, Recorded
from audit.ledger.selectors import recorded, recorded_of_tenant
from guardrails.approve import change_request_news, requested_change
from guardrails.approve.change_request_rows import (
    card,
    find_zone,
    in_a_sentence,
    in_words,
    record,
)
from guardrails.approve.requested_change import Grounds, Proposal
from guardrails.approve.speaking import fill, spoken
from guardrails.contracts.cards import ChangeRequestCard
from guardrails.decide.smallest_change import NoChange
from guardrails.facts.phrases import wordings
from guardrails.facts.reasons import SENTENCES, can_be_asked_for
from guardrails.facts.text import visible
from guardrails.models import AskedRefusal, ChangeRequest
from guardrails.policies import files as policy_files
from guardrails.policies.changes import Author
from guardrails.policies.differences import Difference
from guardrails.policies.text import PolicyFileError
from integrations.database.locks import take_lock
from integrations.exceptions import ProviderError
from integrations.models import Account

MAX_ANSWER = 1000
DECIDED = ("state", "decided_at", "decided_by", "answer")
State = ChangeRequest.State
ENOUGH = (
    "You have asked for %(number)s changes within a day, which is as many as are taken. "
    "Try again tomorrow."
)
NO_POLICY = "An operator cannot change this by the account's policy."


class ActionNotFound(Exception):
    """There is no such action for this organisation and user."""


class CannotAsk(Exception):
    """Nothing can be asked for after this refusal, or not now. The message says why."""


class TooMany(Exception):
    """The user has asked for enough today. The message says so."""


class Decided(Exception):
    """Somebody has decided it already. The message says who and when."""


class Changed(Exception):
    """The policy is not what was shown, or no change helps any more. The message says which."""


def ask(
    *, organisation_id: UUID, external_user_id: str, action_id: UUID, asked_by: str
) -> tuple[ChangeRequestCard, bool]:
    """Ask for what was refused to this user; whether that is a new request. The same refusal
    again, or another that the same open change would have ended, is the same request.

    The provider is asked for facts where the refusal came before any were read. Raises
    ActionNotFound, CannotAsk, TooMany, audit.contracts.LedgerError; then nothing was stored.
    """
    row, account = _find_refused(organisation_id, external_user_id, action_id)
    known = ChangeRequest.objects.filter(refusals__action_id=action_id).first()
    if known is not None:
        return card(known, zone=find_zone(known)), False
    proposal = _propose(row, account)
    if not proposal.change.entries:
        raise CannotAsk(gettext("The policy permits this by now. Ask the agent again."))
    with transaction.atomic():
        take_lock(f"change requests {organisation_id} {external_user_id}")
        request, is_new = _find_or_create(proposal, account, asked_by=asked_by)
        _, is_first = AskedRefusal.objects.get_or_create(
            action_id=action_id, defaults={"change_request": request}
        )
        if is_first:
            decided_on = proposal.decided_on
            payload = {"said": "asked"} | ({"decided_on": decided_on} if decided_on else {})
            record(request, by=asked_by, about=action_id, payload=payload)
        if is_new:
            async_task(change_request_news.notify, str(request.id))
    return card(request, zone=find_zone(request)), is_new


def load_proposal(request: ChangeRequest) -> Proposal | NoChange:
    """What would be approved now, for the policy as it is now. Asks no provider."""
    phases = [*recorded(request.id)]
    asked = next((one for one in phases if one.payload.get("said") == "asked"), None)
    row = next((one for one in recorded(request.action_id) if one.phase == "blocked"), None)
    if asked is None or row is None:
        return NoChange(why=requested_change.NOT_KEPT)
    grounds = requested_change.load_grounds(
        row, request.account, asked.payload.get("decided_on") or {}
    )
    if isinstance(grounds, NoChange):
        return grounds
    return requested_change.propose(grounds, request.account)


def approve(request_id: UUID, *, digest: str, by: str) -> tuple[Difference, ...]:
    """Change the policy by exactly what the digest binds to; what was changed. Each changed row
    is in the history of policy, under the operator's name and with the request it answers. Raises
    Decided, Changed, audit.contracts.LedgerError; then nothing was changed."""
    with transaction.atomic():
        request = _lock(request_id)
        proposal = load_proposal(request)
        if isinstance(proposal, NoChange):
            raise Changed(proposal.why)
        if proposal.digest != digest:
            raise Changed("The policy changed meanwhile.")
        try:
            done = policy_files.apply(
                request.account,
                proposal.change.file,
                author=Author(name=by, door="admin", answers=request.id),
                expected=proposal.differences,
            )
        except PolicyFileError as error:
            raise Changed(visible(str(error))) from error
        request.differences = [in_words(one) for one in done]
        request.wordings |= wordings(request.differences)
        _decide(request, state=State.APPROVED, by=by)
    return done


def decline(request_id: UUID, *, by: str, answer: str) -> None:
    """Leave the policy as it is, with a sentence for the user. Raises ValueError with a sentence,
    Decided, audit.contracts.LedgerError."""
    answer = answer.strip()
    if not answer:
        raise ValueError("Write a sentence for the user.")
    if len(answer) > MAX_ANSWER:
        raise ValueError(f"At most {MAX_ANSWER} characters.")
    with transaction.atomic():
        _decide(_lock(request_id), state=State.DECLINED, by=by, answer=answer)


def _find_refused(
    organisation_id: UUID, external_user_id: str, action_id: UUID
) -> tuple[Recorded, Account]:
    """The refusal's row and its account, both this user's own."""
    filters = Filters(tenant_id=organisation_id, on_behalf_of=frozenset({external_user_id}))
    phases = recorded_of_tenant(action_id, filters=filters)
    account = Account.objects.select_related("organisation").filter(
        id__in={one.account_id for one in phases if one.account_id},
        organisation_id=organisation_id,
        external_user_id=external_user_id,
    )
    found = account.first()
    if found is None:
        raise ActionNotFound(gettext("There is no such action."))
    refused = [one for one in phases if one.phase == "blocked"]
    if not refused:
        raise CannotAsk(gettext("The policy did not refuse this."))
    return refused[-1], found


def _propose(row: Recorded, account: Account) -> Proposal:
    if not can_be_asked_for(trigger=row.trigger, reason=row.decision_reason):
        why = gettext(SENTENCES[row.decision_reason]) if row.decision_reason in SENTENCES else ""
        raise CannotAsk(f"{gettext(NO_POLICY)} {why}".rstrip())
    try:
        grounds = requested_change.read_grounds(row, account)
    except ProviderError as error:
        raise CannotAsk(gettext(SENTENCES["facts_unavailable"])) from error
    found = requested_change.propose(grounds, account) if isinstance(grounds, Grounds) else grounds
    if isinstance(found, NoChange):
        raise CannotAsk(spoken(found.why))
    return found


def _find_or_create(
    proposal: Proposal, account: Account, *, asked_by: str
) -> tuple[ChangeRequest, bool]:
    row = proposal.grounds.row
    times, first = requested_change.count_refusals(proposal)
    counted = {"times_refused": times, "first_refused_at": first}
    rows = ChangeRequest.objects.filter(
        account=account, fingerprint=proposal.fingerprint, state=State.OPEN
    )
    if rows.update(**counted):
        return rows.get(), False
    since = timezone.now() - timedelta(days=1)
    today = ChangeRequest.objects.filter(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        created_at__gte=since,
    )
    if today.count() >= settings.CHANGE_REQUESTS_PER_DAY:
        raise TooMany(fill(ENOUGH, number=settings.CHANGE_REQUESTS_PER_DAY))
    differences = [in_words(one) for one in proposal.differences]
    return ChangeRequest.objects.create(
        organisation_id=account.organisation_id,
        account=account,
        external_user_id=account.external_user_id,
        action_id=row.action_id,
        turn_id=row.run_id,
        action_type=row.action_type,
        description=proposal.description,
        fingerprint=proposal.fingerprint,
        differences=differences,
        wordings=wordings([proposal.description, *differences]),
        asked_by=asked_by,
        **counted,
    ), True


def _lock(request_id: UUID) -> ChangeRequest:
    """The open request, its account's policy locked against other changes by file."""
    request = ChangeRequest.objects.select_related("account__organisation").get(id=request_id)
    Account.objects.select_for_update().get(pk=request.account_id)
    request.refresh_from_db(fields=["state", "decided_at", "decided_by", "answer"])
    if request.state != State.OPEN:
        raise Decided(in_a_sentence(request))
    return request


def _decide(request: ChangeRequest, *, state: State, by: str, answer: str = "") -> None:
    request.state, request.decided_at, request.decided_by = state, timezone.now(), by
    request.answer = answer
    request.save(update_fields=[*DECIDED, "differences", "wordings"])
    payload = {"said": str(state)} | ({"answer": answer} if answer else {})
    record(request, by=by, about=request.action_id, payload=payload)
    async_task(change_request_news.notify, str(request.id))
