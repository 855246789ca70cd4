"""Drafts of the assistant over the API."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from guardrails.models import AssistantDraft
from integrations.models import Account, Organisation
from tests.guardrails.test_api import Api, error

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
DRAFTS = "/api/v1/drafts"


def write(organisation: Organisation, user: str, **fields: Any) -> AssistantDraft:
    mailbox, _ = Account.objects.get_or_create(
        organisation=organisation, external_user_id=user, source="gmail", address=f"{user}@a.com"
    )
    given: dict[str, Any] = {
        "action_id": uuid4(),
        "thread_id": "t1",
        "reply_to_id": "m1",
        "receivers": ["ada@client.com"],
        "of_own_accord": True,
        "written_at": timezone.now(),
    }
    return AssistantDraft.objects.create(account=mailbox, **given | fields)


def test_a_users_drafts_come_newest_first_with_what_became_of_them() -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    moment = timezone.now()
    # Three of one moment: the cursor goes on between them.
    waiting = [write(organisation, "maya", written_at=moment) for _ in range(3)]
    sent = write(
        *(organisation, "maya"),
        state="sent",
        nearness=0.9,
        answer_id="m2",
        written_at=moment - timedelta(days=1),
    )
    new = write(*(organisation, "maya"), reply_to_id="", written_at=moment - timedelta(days=2))
    write(organisation, "omar")
    api = Api(organisation, "chat", users=("maya",))

    first = api.get(DRAFTS, user_id="maya", limit=2).json()
    second = api.get(DRAFTS, user_id="maya", limit=2, cursor=first["next_cursor"]).json()
    found = first["items"] + second["items"]

    wanted = sorted((str(one.action_id) for one in waiting), reverse=True)
    third = api.get(DRAFTS, user_id="maya", limit=2, cursor=second["next_cursor"]).json()
    assert [one["action_id"] for one in found] == [*wanted, str(sent.action_id)]
    assert (found[-1]["state"], third["next_cursor"]) == ("sent", None)
    assert (found[-1]["answer_id"], found[-1]["nearness"]) == ("m2", 0.9)
    assert [(one["action_id"], one["reply_to_id"]) for one in third["items"]] == [
        (str(new.action_id), "")
    ]
    assert found[0]["receivers"] == ["ada@client.com"]
    assert len(api.get(DRAFTS, user_id="maya", state="pending").json()["items"]) == 4
    assert error(api.get(DRAFTS, user_id="omar")) == (404, "unknown_user")
