"""The mail or the conversation beside a card: for who may decide it, while it waits, and no more of
that person's than this."""

import html
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.template import Context
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from agents.models import Message, Turn
from agents.office.behind import MESSAGES, for_staff
from guardrails.approve import delegation
from guardrails.models import Approval
from integrations.models import Account, Membership, Organisation
from knowledge.models import Item
from tests.agents.office.test_item_page import item
from tests.agents.pages import SCRIPT
from tests.clients import client_of, log_in_superuser, read_page
from tests.guardrails.approvals import ask, confirm, edit
from tests.guardrails.approve.news.people import person
from tests.guardrails.office import CHAT, Office, settle, webhook
from tests.sandbox_server import RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = (
    f'{SCRIPT} ![x](https://evil.example/a.png) <img src="https://evil.example/b"> pay\u202eer'
)
SHOWN = html.escape(HOSTILE.replace("\u202e", "⟨U+202E⟩"))
FYI, REPLY = ("label_fyi", "FYI"), ("label_to_reply", "To Reply")
FRIDAY = "Sign it by Friday"
LOST = "It is not here any more"
APPROVER = ("view_approval", "change_approval")


@pytest.fixture(scope="module")
def provider() -> Iterator[RunningSandbox]:
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def office(provider: RunningSandbox, settings: Any) -> Office:
    found = settle(provider, settings)
    found.permit("create_jira_task", "ask")
    found.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    found.permit("classify", "ask")
    for label in (FYI, REPLY):
        found.list_target("classify", "label", *label)
    return found


def mail(office: Office, text: str = FRIDAY, **fields: Any) -> Item:
    """One that came and was read in."""
    row = item(office.mailbox, **{"title": "Contract", "text": text} | fields)
    row.source_id = office.receive()
    row.save()
    return row


def inbound(office: Office, mail: Item) -> Turn:
    """The turn of a mail."""
    return Turn.objects.create(
        organisation=office.organisation,
        external_user_id=office.user_id,
        kind=Turn.Kind.INBOUND,
        account=office.mailbox,
        item_source_id=mail.source_id,
    )


def wait(office: Office, turn: Turn, summary: str = "User Auth") -> Approval:
    """What an agent wants to do in this turn."""
    if turn.conversation_id:
        origin = replace(CHAT, turn_id=str(turn.id), user_words=summary)
        wish = {"project_key": "PROJ", "summary": summary, "type": "task"}
        return ask(office, "create_jira_task", wish, origin=origin)
    about = turn.item_source_id
    origin = webhook(about, "t1", turn_id=str(turn.id))
    return ask(office, "classify", {"email_id": about, "label_id": FYI[0]}, origin=origin)


def chat(office: Office, *said: str) -> Turn:
    """The last turn of a conversation, in which the user said each of these."""
    turn, conversation = None, None
    for words in said:
        conversation = conversation or office.organisation.conversations.create(
            external_user_id=office.user_id
        )
        turn = Turn.objects.create(
            organisation=office.organisation,
            external_user_id=office.user_id,
            kind=Turn.Kind.CHAT,
            state=Turn.State.FINISHED,
            conversation=conversation,
        )
        for role, text in (("user", words), ("assistant", f"About {words}")):
            Message.objects.create(conversation=conversation, turn=turn, role=role, content=text)
    assert turn is not None
    return turn


def approver(office: Office, name: str = "ann", *rights: str) -> Client:
    return client_of(person(office, name, *(rights or APPROVER)))


def maya(office: Office, name: str = "maya", own: str = "") -> Client:
    return client_of(person(office, name, "use_own_console", own=own or office.user_id))


def card(client: Client, row: Approval) -> str:
    return read_page(client, reverse("admin:guardrails_approval_change", args=[row.pk]))


def several(client: Client, *rows: Approval) -> str:
    ids = ",".join(str(row.pk) for row in rows)
    return read_page(client, reverse("admin:guardrails_approval_batch"), ids=ids)


def console(client: Client, **query: Any) -> str:
    return read_page(client, reverse("console-approvals"), **query)


def test_the_mail_stands_beside_the_card_as_text_for_who_may_decide_and_no_more(
    office: Office,
) -> None:
    wrote = {"sender_name": HOSTILE, "sender_address": "ada@client.com"}
    row = wait(office, inbound(office, mail(office, HOSTILE, title=f"Contract {HOSTILE}", **wrote)))
    mail(office, "Of nobody's business", title="Salary")
    ann, own = approver(office), maya(office)

    for page in (card(ann, row), several(ann, row), console(own)):
        pane = page[page.index('<details class="beside"') :].partition("</details>")[0]
        assert "The mail it is about" in pane
        assert "Not checked: what it says" in pane
        assert f"<bdi>Contract {SHOWN}</bdi>" in pane
        assert f"<bdi>{SHOWN} &lt;ada@client.com&gt;</bdi>" in pane
        assert f">{SHOWN}</blockquote>" in pane
        assert ("<script" in pane, "<img" in pane, "<a " in pane) == (False, False, False)
        assert ("Salary" in page, "nobody" in page) == (False, False)
    # The same right opens nothing else of that person's.
    read = Item.objects.get(title__startswith="Contract")
    assert ann.get(reverse("console-item", args=[read.id])).status_code == 403
    turn = reverse("admin:agents_turn_change", args=[row.turn_id])
    assert ann.get(turn).status_code == 403


def test_who_may_only_look_reads_no_mail_and_a_decided_card_shows_none(office: Office) -> None:
    row = wait(office, inbound(office, mail(office)))

    assert FRIDAY not in card(approver(office, "una", "view_approval"), row)
    ann = approver(office)
    assert FRIDAY in card(ann, row)
    confirm(row)
    assert FRIDAY not in card(ann, row)
    assert FRIDAY not in console(maya(office), card=row.pk)


def test_of_another_organisation_or_another_user_it_is_nobodys(office: Office) -> None:
    row = wait(office, inbound(office, mail(office)))
    elsewhere = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    eve = User.objects.create(username="eve", is_staff=True)
    Membership.objects.create(user=eve, organisation=elsewhere)
    ann = person(office, "ann", *APPROVER)
    eve.user_permissions.set(ann.user_permissions.all())

    page = reverse("admin:guardrails_approval_change", args=[row.pk])
    assert "Sign it" not in client_of(eve).get(page, follow=True).content.decode()
    assert "Sign it" not in several(client_of(eve), row)
    asked, found = RequestFactory().get("/"), {}
    for asked.user in (eve, ann):
        found[asked.user] = for_staff(Context({"request": asked}), [row])
    assert (found[eve], found[ann][row.id].text) == ({}, FRIDAY)
    Account.objects.create(
        organisation=office.organisation, external_user_id="tom", source="gmail", address="t@x.com"
    )
    assert "Sign it" not in console(maya(office, "tom.bell", own="tom"), card=row.pk)


@pytest.mark.parametrize("whose", ["user", "organisation"])
def test_a_turn_or_an_account_of_somebody_else_is_not_followed(office: Office, whose: str) -> None:
    """However a row came to name it."""
    other = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    foreign = Account.objects.create(
        organisation=other if whose == "organisation" else office.organisation,
        external_user_id="tom" if whose == "user" else office.user_id,
        source="gmail",
        address="t@x.com",
    )
    secret = item(foreign, title="Contract", text=FRIDAY)
    turn = inbound(office, mail(office, "Hello"))
    row = wait(office, turn)
    secret.source_id = turn.item_source_id
    secret.save()
    Turn.objects.filter(pk=turn.pk).update(account=foreign)
    olga = log_in_superuser("olga")
    assert ("Sign it" in card(olga, row), LOST in card(olga, row)) == (False, True)

    of = {"organisation": foreign.organisation, "external_user_id": foreign.external_user_id}
    Turn.objects.filter(pk=turn.pk).update(**of)
    assert (FRIDAY in card(olga, row), ">Hello</blockquote>" in card(olga, row)) == (False, True)


def test_whom_it_was_handed_to_reads_it_too(office: Office) -> None:
    row = wait(office, inbound(office, mail(office)))
    Account.objects.create(
        organisation=office.organisation, external_user_id="tom", source="gmail", address="t@x.com"
    )
    tom = maya(office, "tom.bell", own="tom")
    assert "Sign it" not in console(tom)
    delegation.delegate(
        organisation_id=office.organisation.id,
        approval_id=row.id,
        to="user:tom",
        by="operator:ann",
        note="",
    )

    assert FRIDAY in console(tom)


def test_a_changed_action_keeps_the_mail_and_one_that_was_forgotten_says_so(office: Office) -> None:
    read = mail(office)
    turn = inbound(office, read)
    edit(wait(office, turn), {"label_id": REPLY[0]})
    row = Approval.objects.get(state="pending")
    ann = approver(office)
    assert FRIDAY in card(ann, row)

    Item.objects.filter(pk=read.pk).update(text="", title="", deleted_at=timezone.now())
    assert (LOST in card(ann, row), LOST in console(maya(office))) == (True, True)
    read.delete()
    turn.delete()
    assert LOST in card(ann, row)


def test_what_is_attached_is_not_shown_and_a_mail_cannot_pretend_its_own_end(
    office: Office,
) -> None:
    file = "Attachment a.txt:\nPassword 1"
    read = mail(office, f"Hello\n\n{file}\n\nand sign it\n\n{file}")
    read.files.create(position=0, name="a.txt", text="Password 1")
    row, ann = wait(office, inbound(office, read)), approver(office)
    page = card(ann, row)
    assert ("and sign it" in page, page.count("Password 1")) == (True, 1)

    Item.objects.filter(pk=read.pk).update(text=file)
    page = card(ann, row)
    assert ("It has no text." in page, "Password 1" in page) == (True, False)


def test_a_long_mail_is_cut(office: Office) -> None:
    row = wait(office, inbound(office, mail(office, "a" * 4_999 + "bc")))
    page = card(approver(office), row)

    assert f"{'a' * 4_999}b…</blockquote>" in page
    assert "The rest is too long to be shown." in page


def test_the_conversation_stands_beside_it_as_far_as_it_had_come(office: Office) -> None:
    turn = chat(office, *(f"number {n}." for n in range(MESSAGES // 2)), HOSTILE)
    row, conversation = wait(office, turn), turn.conversation
    assert conversation is not None
    later = Turn.objects.create(
        organisation=office.organisation,
        external_user_id=office.user_id,
        kind=Turn.Kind.CHAT,
        conversation=conversation,
    )
    Message.objects.create(
        conversation=conversation, turn=later, role="user", content="A later secret"
    )
    other = chat(office, "Another conversation")
    ann = approver(office)

    for page in (card(ann, row), several(ann, row), console(maya(office))):
        pane = page[page.index('<details class="beside"') :].partition("</details>")[0]
        assert "The conversation so far" in pane
        assert f'<strong>User</strong><blockquote dir="auto">{SHOWN}</blockquote>' in pane
        assert f'<blockquote dir="auto">About {SHOWN}</blockquote>' in pane
        assert ("number 1." in pane, "number 0." in pane) == (True, False)
        assert "What was said earlier is not shown." in pane
        assert ("later secret" in page, "Another conversation" in page) == (False, False)
    assert other.id != turn.id


def test_what_nothing_set_off_has_nothing_beside_it(office: Office) -> None:
    wish = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}
    row = ask(office, "create_jira_task", wish, origin=replace(CHAT, trigger="mcp", turn_id=""))

    assert "beside" not in card(approver(office), row).partition("approval-headline")[2]


def test_it_costs_the_same_however_many_cards_there_are(
    office: Office, django_assert_max_num_queries: Any
) -> None:
    for number in range(6):
        wait(office, inbound(office, mail(office)))
        wait(office, chat(office, f"Chat {number}"), f"Wish {number}")
    rows = Approval.objects.all()
    own, ann = maya(office), approver(office)
    console(own), several(ann, *rows)

    with django_assert_max_num_queries(15):
        page = console(own)
    assert page.count('<details class="beside"') == 12
    with django_assert_max_num_queries(15):
        page = card(ann, rows[0])
    assert "The conversation so far" in page
    with django_assert_max_num_queries(15):
        page = several(ann, *rows)
    assert page.count('<details class="beside"') == 12


def test_in_the_console_it_speaks_the_language_of_the_reader(office: Office) -> None:
    wait(office, inbound(office, mail(office)))
    answer = maya(office).get(reverse("console-approvals"), headers={"Accept-Language": "de"})

    assert "Die E-Mail, um die es geht" in answer.content.decode()
