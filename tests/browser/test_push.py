"""Notifications in a real Chromium: the button, the service worker, and what it shows.

Chromium's own way to a push service needs Google's, which no test reaches: what the browser
subscribes with is put in its place, and what that service would hand on is given to the worker.
"""

import base64
import json
import os
import time
from collections.abc import Callable
from statistics import quantiles
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
  const [found] = await worker.getNotifications({ tag });
  return found && [found.title, found.body, found.data];
}"""


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    private = base64.b64encode(X25519PrivateKey.generate().private_bytes_raw()).decode()
    settings.CREDENTIALS_PRIVATE_KEY = private
    settings.CREDENTIALS_PUBLIC_KEY = secrets.public_half(private)
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = web_push.make_keys()


class PushService:
    """Hands messages to the service worker of the page, as the browser does with one that it could
    read."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.page, self.session = page, context.new_cdp_session(page)
        self.workers: list[str] = []
        self.shown: set[str] = set()
        self.session.on(
            "ServiceWorker.workerRegistrationUpdated",
            lambda event: self.workers.extend(
                one["registrationId"] for one in event["registrations"]
            ),
        )
        self.session.on(
            "BackgroundService.backgroundServiceEventReceived",
            lambda event: self._note(event["backgroundServiceEvent"]),
        )
        self.session.send("ServiceWorker.enable")
        observed = {"service": "notifications"}
        self.session.send("BackgroundService.startObserving", observed)
        self.session.send("BackgroundService.setRecording", observed | {"shouldRecord": True})
        self._wait(lambda: bool(self.workers))

    def hand_on(self, said: Any) -> None:
        """Returns when the browser has displayed it. Nobody may ask for its notifications before:
        Chromium takes those that are about to be displayed for gone, and forgets them."""
        message = {"origin": self.page.evaluate("location.origin"), "data": json.dumps(said)}
        self.shown.discard(said["tag"])
        self.session.send(
            "ServiceWorker.deliverPushMessage", message | {"registrationId": self.workers[0]}
        )
        self._wait(lambda: said["tag"] in self.shown)

    def _note(self, event: dict[str, Any]) -> None:
        if event["eventName"] == "Notification displayed":
            self.shown.add(event["instanceId"])

    def _wait(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + 30
        while not is_so():
            assert time.monotonic() < until
            self.page.wait_for_timeout(5)  # meanwhile events are taken in


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
    until: dict[str, list[float]] = {"displayed": [], "opened": [], "recorded": []}
    switch_on(page, context, "/admin/guardrails/approval/", browser)
    push = PushService(context, page)
    for number in range(ROUNDS):
        ask(office, number)
        announce(now=timezone.now())
        said = browser.read(receiver.taken[-1])
        begin = time.monotonic()
        push.hand_on(said)
        until["displayed"].append(time.monotonic() - begin)
        assert page.evaluate(SHOWN, said["tag"]) == [said["title"], said["body"], said["url"]]
        page.goto(said["url"])
        until["opened"].append(time.monotonic() - begin)
        assert Approval.objects.filter(state="pending").count() == 1
        with page.expect_navigation():
            page.get_by_role("button", name="Confirm", exact=True).click()
        until["recorded"].append(time.monotonic() - begin)
        assert len(office.calls()) == number + 1
    note("notifications", ROUNDS)
    for what, seconds in until.items():
        cuts = quantiles(seconds, n=20, method="inclusive") if ROUNDS > 1 else seconds * 19
        note(f"notification_{what}_p50_s", round(cuts[9], 2))
        note(f"notification_{what}_p95_s", round(cuts[18], 2))
        note(f"notification_{what}_max_s", round(max(seconds), 2))

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
    done = page.get_by_role("status").last
    expect(done).to_have_text("Done: Confirm.", timeout=30_000)  # also beside much else
    expect(page.get_by_role("region", name="Create a task in PROJ")).to_contain_text(
        "Confirmed by Maya Lindqvist at"
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
