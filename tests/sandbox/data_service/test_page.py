import re

import httpx
import pytest
from playwright.sync_api import Browser

from tests.sandbox.data_service.client import Client, mail

HOSTILE = "</summary><script>alert(1)</script><img src=x onerror=alert(2)> \"'&"


def page(office: Client, **params: str) -> httpx.Response:
    return office.http.get(f"{office.sandbox.origin}/", params=params)


def test_the_page_says_that_it_is_a_sandbox_and_shows_the_office(office: Client) -> None:
    text = page(office).text
    assert "This is a sandbox." in text
    assert "nothing leaves this machine" in text
    for shown in (
        "Maya Lindqvist, maya@company.com",
        "Proposal: customer portal",
        "PROJ-100 Show opening hours of support in the portal",
        "Portal planning",
        "Board page: the portal",
        "Newsletter",
    ):
        assert shown in text
    assert re.search(r"Shown at \d\d \w{3} \d{4} \d\d:\d\d UTC", text)


def test_the_page_shows_what_was_done(office: Client) -> None:
    office.post("/maya/drafts", {"to": ["a@b.example"], "subject": "A fresh draft"}, key="k1")
    office.post("/maya/drafts", {"to": ["a@b.example"], "subject": "A fresh draft"}, key="k1")
    office.post("/maya/emails/send", {"to": []})
    text = page(office).text
    assert "A fresh draft" in text
    assert "POST /users/maya/drafts" in text
    for outcome in ("done", "already done before", "not done (422)"):
        assert f"<span class=chip>{outcome}</span>" in text


def test_hostile_text_is_shown_and_does_nothing(office: Client) -> None:
    hostile = mail("m1", subject=HOSTILE, from_name=HOSTILE, body_text=HOSTILE, to=[HOSTILE])
    office.control("POST", "/users/maya/emails", {"items": [hostile]})
    office.post("/maya/jira/issues", {"project_key": "OPS", "type": "bug", "summary": HOSTILE})
    office.post("/maya/documents", {"name": HOSTILE, "content": HOSTILE})
    office.post("/maya/drafts", {"subject": HOSTILE, "body": HOSTILE})
    office.control("POST", "/users/%3Cscript%3E'x", {"name": HOSTILE, "address": HOSTILE})
    response = page(office)
    assert "<script" not in response.text
    assert "<img" not in response.text
    assert response.text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 8
    assert page(office, user="<script>'x").status_code == 200


def test_the_page_allows_no_script_and_nothing_remote(office: Client) -> None:
    policy = page(office).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_another_users_page_shows_only_theirs(office: Client) -> None:
    text = page(office, user="omar").text
    assert "Second on-call rota" in text
    assert "Proposal: customer portal" not in text
    assert page(office, user="nobody").status_code == 404


def test_the_page_is_only_served_under_this_machines_name(office: Client) -> None:
    response = office.http.get(f"{office.sandbox.origin}/", headers={"Host": "evil.example"})
    assert response.status_code == 400


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_its_screen_and_keeps_to_its_policy(
    office: Client, browser: Browser, width: int
) -> None:
    long = mail("m1", subject="x" * 400, body_text="y" * 400)
    office.control("POST", "/users/maya/emails", {"items": [long]})
    complaints: list[str] = []
    tab = browser.new_page(viewport={"width": width, "height": 800})
    tab.on("console", lambda message: complaints.append(message.text))
    tab.goto(f"{office.sandbox.origin}/")
    tab.get_by_text("Proposal: customer portal").click()
    assert tab.get_by_text("1. Setup CI/CD").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()
    assert [text for text in complaints if "favicon" not in text] == []
