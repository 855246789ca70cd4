"""What an operator does whose web process is down."""

from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.execute import switches
from guardrails.execute.executor import execute
from guardrails.management.commands.stop_actions import NOT_CHANGED, NOT_RECORDED
from guardrails.models import KillSwitch
from integrations.models import Delivery, Organisation
from tests.commands import run_command
from tests.database import failing_with
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
WHO = ("--name", "Olga", "--reason", "A phishing wave")


def stop(*arguments: str) -> str:
    return run_command("stop_actions", *WHO, *arguments)


def archive(office: Office) -> tuple[str, str]:
    done = execute(office.request("archive", {"email_id": office.receive()}))
    return done.status, done.reason


def recorded(organisation: Organisation) -> list[tuple[str, object, object]]:
    """Who threw and lifted switches, through which door and why, the newest first."""
    filters = Filters(tenant_id=organisation.id, action_type="policy.change")
    rows = [row for row in actions(filters=filters).rows if row.payload["kind"] == "killswitch"]
    return [
        (
            row.actor_id,
            row.payload["door"],
            row.payload["after"]["lifted_why" if row.payload["before"] else "why"],
        )
        for row in rows
    ]


def test_an_organisation_is_stopped_until_it_is_allowed_again(office: Office) -> None:
    office.permit("archive")
    of = ("--organisation", office.organisation.slug)

    said = stop(*of)
    refused = archive(office)
    called = office.calls()
    again = run_command(
        "stop_actions", *of, "--allow", "--name", "Omar", "--reason", "It was a test"
    )

    assert said.startswith(f"Stopped: {office.organisation}, since ")
    assert said.endswith(
        "by command line, Olga: “A phishing wave”.\nNothing is under way any more.\n"
    )
    assert (refused, called) == (("refused", "switched_off"), [])
    assert again == f"{office.organisation}: runs again.\n"
    assert archive(office) == ("succeeded", "performed")
    assert recorded(office.organisation) == [
        ("command:Omar", "command", "It was a test"),
        ("command:Olga", "command", "A phishing wave"),
    ]


def test_everything_is_stopped_and_what_is_still_stopped_is_said(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else it would wait for the attempts that other tests left open in the ledger.
    monkeypatch.setattr(switches, "UNDER_WAY", timedelta())
    office.permit("archive")

    stop()
    stop("--organisation", office.organisation.slug)
    refused = archive(office)
    allowed = stop("--allow")
    still = archive(office)
    called = office.calls()
    stop("--allow", "--organisation", office.organisation.slug)

    assert refused == still == ("refused", "switched_off")
    assert called == []
    first, second = allowed.splitlines()
    assert first == "Everything: runs again."
    assert second.startswith(f"Still stopped: {office.organisation}, since ")
    assert archive(office) == ("succeeded", "performed")


def test_who_stops_what_is_stopped_hears_who_did_it_first(office: Office) -> None:
    of = ("--organisation", office.organisation.slug)
    stop(*of)

    said = run_command("stop_actions", *of, "--name", "Omar", "--reason", "Me too")

    assert "by command line, Olga: “A phishing wave”." in said
    assert [by for by, _, _ in recorded(office.organisation)] == ["command:Olga"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--name", " "), "Say who you are, with --name."),
        (("--reason", " "), "Say why, with --reason, in at most 300 characters."),
        (("--reason", "x" * 301), "Say why, with --reason, in at most 300 characters."),
        (("--handle",), "--handle goes with --allow."),
        (("--organisation", "nobodys"), "There is no organisation “nobodys”. Nothing was changed."),
    ],
)
def test_without_a_person_a_reason_and_an_organisation_nothing_is_stopped(
    office: Office, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError) as refused:
        stop(*arguments)

    assert str(refused.value) == said
    assert not KillSwitch.objects.exists()


def test_what_was_not_stopped_stays_as_it_is(office: Office) -> None:
    said = stop("--allow", "--organisation", office.organisation.slug)

    assert said == "This was not stopped.\n"
    assert recorded(office.organisation) == []


def test_what_arrived_meanwhile_is_handled_on_request(office: Office) -> None:
    of = ("--organisation", office.organisation.slug)
    stop(*of)
    left = Delivery.objects.create(
        organisation=office.organisation,
        account=office.mailbox,
        webhook_id="left",
        kind="created",
        source="gmail",
        source_id="m1",
        body={},
        state="skipped",
        reason=Delivery.STOPPED,
        finished_at=timezone.now(),
    )

    said = stop(*of, "--allow", "--handle")

    assert said == f"{office.organisation}: runs again. What arrived meanwhile is handled now.\n"
    left.refresh_from_db()
    assert (left.state, left.reason) == ("queued", "")


@pytest.mark.parametrize(
    ("table", "said"), [("guardrails_killswitch", NOT_CHANGED), ("audit_action", NOT_RECORDED)]
)
def test_what_cannot_be_written_is_not_stopped_and_that_is_said(
    office: Office, table: str, said: str
) -> None:
    with failing_with(table, "57P01"), pytest.raises(CommandError) as refused:
        stop("--organisation", office.organisation.slug)

    assert str(refused.value) == said
    assert not KillSwitch.objects.exists()
