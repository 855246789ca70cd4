"""The link of a message: signed over what it showed, for who may see it, and it decides nothing."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from guardrails.approve import card_links
from guardrails.approve.cards import list_cards
from guardrails.models import Approval
from integrations.models import Membership, Organisation
from tests.clients import client_of
from tests.guardrails.approvals import ask, edit, reject
from tests.guardrails.approve.news.people import person
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
CHANGED = "This request has changed since the message was sent."
ENDED = "This request waits no longer"


@pytest.fixture
def approval(office: Office) -> Approval:
    anybody = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
    office.permit("send_email", "ask", conditions=[anybody])
    sent = {"to": ["ada@client.com"], "subject": "Offer", "body": "Hello"}
    return ask(office, "send_email", sent)


def link(office: Office, approval: Approval) -> str:
    [card] = list_cards(organisation_id=office.organisation.id, ids=[approval.id])
    return card_links.path(card)


def approver(office: Office) -> Client:
    return client_of(person(office, "ann", "view_approval", "change_approval"))


def read(client: Client, path: str) -> tuple[str, str]:
    """Where it leads, and what stands there."""
    answer = client.get(path, follow=True)
    return answer.redirect_chain[-1][0], answer.content.decode()


def page_of(approval: Approval) -> str:
    return reverse("admin:guardrails_approval_change", args=[approval.id])


def test_whatever_opens_it_decides_nothing_and_a_person_comes_to_the_card(
    office: Office, approval: Approval
) -> None:
    path, before, scanner = link(office, approval), office.calls(), Client()
    for answer in (scanner.get(path), scanner.head(path), scanner.post(path)):
        assert (answer.status_code, "/login/" in answer["Location"]) == (302, True)
    assert f"next={path.partition('?')[0]}" in scanner.get(path)["Location"]
    approval.refresh_from_db()
    assert approval.shown_at is None

    ann = approver(office)
    assert ann.post(path).status_code == 405
    place, page = read(ann, path)
    assert (place, CHANGED in page, ENDED in page) == (page_of(approval), False, False)
    assert f'value="{approval.digest}"' in page
    approval.refresh_from_db()
    assert (approval.state, office.calls()) == ("pending", before)


def test_who_is_not_logged_in_comes_to_the_card_once_they_are(
    office: Office, approval: Approval
) -> None:
    user = person(office, "ann", "view_approval", "change_approval")
    user.set_password("open sesame, said ann")
    user.save()
    client = Client()
    to_log_in = client.get(link(office, approval))["Location"]
    while "/accounts/login/" not in to_log_in:
        to_log_in = client.get(to_log_in)["Location"]
    given = {"login": "ann", "password": "open sesame, said ann"}
    place, page = read_after(client, to_log_in, given)

    assert place == page_of(approval)
    assert CHANGED not in page


def read_after(client: Client, address: str, given: dict[str, str]) -> tuple[str, str]:
    answer = client.post(address, given, follow=True)
    return answer.redirect_chain[-1][0], answer.content.decode()


def test_what_is_forged_unknown_or_anothers_is_the_same_no(
    office: Office, approval: Approval
) -> None:
    ann, path = approver(office), link(office, approval)
    other = ask(office, "send_email", {"to": ["bob@client.com"], "subject": "x", "body": "x"})
    nobody = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    stranger = User.objects.create(username="eve", is_staff=True, is_superuser=False)
    Membership.objects.create(user=stranger, organisation=nobody)
    stranger.user_permissions.set(User.objects.get(username="ann").user_permissions.all())
    signature = path.partition("signature=")[2]
    base = reverse("card", args=[approval.id])
    forged = [
        base,
        f"{base}?{urlencode({'digest': approval.digest, 'signature': 'x'})}",
        f"{base}?{urlencode({'digest': '0' * 64})}&signature={signature}",
        path.replace(str(approval.id), str(other.id)),
        path.replace(str(approval.id), str(uuid4())),
    ]

    answers = [ann.get(one) for one in forged] + [client_of(stranger).get(path)]
    answers.append(client_of(person(office, "clerk", "view_account")).get(path))
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


def test_a_request_that_has_changed_says_so_and_is_shown_as_it_is_now(
    office: Office, approval: Approval
) -> None:
    path = link(office, approval)
    edit(approval, {"to": ["ada@client.com"], "subject": "Other", "body": "Hello"})
    now = Approval.objects.get(revises=approval)

    place, page = read(approver(office), path)
    assert (place, CHANGED in page) == (page_of(now), True)
    assert f'value="{now.digest}"' in page


@pytest.mark.parametrize("how", ["decided", "expired"])
def test_it_ends_with_what_it_leads_to(office: Office, approval: Approval, how: str) -> None:
    path = link(office, approval)
    if how == "decided":
        reject(approval)
    else:
        ago = timezone.now() - timedelta(seconds=1)
        Approval.objects.filter(id=approval.id).update(expires_at=ago)

    place, page = read(approver(office), path)
    assert (place, ENDED in page) == (page_of(approval), True)


def test_a_user_comes_to_their_own_card_in_the_console_and_another_user_to_none(
    office: Office, approval: Approval
) -> None:
    path = link(office, approval)
    maya = client_of(person(office, "maya", own=office.user_id))
    eve = client_of(person(office, "eve", own="somebody-else"))

    place, page = read(maya, path)
    assert place.partition("?")[0] == reverse("console-approvals")
    assert "Send to ada@client.com" in page
    assert eve.get(path).status_code == 404
    reject(approval)
    assert ENDED in read(maya, path)[1]
