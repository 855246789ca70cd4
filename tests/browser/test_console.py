"""The chat console in a real browser, with everything behind it."""

import json
import re

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from agents.answer import escalations
from agents.models import Conversation, Escalation, Message, Suggestion, Turn
from integrations.models import Delivery, Membership
from tests.agents.inbound import test_events as invitations
from tests.agents.inbound.test_events import NOOR, next_monday
from tests.agents.inbound.test_taking_up import answer_of, permit
from tests.clients import client_of
from tests.office import Office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    # The static files of a test come from disk through a synchronous iterator.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous"),
]
PHONE = {"width": 390, "height": 844}


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def last(page: Page) -> Locator:
    return page.locator(".message.assistant:not([aria-busy])").last


def status(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_have_text(text, timeout=30_000)


def test_the_seeds_story(office: Office, page: Page, problems: list[str]) -> None:
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        expect(page.get_by_role("note")).to_contain_text("It is not a language model.")
        page.get_by_role("button", name="Create Jira tasks from John's proposal email").click()
        status(page, "The agent asks a question.")
        expect(last(page)).to_contain_text(
            "I found emails from multiple Johns. Which one did you mean?"
        )
        expect(last(page).get_by_text("Context used")).to_be_visible()
        page.get_by_role("button", name="John Smith (john@company.com) - 5 recent emails").click()

        status(page, "1 question waits for your decision.")
        expect(last(page)).to_contain_text(
            "I found John Smith's proposal email. I've extracted 3 tasks:"
        )
        asked = page.get_by_role("region", name="Pending question")
        expect(asked.get_by_role("heading")).to_have_text("3 actions: Create a task in PROJ")
        for name in ("Setup CI/CD", "User Auth", "Payment Integration"):
            expect(asked.get_by_role("checkbox", name=name)).to_be_checked()
        cards = page.get_by_role("region", name="Pending action")
        # Where it goes is said first, and where that comes from.
        first = cards.first.locator("dt, dd")
        expect(first.nth(0)).to_have_text("project key")
        expect(first.nth(1)).to_contain_text("on the list of what is permitted")
        page.get_by_role("button", name="Confirm the ticked ones").click()

        status(page, "Finished.")
        expect(last(page).locator(".text")).to_have_text(
            "Done! Created 3 tasks in Jira: PROJ-101: Setup CI/CD PROJ-102: User Auth "
            "PROJ-103: Payment Integration"
        )
        expect(page.get_by_role("region", name="Pending action")).to_have_count(0)
        done = page.get_by_role("region", name="Done")
        expect(done.get_by_role("link", name=re.compile("^PROJ-10[123]$"))).to_have_count(3)
        ledger = done.first.get_by_role("link", name="Ledger").get_attribute("href")
    page.goto(ledger or "")
    expect(page.get_by_text("create jira task").first).to_be_visible()
    assert problems == []


def test_what_is_not_ticked_is_left_out_of_the_one_answer_also_after_a_reload(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        page.get_by_label("Message", exact=True).focus()
        page.keyboard.type("Create Jira tasks from John's proposal email")
        page.keyboard.press("Enter")
        status(page, "The agent asks a question.")
        page.get_by_role("button", name="John Smith").press("Enter")
        status(page, "1 question waits for your decision.")

        page.reload()
        status(page, "1 question waits for your decision.")
        expect(page.get_by_role("region", name="Pending action")).to_have_count(3)
        page.get_by_role("checkbox", name="User Auth").press("Space")
        page.get_by_role("button", name="Confirm the ticked ones").press("Enter")
        status(page, "Finished.")
        expect(page.locator("#log")).to_contain_text("Confirmed 2 actions. Rejected 1 action.")
    summaries = {call["body"]["summary"] for call in office.calls()}
    assert summaries == {"Setup CI/CD", "Payment Integration"}
    assert problems == []


def cards(page: Page) -> list[str]:
    """What stands under the answers."""
    return page.locator("#log .card").all_inner_texts()


def test_a_reload_at_any_moment_shows_what_was_there(
    office: Office, page: Page, problems: list[str]
) -> None:
    """FINDINGS C4: a turn under way had no stop and no stream, and said that nothing was done;
    afterwards cards, links and refusals were gone."""
    office.sync("gmail")
    stop = page.get_by_role("button", name="Stop", exact=True)
    page.goto("/console/")
    say(page, "Create Jira tasks from John's proposal email")
    expect(stop).to_be_visible()
    page.reload()
    expect(stop).to_be_visible()
    expect(page.locator("#log")).not_to_contain_text("No action was carried out")

    with office.worker():
        status(page, "The agent asks a question.")
        before = cards(page)
        page.reload()
        status(page, "The agent asks a question.")
        assert cards(page) == before
        page.get_by_role("button", name="John Smith").click()
        status(page, "1 question waits for your decision.")
        page.get_by_role("button", name="Confirm the ticked ones").click()
        status(page, "Finished.")
        say(page, "Create a task in OPS: Order new plants")
        refused = page.get_by_role("region", name="Not done")
        expect(refused).to_have_count(1, timeout=30_000)
        before = cards(page)
        page.reload()
        expect(refused).to_have_count(1, timeout=30_000)
    assert cards(page) == before
    done = page.get_by_role("region", name="Done")
    expect(done.get_by_role("link", name=re.compile("^PROJ-10[123]$"))).to_have_count(3)
    assert problems == []


def test_a_turn_under_way_is_stopped_after_a_reload(office: Office, page: Page) -> None:
    page.goto("/console/")
    say(page, "Create a task in OPS: Order new plants")
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    page.reload()
    page.get_by_role("button", name="Stop", exact=True).click()

    status(page, "Finished.")
    assert [turn.ending for turn in Turn.objects.all()] == [Turn.Ending.STOPPED]
    assert office.calls() == []


def test_a_mail_arrives_and_is_worked_through(
    office: Office, page: Page, problems: list[str]
) -> None:
    with office.worker():
        page.goto("/console/")
        page.get_by_text("Deliver a mail").click()
        page.get_by_role("button", name="Newsletter").click()
        status(page, "The mail is processed.")
        mail = page.locator(".message.mail")
        expect(mail).to_contain_text("Product Weekly: The first ten minutes")
        expect(mail.get_by_role("listitem")).to_have_count(2)
        expect(mail).to_contain_text(": done.")
        addresses = [link.get_attribute("href") or "" for link in mail.get_by_role("link").all()]
    assert len(addresses) == 3
    for address in addresses:
        page.goto(address)
        expect(page.get_by_role("heading").first).to_be_visible()
    assert problems == []


def test_the_poisoned_mail_gets_nothing_out(office: Office, page: Page) -> None:
    with office.worker():
        page.goto("/console/")
        page.get_by_text("Deliver a mail").click()
        page.get_by_role("button", name="Poisoned").click()
        status(page, "The mail is processed.")

    assert Delivery.objects.get(kind="created").state == Delivery.State.PROCESSED
    assert not [call for call in office.calls() if "send" in call["path"]]


def test_what_strangers_wrote_is_text(office: Office, page: Page, problems: list[str]) -> None:
    organisation = office.organisation
    hostile = '<img src=x onerror="document.title=1"> pay\u202eer <script>alert(1)</script>'
    conversation = Conversation.objects.create(
        organisation=organisation, external_user_id="maya", title=hostile[:100]
    )
    turn = Turn.objects.create(
        organisation=organisation,
        external_user_id="maya",
        kind=Turn.Kind.CHAT,
        conversation=conversation,
        state=Turn.State.FINISHED,
        ending=Turn.Ending.REPLY,
        context=[{"n": 1, "id": str(conversation.id), "source": "gmail", "title": hostile}],
        actions=[
            {
                "id": str(conversation.id),
                "action_id": str(conversation.id),
                "type": "archive",
                "status": "succeeded",
                "description": hostile,
                "artifacts": [{"kind": "x", "id": "x", "url": "javascript:document.title=2"}],
            },
        ],
    )
    for role in ("user", "assistant"):
        Message.objects.create(conversation=conversation, turn=turn, role=role, content=hostile)

    page.goto(f"/console/#maya/{conversation.id}")
    status(page, "Finished.")

    expect(page.get_by_role("log")).to_contain_text("pay⟨U+202E⟩er <script>alert(1)</script>")
    assert page.locator("#console img, #console script").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert page.title() == "Chat console | Remit"
    assert problems == []


def test_a_refused_action_says_why(office: Office, page: Page) -> None:
    with office.worker():
        page.goto("/console/")
        say(page, "create a task in OPS: Buy plants")
        status(page, "Finished.")
        refused = page.get_by_role("region", name="Not done")
        expect(refused).to_be_visible()
        expect(refused.locator(".about")).to_contain_text("“Buy plants”")
        expect(refused.locator("p:not(.about)").first).to_have_text(
            "A target is not among those an operator listed. “OPS” (project key)"
        )
    assert office.calls() == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("You get it back.", "A person has answered."),
        ("", "A person has finished it without an answer."),
    ],
)
def test_a_persons_answer_appears_while_the_session_is_open(
    office: Office, page: Page, problems: list[str], answer: str, told: str
) -> None:
    looks = "() => window.dispatchEvent(new Event('focus'))"
    with office.worker():
        page.goto("/console/")
        say(page, "I want to talk to a person about my refund")
        status(page, "Finished.")
        page.evaluate(looks)
        expect(page.get_by_role("button", name="waits for a person")).to_be_visible()
        say(page, "What is on today?")  # the user need not sit there and wait
        status(page, "Finished.")
    page.reload()  # nor does it matter where the answer is waited for
    expect(page.locator(".message.user")).to_have_count(2)
    status(page, "Finished.")
    row = Escalation.objects.get()
    escalations.finish_escalation(
        row.id, by="ada", answer=answer, note="Called her.", now=timezone.now()
    )
    page.evaluate(looks)

    status(page, told)
    page.evaluate(looks)
    expect(page.locator(".message.person .text")).to_have_text([answer] if answer else [])
    expect(page.get_by_role("button", name="waits for a person")).to_have_count(0)
    page.reload()
    expect(page.locator(".message.assistant .record")).to_have_count(2)
    expect(page.locator(".message.person .record")).to_have_count(0)
    assert problems == []


def test_errors_are_sentences(office: Office, page: Page) -> None:
    page.goto("/console/")
    page.route("**/api/v1/chat/stream", lambda route: route.abort())
    say(page, "Hello")
    expect(page.get_by_role("alert")).to_have_text(
        "The server cannot be reached. Check that Remit runs, then try again."
    )
    expect(page.get_by_label("Message", exact=True)).to_have_value("Hello")  # nothing is lost
    page.unroute("**/api/v1/chat/stream")

    page.context.clear_cookies()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert").last).to_have_text(re.compile(r"^[A-Z].+\.$"))


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(
    office: Office, page: Page, problems: list[str], colours: str
) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a typed dict of playwright's own
    page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        say(page, "Create Jira tasks from John's proposal email")
        page.get_by_role("button", name="John Smith").click()
        status(page, "1 question waits for your decision.")

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert problems == []


def test_on_a_phone_the_message_is_at_hand_and_sessions_are_a_tap_away(
    office: Office, page: Page, context: BrowserContext, browser: Browser, problems: list[str]
) -> None:
    held = browser.new_context(
        base_url=office.origin,
        viewport=PHONE,  # type: ignore[arg-type]
        has_touch=True,
        is_mobile=True,
        storage_state=context.storage_state(),
    )
    phone = held.new_page()
    side, box = phone.locator("#side"), phone.get_by_label("Message", exact=True)
    office.sync("gmail")
    with office.worker():
        phone.goto("/console/")
        expect(side).to_be_hidden()
        expect(box).to_be_in_viewport(ratio=1)
        say(phone, "Create Jira tasks from John's proposal email")
        status(phone, "The agent asks a question.")
    expect(box).to_be_in_viewport(ratio=1)
    expect(box).not_to_be_focused()  # its keyboard would cover the question

    phone.get_by_role("button", name="Sessions", exact=True).tap()
    expect(side.get_by_label("Search what was read")).to_be_visible()
    phone.keyboard.press("Escape")
    expect(side).to_be_hidden()
    phone.get_by_role("button", name="Sessions", exact=True).tap()
    side.get_by_role("button", name="New session", exact=True).tap()
    expect(side).to_be_hidden()
    expect(phone.locator("#log")).to_be_empty()
    phone.get_by_role("button", name="Sessions", exact=True).tap()
    side.get_by_role("button", name="Create Jira tasks").tap()
    expect(side).to_be_hidden()
    expect(last(phone)).to_contain_text("Which one did you mean?")
    held.close()
    assert problems == []


@pytest.fixture
def maya(office: Office, page: Page) -> Page:
    """The page of a user of the agent's, who is nobody else."""
    user = User.objects.create(username="maya.lindqvist", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="use_own_console"))
    Membership.objects.create(user=user, organisation=office.organisation, external_user_id="maya")
    cookie = client_of(user).cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": office.origin}])
    return page


def test_a_user_takes_up_or_dismisses_what_is_suggested_to_them(
    office: Office, maya: Page, problems: list[str]
) -> None:
    page, place = maya, maya.locator("#suggested")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto("/console/")
    expect(page.get_by_text("No session yet.")).to_be_attached()
    expect(place).to_be_hidden()

    at = next_monday(10)
    invitations.arrive(office, "Dentist", by=invitations.MAYA, at=at)
    office.drain()
    hostile = "Budget <img src=x onerror='document.title=1'>"
    id = invitations.arrive(office, hostile, by=NOOR, at=at)
    moved = invitations.arrive(office, "Planning", by=NOOR, at=next_monday(14))
    again = invitations.arrive(office, "Review", by=NOOR, at=next_monday(15))
    office.drain()
    page.reload()
    cards = place.locator(".card")
    expect(cards).to_have_count(3)
    expect(place).to_contain_text("Suggested to you: 6")
    budget = cards.filter(has_text="Budget")
    expect(budget).to_contain_text(hostile)
    expect(budget).to_contain_text(f"It collides with “Dentist”, {at:%a %-d %B}, 10:00 to 11:00.")
    assert page.locator("#console img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]

    # Refused by the limits: it stays, and says why.
    budget.get_by_role("button", name="Do it: Decline", exact=True).press("Enter")
    status(page, "No operator permits this action for this account.")
    expect(budget).to_contain_text("No operator permits this action for this account.")
    assert office.calls() == []
    permit("calendar", "answer_invitation", recipient_domain="company.com")
    budget.get_by_role("button", name="Do it: Decline", exact=True).press("Enter")
    status(page, "Done.")
    expect(budget.get_by_role("button")).to_have_count(0)
    expect(budget.locator(":focus")).to_contain_text("Done.")
    assert answer_of(office, id)["status"] == "declined"

    # Changed since, before and after Remit knows.
    later = {"start": next_monday(16).isoformat(), "end": next_monday(17).isoformat()}
    office.control("PATCH", f"/users/maya/events/{moved}", json=later)
    cards.filter(has_text="Planning").get_by_role("button", name="Do it").click()
    status(page, "It was just changed elsewhere: look at it again.")
    Suggestion.objects.filter(item_source_id=again).update(state="out_of_date")
    cards.filter(has_text="Review").get_by_role("button", name="Dismiss").press("Space")
    status(page, "It is out of date: what it is about has changed since.")
    expect(place.get_by_role("button")).to_have_count(0)
    expect(place).to_contain_text("Nothing else is suggested to you")
    assert [call["path"].rpartition("/")[2] for call in office.calls()] == ["answer"]
    assert problems.pop().startswith(f"{office.origin}/console/")  # the 409
    assert problems == []


def test_what_is_pasted_is_marked_also_after_the_text_around_it_was_edited(
    office: Office, page: Page, problems: list[str]
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with office.worker():
        page.goto("/console/")
        box = page.get_by_label("Message", exact=True)
        box.press_sequentially("Send it to ")
        page.evaluate("navigator.clipboard.writeText('eve@evil.example')")
        box.press("ControlOrMeta+v")
        box.press_sequentially(" please.")
        box.press("ControlOrMeta+Home")
        box.press_sequentially("Yes \U0001f600 ")  # two places in the browser, one character
        with page.expect_request("**/chat/stream") as sent:
            page.get_by_role("button", name="Send").click()
        status(page, "Finished.")

    text = "Yes \U0001f600 Send it to eve@evil.example please."
    start = text.index("eve@")
    body = json.loads(sent.value.post_data or "")
    assert (body["message"], body["pasted"]) == (text, [[start, start + 16]])
    message = Message.objects.get(role=Message.Role.USER)
    assert message.metadata["pasted"] == body["pasted"]
    assert problems == []


def test_an_answer_is_the_same_after_a_reload_and_its_citation_opens_the_passage(
    office: Office, page: Page, problems: list[str]
) -> None:
    office.sync("gmail")
    with office.worker():
        page.goto("/console/")
        say(page, "What did Sofia write about the roll-out?")
        status(page, "Finished.")
    shown = last(page).locator(".text").inner_html()
    page.reload()
    status(page, "Finished.")

    assert last(page).locator(".text").inner_html() == shown
    with page.expect_popup() as opened:
        last(page).locator("a.citation").first.click()
    expect(opened.value.locator("mark#passage")).to_be_in_viewport()
    expect(opened.value.locator("mark#passage")).to_contain_text("Sofia")
    assert problems == []


def test_markdown_of_an_answer_is_shown_and_runs_nothing(
    office: Office, page: Page, problems: list[str]
) -> None:
    turn = Turn.objects.create(
        organisation=office.organisation,
        external_user_id="maya",
        kind=Turn.Kind.CHAT,
        conversation=Conversation.objects.create(
            organisation=office.organisation, external_user_id="maya", title="Markdown"
        ),
        state=Turn.State.FINISHED,
        ending=Turn.Ending.REPLY,
    )
    assert turn.conversation is not None
    rows = "\n".join(f"| **{word}** | {word * 30} |" for word in ("one", "two"))
    hostile = "![x](https://evil.example/x.png) [y](javascript:document.title=1) <script>1</script>"
    text = f"# Plan\n\n1. first\n2. `second`\n\n| a | b |\n|---|---|\n{rows}\n\n> {hostile}"
    for role in ("user", "assistant"):
        Message.objects.create(conversation=turn.conversation, turn=turn, role=role, content=text)
    foreign: list[str] = []
    page.on("request", lambda one: foreign.append(one.url) if "evil" in one.url else None)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a typed dict of playwright's own

    page.goto(f"/console/#maya/{turn.conversation.id}")
    status(page, "Finished.")

    answer = last(page).locator(".text")
    expect(answer.get_by_role("heading", name="Plan")).to_be_visible()
    expect(answer.get_by_role("listitem")).to_have_text(["first", "second"])
    expect(answer.get_by_role("cell").first).to_have_text("one")
    expect(answer.get_by_role("link")).to_have_attribute("href", "https://evil.example/x.png")
    expect(answer).to_contain_text("x (evil.example) [y](javascript:document.title=1) <script>")
    expect(page.locator(".message.user .text")).to_have_text(text)  # what a person typed is text
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.locator("#log img, #log script").count() == 0
    assert (foreign, problems, page.title()) == ([], [], "Chat console | Remit")
