"""The console's pages in another language than English: what Remit says there, and that nothing
was left out.

In the second test each sentence is put into letters that no other text has, before pages and
scripts get it. What is in plain letters then is somebody's data, or was never translated.
"""

import re
from collections.abc import Iterator

import pytest
from django.utils import translation
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from guardrails.models import KillSwitch
from integrations.models import Account, Membership, UserPreferences
from tests.agents.office.test_console_pages import learn, write
from tests.agents.office.test_item_page import item
from tests.browser.test_own_pages import log_in_as_maya, pictures
from tests.browser.windows import PHONE
from tests.office import PASSWORD, Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
SEEN = """() => {
  const data = "[lang=en], script, bdi, article, option, noscript, .value, .text, .snippet, li a,"
    + " .question button, .found small, .beside blockquote";
  const shown = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
  const of = document.createTreeWalker(document.body, shown);
  const found = [document.title];
  while (of.nextNode()) {
    const node = of.currentNode;
    const isText = node.nodeType === Node.TEXT_NODE;
    if ((isText ? node.parentElement : node).closest(data)) continue;
    if (isText) found.push(node.data);
    else for (const name of ["aria-label", "title", "placeholder"]) {
      found.push(node.getAttribute(name));
    }
  }
  return found.map((one) => one?.trim()).filter(Boolean);
}"""
HOLE = re.compile(r"(%\(\w+\)[sd]|%[sd])")
APART = str.maketrans({chr(code): chr(code + 0xFEE0) for code in (*range(65, 91), *range(97, 123))})
# What the office's people, mails and programs say.
DATA = (
    *("Remit", "Europe/Stockholm", "maya@company.com", "ada@client.com", "PROJ", "medium", "task"),
    *("Payment Integration", "User Auth", "Setup CI/CD", "Create Jira tasks from John's proposal"),
    *("Connect the card provider so that customers can pay open invoices inside the portal.",),
    *("Let customers sign in with e-mail and a one-time link, with roles for buyer and",),
    *("Build a pipeline that tests every change and puts it on the staging server without",),
    *("administrator.", "manual steps.", "The user asked for it.", "email", "When does the roof"),
    *("get done?", "News of the market", "CloudNest invoices", "Product Weekly", "Label_3"),
    *("billing@cloudnest.example", "your cloudnest invoice cn-# is ready", "list-1"),
    *(
        "<weekly.productweekly.example>",
        "UTC",
        "operator",
        "Everything is wrong.",
        "Invoices",
        "Newsletter",
        # Numbers take another way through the catalogue.
        "Das Passwort muss mindestens 8 Zeichen enthalten.",
    ),
)


@pytest.fixture
def context(
    browser: Browser, office: Office, request: pytest.FixtureRequest
) -> Iterator[BrowserContext]:
    """A browser in German or what a test names, and a user who chose German."""
    UserPreferences.objects.update_or_create(
        organisation=office.organisation, external_user_id="maya", defaults={"language": "de"}
    )
    opened = browser.new_context(
        base_url=office.origin,
        viewport={"width": 1280, "height": 900},
        locale=getattr(request, "param", "de-DE"),
    )
    yield opened
    opened.close()


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    real = translation._trans.gettext  # type: ignore[attr-defined]

    def say(text: str) -> str:
        return put_apart(text) if translation.get_language() == "de" else str(real(text))

    monkeypatch.setattr(translation._trans, "gettext", say)  # type: ignore[attr-defined]


def put_apart(text: str) -> str:
    """In letters of full width."""
    parts = HOLE.split(text)
    return "".join(one if HOLE.fullmatch(one) else one.translate(APART) for one in parts)


def find_plain(page: Page) -> list[str]:
    """What stands on the page in plain letters and is nobody's data."""
    data = re.compile("|".join(re.escape(one) for one in sorted(DATA, key=len, reverse=True)))
    page.wait_for_load_state()  # a form may have led to another page, which is on its way
    seen: list[str] = page.evaluate(SEEN)
    return [one for one in seen if re.search("[A-Za-z]{2}", data.sub("", one))]


def status(page: Page, text: str) -> None:
    expect(page.get_by_role("status").first).to_have_text(text, timeout=30_000)


@pytest.mark.parametrize("context", ["fr-FR"], indirect=True)
def test_who_chose_german_chats_in_german_in_a_french_browser(
    office: Office, page: Page, problems: list[str]
) -> None:
    asked: set[str | None] = set()  # in which languages scripts ask the API

    def note(request: Request) -> None:
        if request.resource_type == "fetch" and "/api/" in request.url:
            asked.add(request.headers.get("accept-language"))

    log_in_as_maya(office, page)
    page.set_viewport_size(PHONE)
    page.on("request", note)
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        page.get_by_label("Nachricht", exact=True).fill(
            "Create Jira tasks from John's proposal email"
        )
        page.get_by_role("button", name="Senden").click()
        status(page, "Der Agent stellt eine Frage.")
        page.get_by_role("button", name="John Smith (john@company.com) - 5 recent emails").click()
        status(page, "1 Frage wartet auf deine Entscheidung.")
        pictures(page, "chat.de")
        page.get_by_role("checkbox", name="User Auth").uncheck()
        page.get_by_role("button", name="Die angekreuzten bestätigen").click()
        status(page, "Fertig.")
    expect(page.locator("#log")).to_contain_text("2 Aktionen bestätigt. 1 Aktion abgelehnt.")
    expect(page.get_by_role("region", name="Erledigt", exact=True)).to_have_count(2)
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert asked == {"de"}
    asked.clear()
    learn(Account.objects.get(external_user_id="maya", source="gmail"), 1, name="Market")
    page.goto("/console/patterns")
    page.get_by_role("button", name="Ablehnen: Market").click()
    status(page, "Erledigt: Ablehnen.")
    assert asked == {"de"}
    assert problems == []


def test_no_sentence_of_the_consoles_pages_is_english_alone(
    office: Office, page: Page, problems: list[str], apart: None
) -> None:
    office.sync("gmail")
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    plain: dict[str, list[str]] = {}

    def look(name: str) -> None:
        if found := find_plain(page):
            plain[name] = found

    with office.worker():
        page.goto("/console/")
        look("a chat")
        page.get_by_role("button", name="Create Jira tasks from John's proposal email").click()
        status(page, put_apart("The agent asks a question."))
        look("a question")
        page.get_by_role("button", name="John Smith (john@company.com) - 5 recent emails").click()
        status(page, put_apart("1 question waits for your decision."))
        for details in page.locator("details").all():
            details.evaluate("(one) => { one.open = true; }")
        look("cards that wait")
        session = page.url
        page.goto("/console/approvals")
        look("waiting")
        page.get_by_role("button", name=put_apart("Confirm")).first.click()
        status(page, f"{put_apart('Done')}: {put_apart('Confirm')}.")
        page.goto(session)
        status(page, put_apart("1 question waits for your decision."))
        look("done and waiting")
        page.get_by_role("searchbox").fill("PROJ")
        page.get_by_role("searchbox").press("Enter")
        status(page, put_apart("The search is done."))
        look("a search")
    for name in ("patterns", "drafts", "you"):
        page.goto(f"/console/{name}")
        look(name)
    page.locator("#quiet_from").fill("22:00")
    page.locator("button.primary").click()
    look("you, with a mistake")
    mail = item(mailbox, title="When does the roof get done?")
    write(mailbox, state="edited", nearness=0.9, answer_id="m2", reply_to_id=mail.source_id)
    learn(mailbox, 1, name="News of the market", hits=7, corrections=1, tried_mails=300)
    KillSwitch.objects.create(thrown_by="operator:operator", why="Everything is wrong.")
    for name in ("patterns", "drafts", f"items/{mail.id}", "drafts?user=operator"):
        page.goto(f"/console/{name}")
        look(name)
    log_in_as_maya(office, page)
    for name in ("", "approvals", "drafts?user=operator", "you", "you?saved=1"):
        page.goto(f"/console/{name}")
        look(f"maya's {name}")
    Membership.objects.update(external_user_id="")
    page.goto("/console/")
    look("refused")
    for name in ("logout/", "inactive/", "reauthenticate/", "password/change/", "2fa/", "nowhere"):
        page.goto(f"/accounts/{name}")
        look(name)
    page.context.clear_cookies()
    page.goto("/accounts/oidc/finish/")
    look("no provider")
    page.goto("/accounts/login/?next=/accounts/2fa/totp/activate/")
    look("logging in")
    page.locator("#id_login").fill("operator")
    page.locator("#id_password").fill("wrong")
    page.locator("button.primary").click()
    look("a wrong log-in")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("button.primary").click()
    page.wait_for_url("**/reauthenticate/**")
    look("the password again")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("main form button").first.click()
    page.wait_for_url("**/totp/activate/")
    look("an app")
    page.goto("/accounts/2fa/webauthn/add/")
    look("a passkey")

    assert plain == {}
    # The pages of an unknown user, and the last one.
    assert [one for one in problems if not re.search(r"40[34] \(", one)] == []
