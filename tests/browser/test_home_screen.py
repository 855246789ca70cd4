"""Remit on a phone's home screen, as Chromium reads it. From there alone iPhones notify."""

import json
import struct
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page

from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
MOST_BYTES = 16_000  # of an icon
PNG = b"\x89PNG\r\n\x1a\n"


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def manifest_of(context: BrowserContext, page: Page) -> dict[str, Any]:
    session = context.new_cdp_session(page)
    found: dict[str, Any] = session.send("Page.getAppManifest")
    return found


@pytest.mark.parametrize("address", ["/console/", "/console/approvals", "/admin/"])
def test_a_page_can_be_put_on_the_home_screen(
    office: Office, page: Page, context: BrowserContext, problems: list[str], address: str
) -> None:
    page.goto(address)

    found = manifest_of(context, page)

    assert (found["errors"], problems) == ([], [])
    said = json.loads(found["data"])
    start = urljoin(found["url"], said["start_url"])
    assert urlsplit(start).netloc == urlsplit(office.origin).netloc
    assert start.startswith(urljoin(found["url"], said["scope"]))
    assert said["display"] == "standalone"
    installing = context.new_cdp_session(page).send("Page.getInstallabilityErrors")
    # A test's window is a private one; nothing else is in the way.
    assert [one["errorId"] for one in installing["installabilityErrors"]] == ["in-incognito"]
    for icon in said["icons"]:
        file = httpx.get(urljoin(found["url"], icon["src"]))
        assert file.headers["Content-Type"] == icon["type"]
        assert "{}x{}".format(*size_of(file.content)) == icon["sizes"]
        assert len(file.content) < MOST_BYTES
    apple = page.locator("link[rel=apple-touch-icon]").get_attribute("href")
    assert size_of(httpx.get(urljoin(office.origin, apple or "")).content) == (180, 180)
