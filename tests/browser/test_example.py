"""The example page (docs/examples/chat.html) on a site of its own, in a real browser."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from config.door.origins import with_origins
from integrations.models import ServiceToken
from scripts.room_graph import PROJECT
from tests.office import Office, entrance
from tests.sandbox_server import serving

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
EXAMPLES = PROJECT / "docs" / "examples"
ASK = "Create Jira tasks from John's proposal email"


def say(page: Page, text: str) -> None:
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Send").click()


def test_it_chats_from_another_origin_that_is_named(office: Office, browser: Browser) -> None:
    office.sync("gmail")
    token = ServiceToken.issue(
        organisation=office.organisation, name="page", scopes=["chat"], user_ids=["maya"]
    )[1]
    page = browser.new_page(viewport={"width": 390, "height": 844})
    site = Starlette(routes=[Mount("/", StaticFiles(directory=EXAMPLES))])
    with serving(site) as theirs, serving(with_origins(entrance(), origins=[theirs])) as ours:

        def open_page(remit: str, bearer: str) -> None:
            page.goto("about:blank")
            page.goto(f"{theirs}/chat.html?{urlencode({'remit': remit, 'user': 'maya'})}#{bearer}")

        open_page(ours, token)
        said = page.get_by_role("main")
        with office.worker():
            say(page, ASK)
            expect(said).to_contain_text("Remit: I found emails from multiple Johns.")
            say(page, "John Smith")
            expect(said).to_contain_text("Remit: I found John Smith's proposal email.")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        open_page(ours, "remit_wrong")
        say(page, ASK)
        expect(said).to_contain_text("This token is unknown, expired or revoked.")

        open_page(office.origin, token)  # which names no site
        say(page, ASK)
        expect(said).to_contain_text("Remit cannot be reached.")
    assert len(list((EXAMPLES / "chat.html").read_text().splitlines())) <= 40
    assert office.calls() == []
    page.close()
