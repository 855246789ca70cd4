"""Trials of the limits of an action: ceilings, pauses, stops, conditions, rates, and where a person
has to see it first."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from agents.installation.acting import AT_ONCE, ISSUE, PERSON, refused, struck
from agents.installation.guarantees import expect
from agents.installation.office import AGENT_TEXT, Office, alone, until
from guardrails.contracts import ActionResult, Origin
from guardrails.execute import switches
from guardrails.execute.executor import execute
from guardrails.gather import own_mail
from guardrails.learn import corrections
from guardrails.models import Approval, CeilingLimit
from guardrails.policies.changes import Author
from integrations.accounts.reads import mail_reader
from integrations.models import Organisation, Upstream

CLIENT, STRANGER = "ada@client.example", "mallory@evil.example"
LABEL = "label_fyi"
FORGED = {"authentication": {"dmarc": "fail"}}


def ceiling_above_all(office: Office) -> None:
    """What the organisation's ceiling forbids, no account permits."""
    office.permit("archive")
    _limit(office, "archive", CeilingLimit.AtMost.NEVER)
    refused(office, office.do("archive", email_id=office.receive()), "forbidden_by_ceiling")


def ceiling_that_asks(office: Office) -> None:
    """Where the ceiling wants a person to be asked, an account that does not is no way around."""
    office.permit("archive")
    _limit(office, "archive", CeilingLimit.AtMost.ASK)
    waits(office, office.do("archive", email_id=office.receive()))


def ceiling_of_drafts(office: Office) -> None:
    """Where the ceiling lets mail out as a draft at most, none is sent."""
    permit_mail(office, conditions=[AGENT_TEXT])
    _limit(office, "send_email", CeilingLimit.AtMost.DRAFT_ONLY)
    refused(office, send(office), "draft_only")


def paused_organisation(office: Office) -> None:
    """In an organisation that is paused nothing is done."""
    office.permit("archive")
    Organisation.objects.filter(pk=office.organisation.pk).update(paused=True)
    refused(office, office.do("archive", email_id=office.receive()), "paused")


def stop_by_effect(office: Office) -> None:
    """“Nothing that reaches others” stops a send, and what stays inside goes on."""
    office.permit("archive")
    permit_mail(office, conditions=[AGENT_TEXT])
    scope = switches.Scope(organisation_id=office.organisation.id, effect="egress")
    switches.throw(scope, why="A trial.", author=Author(name=PERSON, door="command"))
    refused(office, send(office), "switched_off")
    inside = office.do("archive", email_id=office.receive())
    expect("What stays inside became", inside.status, "succeeded")


def stopped_under_way(office: Office) -> None:
    """A stop also stops what was decided before and has not reached the provider yet, and nobody
    takes it for done."""
    office.permit("archive")
    email_id = office.receive()
    request = office.request("archive", email_id=email_id)
    scope = switches.Scope(organisation_id=office.organisation.id)
    asked = Upstream.objects.filter(name=office.organisation.slug)
    with struck(office, latency_ms=3000), ThreadPoolExecutor(1) as pool:
        done = pool.submit(alone(execute), request)
        # It has read its policy, and asks for the first time what the mail is.
        until(lambda: asked.exists() or done.done())
        switches.throw(scope, why="A trial.", author=Author(name=PERSON, door="command"))
        expect("It became", done.result().reason, "switched_off")
    expect("Writes at the provider", len(office.writes()), 0)
    filed = own_mail.filings_of(office.accounts["mail"].ref(), email_id)
    expect("Actions that are said to have filed the mail", len(filed), 0)


def own_words_go_to_a_person(office: Office) -> None:
    """Text that the agent wrote reaches others only after a person has seen it."""
    permit_mail(office)
    waits(office, send(office))


def gone_for_good_goes_to_a_person(office: Office) -> None:
    """What cannot be brought back is done only after a person has said yes."""
    office.permit("trash_email")
    waits(office, office.do("trash_email", email_id=office.receive()))


def agent_can_ask_for_a_person(office: Office) -> None:
    """An agent that wants a person to look gets one, also where none is needed."""
    office.permit("archive")
    request = office.request("archive", email_id=office.receive())
    careful = dataclasses.replace(request.origin, tighten=True)
    waits(office, execute(dataclasses.replace(request, origin=careful)))


def mail_asks_nobody(office: Office) -> None:
    """A stranger's mail cannot make Remit ask a person about a receiver that it brought along."""
    permit_mail(office, "ask")
    office.list_target("send_email", "recipient", STRANGER)
    email_id = office.receive(**{"from": STRANGER, "authentication": {}})
    request = office.request("send_email", to=[STRANGER], subject="Yes", body="Here it is.")
    origin = Origin(trigger="webhook", turn_id="turn", item_source_id=email_id, thread_id="t")
    result = execute(dataclasses.replace(request, origin=origin))
    expect("It became", result.status, "refused")
    waiting = Approval.objects.filter(organisation=office.organisation).count()
    expect("Requests that wait", waiting, 0)
    expect("Writes at the provider", len(office.writes()), 0)


def mail_asks_where_the_policy_wants(office: Office) -> None:
    """A mail makes Remit ask a person only where the policy wants to be asked, and not where the
    agent does."""
    allowed = office.permit("archive")
    refused(office, _archive_careful(office), "ask_not_from_mail")
    waiting = Approval.objects.filter(organisation=office.organisation)
    expect("Requests that wait", waiting.count(), 0)
    type(allowed).objects.filter(pk=allowed.pk).update(approval_mode="ask")
    waits(office, _archive_careful(office))


def renamed_target(office: Office) -> None:
    """A listed target that has another name at the provider now is a target that nobody listed."""
    office.permit("create_jira_task", conditions=[AGENT_TEXT])
    office.list_target("create_jira_task", "project", "PROJ")
    refused(office, office.do("create_jira_task", **ISSUE), "target_changed")


def condition_that_fails(office: Office) -> None:
    """What is permitted under a condition is refused where it does not hold."""
    office.permit("archive", conditions=[{"kind": "sender_authenticated"}])
    forged = office.receive(authentication={"dmarc": "fail"})
    refused(office, office.do("archive", email_id=forged), "condition_failed")
    result = office.do("archive", email_id=office.receive())
    expect("Where it holds, it became", result.status, "succeeded")


def label_taken_off(office: Office) -> None:
    """A label that a person took off stays off the next mail of that sender, until they put it on
    one themselves. Mail that only bears the sender's name says nothing of theirs."""
    office.permit("classify")
    _list_label(office)
    expect("At first it became", _label(office, office.receive()).status, "succeeded")
    _correct(office, **FORGED)
    expect("After a forged mail", _label(office, office.receive()).status, "succeeded")
    _correct(office)
    mail, written = office.receive(), len(office.writes())
    expect("After a correction", _label(office, mail).reason, "label_corrected")
    expect("Writes at the provider since", len(office.writes()) - written, 0)
    _change(office, mail, add=LABEL)
    expect("Put on by hand", _label(office, office.receive()).status, "succeeded")


def rates_at_once(office: Office) -> None:
    """What is permitted once an hour is done once, also when many ask in the same moment."""
    office.permit("archive", conditions=[{"kind": "rate", "max": 1, "per": "hour"}])
    asked = [office.request("archive", email_id=office.receive()) for _ in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # Nobody gets behind their counting before another has begun.
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE guardrails_usage IN SHARE MODE")
            began = [pool.submit(alone(execute), one) for one in asked]
            until(lambda: _count_waiting(cursor) > 1)
        results = [one.result() for one in began]
    done = [one for one in results if one.status == "succeeded"]
    expect("Done", len(done), 1)
    expect("Writes at the provider", len(office.writes()), 1)


def provider_that_cannot_be_asked(office: Office) -> None:
    """Where the provider cannot say what an action is about, it is refused."""
    office.permit("archive")
    request = office.request("archive", email_id=office.receive())
    with struck(office, error_rate=1.0):
        result = execute(request)
    refused(office, result, "facts_unavailable")


def already_so(office: Office) -> None:
    """What is so already is recorded and not written again."""
    office.permit("archive")
    email_id = office.receive()
    office.do("archive", email_id=email_id)
    expect("Again it became", office.do("archive", email_id=email_id).reason, "already_so")
    expect("Writes at the provider", len(office.writes()), 1)


def id_names_one_action(office: Office) -> None:
    """The id of an action that was done does nothing else."""
    office.permit("archive")
    request = office.request("archive", email_id=office.receive())
    execute(request)
    other = dataclasses.replace(request, arguments={"email_id": office.receive()})
    expect("It became", execute(other).status, "refused")
    expect("Writes at the provider", len(office.writes()), 1)


def waits(office: Office, result: ActionResult) -> None:
    expect("It became", result.status, "pending")
    expect("Writes at the provider", len(office.writes()), 0)


def permit_mail(office: Office, mode: str = "auto", **fields: object) -> None:
    office.permit("send_email", mode, **fields)
    office.list_target("send_email", "recipient", CLIENT)


def send(office: Office) -> ActionResult:
    return office.do("send_email", to=[CLIENT], subject="Figures", body="See below.")


def _count_waiting(cursor: CursorWrapper) -> int:
    """How many locks are waited for in this database."""
    cursor.execute(
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        " WHERE NOT l.granted AND d.datname = current_database()"
    )
    return int(cursor.fetchone()[0])


def _archive_careful(office: Office) -> ActionResult:
    """A mail arrives, and the agent would put it away if a person looked at that first."""
    email_id = office.receive()
    origin = Origin(
        trigger="webhook", turn_id="turn", item_source_id=email_id, thread_id="t", tighten=True
    )
    request = office.request("archive", email_id=email_id)
    return execute(dataclasses.replace(request, origin=origin))


def _list_label(office: Office) -> None:
    target = office.list_target("classify", "label", LABEL)
    type(target).objects.filter(pk=target.pk).update(name="FYI")


def _label(office: Office, email_id: str) -> ActionResult:
    """A mail arrives, and the agent labels it."""
    request = office.request("classify", email_id=email_id, label_id=LABEL)
    origin = Origin(trigger="webhook", turn_id="turn", item_source_id=email_id, thread_id="t")
    return execute(dataclasses.replace(request, origin=origin))


def _correct(office: Office, **fields: object) -> None:
    email_id = office.receive(**fields)
    _label(office, email_id)
    _change(office, email_id, remove=LABEL)


def _change(office: Office, email_id: str, *, add: str = "", remove: str = "") -> None:
    """A person changes the labels of a mail, and word of that comes."""
    account = office.accounts["mail"].ref()
    before = mail_reader(account).email(email_id).labels
    after = [one for one in (*before, add) if one not in ("", remove)]
    office.change(f"emails/{email_id}", labels=after)
    email = mail_reader(account).email(email_id)
    corrections.note(account, email, before=before, now=timezone.now())


def _limit(office: Office, action_type: str, at_most: str) -> None:
    CeilingLimit.objects.create(
        organisation=office.organisation, action_type=action_type, at_most=at_most
    )


TRIALS = (
    ceiling_above_all,
    ceiling_that_asks,
    ceiling_of_drafts,
    paused_organisation,
    stop_by_effect,
    stopped_under_way,
    own_words_go_to_a_person,
    gone_for_good_goes_to_a_person,
    agent_can_ask_for_a_person,
    mail_asks_nobody,
    mail_asks_where_the_policy_wants,
    renamed_target,
    condition_that_fails,
    label_taken_off,
    rates_at_once,
    provider_that_cannot_be_asked,
    already_so,
    id_names_one_action,
)
