"""Which request comes after a decision."""

import pytest
from django.test import Client

from guardrails.models import Approval
from tests.clients import log_in
from tests.guardrails.admin.approvals.test_approvals import ask_for, at
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_after_a_first_yes_comes_what_still_waits_for_this_persons(office: Office) -> None:
    office.permit("create_jira_task", conditions=[{"kind": "two_people"}])
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    rows = [ask_for(office, name) for name in ("User Auth", "Payment", "Rota")]
    maya, ben = (log_in(name, "view_approval", "change_approval") for name in ("maya", "ben"))

    def say_yes(client: Client, row: Approval) -> str:
        yes = {"word": "confirm", "digest": row.digest}
        return str(client.post(at("decide", row.pk), yes).headers["Location"])

    pages = [at("change", row.pk) for row in rows]
    assert [say_yes(maya, row) for row in rows] == [pages[1], pages[2], pages[2]]
    assert office.calls() == []
    assert [say_yes(ben, row) for row in rows] == [pages[1], pages[2], pages[2]]
    assert len(office.calls()) == 3
