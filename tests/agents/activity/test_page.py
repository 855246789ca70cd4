"""The admin's first page: what came and what became of it."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.activity import figures
from agents.models import Message, Turn
from audit.ledger import ledger
from audit.ledger.ids import uuid7
from integrations.models import Account, Delivery
from knowledge.ingest import indexing
from knowledge.models import Item
from tests.agents.pages import HIDDEN, SCRIPT, delivery, mailbox, turn
from tests.audit.entries import append_action, entry
from tests.clients import log_in

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
RIGHTS = ("view_delivery", "view_turn")


def shown(client: Client, **query: str) -> Any:
    answer = client.get(reverse("admin:index"), query)
    assert answer.status_code == 200
    return answer


def rows(answer: Any) -> list[Any]:
    return [row for _, found in answer.context["days"] for row in found]


def outcomes(answer: Any) -> list[tuple[str, str]]:
    return [(row.title, row.outcome) for row in rows(answer)]


def mail(account: Account, number: int, *, title: str = "", **fields: Any) -> Delivery:
    made = delivery(account, number, **{"state": "processed", **fields})
    item = Item.objects.create(
        account=account,
        source="gmail",
        source_id=made.source_id,
        content_type="email",
        title=title or f"Mail {number}",
        sender_name="Ines Braun",
        occurred_at=timezone.now(),
        ingested_at=timezone.now(),
    )
    Item.objects.filter(id=item.id).update(search=indexing.index(item))
    return made


def worked_on(made: Delivery, *acts: tuple[str, str], ending: str = "reply", **fields: Any) -> Turn:
    """Its turn, with actions as (status in the turn, status in the ledger if it is there)."""
    account = made.account
    assert account
    worked = Turn.objects.create(
        organisation=account.organisation,
        external_user_id=account.external_user_id,
        kind="inbound",
        account=account,
        item_source_id=made.source_id,
        delivery=made,
        **{"state": "finished", "ending": ending, **fields},
    )
    for status, recorded in acts:
        action_id = uuid7()
        same: dict[str, Any] = {
            "tenant_id": account.organisation_id,
            "run_id": str(worked.id),
            "action_type": "archive",
        }
        if recorded == "blocked":
            ledger.append(
                entry(
                    **same,
                    action_id=action_id,
                    phase="blocked",
                    status="blocked",
                    decision="blocked",
                    decision_reason="target_not_listed",
                )
            )
        elif recorded:
            action_id = append_action(**same, status=recorded)
        worked.actions.append(
            {
                "action_id": str(action_id),
                "type": "archive",
                "params": {},
                "description": "Archive “Offer”",
                "status": status,
                "reason": "target_not_listed" if status == "refused" else "",
                "sentence": f"It is not allowed {HIDDEN}." if status == "refused" else "",
            }
        )
    worked.save()
    return worked


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_a_row_says_who_wrote_what_and_what_became_of_it(operator: Client) -> None:
    account = mailbox()
    made = mail(account, 1, title=f"{SCRIPT} offer")
    worked = worked_on(made, ("succeeded", "succeeded"), ("refused", "blocked"))

    answer = shown(operator)

    (row,) = rows(answer)
    assert (row.kind, row.who, row.title, row.person) == (
        "Mail",
        "Ines Braun",
        f"{SCRIPT} offer",
        SCRIPT,
    )
    assert (row.outcome, row.why, row.more) == ("Refused", "", 0)
    assert [(one.what, one.status, one.why) for one in row.done] == [
        ("Archive “Offer”", "done", ""),
        ("Archive “Offer”", "refused, not done", "It is not allowed pay⟨U+202E⟩er."),
    ]
    assert row.link == reverse("admin:agents_turn_change", args=[worked.id])
    assert [name for name, _ in row.links] == ["Item", "Turn", "Delivery"]
    for _, link in row.links:
        assert operator.get(link).status_code == 200
    assert operator.get(row.done[0].link).status_code == 200
    assert SCRIPT not in answer.content.decode()
    assert ("maya", f"{SCRIPT} (maya)") in answer.context["filters"].fields["person"].widget.choices


@pytest.mark.parametrize(
    ("fields", "outcome", "why"),
    [
        ({"state": "queued"}, "In work", "It is being read."),
        (
            {"state": "queued", "waiting_since": datetime(2026, 3, 1, tzinfo=UTC)},
            "In work",
            "It waits for what does not answer.",
        ),
        ({"state": "processed"}, "Only read", "It was read in, so that agents can find it."),
        (
            {"state": "processed", "kind": "deleted"},
            "Only read",
            "What was known of it was forgotten.",
        ),
        ({"state": "skipped", "reason": "own_mail"}, "Left alone", "The user wrote it."),
        (
            {"state": "dead", "reason": "malformed_item"},
            "Failed",
            "It was set aside: malformed item.",
        ),
    ],
)
def test_what_no_agent_looked_at_says_why(
    operator: Client, fields: dict[str, Any], outcome: str, why: str
) -> None:
    mail(mailbox(), 1, **fields)

    (row,) = rows(shown(operator))

    assert (row.outcome, row.why, row.done) == (outcome, why, ())


@pytest.mark.parametrize(
    ("fields", "outcome", "why"),
    [
        ({}, "Left alone", "An agent looked at it, and saw nothing to do."),
        ({"state": "running", "ending": ""}, "In work", "An agent is at work on it."),
        (
            {"state": "failed", "ending": "error", "error_code": "model_away"},
            "Failed",
            "It ended early: model away.",
        ),
        ({"ending": "limit"}, "Failed", "A limit was reached."),
        ({"ending": "escalated"}, "Asked a person", "Handed to a person."),
    ],
)
def test_what_an_agent_did_nothing_about_says_why(
    operator: Client, fields: dict[str, Any], outcome: str, why: str
) -> None:
    worked_on(mail(mailbox(), 1), **fields)

    (row,) = rows(shown(operator))

    assert (row.outcome, row.why) == (outcome, why)


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_what_was_asked_and_then_confirmed_is_done_by_now(operator: Client) -> None:
    worked_on(mail(mailbox(), 1), ("pending", "succeeded"))

    (row,) = rows(shown(operator))

    assert (row.outcome, [one.status for one in row.done]) == ("Asked a person", ["done"])


def test_a_request_of_a_user_has_a_row_beside_mail(operator: Client) -> None:
    account = mailbox()
    mail(account, 1)
    asked = turn(account)
    Message.objects.filter(turn=asked, role="user").update(content="File  the\nFigma mails")

    request, _ = rows(shown(operator))

    assert (request.kind, request.who, request.title) == ("Request", SCRIPT, "File the Figma mails")
    assert (request.outcome, request.why) == ("Answered", "It was answered in words.")


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_a_request_of_what_waits_already_says_what_waits(operator: Client) -> None:
    account = mailbox()
    first, again = turn(account), turn(account)
    action_id = uuid7()
    ledger.append(
        entry(
            tenant_id=account.organisation_id,
            action_id=action_id,
            run_id=str(first.id),
            action_type="archive",
            phase="control",
            status="waiting",
            decision_reason="needs_approval",
        )
    )
    asked = {
        "action_id": str(action_id),
        "type": "archive",
        "params": {},
        "description": "Archive “Offer”",
        "status": "pending",
        "reason": "",
        "sentence": "",
    }
    Turn.objects.filter(id__in=[first.id, again.id]).update(actions=[asked])

    newest, oldest = rows(shown(operator))

    for row in (newest, oldest):
        assert (row.outcome, row.why) == ("Asked a person", "")
        assert [(one.what, one.status) for one in row.done] == [
            ("Archive “Offer”", "waits for a confirmation, not done")
        ]


def office() -> Account:
    """Three mails of one user and word of what the agent did to one, a mail of another, a request,
    and one of another organisation."""
    account, other = mailbox(), mailbox("noor")
    worked_on(mail(account, 1, title="Offer from Figma"), ("succeeded", ""))
    worked_on(mail(account, 2, title="Second offer"), ("refused", ""))
    mail(account, 3, title="Lunch", state="skipped", reason="unchanged")
    mail(other, 4, title="Figma again", state="dead", reason="malformed_item")
    asked = turn(account)
    Message.objects.filter(turn=asked, role="user").update(content="What did Figma offer?")
    mail(mailbox(slug="elsewhere"), 5, title="Figma elsewhere")
    mail(account, 6, title="Figma filed", state="skipped", reason="own_action")
    refusal = {"status": "refused", "reason": "target_not_listed", "type": "archive"}
    turn(account, kind="trial", conversation=None, actions=[refusal])
    return account


CHOICES: list[tuple[dict[str, str], list[str]]] = [
    ({"words": "figma"}, ["What did Figma offer?", "Figma again", "Offer from Figma"]),
    ({"words": "braun offer"}, ["Second offer", "Offer from Figma"]),
    ({"words": "mail-3"}, ["Lunch"]),
    ({"words": "%_' --"}, []),
    ({"person": "noor"}, ["Figma again"]),
    ({"kind": "chat"}, ["What did Figma offer?"]),
    ({"kind": "files"}, []),
    ({"reason": "own_action"}, ["Figma filed"]),
    ({"outcome": "refused"}, ["Second offer"]),
    ({"outcome": "failed"}, ["Figma again"]),
    ({"outcome": "left"}, ["Lunch"]),
    ({"outcome": "answered"}, ["What did Figma offer?"]),
    ({"reason": "target_not_listed"}, ["Second offer"]),
    ({"since": "2020-01-01", "until": "2020-01-02"}, []),
    ({"kind": "mail", "person": "maya", "outcome": "done"}, ["Offer from Figma"]),
    ({"organisation": "elsewhere"}, ["Figma elsewhere"]),
]


def test_rows_are_chosen(operator: Client) -> None:
    office()

    for query, titles in CHOICES:
        assert [title for title, _ in outcomes(shown(operator, **query))] == titles, query


def test_a_turn_a_delivery_and_an_item_lead_to_their_row_and_back(operator: Client) -> None:
    account = office()
    made = Delivery.objects.get(source_id="mail-1")
    worked = Turn.objects.get(delivery=made)
    asked = Turn.objects.get(kind="chat")
    item = Item.objects.get(source_id="mail-1")
    filed = Delivery.objects.get(source_id="mail-6")
    for kind, key, title in (
        ("agents_turn", worked.pk, "Offer from Figma"),
        ("integrations_delivery", made.pk, "Offer from Figma"),
        ("integrations_delivery", filed.pk, "Figma filed"),
        ("knowledge_item", item.pk, "Offer from Figma"),
        ("agents_turn", asked.pk, "What did Figma offer?"),
    ):
        page = reverse(f"admin:{kind}_change", args=[key])
        text = operator.get(page).content.decode()
        (link,) = re.findall(r'href="([^"]+)"[^>]*>What came of it<', text)
        (row,) = rows(operator.get(unescape(link)))
        assert row.title == title
        assert page in dict(row.links).values()
    item_page = reverse("admin:knowledge_item_change", args=[item.pk])
    for kind, key in (("agents_turn", worked.pk), ("integrations_delivery", made.pk)):
        page = reverse(f"admin:{kind}_change", args=[key])
        assert f'href="{item_page}"' in operator.get(page).content.decode()
    tried = turn(account, kind="trial", conversation=None)
    page = reverse("admin:agents_turn_change", args=[tried.pk])
    assert "What came of it" not in operator.get(page).content.decode()
    elsewhere = Delivery.objects.get(source_id="mail-5")
    assert rows(shown(operator, organisation="default", id=str(elsewhere.pk))) == []


def test_lists_of_turns_and_deliveries_say_what_each_is_about(operator: Client) -> None:
    office()
    for kind, subjects in (
        ("agents_turn", ["What did Figma offer?", "Offer from Figma", "Second offer"]),
        ("integrations_delivery", ["Lunch", "Figma again", "Figma filed"]),
    ):
        answer = operator.get(reverse(f"admin:{kind}_changelist"))
        text = answer.content.decode()
        assert [one in text for one in subjects] == [True] * 3


def test_what_cannot_be_read_breaks_nothing(operator: Client) -> None:
    office()

    for name, value in (
        ("kind", "no such"),
        ("outcome", "'"),
        ("since", "yesterday"),
        ("before", "20260101T000000.000000_x"),
        ("words", "x" * 300),
        ("words", "\x00"),
        ("person", "nobody' OR 1=1"),
        ("id", "1"),
    ):
        shown(operator, **{name: value})


def test_older_rows_follow_the_last_one_and_none_is_left_out(operator: Client) -> None:
    account, at = mailbox(), timezone.now()
    for number in range(70):
        made = delivery(account, number, state="processed")
        # Pairs of the same moment: the id tells which is first.
        moment = at - timedelta(hours=number // 2)
        Delivery.objects.filter(id=made.id).update(received_at=moment)
    Turn.objects.filter(id=turn(account).id).update(created_at=at - timedelta(hours=20))

    seen, link = [], reverse("admin:index")
    while link:
        answer = operator.get(link)
        seen += [str(row.place) for row in rows(answer)]
        link = answer.context["older"]

    assert len(seen) == len(set(seen)) == 71
    assert [place[:22] for place in seen] == sorted((place[:22] for place in seen), reverse=True)


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_it_asks_as_often_for_much_as_for_little(operator: Client) -> None:
    def queries(numbers: range) -> int:
        for number in numbers:
            account = mailbox(f"user-{number}")
            worked_on(mail(account, number), ("succeeded", "succeeded"))
            turn(account)
        with (
            CaptureQueriesContext(connection) as asked,
            CaptureQueriesContext(connections["ledger"]) as proof,
        ):
            shown(operator)
        return len(asked) + len(proof)

    queries(range(1))  # what is asked once a process
    few = queries(range(1, 3))
    assert few == queries(range(3, 40))
    assert few == 13


def test_members_meet_their_own_organisation_alone() -> None:
    account = mailbox()
    worked_on(mail(account, 1, title="Ours"))
    clerk = log_in("clerk", *RIGHTS)
    mail(mailbox(slug="elsewhere"), 2, title="Theirs")

    assert [title for title, _ in outcomes(shown(clerk))] == ["Ours"]
    assert clerk.get(reverse("admin:index"), {"organisation": "elsewhere"}).status_code == 404


@pytest.mark.parametrize("rights", [(), ("view_turn",), ("view_delivery",)])
def test_without_the_rights_nothing_is_shown(rights: tuple[str, ...]) -> None:
    mail(mailbox(), 1, title="Ours")

    answer = shown(log_in("clerk", *rights))

    assert "days" not in answer.context
    assert "Ours" not in answer.content.decode()


def test_nothing_yet_says_what_will_be_here(operator: Client) -> None:
    mailbox()

    assert "Nothing has come yet." in shown(operator).content.decode()


def test_nothing_that_fits_says_so(operator: Client) -> None:
    office()

    assert "Nothing fits." in shown(operator, words="zebra").content.decode()


@pytest.mark.parametrize("offline", [True, False])
def test_the_offline_stand_in_is_named(operator: Client, settings: Any, offline: bool) -> None:
    settings.MODEL_IS_OFFLINE = offline

    assert ("It is not a language model." in shown(operator).content.decode()) is offline


def test_an_empty_installation_says_what_to_do(operator: Client) -> None:
    assert "There is no organisation yet." in shown(operator).content.decode()


def test_figures_add_up_and_lead_to_their_rows(operator: Client) -> None:
    office()

    figures = shown(operator).context["figures"]

    totals = {label: number for _, label, number, _ in figures["totals"]}
    assert totals == {
        "Failed": 1,
        "Asked a person": 0,
        "Refused": 1,
        "Done": 1,
        "Suggested": 0,
        "Answered": 1,
        "Only read": 0,
        "Left alone": 1,
    }
    for _, _, number, link in figures["totals"]:
        assert len(rows(operator.get(link))) == number
    ((sentence, number, link),) = figures["refused"]
    assert number == 1
    assert sentence
    assert [title for title, _ in outcomes(operator.get(link))] == ["Second offer"]
    assert sum(float(bar.height) for bar, _ in figures["bars"]) == pytest.approx(100, abs=0.1)
    for bar, link in figures["bars"]:
        assert f"{len(rows(operator.get(link)))} " in bar.title
    assert figures["facts"] == [("Cost of models", "0.00 US$"), ("Mail without a model", "0%")]


def test_every_outcome_of_the_plot_has_a_colour_of_its_own() -> None:
    css = (settings.BASE_DIR / "templates/static/remit/admin.css").read_text()
    colours = dict(re.findall(r"^\.outcome-(\w+) { fill: (#\w+);", css, flags=re.MULTILINE))

    assert colours.keys() == {one.value for one in figures.PLOTTED}
    assert len({*colours.values()}) == len(colours)
