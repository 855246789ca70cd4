"""The pages of patterns and drafts: a user's own, in words, and nobody else's."""

import html
import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.office import console_access
from guardrails.learn import patterns
from guardrails.models import (
    AssistantDraft,
    LearnedPattern,
    PatternAction,
    PatternEvidence,
    PatternHit,
)
from integrations.models import Account, Membership, ProviderResource, UserPreferences
from tests.agents.office.test_item_page import item
from tests.agents.pages import HIDDEN, SCRIPT, mailbox
from tests.clients import log_in

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
PAGES = ("console-patterns", "console-drafts")
AT = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


def learn(account: Account, number: int = 0, **fields: Any) -> LearnedPattern:
    given = {"name": f"Pattern {number}", "list_id": f"list-{number}", "tried_at": AT}
    row = LearnedPattern.objects.create(account=account, **given | fields)
    PatternAction.objects.create(
        pattern=row, action_type="classify", arguments={"label_id": "Label_3"}
    )
    for place, side in enumerate(("supporting", "supporting", "contradicting", "undecided")):
        PatternEvidence.objects.create(pattern=row, item_id=str(place), side=side, occurred_at=AT)
    return row


def write(account: Account, **fields: Any) -> AssistantDraft:
    given: dict[str, Any] = {
        "action_id": uuid4(),
        "thread_id": "t1",
        "reply_to_id": "m1",
        "receivers": ["ada@client.com"],
        "of_own_accord": True,
        "written_at": AT,
    }
    return AssistantDraft.objects.create(account=account, **given | fields)


@pytest.fixture
def maya() -> Client:
    mailbox("maya")
    client = log_in("maya.lindqvist", "use_own_console")
    Membership.objects.update(external_user_id="maya")
    return client


def read(client: Client, name: str, **asked: Any) -> str:
    answer = client.get(reverse(name), asked)
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_a_pattern_is_said_in_words_with_what_speaks_for_it_and_what_it_did(maya: Client) -> None:
    account = mailbox("maya")
    mail = item(account, title="Weekly news")
    row = learn(account, name=f"{SCRIPT}{HIDDEN}", tried_mails=40, hits=4, corrections=1)
    patterns.approve(pattern_id=row.id, by="ada", now=timezone.now())
    ProviderResource.objects.create(
        account=account, resource_type="label", external_id="Label_3", name="News"
    )
    for number, subject in (("m1", "Weekly news"), ("m2", "Other")):
        PatternHit.objects.create(
            pattern=row, account=account, item_id=number, subject=subject, turn_id="t", at=AT
        )

    text = read(maya, "console-patterns")

    assert "&lt;script&gt;alert(1)&lt;/script&gt;pay⟨U+202E⟩er Acts" in text
    assert "Mailing list list-0 What it does Label a mail (label: News)" in text
    assert (
        "Of your newest 40 mails it fits 4: 2 treated just like that, 1 treated otherwise, 1 not "
        "looked at yet. That is 67% of what was decided." in text
    )
    assert "It has treated 4 mails, of which somebody put 1 back: 75% right." in text
    assert "Weekly news 2026-05-04 09:30 UTC" in text
    page = maya.get(reverse("console-patterns")).content.decode()
    assert f'<a href="{reverse("console-item", args=[mail.id])}">Weekly news</a>' in page
    assert re.findall(r'data-word="(\w+)"', page) == ["suspend"]


def test_a_label_has_the_name_that_the_mailbox_or_else_its_targets_have_for_it(
    maya: Client,
) -> None:
    account, elsewhere = mailbox("maya"), mailbox("omar")
    learn(account)
    for owner, name in ((account, "News as listed"), (elsewhere, "Of another")):
        owner.listed_targets.create(
            action_type="classify",
            source="gmail",
            kind="label",
            external_id="Label_3",
            name=name,
        )

    listed = read(maya, "console-patterns")
    account.resources.create(resource_type="label", external_id="Label_3", name=f"News{HIDDEN}")
    called = read(maya, "console-patterns")

    assert "What it does Label a mail (label: News as listed)" in listed
    assert "What it does Label a mail (label: Newspay⟨U+202E⟩er)" in called
    assert "Label_3" not in listed + called


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ["approve", "decline"]),
        ({"tried_at": None}, ["decline"]),
        ({"proposed_by": "chat"}, ["decline"]),
        ({"state": "suspended", "suspended_at": AT, "suspended_why": "Put back."}, ["approve"]),
    ],
)
def test_each_word_that_a_person_has_is_one_button(
    maya: Client, fields: dict[str, Any], words: list[str]
) -> None:
    learn(mailbox("maya"), **fields)

    page = maya.get(reverse("console-patterns")).content.decode()

    assert re.findall(r'data-word="(\w+)"', page) == words


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "A learned pattern needs mail that nobody treated otherwise: here 1 speak against it.",
        ),
        (
            {"side": "undecided"},
            "A learned pattern needs 3 like mails that a person treated so: here it is 0.",
        ),
        (
            {"side": "supporting", "by_person": True},
            "A learned pattern needs mails treated so on 3 occasions: here it is 1.",
        ),
    ],
)
def test_a_learned_pattern_says_what_is_missing(
    maya: Client, changes: dict[str, Any], sentence: str
) -> None:
    row = learn(mailbox("maya"), proposed_by="chat", tried_mails=40)
    row.evidence.update(**changes)

    assert sentence in read(maya, "console-patterns")

    row.evidence.update(side="supporting", by_person=True, occasion=F("item_id"))
    text = read(maya, "console-patterns")
    assert "A learned pattern needs" not in text
    assert "Approve Decline" in text


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_the_button_of_a_user_is_heard_by_the_api_for_their_own_patterns_alone(
    maya: Client,
) -> None:
    own, other = learn(mailbox("maya")), learn(mailbox("omar"))
    page = maya.get(reverse("console-patterns")).content.decode()
    [bound] = set(re.findall(r'data-bound="([^"]+)"', page))

    def decide(row: LearnedPattern, user: str) -> int:
        word = {"user_id": user, "decision": "approve"} | json.loads(html.unescape(bound))
        url = reverse("pattern-decide", args=[row.id])
        return maya.post(url, json.dumps(word), content_type="application/json").status_code

    assert [decide(other, "maya"), decide(other, "omar"), decide(own, "maya")] == [404, 404, 200]
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.state, own.approved_by, other.state) == ("approved", "user:maya", "proposed")


def test_who_may_not_decide_sees_no_button() -> None:
    learn(mailbox("maya"))

    def buttons(client: Client) -> int:
        return client.get(reverse("console-patterns")).content.count(b"data-word=")

    assert buttons(log_in("olga", "use_console")) == 0
    assert buttons(log_in("otto", "use_console", "change_learnedpattern")) == 2


def test_a_draft_says_for_which_mail_it_is_and_how_near_it_was(maya: Client) -> None:
    account = mailbox("maya")
    mail = item(account, title="Is it <b>due</b>?")
    write(account, state="edited", nearness=0.914, answer_id="m2")
    write(account, reply_to_id="unread", of_own_accord=False, receivers=[])

    text = read(maya, "console-drafts")
    page = maya.get(reverse("console-drafts")).content.decode()

    assert "Answer to Is it &lt;b&gt;due&lt;/b&gt;? Edited by the user To ada@client.com" in text
    assert "because the mail came: nobody asked for it What was sent" in text
    assert "91% of the mail that was sent is as Remit had drafted it." in text
    assert "Answer to a mail that Remit has not read Not sent yet To Nobody yet" in text
    assert f'<a href="{reverse("console-item", args=[mail.id])}">' in page
    assert "/admin/" not in page


def test_a_draft_of_a_new_mail_says_for_whom_it_is(maya: Client) -> None:
    account = mailbox("maya")
    mail = item(account, title="Lunch on Friday")
    new: dict[str, Any] = {"reply_to_id": "", "of_own_accord": False}
    write(account, **new, receivers=["ada@client.com", "<b>@x.test"])
    write(account, **new, receivers=[])
    write(account, **new, state="sent", answer_id=mail.source_id, nearness=1.0)

    text = read(maya, "console-drafts")
    page = maya.get(reverse("console-drafts")).content.decode()

    assert "Answer to" not in text
    assert "New mail to ada@client.com, &lt;b&gt;@x.test Not sent yet" in text
    assert "New mail Not sent yet To Nobody yet" in text
    assert "because you asked for it What was sent Lunch on Friday How near it was 100%" in text
    assert f'<a href="{reverse("console-item", args=[mail.id])}">Lunch on Friday</a>' in page


def choose_language(account: Account, language: str) -> None:
    UserPreferences.objects.update_or_create(
        organisation=account.organisation,
        external_user_id=account.external_user_id,
        defaults={"language": language, "time_zone": "Europe/Stockholm"},
    )


def test_own_pages_are_in_the_language_that_was_chosen_and_on_the_users_clock(maya: Client) -> None:
    account = mailbox("maya")
    learn(account, tried_mails=40)
    write(account, state="edited", nearness=0.914)
    choose_language(account, "it")

    in_italian = " ".join(read(maya, name) for name in PAGES)

    assert "Delle tue 40 mail più recenti si adatta a 4: 2 trattate proprio così" in in_italian
    assert "Scritta 2026-05-04 11:30 Europe/Stockholm, perché è arrivata la mail" in in_italian
    choose_language(account, "de-AT")
    page = maya.get(reverse("console-drafts")).content.decode()
    assert "Antwort auf" in page
    assert "2026-05-04 11:30 Europe/Stockholm" in page
    chat = maya.get(reverse("console")).content.decode()
    assert "&quot;Do it&quot;: &quot;Tun&quot;" in chat


def language_of(client: Client, browser: str) -> str:
    """Of the pages of maya, in a browser that asks for this."""
    asked, about = {"Accept-Language": browser} if browser else {}, {"user": "maya"}
    pages = [client.get(reverse(name), about, headers=asked) for name in (*PAGES, "console")]
    [found] = {re.findall('<html lang="(.*)">', one.content.decode())[0] for one in pages}
    return str(found)


@pytest.mark.parametrize(
    ("chosen", "browser", "own", "operators"),
    [
        ("it", "de-AT,en;q=0.5", "it", "de"),
        ("en", "de-AT,en;q=0.5", "en", "de"),  # not the same as no choice
        ("", "de-AT,en;q=0.5", "de", "de"),
        ("pt-BR", "de-AT,en;q=0.5", "de", "de"),  # Remit does not speak it
        ("it", "", "it", "it"),
        ("", "", "en", "en"),
    ],
)
def test_the_users_choice_comes_before_their_browsers_and_an_operators_browser_before_it(
    maya: Client, chosen: str, browser: str, own: str, operators: str
) -> None:
    choose_language(mailbox("maya"), chosen)

    assert language_of(maya, browser) == own
    assert language_of(log_in("olga", "use_console"), browser) == operators


@pytest.mark.parametrize("name", PAGES)
def test_empty_pages_say_what_they_are_for(maya: Client, name: str) -> None:
    assert re.search(r"No (pattern|draft) yet\. When", read(maya, name))


@pytest.mark.parametrize("name", PAGES)
def test_a_user_sees_their_own_and_the_staff_whom_they_choose(maya: Client, name: str) -> None:
    for user in ("maya", "omar"):
        learn(mailbox(user), name=f"Of {user}")
        write(mailbox(user), receivers=[f"Of {user}"])
    olga = log_in("olga", "use_console")
    learn(mailbox("eve", slug="elsewhere"), name="Of eve")

    assert "Of maya" in read(maya, name)
    assert "Of omar" not in read(maya, name)
    assert "Of omar" in read(olga, name, user="omar")
    assert "Of maya" not in read(olga, name, user="omar")
    address = reverse(name)
    assert maya.get(address, {"user": "omar"}).status_code == 404
    assert olga.get(address, {"user": "eve"}).status_code == 404
    assert olga.get(address, {"organisation": "elsewhere"}).status_code == 404
    assert log_in("clerk", "view_conversation").get(address).status_code == 403
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize("name", PAGES)
def test_many_take_pages_and_no_more_queries(
    maya: Client, name: str, django_assert_max_num_queries: Any
) -> None:
    account = mailbox("maya")
    for number in range(45):
        learn(account, number)
        write(account)

    with django_assert_max_num_queries(15):
        first = read(maya, name)

    assert "Page 1 of 3 Older" in first
    assert "Newer Page 3 of 3" in read(maya, name, page=3)
    assert "Newer Page 3 of 3" in read(maya, name, page="99")


def test_the_patterns_of_a_user_with_all_that_a_page_holds_take_few_queries(
    maya: Client, django_assert_num_queries: Any
) -> None:
    account = mailbox("maya")
    item(account, title="Weekly news")
    row = learn(account)
    PatternHit.objects.create(
        pattern=row, account=account, item_id="m1", subject="Weekly news", turn_id="t", at=AT
    )
    olga = log_in("olga", "use_console")

    for client, queries in ((maya, 15), (olga, 16)):
        with django_assert_num_queries(queries):
            assert "Weekly news" in read(client, "console-patterns", user="maya")


@pytest.mark.parametrize("name", ["console", *PAGES])
def test_a_user_after_the_first_ones_is_met_by_their_id(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(console_access, "USERS_SHOWN", 2)
    for user in ("anna", "berta", "maya", "nora"):
        mailbox(user)
    mailbox("eve", slug="elsewhere")
    olga = log_in("olga", "use_console")

    chosen = olga.get(reverse(name), {"user": "nora"})

    assert [user for user, _ in chosen.context["users"]] == ["anna", "berta", "nora"]
    assert chosen.context["user_id"] == "nora"
    assert re.search(r'<input id="(user|another)" name="user"', chosen.content.decode())
    assert olga.get(reverse(name)).context["user_id"] == "anna"
    for other in ("eve", "nobody", "no\0ra"):
        assert olga.get(reverse(name), {"user": other}).status_code == 404


@pytest.mark.parametrize("name", ["console", *PAGES, "console-approvals"])
def test_a_mistyped_id_is_said_in_words_with_those_who_can_be_chosen(name: str) -> None:
    for user in ("anna", "maya"):
        mailbox(user)
    olga, asked = log_in("olga", "use_console"), {"Accept-Language": "de"}

    answer = olga.get(reverse(name), {"user": f"Mya\u202e{SCRIPT}"}, headers=asked)

    page = answer.content.decode()
    assert answer.status_code == 404
    assert '<html lang="de">' in page
    assert "Niemand hat hier die Kennung „Mya⟨U+202E⟩&lt;script&gt;" in page
    assert re.findall(r'<option value="(\w+)">', page) == ["anna", "maya"]
    assert reverse("admin:integrations_account_changelist") not in page


def test_who_names_another_than_themself_gets_the_same_whether_there_is_such_a_user_or_not(
    maya: Client,
) -> None:
    mailbox("omar")
    choose_language(mailbox("maya"), "de")

    pages = [
        maya.get(reverse("console-drafts"), {"user": user}, headers={"Accept-Language": "fr"})
        for user in ("omar", "nobody")
    ]

    there, absent = (re.sub(r"[A-Za-z0-9]{64}", "", one.content.decode()) for one in pages)
    assert [one.status_code for one in pages] == [404, 404]
    assert there == absent
    assert "Mit dieser Anmeldung bist du nur du selbst." in there
    assert f'<a href="{reverse("console")}">Zu deinem eigenen Chat</a>' in there


def test_users_are_picked_from_a_list_that_has_them_all() -> None:
    for user in ("anna", "maya"):
        mailbox(user)
        Account.objects.create(
            organisation=mailbox(user).organisation, external_user_id=user, source="jira"
        )
    olga = log_in("olga", "use_console")

    page = olga.get(reverse("console-patterns"), {"user": "maya"}).content.decode()

    assert re.findall(r'<option value="(\w+)"( selected)?>', page) == [
        ("anna", ""),
        ("maya", " selected"),
    ]
