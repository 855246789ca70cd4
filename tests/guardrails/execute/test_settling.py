"""A provider that cannot tell what became of a write: nothing is sent twice, it is asked again at
its time, and at last a person is asked."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.ledger.selectors import recorded
from guardrails.comply import incidents
from guardrails.contracts import ActionRequest
from guardrails.execute import settling
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction
from integrations.exceptions import Rejected
from integrations.models import Account
from integrations.ports.evidence import (
    CannotTell,
    Capabilities,
    NotPerformed,
    Performed,
)
from tests import providers
from tests.guardrails.office import Office, recover
from tests.providers import Forgetful

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOUR = timedelta(hours=1)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Forgetful:
    return providers.install(monkeypatch)


def archiving(office: Office) -> ActionRequest:
    """To archive one mail of an account at the forgetful provider."""
    account, _ = Account.objects.get_or_create(
        organisation=office.organisation,
        external_user_id=office.user_id,
        source=providers.SOURCE,
        address=office.mailbox.address,
    )
    AllowedAction.objects.create(account=account, action_type="archive", approval_mode="auto")
    return office.request("archive", {"email_id": office.receive()}, account=office.ref(account))


def rows(request: ActionRequest) -> list[tuple[str, str, str]]:
    return [(one.phase, one.status, one.decision_reason) for one in recorded(request.action_id)]


ATTEMPT = ("attempt", "pending", "allowed")
ASKED = ("control", "recorded", "cannot_tell")


def test_what_nobody_can_tell_is_sent_once_and_a_person_is_asked_at_last(
    office: Office, forgetful: Forgetful
) -> None:
    request = archiving(office)
    forgetful.answers = (CannotTell(ask_again_at=timezone.now() + HOUR),)

    first = execute(request)
    again = execute(request)

    assert (first.status, first.reason) == (again.status, again.reason)
    assert (first.status, first.reason) == ("unknown", "outcome_unknown")
    assert rows(request) == [ATTEMPT, ASKED]
    assert forgetful.asked == 1  # before its time nobody asks again

    recover(request, later=HOUR / 2)
    assert (forgetful.asked, rows(request)) == (1, [ATTEMPT, ASKED])
    recover(request, later=HOUR * 2)
    assert (forgetful.asked, rows(request)) == (2, [ATTEMPT, ASKED, ASKED])
    assert incidents.open_count(office.organisation.id, now=timezone.now()) == 0

    recover(request, later=HOUR * 25)
    assert forgetful.asked == 3
    assert rows(request)[-1] == ("outcome", "unknown", "unresolved")
    [question] = incidents.incidents(office.organisation.id, now=timezone.now())
    assert question.row.parent_action_id == request.action_id
    assert question.row.decision_reason == "unresolved"

    recover(request, later=HOUR * 26)
    assert execute(request).reason == "unresolved"
    assert forgetful.asked == 3
    assert forgetful.archived == [request.arguments["email_id"]]
    assert incidents.open_count(office.organisation.id, now=timezone.now()) == 1


def test_a_crash_before_the_outcome_asks_nobody_twice(
    office: Office, forgetful: Forgetful, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = archiving(office)
    execute(request)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(settling, "close", killed)
        with pytest.raises(KeyboardInterrupt):
            recover(request, later=HOUR * 25)
    recover(request, later=HOUR * 25)

    assert rows(request) == [ATTEMPT, ("outcome", "unknown", "unresolved")]
    assert incidents.open_count(office.organisation.id, now=timezone.now()) == 1


def test_what_it_knows_after_a_while_is_the_outcome(office: Office, forgetful: Forgetful) -> None:
    request = archiving(office)
    forgetful.answers = (
        CannotTell(ask_again_at=timezone.now()),
        Performed(response={"id": "m"}, at=timezone.now()),
    )
    assert execute(request).status == "unknown"

    recover(request, later=HOUR)

    assert execute(request).status == "succeeded"
    assert forgetful.archived == [request.arguments["email_id"]]
    assert incidents.incidents(office.organisation.id, now=timezone.now()) == ()


def test_a_proof_that_nothing_was_done_is_no_reason_to_repeat_what_must_never_be_repeated(
    office: Office, forgetful: Forgetful
) -> None:
    request = archiving(office)
    forgetful.answers = (NotPerformed(proof="It was refused before the first byte."),)

    result = execute(request)

    assert (result.status, result.reason) == ("failed", "provider_unavailable")
    assert recorded(request.action_id)[-1].payload["proved_by"] == (
        "It was refused before the first byte."
    )
    assert execute(request).status == "failed"
    assert forgetful.archived == [request.arguments["email_id"]]


def test_with_a_proof_what_may_be_repeated_is_tried_three_times(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetful = providers.install(
        monkeypatch, capabilities=Capabilities(grade="C", repeats={"archive": "by_key"})
    )
    request = archiving(office)
    forgetful.answers = (NotPerformed(proof="It is not in the list."),)

    result = execute(request)

    assert (result.status, result.reason) == ("failed", "provider_unavailable")
    assert forgetful.archived == [request.arguments["email_id"]] * 3


def test_a_clear_no_needs_no_proof(office: Office, forgetful: Forgetful) -> None:
    """What the provider refused it has not done, whatever it can tell later."""
    request = archiving(office)
    forgetful.error = Rejected("422")

    result = execute(request)

    assert (result.status, result.reason) == ("failed", "provider_refused")
    assert execute(request).status == "failed"
    assert len(forgetful.archived) == 1


@pytest.mark.parametrize(
    ("action", "arguments", "precondition"),
    [
        ("archive", {"email_id": "mail"}, "none"),
        ("update_calendar_event", {"event_id": "event", "location": "Room 2"}, "by_provider"),
    ],
)
def test_each_attempt_says_what_its_provider_can_prove(
    office: Office, action: str, arguments: dict[str, str], precondition: str
) -> None:
    office.permit(action)
    office.put("events", id="event")
    office.receive(id="mail")
    request = office.request(action, arguments)

    assert execute(request).status == "succeeded"

    attempt = next(row for row in recorded(request.action_id) if row.phase == "attempt")
    assert attempt.payload["proof"] == {
        "grade": "A",
        "repeat": "by_key",
        "precondition": precondition,
    }


def test_the_grade_of_a_provider_that_proves_nothing_is_named(
    office: Office, forgetful: Forgetful
) -> None:
    request = archiving(office)

    execute(request)

    assert recorded(request.action_id)[0].payload["proof"] == {
        "grade": "D",
        "repeat": "never",
        "precondition": "none",
    }
