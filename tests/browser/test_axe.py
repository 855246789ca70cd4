"""Every page in a real browser, looked over by axe-core: light and dark, phone and screen."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.contrib.auth.models import Permission, User
from playwright.sync_api import Page, Request, ViewportSize

from audit.models import ExecutedAgentAction
from integrations.models import Membership, Organisation
from tests.browser.pages import BARE_INPUTS, NO_PAGES, Pages, find_codes, is_page, read_page
from tests.browser.test_cards import asked
from tests.browser.windows import PHONE, find_too_narrow
from tests.clients import client_of
from tests.config.test_urls import PARAMETER, patterns
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
DESK: ViewportSize = {"width": 1440, "height": 900}
# In the theme of the admin, and in that of the browser for the pages that follow it.
DARKEN = "dark => document.documentElement.classList.toggle('dark', dark)"
SERIOUS = """async (rules) => (await axe.run({
    resultTypes: ["violations"], preload: false,
    ...(rules && {runOnly: {type: "rule", values: rules}}),
  })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 120)}`))"""
COLOURS = ["color-contrast", "link-in-text-block"]


def findings(page: Page) -> list[str]:
    """Everything in both windows, each in one theme; in the other theme what colours alone can
    change. The page is loaded once."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for window, theme, rules in (
        (DESK, "light", None),
        (DESK, "dark", COLOURS),
        (PHONE, "dark", None),
        (PHONE, "light", COLOURS),
    ):
        page.set_viewport_size(window)
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.evaluate(DARKEN, theme == "dark")
        serious = page.evaluate(SERIOUS, rules)
        found += [f"{window['width']} {theme} {one}" for one in serious]
    found += [f"wider than {width}" for width in find_too_narrow(page)]
    return found + [f"bare input {one}" for one in page.evaluate(BARE_INPUTS)]


def look_over(page: Page, addresses: list[str], origin: str) -> dict[str, list[str]]:
    """What is wrong with each of these pages."""
    foreign: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((origin, "data:", "blob:")):
            foreign.append(f"asks {request.url}")

    page.on("request", note)
    wrong = {}
    for address in addresses:
        foreign.clear()
        answer = page.goto(address)
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        unsafe = ["an unsafe policy"] if "unsafe" in policy else []
        if found := [*unsafe, *findings(page), *foreign]:
            wrong[address] = found
    return wrong


def test_no_page_has_a_serious_finding(office: Office, page: Page, problems: list[str]) -> None:
    office.deliver("newsletter")
    office.deliver("question")
    office.drain()
    card = asked(office, "send_email")
    action = ExecutedAgentAction.objects.order_by("id").first()
    assert action is not None
    pages = Pages(card, action.action_id)
    client = client_of(User.objects.get(username="operator"))
    found = {one: read_page(client, one) for one in pages.addresses()}
    addresses = [one for one, text in found.items() if text is not None]
    codes = {one: find_codes(text) for one, text in found.items() if text is not None}

    wrong = look_over(page, addresses, office.origin)

    assert {one: seen for one, seen in codes.items() if seen} == {}
    assert wrong == {}
    assert problems == []
    assert len(addresses) > 180


def test_no_page_without_data_has_a_serious_finding(
    office: Office, page: Page, problems: list[str]
) -> None:
    """Everything but forms, for a new organisation's staff."""
    Organisation.objects.create(slug="new", name="New Ltd")
    staff = User.objects.create(username="nina", is_staff=True)
    Membership.objects.create(user=staff, organisation=Organisation.objects.get(slug="new"))
    staff.user_permissions.set(Permission.objects.all())
    client = client_of(staff)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": office.origin}])
    addresses = [
        route
        for route, name in patterns()
        if not (route.startswith(NO_PAGES) or PARAMETER.search(route) or name.endswith("_add"))
        and is_page(client, route)
    ]

    wrong = look_over(page, addresses, office.origin)

    assert wrong == {}
    assert problems == []
    assert len(addresses) > 50
