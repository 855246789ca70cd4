"""The page that somebody begins with, by their role."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.office.roles import make_roles
from integrations.models import Membership
from tests.agents.office.test_roles import somebody
from tests.agents.pages import mailbox
from tests.clients import client_of, log_in, log_in_superuser

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
ACTIVITY = "admin:index"
BEGINS = {
    "Administrator": ACTIVITY,
    "Operator": ACTIVITY,
    "Viewer": ACTIVITY,
    "Approver": "admin:guardrails_approval_changelist",
    "Policy editor": "admin:guardrails_policy_explain",
    "Auditor": "admin:guardrails_ledger_auditor",
    "User": "console",
}


def begin(client: Client) -> tuple[str, str]:
    """Where the front door leads, and what the sidebar there begins with."""
    answer = client.get(reverse(ACTIVITY), follow=True)
    assert answer.status_code == 200
    address = answer.redirect_chain[-1][0] if answer.redirect_chain else reverse(ACTIVITY)
    groups = answer.context.get("sidebar_navigation") or [{"items": [{"title": ""}]}]
    return address.partition("?")[0], groups[0]["items"][0]["title"]


@pytest.mark.parametrize(("role", "page"), BEGINS.items())
def test_each_role_has_a_first_page_of_its_own(role: str, page: str) -> None:
    make_roles()
    client = client_of(somebody(role))
    mailbox("maya")
    Membership.objects.update(external_user_id="maya" if role == "User" else "")

    address, first = begin(client)

    assert address == reverse(page)
    assert (first == "Activity") is (page == ACTIVITY)
    assert client.get("/", follow=True).redirect_chain[0][0] == reverse(ACTIVITY)


def test_who_has_no_role_reads_what_to_do_and_a_superuser_sees_all() -> None:
    mailbox("maya")
    nobody, olga = log_in("sam"), log_in_superuser("olga")

    assert "Choose a list in the sidebar." in nobody.get(reverse(ACTIVITY)).content.decode()
    assert begin(olga) == (reverse(ACTIVITY), "Activity")
    assert Client().get(reverse(ACTIVITY)).status_code == 302
