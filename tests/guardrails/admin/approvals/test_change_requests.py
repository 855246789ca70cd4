"""The list of change requests and the page on which one is decided, without a browser."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.keeping import erasure
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, ChangeRequest
from guardrails.policies import history
from tests.clients import log_in, read_page
from tests.guardrails.change_requests import ask_for, digest_of, load, refuse
from tests.guardrails.office import Office
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "<script>alert(1)</script>"
LIST = "admin:guardrails_changerequest_changelist"
TO_ADA = {"to": [ADA], "subject": HOSTILE, "body": "Text."}
LOOK = ("view_changerequest", "change_changerequest")
CHANGE = tuple(
    f"{verb}_{model}"
    for verb in ("add", "change", "delete")
    for model in ("allowedaction", "allowedactionoption", "targetgroup")
)


def address(request: ChangeRequest, button: str = "change") -> str:
    return reverse(f"admin:guardrails_changerequest_{button}", args=[request.pk])


def press(client: Client, request: ChangeRequest, button: str, **fields: Any) -> str:
    answer = client.post(address(request, button), fields, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_list_says_who_asks_for_what_how_often_and_since_when(
    office: Office, client: Client
) -> None:
    assert "Nothing waits for an operator." in read_page(client, reverse(LIST))
    refuse(office)
    request = ask_for(office, refuse(office))

    text = read_page(client, reverse(LIST))

    assert "“Lunch on Friday?”" in text
    assert office.user_id in text
    assert "1 waits for an operator" in text
    assert "Times refused" in text
    assert "Waiting" in text
    assert address(request) in text


def test_a_request_is_found_by_its_words_while_it_waits_and_by_who_asks(office: Office) -> None:
    request = ask_for(office, refuse(office))
    other = ask_for(office, refuse(office, "send_email", TO_ADA))
    auditor = log_in("rita", "view_changerequest")

    def found(words: str) -> list[Any]:
        answer = auditor.get(reverse(LIST), {"q": words})
        return list(answer.context["cl"].result_list)

    for words in ("lunch friday", "Friday", str(request.action_id)):
        assert found(words) == [request], words
    assert found("lunch ada") == []
    assert set(found(office.user_id)) == {request, other}
    ChangeRequest.objects.update(
        state="declined", decided_at=timezone.now(), decided_by="operator:olga"
    )
    assert found("friday") == []
    assert set(found(office.user_id)) == {request, other}


def test_the_page_shows_change_and_all_that_it_permits(office: Office, client: Client) -> None:
    office.list_target("send_email", "recipient", "bob@client.com")
    request = ask_for(office, refuse(office, "send_email", TO_ADA))

    text = read_page(client, address(request))

    assert f"{office.user_id} asks you to permit this" in text
    assert "No operator permits this action for this account." in text
    assert "Allowed action “Send a mail”</strong> added" in text
    assert "a person is asked each time, only if a person in the chat set it off" in text
    assert f"Recipient {ADA} for “Send a mail”</strong> added" in text
    assert "Targets that were listed before count from now on: bob@client.com." in text
    assert f"It counts for {ADA} from now on, whatever else the agent says or asks." in text
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_it_is_tried_on_the_past(office: Office, client: Client) -> None:
    office.permit("send_email", "ask")
    for _ in range(2):
        last = refuse(office, "send_email", TO_ADA)
    refuse(office, "send_email", TO_ADA | {"to": ["bob@client.com"]})
    request = ask_for(office, last)

    text = read_page(client, address(request))

    assert "0 newly allowed, 2 newly asked about, 0 newly refused" in text
    assert "Refused 2 times since" in text
    assert "3 decisions of this account were decided again" in text
    assert reverse("admin:guardrails_policy_why", args=[last.action_id]) in text
    tried = read_page(client, address(request), _try="1", _last="500", _of="mails")
    assert "<option selected>500</option>" in tried
    assert '<option value="mails" selected>' in tried
    assert "0 newly allowed, 0 newly asked about, 0 newly refused" in tried


def test_one_button_approves_under_the_operators_name(office: Office, client: Client) -> None:
    result = refuse(office)
    request = ask_for(office, result)

    told = press(client, request, "approve", digest=digest_of(request))

    assert "1 entry of the policy changed. The user hears of it." in told
    assert "Approved by operator olga at" in told
    assert "Approve this change" not in told
    row = AllowedAction.objects.get(account=office.mailbox)
    (change,) = history.history(organisation_id=office.organisation.id).changes
    assert (row.action_type, row.approval_mode, change.who) == ("archive", "ask", "operator olga")
    page = read_page(
        client, reverse("admin:guardrails_policy_history"), organisation=office.organisation.slug
    )
    assert f'href="{address(request)}">asked for by a user</a>' in page
    assert execute(office.request("archive", result.arguments)).status == "pending"
    assert office.calls() == []


def test_a_policy_that_changed_meanwhile_is_shown_anew(office: Office, client: Client) -> None:
    request = ask_for(office, refuse(office))
    seen = digest_of(request)
    office.permit("mark_read")

    told = press(client, request, "approve", digest=seen)

    assert "Nothing was changed. The policy changed meanwhile. Look at it again." in told
    assert "Approve this change" in told
    assert digest_of(request) in told
    assert [one.action_type for one in AllowedAction.objects.filter(account=office.mailbox)] == [
        "mark_read"
    ]


def test_declining_needs_a_sentence_for_the_user(office: Office, client: Client) -> None:
    request = ask_for(office, refuse(office))

    assert "Write a sentence for the user." in press(client, request, "decline", answer=" ")
    told = press(client, request, "decline", answer=HOSTILE)

    assert "Declined. The user reads your sentence." in told
    assert "Declined by operator olga at" in told
    assert HOSTILE not in told
    assert "Declined by operator olga" in press(client, request, "approve", digest="x")
    assert not AllowedAction.objects.filter(account=office.mailbox).exists()


def test_what_cannot_be_approved_any_more_can_be_declined(office: Office, client: Client) -> None:
    request = ask_for(office, refuse(office))
    office.mailbox.paused = True
    office.mailbox.save()

    text = read_page(client, address(request))

    assert "No small change of the policy permits this. Actions of this account are paused." in text
    assert "Approve this change" not in text
    assert "Nothing was changed." in press(client, request, "approve", digest="")
    press(client, request, "decline", answer="Not while it is paused.")
    assert load(request.id).state == "declined"


def test_each_button_needs_its_right(office: Office) -> None:
    request = ask_for(office, refuse(office))
    seen = {"digest": digest_of(request), "answer": "No."}
    nobody, looking = log_in("nora"), log_in("vera", "view_changerequest")
    deciding = log_in("dora", *LOOK)

    assert nobody.get(address(request)).status_code == 403
    assert "Decline" not in read_page(looking, address(request))
    page = read_page(deciding, address(request))
    assert "Approve this change" not in page
    assert "you need the right to change policies" in page
    for client, button in ((nobody, "decline"), (looking, "decline"), (deciding, "approve")):
        assert client.post(address(request, button), seen).status_code == 403
    assert deciding.get(address(request, "approve")).status_code == 405
    assert load(request.id).state == "open"
    press(log_in("olaf", *LOOK, *CHANGE), request, "approve", **seen)
    assert load(request.id).state == "approved"


def test_a_request_that_is_gone_is_said_so(office: Office, client: Client) -> None:
    request = ask_for(office, refuse(office))
    ChangeRequest.objects.all().delete()
    for button in ("approve", "decline"):
        assert client.post(address(request, button), {"answer": "No."}).status_code == 404


def test_what_was_erased_is_not_shown_and_cannot_be_approved(
    office: Office, client: Client
) -> None:
    request = ask_for(office, refuse(office, "send_email", TO_ADA))
    everything = erasure.Scope(tenant_id=office.organisation.id)
    erasure.erase(everything, reason="They asked.", actor_id="operator:olga")

    text = read_page(client, address(request))

    assert "What was refused has been erased from the ledger." in text
    assert "It cannot be approved as it is." in text
    assert "Approve this change" not in text


def test_a_receiver_that_only_the_agent_named_stands_out(office: Office, client: Client) -> None:
    request = ask_for(office, refuse(office, "send_email", TO_ADA))
    text = read_page(client, address(request))
    assert "NEW: nobody typed or listed the address itself; the agent brought it up" in text


def test_refusals_before_anything_was_read_are_listed_too(office: Office, client: Client) -> None:
    for _ in range(2):
        last = refuse(office, "send_email", TO_ADA)
    other = refuse(office, "send_email", TO_ADA | {"to": ["bob@client.com"]})
    request = ask_for(office, last)

    text = read_page(client, address(request))

    assert "Refused before anything was read: 2 of this sort" in text
    assert f"Send to {ADA}: “" in text
    why = reverse("admin:guardrails_policy_why", args=[other.action_id])
    assert why not in text
