"""Notifications in a real Chromium: the button, the service worker, and what it shows.

Chromium's own way to a push service needs Google's, which no test reaches: what the browser
subscribes with is put in its place, and what that service would hand on is given to the worker.
"""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.fixtures import Settings

from config.local import secrets
from guardrails.approve.news.news import announce
from guardrails.models import Approval, ApprovalRecipient
from integrations.network import web_push
from tests.guardrails.approve.news.conftest import Receiver, receiver
from tests.office import Office
from tests.push_world import Browser
from tests.rows import Rows

__all__ = ["receiver"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
SUBSCRIBED = """(said) => {
  let there = null;
  const made = (key) => there = {
    endpoint: said.endpoint, toJSON: () => said, options: { applicationServerKey: key },
    unsubscribe: async () => { there = null; return true; },
  };
  PushManager.prototype.subscribe = async (asked) => {
    if (!asked.userVisibleOnly || asked.applicationServerKey.length !== 65) throw new Error("no");
    return made(asked.applicationServerKey.buffer);
  };
  PushManager.prototype.getSubscription = async () => there;
}"""
SHOWN = """async () => {
  const worker = await navigator.serviceWorker.getRegistration("/static/remit/push_worker.js");
  for (let tries = 0; tries < 100; tries++) {
    const found = await worker.getNotifications();
    if (found.length) return found.map((one) => [one.title, one.body, one.tag, one.data]);
    await new Promise((done) => setTimeout(done, 50));
  }
}"""


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    private = base64.b64encode(X25519PrivateKey.generate().private_bytes_raw()).decode()
    settings.CREDENTIALS_PRIVATE_KEY = private
    settings.CREDENTIALS_PUBLIC_KEY = secrets.public_half(private)
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = web_push.make_keys()


def hand_on(context: BrowserContext, page: Page, said: Any) -> None:
    """As the browser does with a message that it could read."""
    session = context.new_cdp_session(page)
    seen: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: seen.extend(one["registrationId"] for one in event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    while not seen:
        page.wait_for_timeout(20)
    origin = page.evaluate("location.origin")
    message = {"origin": origin, "registrationId": seen[0], "data": json.dumps(said)}
    session.send("ServiceWorker.deliverPushMessage", message)


def test_one_click_brings_what_waits_to_this_browser_and_another_ends_it(
    office: Office,
    page: Page,
    context: BrowserContext,
    receiver: Receiver,
    problems: list[str],
) -> None:
    browser, approval = Browser(receiver.url), Rows("push").of(Approval)
    context.grant_permissions(["notifications"], origin=office.origin)
    page.add_init_script(f"({SUBSCRIBED})({browser.subscription})")
    page.goto("/admin/guardrails/approval/")
    page.get_by_role("button", name="Notify me in this browser").click()
    expect(page.get_by_text("You hear here what waits for you.")).to_be_visible()
    rows = ApprovalRecipient.objects.order_by("organisation__slug")
    assert [*rows.values_list("person__username", "organisation__slug")] == [
        ("operator", "default"),
        ("operator", "push"),
    ]

    announce(now=timezone.now())
    said = browser.read(receiver.taken[0])
    hand_on(context, page, said)
    assert page.evaluate(SHOWN) == [[said["title"], said["body"], said["tag"], said["url"]]]
    page.goto(said["url"])
    expect(page.locator("#approval-headline")).to_be_visible()
    assert str(approval.pk) in page.url
    approval.refresh_from_db()
    assert approval.state == "pending"

    page.goto("/admin/guardrails/approval/")
    page.get_by_role("button", name="Notify me in this browser").click()
    page.get_by_role("button", name="Do not notify me in this browser").click()
    expect(page.get_by_role("button", name="Notify me in this browser", exact=True)).to_be_visible()
    assert not ApprovalRecipient.objects.exists()
    assert problems == []
