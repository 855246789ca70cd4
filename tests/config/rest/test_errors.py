import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from agents.models import Turn
from integrations.models import Account, Organisation, ServiceToken
from integrations.web.problems import PROBLEMS
from tests.database import failing_with

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def chat(client: Client, token: str) -> tuple[int, str, str]:
    answer = client.post(
        "/api/v1/chat/stream",
        {"user_id": "maya", "message": "Hello"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    error = answer.json().get("error", {})
    return answer.status_code, error.get("code", ""), answer.headers.get("Retry-After", "")


def test_what_cannot_be_stored_now_hears_to_come_again(client: Client) -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail", address="m@a.example"
    )
    token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])[1]

    with failing_with("agents_turn", "53100"):
        full = chat(client, token)
    with failing_with("agents_turn", "57P01"):
        away = chat(client, token)

    assert full == (503, "storage_full", "60")
    assert away == (503, "database_away", "10")
    assert not Turn.objects.exists()
    assert chat(client, token) == (202, "", "")


@pytest.mark.parametrize(
    ("state", "heard"),
    [("53100", (503, "storage_full", "60")), ("57P01", (503, "database_away", "10"))],
)
def test_an_export_that_cannot_be_recorded_now_hears_to_come_again(
    client: Client, state: str, heard: tuple[int, str, str]
) -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    token = ServiceToken.issue(organisation=organisation, name="siem", scopes=["audit:read"])[1]

    with failing_with("audit_action", state):
        answer = client.get(
            "/api/v1/ledger/export?format=csv", headers={"Authorization": f"Bearer {token}"}
        )

    said = answer.json()["error"]["code"], answer.headers["Retry-After"]
    assert (answer.status_code, *said) == heard


def test_a_page_says_too_that_nothing_can_be_stored_now() -> None:
    """Without a session no page opens: logging in is the first that cannot be stored."""
    User.objects.create_user("olga", password="a long password")
    client = Client(raise_request_exception=False)
    given = {"login": "olga", "password": "a long password"}

    with failing_with("integrations_session", "53100"):
        program = client.post(reverse("account_login"), given)
        person = client.post(reverse("account_login"), given, headers={"Accept": "text/html"})

    assert (program.status_code, program.json()["error"]["code"]) == (503, "storage_full")
    assert (person.status_code, person.headers["Retry-After"]) == (503, "60")
    assert "<h1>There is no space left to keep this. Come again.</h1>" in person.content.decode()
    assert client.post(reverse("account_login"), given).status_code == 302


def test_what_there_is_not_is_said_to_a_person_on_a_page() -> None:
    answers = [Client().get("/nowhere", headers={"Accept": one}) for one in ("text/html", "*/*")]

    assert [one.status_code for one in answers] == [404, 404]
    assert "<h1>There is no such page.</h1>" in answers[0].content.decode()
    assert answers[1].json()["error"]["code"] == "not_found"


def test_a_page_that_a_role_may_not_open_says_so_and_whom_to_ask() -> None:
    call_command("make_roles", verbosity=0)
    approver = User.objects.create_user("ann", password="a long password", is_staff=True)
    approver.groups.add(Group.objects.get(name="Approver"))
    client = Client()
    client.force_login(approver)

    page = client.get("/admin/setup/", headers={"Accept": "text/html"})
    german = client.get("/admin/setup/", headers={"Accept": "text/html", "Accept-Language": "de"})
    program = client.get("/admin/setup/")

    assert [one.status_code for one in (page, german, program)] == [403, 403, 403]
    assert "<h1>Your login may not do this. Ask an administrator for it.</h1>" in (
        page.content.decode()
    )
    assert "<h1>Deine Anmeldung darf das nicht." in german.content.decode()
    assert program.json()["error"]["code"] == "permission_denied"


def test_an_error_is_a_problem_with_a_code_that_leads_to_what_it_means() -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})

    answer = client.post("/api/v1/chat", {"message": 1}, content_type="application/json")
    nobody = Client().get("/api/v1/status")
    page = Client().get("/api/problems").content.decode()

    found = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert {key: found[key] for key in ("type", "title", "status", "code")} == {
        "type": "/api/problems#invalid",
        "title": "A value is missing or not valid",
        "status": 400,
        "code": "invalid",
    }
    assert set(found["fields"]) == {"user_id", "message"}
    assert (nobody.status_code, nobody.json()["code"]) == (401, "not_authenticated")
    assert all(f'id="{code}"' in page for code in PROBLEMS)


def test_each_code_that_the_api_answers_with_says_what_it_means() -> None:
    rooms = ["agents/api", "audit/api", "guardrails/api", "integrations/api", "integrations/web"]
    files = [one for room in rooms for one in Path(room).rglob("*.py")]
    files.remove(Path("integrations/web/oidc.py"))  # whose codes stand in the ledger alone
    files += [
        Path("knowledge/api.py"),
        *Path("config").rglob("*.py"),
        Path("agents/turns/streams.py"),
    ]
    said = (
        r'(?:(?<![_.])code|default_code) ?= ?"([a-z_]+)"'
        r'|(?:refuse|Refused|Closed)\((?:scope, send, )?\d{3}, "([a-z_]+)"'
    )
    codes = {a or b for one in files for a, b in re.findall(said, one.read_text())}

    assert len(codes) > 25
    assert codes - set(PROBLEMS) == set()
