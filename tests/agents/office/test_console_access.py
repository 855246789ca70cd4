"""Somebody who belongs to two organisations: each page is about one of them, shows nothing of the
other, and leads to pages about the same one."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from integrations.models import Membership
from tests.agents.office.test_console_pages import learn, read, write
from tests.agents.office.test_item_page import item
from tests.agents.pages import mailbox
from tests.clients import log_in

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
PAGES = ("console", "console-approvals", "console-patterns", "console-drafts")
LINKED = (*PAGES, "console-you")
OTHER = "elsewhere"


def belong(user: str, **own: str) -> None:
    """Who the person is themself in each of their organisations, by slug; empty: nobody."""
    for slug, user_id in own.items():
        row = Membership.objects.get(user__username=user, organisation__slug=slug)
        row.external_user_id = user_id
        row.save()


@pytest.fixture
def maya() -> Client:
    """Herself in both, under an id of each."""
    for user, slug in (("maya", "default"), ("m.lindqvist", OTHER)):
        account = mailbox(user, slug=slug)
        learn(account, name=f"Of {user}")
        write(account, receivers=[f"Of {user}"])
    client = log_in("maya.lindqvist", "use_own_console")
    belong("maya.lindqvist", default="maya", elsewhere="m.lindqvist")
    return client


def links(page: str) -> dict[str, dict[str, list[str]]]:
    """What the links to the four pages carry, by path."""
    nav = page[page.index("<nav") : page.index("</nav>")]
    found = map(urlsplit, map(html.unescape, re.findall(r'href="([^"]*)"', nav)))
    return {one.path: parse_qs(one.query) for one in found}


def options(page: str) -> list[str]:
    form = page[page.index('<select id="organisation"') :]
    return re.findall(r'<option value="([\w-]+)"', form[: form.index("</select>")])


@pytest.mark.parametrize("name", PAGES)
def test_each_page_is_of_one_organisation_and_leads_to_pages_of_the_same(
    maya: Client, name: str
) -> None:
    for slug, user, other in (
        ("default", "maya", "m.lindqvist"),
        (OTHER, "m.lindqvist", "maya"),
    ):
        page = maya.get(reverse(name), {"organisation": slug}).content.decode()

        assert options(page) == ["default", OTHER]
        assert f'<option value="{slug}" selected>' in page
        assert links(page) == {reverse(one): {"organisation": [slug]} for one in LINKED}
        assert f"Of {other}" not in page
        assert (f"Of {user}" in page) is (name in ("console-patterns", "console-drafts"))
        assert 'id="user" name="user"' not in page
        refused = maya.get(reverse(name), {"organisation": slug, "user": other})
        assert refused.status_code == 404
    assert '<option value="default" selected>' in maya.get(reverse(name)).content.decode()


def test_the_page_about_oneself_is_of_one_organisation(maya: Client) -> None:
    for slug, user, other in (("default", "maya", "m.lindqvist"), (OTHER, "m.lindqvist", "maya")):
        page = maya.get(reverse("console-you"), {"organisation": slug}).content.decode()

        assert options(page) == ["default", OTHER]
        assert f'<option value="{slug}" selected>' in page
        assert f"{user}@company.com" in page
        assert f"{other}@company.com" not in page
        assert links(page) == {reverse(one): {"organisation": [slug]} for one in LINKED}


def test_an_item_leads_back_to_the_pages_of_its_own_organisation(maya: Client) -> None:
    for user, slug in (("maya", "default"), ("m.lindqvist", OTHER)):
        row = item(mailbox(user, slug=slug))
        page = maya.get(reverse("console-item", args=[row.id])).content.decode()
        whose = {"organisation": [slug], "user": [user]}
        assert links(page) == {reverse(one): whose for one in LINKED}
        assert maya.get(reverse("console"), {"organisation": slug, "user": user}).status_code == 200
    stranger = item(mailbox("omar", slug=OTHER))
    assert maya.get(reverse("console-item", args=[stranger.id])).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_who_may_act_in_one_of_two_organisations_meets_that_one(name: str) -> None:
    mailbox("maya")
    mailbox("nora", slug=OTHER)
    nora = log_in("nora", "use_own_console")
    belong("nora", default="", elsewhere="nora")

    page = nora.get(reverse(name)).content.decode()

    assert links(page) == {reverse(one): {} for one in LINKED}
    assert 'id="organisation"' not in page
    assert nora.get(reverse(name), {"organisation": OTHER}).status_code == 200
    assert nora.get(reverse(name), {"organisation": "default"}).status_code == 403
    belong("nora", elsewhere="")
    assert nora.get(reverse(name)).status_code == 403


@pytest.mark.parametrize("name", PAGES)
def test_staff_of_two_organisations_stay_with_the_user_whom_they_chose(name: str) -> None:
    for user, slug in (("maya", "default"), ("omar", "default"), ("eve", OTHER)):
        learn(mailbox(user, slug=slug), name=f"Of {user}")
    olga = log_in("olga", "use_console")

    def ask(**wanted: str) -> Any:
        return olga.get(reverse(name), wanted)

    page = ask(user="omar").content.decode()
    assert links(page) == {
        reverse(one): {"organisation": ["default"], "user": ["omar"]} for one in LINKED
    }
    # Another organisation is chosen without the user of this one.
    form = page[page.index('<select id="organisation"') :]
    assert 'name="user"' not in form[: form.index("</form>")]
    assert ask(organisation=OTHER).context["user_id"] == "eve"
    assert ask(organisation=OTHER, user="omar").status_code == 404
    assert "Of omar" not in ask(organisation=OTHER).content.decode()


def test_of_one_organisation_and_one_user_no_link_names_either() -> None:
    mailbox("maya")
    maya = log_in("maya", "use_own_console")
    belong("maya", default="maya")

    page = maya.get(reverse("console")).content.decode()

    assert links(page) == {reverse(one): {} for one in LINKED}
    assert User.objects.get(username="maya").memberships.count() == 1
    assert "Remit" in read(maya, "console-drafts")
