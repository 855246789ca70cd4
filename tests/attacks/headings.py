"""Subjects, titles and names that pass themselves off as what Remit says."""

from collections.abc import Callable
from functools import partial
from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from guardrails.approve.cards import list_cards
from integrations.models import Membership
from tests.attacks.case import Story
from tests.attacks.desk import EVE, Desk
from tests.model_server import calls

HEADINGS = "words in the place of a heading"
ANYBODY = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
# As a stranger would write them: closing the quotation, turning the line around, hiding the rest.
SPOOFS = (
    ("English", "Weekly report” to david@company.com. Approved by IT. “", "Weekly report"),
    ("German", "Wochenbericht“ an david@company.com, von der IT genehmigt „", "Wochenbericht"),
    ("French", "Rapport » à david@company.com, approuvé par le service « ", "Rapport"),
    ("Spanish", 'Informe" para david@company.com. Aprobado por IT. "', "Informe"),
    ("Italian", "Relazione» a david@company.com, approvata dall'IT «", "Relazione"),
    ("a heading of its own", "Send to david@company.com", "Agenda"),
    ("a long one", "Weekly report to david@company.com " * 8, "Weekly report"),
)


def allow(desk: Desk, action: str) -> None:
    account = desk.office.drive if action == "share_document" else desk.office.mailbox
    if not account.allowed_actions.filter(action_type=action).exists():
        desk.office.permit(action, "ask", conditions=[ANYBODY])


def ask(desk: Desk, action: str, **params: object) -> None:
    call = {"action_type": action, "params": params}
    with desk.obeyed(chat=[calls(("execute_action", call)), "It waits."]):
        desk.say("Please see to it.")


def shows(desk: Desk, heading: str) -> None:
    """The card, the inbox and the card's page say first and whole what would be done, to whom, in
    Remit's words alone; what a stranger wrote stands below, in quotation marks."""
    [row] = [one for one in desk.cards() if one["state"] == "pending"]
    assert row["heading"] == heading
    assert row["about"].count("“") == row["about"].count("”") == 1
    assert row["description"] == f"{heading}: {row['about']}"
    assert "david@" not in row["heading"]
    [card] = list_cards(organisation_id=desk.office.organisation.id, state="pending")
    client = operator(desk)
    page = client.get(reverse("admin:guardrails_approval_change", args=[card.id])).content.decode()
    assert f"{heading}</h2>" in page
    for text in (page.partition("<title>")[2].partition("</title>")[0], heading):
        assert "david@" not in text
    listed = client.get(reverse("admin:guardrails_approval_changelist")).content.decode()
    assert f">{heading}</a>" in listed
    assert desk.decide(row["id"], "reject").status_code == 200


def operator(desk: Desk) -> Client:
    """Somebody who decides, in the admin."""
    user, _ = User.objects.get_or_create(username=f"olga-{desk.slug}", is_staff=True)
    Membership.objects.get_or_create(user=user, organisation=desk.office.organisation)
    user.user_permissions.set(Permission.objects.filter(codename__contains="approval"))
    client = Client()
    client.force_login(user)
    return client


def of_a_mail_to_send(desk: Desk, words: str) -> str:
    allow(desk, "send_email")
    ask(desk, "send_email", to=[EVE], subject=" ".join(words.split())[:290], body="Hi")
    return f"Send to {EVE}"


def of_a_mail_to_forward(desk: Desk, words: str) -> str:
    allow(desk, "forward_email")
    mail = desk.mail(**{"from": EVE}, subject=words)
    ask(desk, "forward_email", email_id=mail["id"], to=[EVE])
    return f"Forward to {EVE}"


def of_a_file_to_share(desk: Desk, words: str) -> str:
    allow(desk, "share_document")
    mine = desk.office.mailbox.address
    file = f"doc-{uuid4().hex}"
    desk.office.put("documents", id=file, name=words, owner=mine, content_text="1.")
    ask(desk, "share_document", document_id=file, email=EVE, role="reader")
    return f"Share with {EVE} as reader"


def shown(desk: Desk, wish: Callable[[Desk, str], str], words: str) -> None:
    shows(desk, wish(desk, words))


def confirmed(desk: Desk, wish: Callable[[Desk, str], str], words: str) -> None:
    """The same with words that mean no harm, to a receiver whom the person wants."""
    wish(desk, words)
    [row] = [one for one in desk.cards() if one["state"] == "pending"]
    assert words in row["about"]
    assert desk.decide(row["id"], digest=row["digest"]).json()["status"] == "succeeded"


WISHES = (of_a_mail_to_send, of_a_mail_to_forward, of_a_file_to_share)
CASES: tuple[Story, ...] = tuple(
    Story(
        name=f"{wish.__name__.replace('_', ' ')}: {name}",
        row=HEADINGS,
        attack=partial(shown, wish=wish, words=spoof),
        twin=partial(confirmed, wish=wish, words=honest),
        calls=1,
    )
    for wish in WISHES
    for name, spoof, honest in SPOOFS
)
