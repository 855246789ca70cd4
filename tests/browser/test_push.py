"""Notifications in a real Chromium: the button, the service worker, and what it shows.

Chromium's own way to a push service needs Google's, which no test reaches: what the browser
subscribes with is put in its place, and what that service would hand on is given to the worker.
"""

import base64
import json
import os
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.fixtures import Settings

from config.local import secrets
from guardrails.approve.news import devices
from guardrails.approve.news.news import announce
from guardrails.models import Approval, ApprovalRecipient
from integrations.network import web_push
from tests.browser.test_axe import findings
from tests.browser.test_own_pages import log_in_as_maya, pictures
from tests.browser.test_walks import ask, let_tasks_ask, note
from tests.browser.windows import PHONE
from tests.guardrails.approve.news.conftest import Receiver, receiver
from tests.office import Office
from tests.push_world import Browser

__all__ = ["receiver"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
ROUNDS = int(os.environ.get("WALK_ROUNDS", "1"))  # of a notification that is decided
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
SHOWN = """async (tag) => {
  const worker = await navigator.serviceWorker.getRegistration("/static/remit/push_worker.js");
  for (let tries = 0; tries < 600; tries++) {
    const [found] = await worker.getNotifications({ tag });
    if (found) return [found.title, found.body, found.data];
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
    for _ in range(1500):  # half a minute at most
        if seen:
            break
        page.wait_for_timeout(20)
    origin = page.evaluate("location.origin")
    message = {"origin": origin, "registrationId": seen[0], "data": json.dumps(said)}
    session.send("ServiceWorker.deliverPushMessage", message)


def switch_on(page: Page, context: BrowserContext, address: str, browser: Browser) -> None:
    context.grant_permissions(["notifications"])
    page.add_init_script(f"({SUBSCRIBED})({browser.subscription})")
    page.goto(address)
    page.get_by_role("button", name="Notify me in this browser", exact=True).click()
    expect(page.get_by_text("You hear here what waits for you.")).to_be_visible()


def test_one_click_brings_what_waits_and_a_tap_leads_to_where_it_is_decided(
    office: Office,
    page: Page,
    context: BrowserContext,
    receiver: Receiver,
    problems: list[str],
) -> None:
    let_tasks_ask(office)
    page.set_viewport_size(PHONE)
    browser = Browser(receiver.url)
    seconds: list[float] = []
    switch_on(page, context, "/admin/guardrails/approval/", browser)
    for number in range(ROUNDS):
        ask(office, number)
        announce(now=timezone.now())
        said = browser.read(receiver.taken[-1])
        begin = time.monotonic()
        hand_on(context, page, said)
        assert page.evaluate(SHOWN, said["tag"]) == [said["title"], said["body"], said["url"]]
        page.goto(said["url"])
        assert Approval.objects.filter(state="pending").count() == 1
        with page.expect_navigation():
            page.get_by_role("button", name="Confirm", exact=True).click()
        seconds.append(time.monotonic() - begin)
        assert len(office.calls()) == number + 1
    note("slowest_notification_to_decision_seconds", round(max(seconds), 2))

    page.goto("/admin/guardrails/approval/")
    page.get_by_role("button", name="Notify me in this browser", exact=True).click()
    expect(page.get_by_role("button", name="Stop in all browsers")).to_be_hidden()
    page.get_by_role("button", name="Do not notify me in this browser").click()
    expect(page.get_by_role("button", name="Notify me in this browser", exact=True)).to_be_visible()
    assert not ApprovalRecipient.objects.exists()
    assert problems == []


def test_a_user_hears_and_decides_in_the_console(
    office: Office,
    page: Page,
    context: BrowserContext,
    receiver: Receiver,
    problems: list[str],
) -> None:
    let_tasks_ask(office)
    log_in_as_maya(office, page)
    page.set_viewport_size(PHONE)
    browser = Browser(receiver.url)
    switch_on(page, context, "/console/approvals", browser)
    ask(office, 1)
    announce(now=timezone.now())
    page.goto(browser.read(receiver.taken[0])["url"])

    assert findings(page) == []
    pictures(page, "waiting")
    page.get_by_role("button", name="Confirm: Create a task in PROJ").click()
    expect(page.get_by_role("status").last).to_have_text("Done: Confirm.")
    expect(page.get_by_role("region", name="Create a task in PROJ")).to_contain_text(
        "Confirmed by maya at"
    )
    assert len(office.calls()) == 1

    lost = Browser(f"{receiver.url}/lost").subscription
    maya = User.objects.get(username="maya.lindqvist")
    devices.switch_on(maya, subscription=lost, time_zone="UTC", by="operator:maya")
    page.reload()
    page.get_by_role("button", name="Stop in all browsers (2)").click()
    expect(page.get_by_role("button", name="Stop in all browsers")).to_be_hidden()
    assert not ApprovalRecipient.objects.exists()
    assert problems == []
