"""The inbox in the admin: several at once, changes, delegation, who decides how fast."""

import html
import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.ledger.ids import uuid7
from guardrails.approve.deciders import list_deciders
from guardrails.models import Approval
from integrations.models import Account
from tests.clients import log_in
from tests.guardrails.approvals import ask
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    return ask_for(office, "User Auth")


def ask_for(office: Office, summary: str) -> Approval:
    wish = {"project_key": "PROJ", "summary": summary, "type": "task", "labels": ["a", "b"]}
    office.tracker.listed_targets.get_or_create(
        action_type="create_jira_task", source="jira", kind="label", external_id="a", name="a"
    )
    office.tracker.listed_targets.get_or_create(
        action_type="create_jira_task", source="jira", kind="label", external_id="b", name="b"
    )
    return ask(office, "create_jira_task", wish)


def text(response: Any) -> str:
    assert response.status_code == 200
    found: str = response.content.decode()
    return found


def at(name: str, *args: Any) -> str:
    return reverse(f"admin:guardrails_approval_{name}", args=args)


def test_the_selection_becomes_a_page_of_cards(
    office: Office, client: Client, waiting: Approval
) -> None:
    other = ask_for(office, "Payment <b>Integration</b>")
    selected = {"action": "decide_selected", "_selected_action": [waiting.pk, other.pk]}

    shown = text(client.post(at("changelist"), selected, follow=True))

    assert "1. Create a task in PROJ</span>" in shown
    assert "<bdi>“User Auth”</bdi>" in shown
    assert "2. Create a task in PROJ</span>" in shown
    assert "<bdi>“Payment &lt;b&gt;Integration&lt;/b&gt;”</bdi>" in shown
    assert shown.count("Whom and what it reaches") == 2
    assert (waiting.digest in shown, other.digest in shown) == (True, True)
    assert Approval.objects.filter(shown_at=None).count() == 0


def test_a_card_leads_to_what_is_behind_it_and_nobody_where_they_may_not_look(
    office: Office, client: Client, waiting: Approval
) -> None:
    turn_id = uuid4()
    Approval.objects.update(turn_id=str(turn_id))
    turn_page = reverse("admin:agents_turn_change", args=[turn_id])
    activity = f"{reverse('admin:index')}?organisation={waiting.organisation.slug}&amp;id={turn_id}"
    ledger = f"{reverse('admin:audit_executedagentaction_changelist')}?q={waiting.action_id}"
    bea = log_in("bea", "view_approval", "change_approval")
    for page, query in (
        (at("change", waiting.pk), {}),
        (at("batch"), {"ids": str(waiting.pk)}),
    ):
        seen, hidden = text(client.get(page, query)), text(bea.get(page, query))
        for link in (turn_page, activity, ledger):
            assert f'href="{link}"' in seen
            assert f'href="{link}"' not in hidden
    assert len(client.get(ledger).context["cl"].result_list) == 1


def test_of_several_cards_the_long_part_is_folded_away(client: Client, waiting: Approval) -> None:
    several = text(client.get(at("batch"), {"ids": str(waiting.pk)}))
    alone = text(client.get(at("change", waiting.pk)))

    assert "All of it: summary, type<" in several
    assert "All of it" not in alone
    assert several.index("Whom and what it reaches") < several.index("All of it")
    assert several.index("All of it") < several.index("In full")


def test_the_inbox_says_how_many_wait(client: Client, waiting: Approval) -> None:
    assert "1 question waits for a person" in text(client.get(at("changelist")))
    Approval.objects.update(state="rejected", decided_at=timezone.now())
    assert "Nothing waits for a person" in text(client.get(at("changelist")))


def test_like_actions_are_one_row_until_somebody_searches_for_one_of_them(
    office: Office, client: Client, waiting: Approval
) -> None:
    other, third = ask_for(office, "Payment"), ask_for(office, "Rota")
    Approval.objects.filter(pk=third.pk).update(question=third.pk)

    shown = text(client.get(at("changelist")))
    assert shown.count(">Create a task in PROJ</a>") == 1
    assert shown.count(">2 actions: Create a task in PROJ</a>") == 1
    assert "“User Auth” and 1 more" in shown
    assert "2 questions wait for a person" in shown
    assert client.get(reverse("admin:index")).context["figures"]["value"].waiting == "2"
    ticked = {"action": "decide_selected", "_selected_action": [waiting.pk]}
    cards = text(client.post(at("changelist"), ticked, follow=True))
    assert (waiting.digest in cards, other.digest in cards) == (True, True)
    assert third.digest not in cards

    found = text(client.get(at("changelist"), {"q": str(other.pk)}))
    assert ">Create a task in PROJ</a>" in found
    assert "“Payment”" in found
    assert rows_of(client.get(at("changelist"), {"q": "payMENT task"})) == {other.pk}
    assert rows_of(client.get(at("changelist"), {"q": "payment nothing"})) == set()
    Approval.objects.filter(pk=waiting.pk).update(state="rejected", decided_at=timezone.now())
    assert rows_of(client.get(at("changelist"), {"q": "User Auth"})) == set()
    assert "actions: Create a task" not in text(client.get(at("changelist")))


def links_of(page: str) -> set[str]:
    rows = re.findall("<tr.*?</tr>", page, re.DOTALL)
    [row] = (one for one in rows if "2 actions: Create a task in PROJ" in one)
    return {unquote(html.unescape(one)) for one in re.findall(r'<a href="([^"]+)"', row)}


def test_a_row_of_like_actions_leads_who_may_decide_to_all_of_them_at_once(
    office: Office, client: Client, waiting: Approval
) -> None:
    other = ask_for(office, "Payment")
    escalated = ask_for(office, "Rota")
    Approval.objects.filter(pk=escalated.pk).update(escalated_at=timezone.now())

    [link] = links_of(text(client.get(at("changelist"), {"state__exact": "pending"})))
    page = text(client.get(link))
    [seen] = links_of(text(log_in("vera", "view_approval").get(at("changelist"))))

    assert link.startswith(at("batch"))
    assert link.endswith(f"like={waiting.pk}")
    assert "2 like actions wait." in page
    assert [digest in page for digest in (waiting.digest, other.digest)] == [True, True]
    assert escalated.digest not in page
    assert f'href="{at("change", other.pk)}"' in page
    assert seen == f"{at('changelist')}?like={waiting.pk}"
    assert rows_of(log_in("nina", "view_approval").get(seen)) == {waiting.pk, other.pk}
    assert rows_of(client.get(f"{seen}&state__exact=rejected")) == set()
    assert f'href="{at("change", escalated.pk)}"' in text(client.get(at("changelist")))
    assert office.calls() == []


def rows_of(answer: Any) -> set[Any]:
    assert answer.status_code == 200
    return {row.pk for row in answer.context["cl"].result_list}


def copies(row: Approval, number: int) -> None:
    """So many more of the same question, which came later."""
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    for later in range(number):
        own = {"id": uuid4(), "action_id": uuid7(), "request_digest": f"copy {later}"}
        copy = Approval.objects.create(**values | {n: v for n, v in own.items() if n in values})
        at_ = row.created_at + timedelta(seconds=1 + later)
        Approval.objects.filter(pk=copy.pk).update(created_at=at_)


def test_more_than_fifty_like_actions_are_decided_by_the_fifty(
    office: Office, client: Client, waiting: Approval
) -> None:
    copies(waiting, 51)
    order = list(Approval.objects.order_by("created_at").values_list("pk", flat=True))

    listed = text(client.get(at("changelist")))
    first = client.get(f"{at('batch')}?like={waiting.pk}")
    page = first.context["page"]
    rest = client.get(page.following)

    assert ">52 actions: Create a task in PROJ</a>" in listed
    assert "52 like actions wait; these are 1 to 50." in text(first)
    assert [card["approval"].pk for card in first.context["cards"]] == order[:50]
    assert "52 like actions wait; these are 51 to 52." in text(rest)
    assert [card["approval"].pk for card in rest.context["cards"]] == order[50:]
    assert (page.beginning, rest.context["page"].following) == ("", "")
    assert rest.context["page"].beginning == f"{at('batch')}?like={waiting.pk}"
    assert rows_of(client.get(page.list)) == set(order[2:])
    assert rows_of(client.get(f"{page.list}&p=2")) == set(order[:2])
    assert "This is one of 52 like actions" in text(client.get(at("change", waiting.pk)))

    # The user's own page says it, too.
    query = {"organisation": office.organisation.slug, "user": waiting.external_user_id}
    own = client.get(reverse("console-approvals"), query)
    older = client.get(f"{reverse('console-approvals')}{own.context['older']}")
    assert [card.id for card in own.context["cards"]] == order[:1:-1]
    assert [card.id for card in older.context["cards"]] == order[1::-1]
    assert ("Waiting for you: 52." in text(own), "Waiting for you: 52." in text(older)) == (
        True,
        True,
    )
    assert older.context["older"] == ""

    # What is decided is what is ticked of these; then the next ones come.
    body = {"ids": ",".join(map(str, order[:50])), "ticked": [waiting.pk], "word": "reject"}
    body |= {f"digest-{waiting.pk}": waiting.digest}
    answer = client.post(f"{at('batch')}?like={waiting.pk}", body)
    assert answer.headers["Location"] == page.following
    assert "51 like actions wait; these are 50 to 51." in text(client.get(page.following))
    waiting.refresh_from_db()
    assert (waiting.state, Approval.objects.filter(state="pending").count()) == ("rejected", 51)
    several = {"action": "decide_selected", "_selected_action": [order[1]]}
    told = text(client.post(at("changelist"), several, follow=True))
    assert "These are the first 50 of 51: nobody reads more at a time." in told
    body = {"ids": ",".join(map(str, order[50:])), "ticked": [order[50]], "word": "reject"}
    answer = client.post(page.following, body | {f"digest-{order[50]}": waiting.digest})
    assert answer.headers["Location"] == at("changelist")
    assert office.calls() == []


def test_receivers_of_one_kind_stand_under_one_label(office: Office, client: Client) -> None:
    office.permit("send_email", "ask")
    for name in ("bob@client.com", "eve@client.com"):
        office.list_target("send_email", "recipient", name, name)
    wish = {"to": ["bob@client.com", "eve@client.com"], "cc": [], "subject": "Hi", "body": "שלום."}
    row = ask(office, "send_email", wish)
    shown = text(client.get(at("change", row.pk)))
    assert shown.count(">to (2)</dt>") == 1
    assert shown.count("bob@client.com</span>") == 1
    assert 'dir="auto">שלום.</dd>' in shown


def test_one_bad_item_does_not_spoil_the_others(
    office: Office, client: Client, waiting: Approval
) -> None:
    stale, left = ask_for(office, "Stale"), ask_for(office, "Left")
    body = {
        "ids": f"{waiting.pk},{stale.pk},{left.pk}",
        "ticked": [waiting.pk, stale.pk],
        f"digest-{waiting.pk}": waiting.digest,
        f"digest-{stale.pk}": "0" * 64,
        f"digest-{left.pk}": left.digest,
        "word": "confirm",
    }

    told = text(client.post(at("batch"), body, follow=True))

    assert "Create a task in PROJ: “User Auth”: Done." in told
    assert "Create a task in PROJ: “Stale”: This is not what was shown." in told
    states = {one.description: one.state for one in Approval.objects.all()}
    assert states == {
        "Create a task in PROJ: “User Auth”": "executed",
        "Create a task in PROJ: “Stale”": "pending",
        "Create a task in PROJ: “Left”": "pending",
    }
    assert len(office.calls()) == 1


@pytest.mark.parametrize("changes", [{"word": "maybe"}, {"ticked": []}])
def test_an_unclear_batch_decides_nothing(
    office: Office, client: Client, waiting: Approval, changes: dict[str, Any]
) -> None:
    body = {"ids": str(waiting.pk), "ticked": [waiting.pk], "word": "confirm"}
    body |= {f"digest-{waiting.pk}": waiting.digest}

    told = text(client.post(at("batch"), body | changes, follow=True))

    assert "Nothing was decided" in told
    assert office.calls() == []


def test_an_operator_changes_an_action_in_a_form(
    office: Office, client: Client, waiting: Approval
) -> None:
    form = text(client.get(at("edit", waiting.pk)))
    assert 'value="User Auth"' in form
    given = {
        "digest": waiting.digest,
        "argument-project_key": "PROJ",
        "argument-summary": "Single sign-on",
        "argument-type": "task",
        "argument-labels": "a",
    }

    shown = text(client.post(at("edit", waiting.pk), given, follow=True))

    revision = Approval.objects.get(revises=waiting)
    assert revision.arguments == waiting.arguments | {
        "summary": "Single sign-on",
        "labels": ["a"],
    }
    assert "Changed. Look at it and decide." in shown
    assert "What the agent had proposed instead" in shown
    assert "<del>User Auth</del>" in shown
    old = text(client.get(at("change", waiting.pk)))
    assert "Changed by operator olga at" in old
    assert str(revision.pk) in old
    assert office.calls() == []


def test_what_was_proposed_for_a_tool_is_named_field_by_field(
    client: Client, waiting: Approval
) -> None:
    proposed = {"tool": "tracker:create", "arguments": {"title": "Old\u200b", "labels": ["a"]}}
    Approval.objects.filter(pk=waiting.pk).update(
        action_type="call_mcp_tool",
        arguments={"tool": "tracker:create", "arguments": {"title": "Mine"}},
        origin=waiting.origin | {"proposed": proposed},
    )
    shown = text(client.get(at("change", waiting.pk)))
    assert "<del>Old⟨U+200B⟩</del>" in shown
    assert "arguments.labels[0]</dt>" in shown
    assert "typed by the person who changed what the agent proposed" in shown
    assert "{&#x27;" not in shown


def test_a_change_that_cannot_be_says_why_beside_the_form(
    office: Office, client: Client, waiting: Approval
) -> None:
    given = {"digest": waiting.digest, "argument-summary": "X", "argument-type": "task"}
    refused = text(client.post(at("edit", waiting.pk), given | {"argument-project_key": "OPS"}))
    stale = client.post(
        at("edit", waiting.pk),
        given | {"argument-project_key": "PROJ", "digest": "0"},
        follow=True,
    )

    assert "A target is not among those an operator listed." in refused
    assert "This is not what was shown." in text(stale)
    assert Approval.objects.get().state == "pending"


def test_an_operator_hands_on_and_escalates(
    office: Office, client: Client, waiting: Approval
) -> None:
    Account.objects.create(
        organisation=office.organisation, external_user_id="omar", source="gmail"
    )
    body = {"kind": "user", "name": "omar"}

    handed = text(client.post(at("delegate", waiting.pk), body, follow=True))
    nobody = text(client.post(at("delegate", waiting.pk), body | {"name": "x"}, follow=True))
    escalated = text(client.post(at("escalate", waiting.pk), follow=True))

    assert "Now omar decides, or an operator." in handed
    assert "There is nobody of that name who could decide this." in nobody
    assert "Escalated to the operators." in escalated
    assert "Delegated to omar by operator olga at" in escalated
    assert "Waiting, escalated" in text(client.get(at("changelist")))


def test_the_inbox_is_filtered_by_attention_and_by_hands(
    office: Office, client: Client, waiting: Approval
) -> None:
    mine, of_group, marked = (ask_for(office, name) for name in ("Mine", "Desk", "Marked"))
    user = User.objects.get(username="olga")
    user.groups.add(Group.objects.create(name="Desk"))
    Approval.objects.filter(pk=mine.pk).update(delegated_to="operator:olga")
    Approval.objects.filter(pk=of_group.pk).update(delegated_to="group:Desk")
    Approval.objects.filter(pk=marked.pk).update(
        escalated_at=timezone.now(), delegated_to="user:omar"
    )

    def listed(**query: str) -> set[str]:
        page = text(client.get(at("changelist"), query))
        names = ("User Auth", "Mine", "Desk", "Marked")
        return {name for name in names if f"“{name}”" in page}

    assert listed() == {"User Auth", "Mine", "Desk", "Marked"}
    assert listed(delegated="me") == {"Mine", "Desk"}
    assert listed(delegated="any") == {"Mine", "Desk", "Marked"}
    assert listed(escalated="yes") == {"Marked"}


def test_who_may_only_look_can_do_nothing(office: Office, waiting: Approval) -> None:
    client = log_in("otto", "view_approval")

    for name in ("edit", "delegate", "escalate", "decide"):
        assert client.post(at(name, waiting.pk), {"word": "confirm"}).status_code == 403
    assert client.post(at("batch"), {"ids": str(waiting.pk)}).status_code == 403
    assert client.get(at("deciders")).status_code == 403
    page = text(client.get(at("change", waiting.pk)))
    assert "Change it first" not in page
    waiting.refresh_from_db()
    assert (waiting.state, waiting.shown_at) == ("pending", None)


def test_looking_starts_the_clock_and_deciding_stops_it(
    office: Office, client: Client, waiting: Approval
) -> None:
    client.get(at("change", waiting.pk))
    waiting.refresh_from_db()
    assert waiting.shown_at is not None
    Approval.objects.filter(pk=waiting.pk).update(shown_at=waiting.shown_at - timedelta(seconds=90))
    client.post(at("decide", waiting.pk), {"word": "confirm", "digest": waiting.digest})

    waiting.refresh_from_db()
    assert 90 <= waiting.seconds_to_decide < 120


def test_rubber_stamping_is_seen(office: Office, client: Client, waiting: Approval) -> None:
    now = timezone.now()
    values = {
        field.attname: getattr(waiting, field.attname)
        for field in Approval._meta.fields
        if field.attname not in ("id", "action_id", "created_at")
    }

    def decided(by: str, user: str, seconds: float, state: str = "executed") -> None:
        row = Approval.objects.create(
            **values
            | {
                "action_id": uuid4(),
                "state": state,
                "decided_at": now,
                "decided_by": by,
                "decided_as": user,
                "shown_at": now - timedelta(seconds=seconds),
            }
        )
        assert row.seconds_to_decide == seconds

    for seconds in [1.0] * 9 + [60.0] * 2:
        decided("token:a", "maya", seconds)
    decided("operator:olga", "", 40.0)
    decided("operator:olga", "", 20.0, "rejected")
    decided("expiry", "", 1.0, "expired")

    found = list_deciders(since=now - timedelta(days=1), organisation_id=office.organisation.id)

    told = [
        (one.name, one.decisions, one.confirmed, one.seconds, one.quick, one.is_rubber_stamping)
        for one in found
    ]
    assert told == [
        ("maya", 11, 11, 1.0, 9, True),
        ("operator olga", 2, 1, 30.0, 0, False),
    ]
    page = text(client.get(at("deciders"), {"organisation": office.organisation.slug}))
    assert "rubber-stamping?" in page
    assert list_deciders(since=now + timedelta(days=1)) == ()


def test_a_long_inbox_takes_as_many_queries_as_a_short_one(
    office: Office, client: Client, waiting: Approval
) -> None:
    values = {
        field.attname: getattr(waiting, field.attname)
        for field in Approval._meta.fields
        if field.attname not in ("id", "action_id", "created_at", "question")
    }
    Approval.objects.bulk_create(
        Approval(**values, action_id=uuid4(), question=uuid4()) for _ in range(500)
    )
    client.get(at("changelist"))
    with CaptureQueriesContext(connection) as many:
        page = text(client.get(at("changelist")))
    Approval.objects.exclude(pk=waiting.pk).delete()
    with CaptureQueriesContext(connection) as few:
        client.get(at("changelist"))

    assert page.count("“User Auth”") == 50  # a page of it
    assert len(many) == len(few)


def test_who_said_the_first_of_two_yeses_has_no_button_for_the_second(office: Office) -> None:
    office.permit("create_jira_task", conditions=[{"kind": "two_people"}])
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    row = ask_for(office, "User Auth")
    maya, ben = (log_in(name, "view_approval", "change_approval") for name in ("maya", "ben"))
    page, yes = at("change", row.pk), {"word": "confirm", "digest": row.digest}
    assert "0 of 2 yes. Two people have to say yes before anything is done." in text(maya.get(page))

    told = text(maya.post(at("decide", row.pk), yes, follow=True))

    assert "1 of 2 yes: operator maya, " in told
    assert "Your yes is recorded; one more person has to agree." in told
    assert ('id="approval-confirm"' in told, office.calls()) == (False, [])
    several = text(maya.get(at("batch"), {"ids": str(row.pk)}))
    assert "Your yes is recorded; one more person has to agree." in several
    assert ("Confirm the ticked ones" in several, "Reject the ticked" in several) == (False, True)
    assert 'id="approval-confirm"' in text(ben.get(page))
    told = text(ben.post(at("decide", row.pk), yes, follow=True))
    assert " and by operator ben at " in told
    assert len(office.calls()) == 1
