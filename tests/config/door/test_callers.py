import time
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from config.door.callers import is_known
from integrations.models import Organisation, ServiceToken

pytestmark = pytest.mark.django_db(transaction=True)
SIGNED = {"webhook-id": "1", "webhook-signature": "v1,x"}


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="default", name="Default")


def known(path: str = "/api/v1/chat", **headers: str) -> bool:
    pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return async_to_sync(is_known)({"type": "http", "path": path, "headers": pairs})


def test_a_token_that_exists_is_known_and_no_other(organisation: Organisation) -> None:
    row, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])

    assert known(authorization=f"Bearer {token}")
    assert not known(authorization=f"Bearer {token}x")
    assert not known(authorization=token)
    assert not known()
    ServiceToken.objects.filter(pk=row.pk).update(revoked_at="2026-01-01T00:00:00Z")
    assert not known(authorization=f"Bearer {token}")


def test_a_session_of_somebody_who_is_logged_in_is_known(client: Client) -> None:
    client.force_login(User.objects.create_user("maya"))
    cookie = client.cookies["sessionid"].value

    assert known(cookie=f"a=b; sessionid={cookie}")
    client.logout()
    assert not known(cookie=f"sessionid={cookie}")
    assert not known(cookie="sessionid=made-up")
    assert not known(cookie="=;;\x00")


def test_a_webhook_is_known_by_headers_that_seems_signed(settings: Any) -> None:
    settings.WEBHOOK_SECRETS = {"default": "whsec_x", "other": "whsec_y"}
    now = str(int(time.time()))

    def hook(path: str = "/webhooks/item-created", **headers: str) -> bool:
        return known(path, **SIGNED | {"webhook-timestamp": now} | headers)

    assert hook()
    assert hook("/webhooks/other/item-created")
    assert not hook("/webhooks/nobody/item-created")
    assert not hook(**{"webhook-signature": ""})
    assert not hook(**{"webhook-timestamp": str(int(now) - 400)})
    assert not hook(**{"webhook-timestamp": str(int(now) + 400)})
    assert not hook(**{"webhook-timestamp": "\u0663" * 10})
    assert not hook(**{"webhook-timestamp": "9" * 5000})
    assert not hook("/api/v1/chat")
