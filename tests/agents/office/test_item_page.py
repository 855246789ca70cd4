"""The page of one item: for its user, at the passage that was cited, and for nobody else."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Message, Turn
from integrations.accounts import contacts
from integrations.models import Account, Membership
from knowledge.models import Item
from tests.agents.pages import HIDDEN, SCRIPT, call, mailbox, turn
from tests.clients import log_in

pytestmark = pytest.mark.django_db
CITED = "The invoice is due on Friday."


def item(account: Account, **fields: Any) -> Item:
    given = {"title": f"{SCRIPT}{HIDDEN}", "text": f"Hi {SCRIPT}\n\n{CITED}\n\nBye"}
    now = timezone.now()
    return Item.objects.create(
        account=account,
        source="gmail",
        source_id="m1",
        content_type="email",
        **given | fields,
        occurred_at=now,
        ingested_at=now,
    )


def open_page(client: Client, row: Item, **asked: Any) -> Any:
    return client.get(reverse("console-item", args=[row.id]), asked)


def cite(account: Account, row: Item) -> Turn:
    made = turn(account, finished_at=timezone.now())
    shown = {"items": [{"n": 1, "id": str(row.id), "text": CITED}]}
    call(made.steps.earliest("id"), 7, "retrieve_context", {"success": True, "data": shown})
    Turn.objects.filter(id=made.id).update(finished_at=timezone.now())
    Message.objects.filter(turn=made, role="assistant").update(content="Due on Friday [1].")
    return Turn.objects.get(id=made.id)


@pytest.fixture
def maya() -> Client:
    mailbox("maya")
    client = log_in("maya.lindqvist", "use_own_console")
    Membership.objects.update(external_user_id="maya")
    return client


def test_the_cited_passage_is_marked_and_the_rest_is_text(maya: Client) -> None:
    row = item(mailbox("maya"))
    made = cite(mailbox("maya"), row)

    page = open_page(maya, row, turn=made.id, n=1).content.decode()

    assert f'<mark id="passage" tabindex="-1">{CITED}</mark>' in page
    assert "Hi &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "pay⟨U+202E⟩er" in page
    assert SCRIPT not in page


def test_a_passage_that_was_changed_since_is_not_made_up(maya: Client) -> None:
    row = item(mailbox("maya"))
    made = cite(mailbox("maya"), row)
    Item.objects.update(text="Paid.")

    page = open_page(maya, row, turn=made.id, n=1).content.decode()

    assert "is not in it any more" in page
    assert "<mark" not in page


@pytest.mark.parametrize("asked", [{}, {"turn": "x"}, {"turn": str(UUID(int=1)), "n": "²"}])
def test_without_an_answer_the_whole_item_is_shown(maya: Client, asked: dict[str, str]) -> None:
    answer = open_page(maya, item(mailbox("maya")), **asked)

    assert answer.status_code == 200
    assert CITED in answer.content.decode()
    assert "<mark" not in answer.content.decode()


def test_another_users_answer_marks_nothing(maya: Client) -> None:
    row = item(mailbox("maya"))
    theirs = cite(mailbox("omar"), row)

    assert "<mark" not in open_page(maya, row, turn=theirs.id, n=1).content.decode()


def test_what_is_gone_says_so(maya: Client) -> None:
    row = item(mailbox("maya"), title="", text="", deleted_at=timezone.now())

    page = open_page(maya, row).content.decode()

    assert "This is gone" in page


@pytest.mark.parametrize(("user", "slug"), [("omar", "default"), ("maya", "elsewhere")])
def test_anothers_item_is_as_unknown_as_none(maya: Client, user: str, slug: str) -> None:
    answer = open_page(maya, item(mailbox(user, slug=slug)))

    assert answer.status_code == 404
    assert CITED not in answer.content.decode()


def test_who_acts_for_all_users_opens_those_of_their_organisation_alone() -> None:
    here = item(mailbox("omar"))
    client = log_in("olga", "use_console")
    there = item(mailbox("eve", slug="elsewhere"))

    assert open_page(client, here).status_code == 200
    assert open_page(client, there).status_code == 404
    assert open_page(log_in("clerk", "view_conversation"), here).status_code == 403
    assert open_page(Client(), here).status_code == 302


def test_a_user_says_on_the_mail_that_its_sender_is_no_stranger(maya: Client) -> None:
    account = mailbox("maya")
    row = item(account, sender_address="tom@client.com")
    whose, say = (account.organisation_id, "maya"), reverse("console-item-sender", args=[row.id])
    assert "If you never wrote to them" in open_page(maya, row).content.decode()

    for known in ("1", "1", ""):
        assert maya.post(say, {"known": known}).headers["Location"] == f"/console/items/{row.id}"
        met = contacts.known(*whose, ["tom@client.com", "eve@client.com"])
        assert met == ({"tom@client.com"} if known else set())
        said = "tom@client.com is no stranger: you said so."
        assert (said in open_page(maya, row).content.decode()) == bool(known)

    theirs = item(mailbox("omar"), sender_address="tom@client.com")
    refused = maya.post(reverse("console-item-sender", args=[theirs.id]), {"known": "1"})
    Account.objects.filter(pk=account.pk).update(address="tom@client.com")  # it is their own mail
    maya.post(say, {"known": "1"})
    assert (refused.status_code, contacts.has_named(*whose, "tom@client.com")) == (404, False)
    assert "stranger" not in open_page(maya, row).content.decode()
