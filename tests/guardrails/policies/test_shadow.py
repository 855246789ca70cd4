"""A policy in shadow decides beside the real one, and changes nothing."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.contracts import Filters
from audit.ledger.selectors import actions, recorded
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, ShadowPolicy
from guardrails.policies import shadow, text as policy_text
from guardrails.policies.changes import Author
from tests.clients import log_in
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OLGA = Author(name="operator:olga", door="admin")
NOTHING = "version: 1\nallowed_actions: []"
ASK = "version: 1\nallowed_actions: [{action: archive, mode: ask}]"
AUTO = "version: 1\nallowed_actions: [{action: archive, mode: auto}]"


def watch(office: Office, text: str) -> ShadowPolicy:
    wanted = policy_text.read(text)
    return shadow.start(office.mailbox, wanted, note="A try", author=OLGA)


def archive(office: Office) -> ActionResult:
    return execute(office.request("archive", {"email_id": office.receive()}))


def said(result: ActionResult) -> dict[str, Any]:
    return dict(recorded(result.action_id)[0].payload.get("shadow", {}))


def told(office: Office) -> tuple[int, int, int, int, int]:
    found = shadow.load_status(office.mailbox)
    assert found is not None
    replay = found.replay
    newly = [len(replay.newly(verdict)) for verdict in ("allow", "ask", "refuse")]
    return (replay.looked_at, newly[0], newly[1], newly[2], replay.unclear)


def test_without_a_shadow_nothing_is_said(office: Office) -> None:
    office.permit("archive")
    assert said(archive(office)) == {}
    assert shadow.load_status(office.mailbox) is None


def test_a_stricter_shadow_stops_nothing(office: Office) -> None:
    office.permit("archive")
    row = watch(office, NOTHING)

    result = archive(office)

    assert result.status == "succeeded"
    assert len(office.calls()) == 1
    assert said(result) == {
        "id": str(row.pk),
        "verdict": "refuse",
        "reason": "not_permitted",
        "sentence": "No operator permits this action for this account.",
    }
    assert told(office) == (1, 0, 0, 1, 0)


def test_a_looser_shadow_permits_nothing(office: Office) -> None:
    office.permit("archive", "ask")
    watch(office, AUTO)

    result = archive(office)

    assert result.status == "pending"
    assert office.calls() == []
    assert told(office) == (1, 1, 0, 0, 0)


def test_where_nothing_was_read_nobody_can_tell(office: Office) -> None:
    watch(office, AUTO)

    result = archive(office)

    assert (result.status, result.reason) == ("refused", "not_permitted")
    assert said(result)["verdict"] == "unclear"
    assert told(office) == (1, 0, 0, 0, 1)
    assert office.calls() == []


def test_a_broken_shadow_breaks_no_decision(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.permit("archive")
    watch(office, NOTHING)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE guardrails_shadowpolicy SET content = '[1]'")

    result = archive(office)

    assert result.status == "succeeded"
    assert said(result) == {}
    assert "guardrails.shadow_failed" in caplog.text


def test_decisions_before_it_and_of_another_shadow_do_not_count(office: Office) -> None:
    office.permit("archive")
    archive(office)
    watch(office, NOTHING)
    archive(office)
    watch(office, ASK)
    archive(office)
    assert told(office) == (1, 0, 1, 0, 0)
    assert ShadowPolicy.objects.count() == 1


def test_it_is_adopted_with_its_history(office: Office) -> None:
    office.permit("archive")
    watch(office, ASK)

    changed = shadow.adopt(office.mailbox, author=OLGA)

    assert [one.name for one in changed] == ["Allowed action “Archive a mail”"]
    assert AllowedAction.objects.get().approval_mode == "ask"
    assert not ShadowPolicy.objects.exists()
    filters = Filters(tenant_id=office.organisation.id, action_type="policy.change")
    rows = actions(filters=filters).rows
    assert sorted((row.payload["kind"], row.actor_id) for row in rows) == [
        ("allowedaction", "operator:olga"),
        ("shadowpolicy", "operator:olga"),
        ("shadowpolicy", "operator:olga"),
    ]
    with pytest.raises(policy_text.PolicyFileError):
        shadow.adopt(office.mailbox, author=OLGA)


def test_what_cannot_be_a_policy_cannot_be_in_shadow(office: Office) -> None:
    with pytest.raises(policy_text.PolicyFileError):
        watch(office, "version: 1\nallowed_actions: [{action: create_jira_task, mode: auto}]")
    assert not ShadowPolicy.objects.exists()


# --- the page --------------------------------------------------------------------------


def address(name: str, office: Office) -> str:
    return reverse(f"admin:guardrails_policy_{name}") + f"?account={office.mailbox.pk}"


def shown(text: str) -> str:
    return text.split('name="shown" value="')[1].split('"')[0]


def test_an_operator_watches_and_adopts(office: Office, client: Client) -> None:
    office.permit("archive")
    seen = client.post(address("import", office), {"text": ASK}).content.decode()
    body = {"text": ASK, "shown": shown(seen), "shadow": "1", "note": "<b>A try"}
    started = client.post(address("import", office), body, follow=True).content.decode()
    archive(office)

    text = client.get(address("shadow", office)).content.decode()

    assert "Nothing is in shadow" not in started
    assert ": 1 decision<" in text
    assert "0 newly allowed, 1 newly asked about, 0 newly refused" in text
    assert "<b>A try" not in text
    assert "Shadow: one is watched" in client.get(address("explain", office)).content.decode()
    done = client.post(
        address("shadow", office), {"word": "adopt", "shown": shown(text)}, follow=True
    )
    assert "Adopted: 1 entries changed." in done.content.decode()
    assert AllowedAction.objects.get().approval_mode == "ask"


def test_a_shadow_is_discarded_and_nothing_else_adopted(office: Office, client: Client) -> None:
    office.permit("archive")
    watch(office, ASK)
    stale = client.post(address("shadow", office), {"word": "adopt", "shown": "x"}, follow=True)
    client.post(address("shadow", office), {"word": "discard"})

    assert "changed meanwhile" in stale.content.decode()
    assert AllowedAction.objects.get().approval_mode == "auto"
    assert not ShadowPolicy.objects.exists()
    assert "Nothing is in shadow" in client.get(address("shadow", office)).content.decode()


def test_deciding_about_a_shadow_needs_the_rights(office: Office) -> None:
    office.permit("archive")
    watch(office, ASK)
    watching = log_in("rita", "view_allowedaction")

    assert "Adopt it" not in watching.get(address("shadow", office)).content.decode()
    assert watching.post(address("shadow", office), {"word": "discard"}).status_code == 403
    assert ShadowPolicy.objects.count() == 1
