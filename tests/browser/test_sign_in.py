"""Logging in at a provider of OpenID Connect: from Remit's page to the provider's, and back."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import caches
from playwright.sync_api import Browser, Page, expect

from agents.office.roles import make_roles
from audit.contracts import LEDGER_TENANT, Filters
from audit.ledger.selectors import actions
from config.pages.single_sign_on import SingleSignOn
from integrations.models import Membership, SignInIdentity
from integrations.network import http
from tests.browser.test_axe import findings
from tests.office import Office
from tests.oidc_world import CLIENT_ID, CLIENT_SECRET, CONSENT, OidcProvider, running_oidc

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]


@pytest.fixture
def provider(
    office: Office, settings: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OidcProvider]:
    """Configured for this office; who comes there is nobody here yet."""
    with running_oidc() as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
        http.close_clients()
        caches["quick"].clear()
        running.redirect = f"{office.origin}/accounts/oidc/finish/"
        running.person = {"sub": f"sub-{uuid4().hex}", "name": "Ann Example"}
        settings.SINGLE_SIGN_ON = SingleSignOn(  # type: ignore[attr-defined]
            issuer=running.origin,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            name="Company Login",
            organisation="default",
            binds_by_mail=False,
            creates_users=False,
        )
        yield running
        http.close_clients()


@pytest.fixture
def page(browser: Browser, office: Office) -> Iterator[Page]:
    """Nobody is logged in. The provider's certificate is its own."""
    context = browser.new_context(base_url=office.origin, ignore_https_errors=True)
    yield context.new_page()
    context.close()


def make_approver(office: Office, provider: OidcProvider) -> User:
    """Of this office, bound to the person at the provider."""
    make_roles()
    user = User.objects.create(username=f"ann-{uuid4().hex[:8]}", first_name="Ann", is_staff=True)
    user.groups.add(Group.objects.get(name="Approver"))
    Membership.objects.create(user=user, organisation=office.organisation)
    SignInIdentity.objects.create(user=user, issuer=provider.origin, subject=provider.person["sub"])
    return user


def go_there(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Sign in with Company Login").click()
    expect(page.get_by_role("heading", name=CONSENT)).to_be_visible()


def log_ins(user: User) -> list[list[str]]:
    """By what they came in, each time. The ledger is never emptied."""
    filters = Filters(tenant_id=LEDGER_TENANT, action_type="login.succeeded")
    found = [dict(row.payload) for row in actions(filters=filters, limit=20).rows]
    return [row["by"] for row in found if row["operator"] == user.username]


def refusals(provider: OidcProvider) -> list[tuple[str, str]]:
    """Of people of this provider, the newest first: as whom they came, and why not."""
    filters = Filters(tenant_id=LEDGER_TENANT, action_type="login.refused")
    found = [dict(row.payload) for row in actions(filters=filters, limit=20).rows]
    return [(row["subject"], row["reason"]) for row in found if row["issuer"] == provider.origin]


def test_who_agrees_is_back_as_themselves_in_their_role(
    office: Office, provider: OidcProvider, page: Page
) -> None:
    user = make_approver(office, provider)

    go_there(page, "/admin/")
    expect(page.get_by_text("It asks for: openid email profile")).to_be_visible()
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["code_challenge_method"] == ["S256"]
    page.get_by_role("button", name="Agree").click()

    page.wait_for_url("**/admin/guardrails/approval/?state__exact=pending")
    assert page.context.cookies(office.origin)
    expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    answer = page.request.get("/admin/audit/executedagentaction/")
    assert answer.status == 403  # an approver's role ends before the ledger
    assert log_ins(user) == [["oidc"]]


def test_who_refuses_there_or_is_nobody_here_is_at_the_log_in_page_and_reads_why(
    office: Office, provider: OidcProvider, page: Page
) -> None:
    user = make_approver(office, provider)

    go_there(page, "/admin/")
    page.get_by_role("button", name="Refuse").click()

    expect(page).to_have_url(f"{office.origin}/accounts/login/")
    expect(page.get_by_text("Company Login did not log you in.")).to_be_visible()
    assert findings(page) == []

    provider.person["sub"] = stranger = f"sub-{uuid4().hex}"
    go_there(page, "/admin/")
    page.get_by_role("button", name="Agree").click()

    expect(page).to_have_url(f"{office.origin}/accounts/login/")
    expect(
        page.get_by_text(f"bind it to your user: {stranger} at {provider.origin}")
    ).to_be_visible()
    page.goto("/admin/guardrails/approval/")
    expect(page.get_by_label("Password")).to_be_visible()  # still outside
    assert log_ins(user) == []
    assert refusals(provider) == [(stranger, "identity_unknown"), ("", "provider_refused")]
