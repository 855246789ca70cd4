"""Every page in a real browser, looked over by axe-core: light and dark, phone and screen."""

from collections.abc import Sequence

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.contrib.auth.models import Permission, User
from playwright.sync_api import Page, Request

from audit.models import ExecutedAgentAction
from integrations.models import Membership, Organisation
from tests.browser.pages import BARE_INPUTS, NO_PAGES, Pages, find_codes, read_pages
from tests.browser.shapes import SIDEBAR, Seen, read_shape
from tests.browser.test_cards import asked
from tests.browser.windows import PHONE, SCREEN, is_too_wide
from tests.clients import client_of
from tests.config.test_urls import PARAMETER, patterns
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
# In the theme of the admin, and in that of the browser for the pages that follow it.
DARKEN = "dark => document.documentElement.classList.toggle('dark', dark)"
SERIOUS = """async ([rules, without]) => (await axe.run({exclude: without}, {
    resultTypes: ["violations"], preload: false,
    ...(rules && {runOnly: {type: "rule", values: rules}}),
  })).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 120)}`))"""
COLOURS = ["color-contrast", "link-in-text-block"]


def findings(page: Page, without: Sequence[str] = ()) -> list[str]:
    """Everything in both windows, each in one theme; in the other theme what colours alone can
    change. The page is loaded once."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for window, theme, rules in (
        (SCREEN, "light", None),
        (SCREEN, "dark", COLOURS),
        (PHONE, "dark", None),
        (PHONE, "light", COLOURS),
    ):
        page.set_viewport_size(window)
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.evaluate(DARKEN, theme == "dark")
        serious = page.evaluate(SERIOUS, [rules, list(without)])
        found += [f"{window['width']} {theme} {one}" for one in serious]
        if is_too_wide(page):
            found.append(f"wider than {window['width']}")
    return found + [f"bare input {one}" for one in page.evaluate(BARE_INPUTS)]


def look_over(page: Page, found: dict[str, str], origin: str, seen: Seen) -> dict[str, list[str]]:
    """What is wrong with each of these pages: their addresses and texts."""
    foreign: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((origin, "data:", "blob:")):
            foreign.append(f"asks {request.url}")

    page.on("request", note)
    wrong = {}
    for address, text in found.items():
        shape = read_shape(text)
        if shape in seen.pages:
            continue
        without = [f"#{SIDEBAR}"] if shape.sidebar in seen.sidebars else []
        seen.note(shape)
        foreign.clear()
        answer = page.goto(address)
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        unsafe = ["an unsafe policy"] if "unsafe" in policy else []
        if bad := [*unsafe, *findings(page, without), *foreign]:
            wrong[address] = bad
    return wrong


@pytest.fixture(scope="module")
def seen() -> Seen:
    """Without data, most pages are as they are with some."""
    return Seen()


def test_no_page_has_a_serious_finding(
    office: Office, page: Page, problems: list[str], seen: Seen
) -> None:
    office.deliver("newsletter")
    office.deliver("question")
    office.drain()
    card = asked(office, "send_email")
    action = ExecutedAgentAction.objects.order_by("id").first()
    assert action is not None
    pages = Pages(card, action.action_id)
    client = client_of(User.objects.get(username="operator"))
    found = read_pages(client, pages.addresses())
    codes = {one: find_codes(text) for one, text in found.items()}

    wrong = look_over(page, found, office.origin, seen)

    assert {one: seen for one, seen in codes.items() if seen} == {}
    assert wrong == {}
    assert problems == []
    assert len(found) > 180
    assert len(seen.pages) > 100


def test_no_page_without_data_has_a_serious_finding(
    office: Office, page: Page, problems: list[str], seen: Seen
) -> None:
    """Everything but forms, for a new organisation's staff."""
    Organisation.objects.create(slug="new", name="New Ltd")
    staff = User.objects.create(username="nina", is_staff=True)
    Membership.objects.create(user=staff, organisation=Organisation.objects.get(slug="new"))
    staff.user_permissions.set(Permission.objects.all())
    client = client_of(staff)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": office.origin}])
    routes = (
        route
        for route, name in patterns()
        if not (route.startswith(NO_PAGES) or PARAMETER.search(route) or name.endswith("_add"))
    )
    found = read_pages(client, routes)

    wrong = look_over(page, found, office.origin, seen)

    assert wrong == {}
    assert problems == []
    assert len(found) > 50
