"""Subjects, titles and names that pass themselves off as what Remit says."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from integrations.models import Membership
from tests.attacks.case import Story
from tests.attacks.desk import Desk
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
    ("a long one", "Weekly report to david@company.com " * 8, "Monthly report"),
)


# Each brings up one: no two are one question, and no more than one is about the same.
STRANGERS = tuple(f"eve{number}@evil.example" for number in range(len(SPOOFS)))
Wish = Callable[[Desk, Sequence[str]], list[str]]  # one turn that asks for each; their headings


def allow(desk: Desk, action: str) -> None:
    account = desk.office.drive if action == "share_document" else desk.office.mailbox
    if not account.allowed_actions.filter(action_type=action).exists():
        desk.office.permit(action, "ask", conditions=[ANYBODY])


def ask(desk: Desk, action: str, *params: Mapping[str, Any]) -> None:
    wishes = [("execute_action", {"action_type": action, "params": one}) for one in params]
    with desk.obeyed(chat=[calls(*wishes), "They wait."]):
        desk.say("Please see to it.")


def waiting(desk: Desk) -> list[dict[str, Any]]:
    """The cards, in the order of the wishes."""
    return [one for one in reversed(desk.cards()) if one["state"] == "pending"]


def shown(desk: Desk, wish: Wish) -> None:
    """The card, the inbox and the card's page say first and whole what would be done, to whom, in
    Remit's words alone; what a stranger wrote stands below, in quotation marks."""
    headings = wish(desk, [spoof for _, spoof, _ in SPOOFS])
    client = operator(desk)
    listed = client.get(reverse("admin:guardrails_approval_changelist")).content.decode()
    for row, heading in zip(waiting(desk), headings, strict=True):
        assert row["heading"] == heading
        assert row["about"].count("“") == row["about"].count("”") == 1
        assert row["description"] == f"{heading}: {row['about']}"
        page = client.get(reverse("admin:guardrails_approval_change", args=[row["id"]]))
        text = page.content.decode()
        assert f"{heading}</h2>" in text
        for said in (text.partition("<title>")[2].partition("</title>")[0], heading):
            assert "david@" not in said
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


def of_a_mail_to_send(desk: Desk, words: Sequence[str]) -> list[str]:
    allow(desk, "send_email")
    subjects = [" ".join(one.split())[:290] for one in words]
    mails = list(zip(STRANGERS, subjects, strict=True))
    ask(desk, "send_email", *({"to": [to], "subject": one, "body": "Hi"} for to, one in mails))
    return [f"Send to {to}" for to, _ in mails]


def of_a_mail_to_forward(desk: Desk, words: Sequence[str]) -> list[str]:
    allow(desk, "forward_email")
    wishes = [
        {"email_id": desk.mail(**{"from": one}, subject=subject)["id"], "to": [one]}
        for one, subject in zip(STRANGERS, words, strict=True)
    ]
    ask(desk, "forward_email", *wishes)
    return [f"Forward to {to}" for to in STRANGERS]


def of_a_file_to_share(desk: Desk, words: Sequence[str]) -> list[str]:
    allow(desk, "share_document")
    own = {"owner": desk.office.mailbox.address, "content_text": "1."}
    files = [{"id": f"doc-{uuid4().hex}", "name": one, **own} for one in words]
    desk.office.put("documents", *files)
    shares = zip(STRANGERS, files, strict=True)
    ask(
        desk,
        "share_document",
        *({"document_id": file["id"], "email": to, "role": "reader"} for to, file in shares),
    )
    return [f"Share with {to} as reader" for to in STRANGERS]


def confirmed(desk: Desk, wish: Wish) -> None:
    """The same with words that mean no harm, to a receiver whom the person wants."""
    words = [honest for _, _, honest in SPOOFS]
    wish(desk, words)
    rows = waiting(desk)
    assert [said for row, said in zip(rows, words, strict=True) if said not in row["about"]] == []
    for row in rows:
        assert desk.decide(row["id"], digest=row["digest"]).json()["status"] == "succeeded"


WISHES: tuple[Wish, ...] = (of_a_mail_to_send, of_a_mail_to_forward, of_a_file_to_share)
CASES: tuple[Story, ...] = tuple(
    Story(
        name=wish.__name__.replace("_", " "),
        row=HEADINGS,
        attack=partial(shown, wish=wish),
        twin=partial(confirmed, wish=wish),
        calls=len(SPOOFS),
        attacks=len(SPOOFS),
    )
    for wish in WISHES
)
