"""Approvals and policy over the API, for callers that may and callers that may not."""

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from agents.models import Conversation
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, Approval
from integrations.models import Account, Organisation, ServiceToken
from tests.guardrails.approvals import ask
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
APPROVALS = "/api/v1/approvals"
WISH = {"project_key": "PROJ", "summary": "Payment Integration", "type": "task"}


class Api:
    """A caller with a token of its own."""

    def __init__(self, organisation: Organisation, *scopes: str, users: tuple[str, ...] = ()):
        _, token = ServiceToken.issue(
            organisation=organisation, name="test", scopes=list(scopes), user_ids=list(users)
        )
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **params: Any) -> Any:
        return Client().get(path, params, headers=self.headers)

    def post(self, path: str, body: Any) -> Any:
        return Client().post(path, body, content_type="application/json", headers=self.headers)

    def decide(self, approval_id: UUID, **body: Any) -> Any:
        return Client().post(
            f"{APPROVALS}/{approval_id}/decide",
            body,
            content_type="application/json",
            headers=self.headers,
        )


@pytest.fixture
def api(office: Office) -> Api:
    return Api(office.organisation, "approvals", "policy")


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    return ask(office, "create_jira_task", WISH)


def error(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_a_turn_that_an_outside_agent_named_as_it_likes_waits_in_no_conversation(
    office: Office, waiting: Approval
) -> None:
    Approval.objects.filter(pk=waiting.pk).update(turn_id="no-uuid")
    Conversation.objects.create(organisation=office.organisation, external_user_id=office.user_id)

    answer = Api(office.organisation, "chat").get("/api/v1/conversations", user_id=office.user_id)

    assert answer.status_code == 200
    assert [one["waits_for_decision"] for one in answer.json()["items"]] == [False]


def test_what_waits_is_listed_with_everything_a_person_needs(
    office: Office, api: Api, waiting: Approval
) -> None:
    (card,) = api.get(APPROVALS, user_id=office.user_id, state="pending").json()

    assert (card["id"], card["action_id"]) == (str(waiting.id), str(waiting.action_id))
    assert (card["type"], card["description"]) == (
        "create_jira_task",
        "Create a task in PROJ: “Payment Integration”",
    )
    assert card["params"]["project_key"] == "PROJ"
    assert card["provenance"]["project_key"] == "on the list of what is permitted"
    assert (card["state"], card["digest"], card["expires_at"]) == ("pending", waiting.digest, None)


def test_a_confirmed_action_is_done_and_told(office: Office, api: Api, waiting: Approval) -> None:
    body = {"user_id": office.user_id, "decision": "confirm", "digest": waiting.digest}

    first, again = api.decide(waiting.id, **body), api.decide(waiting.id, **body)

    assert (first.status_code, first.json()) == (200, again.json())
    assert (first.json()["status"], first.json()["sentence"]) == ("succeeded", "Done.")
    assert set(first.json()["result"]) == {"task_key", "url"}
    assert first.json()["approval"]["state"] == "executed"
    assert first.json()["approval"]["decided_by"].startswith("token:")
    assert len(office.calls()) == 1


def test_a_rejected_action_stays_rejected(office: Office, api: Api, waiting: Approval) -> None:
    user = {"user_id": office.user_id}

    rejected = api.decide(waiting.id, **user, decision="reject", reason="Not now.")
    confirmed = api.decide(waiting.id, **user, decision="confirm")

    assert (rejected.json()["status"], rejected.json()["reason"]) == ("refused", "rejected")
    assert error(confirmed) == (409, "conflict")
    assert office.calls() == []


def test_why_nothing_is_decided_is_in_the_callers_language_with_who_decided_and_when(
    office: Office, api: Api, waiting: Approval
) -> None:
    user = {"user_id": office.user_id}
    api.headers["Accept-Language"] = "de"
    stale = api.decide(waiting.id, **user, decision="confirm", digest="0" * 64)
    api.decide(waiting.id, **user, decision="reject")
    late = api.decide(waiting.id, **user, decision="confirm")
    both = {"items": [{"id": waiting.id, "digest": waiting.digest, "decision": "confirm"}]}
    several = api.post("/api/v1/approvals/decide", user | both)

    assert stale.json()["detail"] == (
        "Das ist nicht, was gezeigt wurde. Sieh es dir noch einmal an und entscheide dann."
    )
    said = r"Das wartet nicht mehr\. Abgelehnt von Maya Lindqvist um [-0-9]{10} [0-9:]{5} UTC\."
    assert re.fullmatch(said, late.json()["detail"])
    [one] = several.json()["results"]
    assert re.fullmatch(said, one["sentence"])
    assert (error(late), one["reason"]) == ((409, "conflict"), "conflict")
    assert late.headers["Content-Language"] == "de"
    api.headers["Accept-Language"] = "tlh"
    late = api.decide(waiting.id, **user, decision="confirm")
    assert late.json()["detail"].startswith(
        "This is no longer waiting: rejected by Maya Lindqvist at "
    )
    assert office.calls() == []


def test_a_stale_digest_is_a_conflict(office: Office, api: Api, waiting: Approval) -> None:
    response = api.decide(waiting.id, user_id=office.user_id, decision="confirm", digest="0" * 64)
    assert error(response) == (409, "conflict")
    assert office.calls() == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"decision": "confirm"},
        {"user_id": 7, "decision": "confirm"},
        {"user_id": "maya", "decision": "yes"},
        {"user_id": "maya", "decision": True},
        {"user_id": "maya", "decision": "confirm", "digest": ["x"]},
        {"user_id": "maya", "decision": "confirm", "arguments": {"summary": "Other"}},
        {"user_id": "maya", "decision": "reject", "reason": "x" * 1001},
        {"user_id": "ma\x00ya", "decision": "confirm"},
    ],
)
def test_bad_bodies_are_refused_in_words(
    office: Office, api: Api, waiting: Approval, body: dict[str, Any]
) -> None:
    response = api.decide(waiting.id, **body)
    assert error(response) == (400, "invalid")
    assert Approval.objects.get(pk=waiting.pk).state == "pending"


def test_an_edit_waits_under_an_id_of_its_own(office: Office, api: Api, waiting: Approval) -> None:
    path = f"{APPROVALS}/{waiting.id}/edit"
    change = {"user_id": office.user_id, "arguments": {"summary": "Payments"}}

    edited = api.post(path, change | {"digest": waiting.digest}).json()

    assert (edited["status"], edited["reason"]) == ("pending", "needs_approval")
    card = edited["approval"]
    assert (card["revises"], card["state"]) == (str(waiting.id), "pending")
    assert card["params"]["summary"] == "Payments"
    assert card["proposed"]["summary"] == "Payment Integration"
    assert card["provenance"]["summary"] == (
        "typed by the person who changed what the agent proposed"
    )
    body = {"user_id": office.user_id, "decision": "confirm", "digest": card["digest"]}
    assert error(api.decide(waiting.id, **body)) == (409, "conflict")
    assert api.decide(card["id"], **body).json()["status"] == "succeeded"
    assert [call["body"]["summary"] for call in office.calls()] == ["Payments"]


def test_edits_that_cannot_be_are_refused_in_words(
    office: Office, api: Api, waiting: Approval
) -> None:
    path, user = f"{APPROVALS}/{waiting.id}/edit", {"user_id": office.user_id}
    chat = Api(office.organisation, "chat")
    change = user | {"arguments": {"summary": "Payments"}}

    assert error(api.post(path, user)) == (400, "invalid")
    assert error(api.post(path, user | {"arguments": {}})) == (400, "invalid")
    assert error(api.post(path, user | {"arguments": {"invented": 1}})) == (400, "invalid")
    assert error(api.post(path, change | {"surprise": 1})) == (400, "invalid")
    assert error(api.post(path, change | {"digest": "0" * 64})) == (409, "conflict")
    assert error(api.post(path, change | {"user_id": "x"})) == (404, "unknown_approval")
    assert error(chat.post(path, change)) == (403, "permission_denied")
    refused = api.post(path, user | {"arguments": {"project_key": "OPS"}}).json()
    assert (refused["status"], refused["reason"]) == ("refused", "target_not_listed")
    assert (refused["approval"]["id"], refused["approval"]["state"]) == (str(waiting.id), "pending")
    assert office.calls() == []


def test_several_are_decided_at_once_each_for_itself(office: Office, api: Api) -> None:
    office.permit("archive", "ask")
    for _ in range(3):
        execute(office.request("archive", {"email_id": office.receive()}))
    yes, no, stale = api.get(APPROVALS, user_id=office.user_id).json()
    body = {
        "user_id": office.user_id,
        "items": [
            {"id": stale["id"], "digest": "0" * 64, "decision": "confirm"},
            {"id": yes["id"], "digest": yes["digest"], "decision": "confirm"},
            {"id": no["id"], "digest": no["digest"], "decision": "reject", "reason": "No."},
        ],
    }

    found = api.post(f"{APPROVALS}/decide", body).json()["results"]

    assert [(one["id"], one["status"], one["reason"]) for one in found] == [
        (stale["id"], "conflict", "conflict"),
        (yes["id"], "succeeded", "performed"),
        (no["id"], "refused", "rejected"),
    ]
    assert found[1]["handled"].startswith("Confirmed by Maya Lindqvist at ")
    assert len(office.calls()) == 1
    twice = body | {"items": [body["items"][1]] * 2}
    assert error(api.post(f"{APPROVALS}/decide", twice)) == (400, "invalid")
    assert error(api.post(f"{APPROVALS}/decide", body | {"items": []})) == (400, "invalid")
    bare = body | {"items": [{"id": yes["id"], "decision": "confirm"}]}  # without digest
    assert error(api.post(f"{APPROVALS}/decide", bare)) == (400, "invalid")


def test_an_approval_is_handed_on_and_escalated(
    office: Office, api: Api, waiting: Approval
) -> None:
    Account.objects.create(
        organisation=office.organisation, external_user_id="omar", source="gmail"
    )
    path, user = f"{APPROVALS}/{waiting.id}", {"user_id": office.user_id}

    handed = api.post(f"{path}/delegate", user | {"to": "user:omar", "note": "Yours."}).json()
    escalated = api.post(f"{path}/escalate", user).json()

    assert handed["delegated_to"] == "user:omar"
    assert handed["delegated"].startswith("Delegated to omar by ")
    assert escalated["escalated_at"] is not None
    assert error(api.decide(waiting.id, **user, decision="confirm")) == (409, "conflict")
    assert office.calls() == []
    (card,) = api.get(APPROVALS, user_id="omar", state="pending").json()
    assert (card["id"], card["user_id"]) == (str(waiting.id), office.user_id)
    assert api.decide(waiting.id, user_id="omar", decision="confirm").status_code == 200
    assert error(api.post(f"{path}/delegate", user | {"to": "user:x"})) == (400, "invalid")
    assert error(api.post(f"{path}/escalate", {"user_id": "x"})) == (404, "unknown_approval")
    chat = Api(office.organisation, "chat")
    assert error(chat.post(f"{path}/delegate", user | {"to": "user:omar"})) == (
        403,
        "permission_denied",
    )


def test_a_long_list_is_read_page_by_page(office: Office, api: Api) -> None:
    office.permit("archive", "ask")
    for _ in range(5):
        execute(office.request("archive", {"email_id": office.receive()}))
    everything = [card["id"] for card in api.get(APPROVALS, user_id=office.user_id).json()]
    pages: list[str] = []
    for size in (2, 2, 2):
        query = {"before": pages[-1]} if pages else {}
        page = api.get(APPROVALS, user_id=office.user_id, limit=size, **query).json()
        pages += [card["id"] for card in page]

    assert pages == everything
    assert error(api.get(APPROVALS, user_id=office.user_id, limit=0)) == (400, "invalid")
    assert error(api.get(APPROVALS, user_id=office.user_id, before="x")) == (400, "invalid")
    assert error(api.get(APPROVALS, user_id=office.user_id, surprise="x")) == (400, "invalid")


def test_other_tenants_and_users_find_nothing(office: Office, api: Api, waiting: Approval) -> None:
    other = Organisation.objects.create(slug=f"other-{uuid4().hex[:6]}", name="Other")
    body = {"user_id": office.user_id, "decision": "confirm"}
    stranger = Api(other, "approvals", "policy")
    narrow = Api(office.organisation, "approvals", "policy", users=("somebody",))

    assert error(stranger.decide(waiting.id, **body)) == (404, "unknown_approval")
    assert error(api.decide(uuid4(), **body)) == (404, "unknown_approval")
    assert error(api.decide(waiting.id, **(body | {"user_id": "x"}))) == (404, "unknown_approval")
    assert error(narrow.decide(waiting.id, **body)) == (404, "unknown_user")
    assert error(narrow.get(APPROVALS, user_id=office.user_id)) == (404, "unknown_user")
    assert error(narrow.get("/api/v1/policy", user_id=office.user_id)) == (404, "unknown_user")
    assert error(stranger.get("/api/v1/policy", user_id=office.user_id)) == (404, "unknown_user")
    assert stranger.get(APPROVALS, user_id=office.user_id).json() == []
    assert Approval.objects.get(pk=waiting.pk).state == "pending"


@pytest.mark.parametrize(
    "path", ["/api/v1/policy", "/api/v1/policy/effective", "/api/v1/held-sends"]
)
def test_an_id_that_the_database_cannot_hold_is_unknown(
    office: Office, api: Api, path: str
) -> None:
    assert error(api.get(path, user_id=f"{office.user_id}\0")) == (404, "unknown_user")


def test_a_token_needs_the_scope(office: Office, waiting: Approval) -> None:
    chat = Api(office.organisation, "chat")
    body = {"user_id": office.user_id, "decision": "confirm"}
    assert error(chat.get(APPROVALS, user_id=office.user_id)) == (403, "permission_denied")
    assert error(chat.decide(waiting.id, **body)) == (403, "permission_denied")
    assert error(chat.get("/api/v1/policy", user_id=office.user_id)) == (403, "permission_denied")


def test_lists_say_for_whom_and_which(office: Office, api: Api) -> None:
    assert error(api.get(APPROVALS)) == (400, "invalid")
    assert error(api.get(APPROVALS, user_id=office.user_id, state="odd")) == (400, "invalid")


@pytest.mark.parametrize("number", [1, 8])
def test_a_list_takes_the_same_queries_whatever_its_length(
    office: Office, api: Api, django_assert_num_queries: Any, number: int
) -> None:
    office.permit("archive", "ask")
    for _ in range(number):
        execute(office.request("archive", {"email_id": office.receive()}))
    api.get(APPROVALS, user_id=office.user_id)  # notes the token's use
    # The approvals, the zones of their users, the language of the user; and who calls.
    with django_assert_num_queries(4):
        assert len(api.get(APPROVALS, user_id=office.user_id).json()) == number


def test_the_policy_is_put_in_words(office: Office, api: Api) -> None:
    office.permit("archive")
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    office.permit("send_email", "ask")

    archive, create = api.get("/api/v1/policy", user_id=office.user_id).json()

    assert (archive["action_type"], archive["sentence"]) == ("archive", "Done without asking.")
    assert (create["mode"], create["sentence"]) == ("ask", "A person is asked each time.")
    assert create["targets"] == [{"id": "PROJ", "name": "Customer Portal", "kind": "project"}]


def test_the_effective_policy_names_who_is_strictest(office: Office, api: Api) -> None:
    office.permit("archive")
    office.permit("send_email", "ask")
    office.list_target("send_email", "recipient_domain", "client.com")

    found = api.get(
        "/api/v1/policy/effective", user_id=office.user_id, target="ada@client.com"
    ).json()

    told = {one["action_type"]: (one["verdict"], one["strictest"]) for one in found["actions"]}
    assert told["archive"] == ("allow", "The allowed action says so.")
    assert told["send_email"] == ("ask", "The allowed action says so.")
    assert told["create_jira_task"] == ("refuse", "No operator has permitted it.")
    reach = {(one["action_type"], one["role"]): one["verdict"] for one in found["reach"]}
    assert (reach["send_email", "to"], reach["send_email", "bcc"]) == ("ask", "refuse")
    assert reach["create_jira_task", "assignee"] == "refuse"


def test_one_action_is_simulated_and_not_done(office: Office, api: Api) -> None:
    office.permit("archive")
    body = {
        "user_id": office.user_id,
        "action_type": "archive",
        "arguments": {"email_id": office.receive()},
    }
    found = api.post("/api/v1/policy/simulate", body)
    refused = api.post("/api/v1/policy/simulate", body | {"arguments": {"email_id": "nowhere"}})
    unknown = api.post("/api/v1/policy/simulate", body | {"action_type": "invented"})

    assert (found.status_code, found.json()["verdict"]) == (200, "allow")
    assert found.json()["description"] == "Archive: “Lunch on Friday?”"
    assert found.json()["checks"][0] == {"name": "switches", "passed": True, "detail": ""}
    assert refused.json()["reason"] == "object_unknown"
    assert unknown.json()["reason"] == "unknown_action"
    assert office.calls() == []


def test_a_draft_is_replayed_and_changes_nothing(office: Office, api: Api) -> None:
    office.permit("archive")
    result = execute(office.request("archive", {"email_id": office.receive()}))
    body = {"user_id": office.user_id, "source": "gmail"}
    drafted = [{"action": "archive", "mode": "ask", "conditions": [{"kind": "thread"}]}]
    path = "/api/v1/policy/replay"

    same = api.post(path, body).json()
    found = api.post(path, body | {"allowed_actions": []}).json()
    unclear = api.post(path, body | {"allowed_actions": drafted}).json()

    assert (same["looked_at"], same["differences"]) == (1, [])
    assert (found["newly_allowed"], found["newly_asked"], found["newly_refused"]) == (0, 0, 1)
    (one,) = found["differences"]
    assert (one["action_id"], one["before"], one["after"]) == (
        str(result.action_id),
        "allow",
        "refuse",
    )
    assert one["sentence"] == "No operator permits this action for this account."
    assert unclear["unclear"] == 1
    assert AllowedAction.objects.get().approval_mode == "auto"
    assert len(office.calls()) == 1


def test_a_bad_draft_is_refused(office: Office, api: Api) -> None:
    path, body = "/api/v1/policy/replay", {"user_id": office.user_id, "source": "gmail"}
    bad: tuple[dict[str, Any], ...] = (
        {"allowed_actions": [{"action": "archive", "mode": "auto", "conditions": [{"kind": "x"}]}]},
        {"allowed_actions": [{"action": "create_jira_task", "mode": "auto"}]},
        {"allowed_actions": [{"action": "archive", "mode": "sometimes"}]},
        {"allowed_actions": [{"action": "archive", "mode": "auto", "extra": 1}]},
        {"targets": [{"action": "archive", "kind": "recipient", "id": "a@b.com", "name": "A"}]},
        {"n": 1001},
        {"n": 0},
        {"of": "everything"},
    )
    for one in bad:
        assert error(api.post(path, body | one)) == (400, "invalid"), one
    assert error(api.post(path, body | {"source": "fax"})) == (404, "unknown_account")
    chat = Api(office.organisation, "chat")
    other = Api(Organisation.objects.create(slug="other", name="Other"), "policy")
    assert error(chat.post(path, body)) == (403, "permission_denied")
    assert error(other.post(path, body)) == (404, "unknown_user")


def test_simulating_needs_the_scope_the_user_and_known_fields(office: Office, api: Api) -> None:
    body = {"user_id": office.user_id, "action_type": "archive", "arguments": {}}
    chat = Api(office.organisation, "chat")
    other = Api(Organisation.objects.create(slug="other", name="Other"), "policy")
    path = "/api/v1/policy/simulate"
    assert error(chat.post(path, body)) == (403, "permission_denied")
    assert error(other.post(path, body)) == (404, "unknown_user")
    assert error(api.post(path, body | {"trigger": "operator"})) == (400, "invalid")
    assert error(chat.get("/api/v1/policy/effective", user_id="x")) == (403, "permission_denied")
    assert error(other.get("/api/v1/policy/effective", user_id=office.user_id)) == (
        404,
        "unknown_user",
    )
