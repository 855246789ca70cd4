"""What is done at every provider on a real server, in its user's rooms there, and what that server
holds afterwards: one case for each line of the matrix in docs/providers.md."""

from collections.abc import Callable
from typing import Any

import pytest

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, NotFound
from integrations.models import AddressBook, CalendarWrite, FileWrite, IssueWrite
from integrations.ports.evidence import Performed
from tests.integrations.providers.carddav.box import card

Case = Callable[[Any], None]
TOM, ANN, BOSS = "tom@elsewhere.test", "ann@elsewhere.test", "boss@elsewhere.test"
LUNCH = {
    "title": "Lunch, with; signs",
    "start": "2026-03-09T12:00:00+01:00",
    "end": "2026-03-09T13:00:00+01:00",
    "description": "First\nsecond",
}


def forget() -> None:
    """Remit's own record of what it did is lost: what is done once is so at the server."""
    CalendarWrite.objects.update(done=False)
    FileWrite.objects.update(done=False)
    IssueWrite.objects.update(state=IssueWrite.State.SENT)


def only(box: Any) -> Any:
    (found,) = box.reader.items(since=None, cursor=None, limit=10).items
    return found


def got(box: Any, subject: str = "Lunch", answers: str = "") -> Any:
    """A mail that came in, as Remit lists it."""
    message_id = box.receive(subject, answers=answers)
    found = box.reader.items(since=None, cursor=None, limit=10).items
    return next(one for one in found if one.message_id == message_id)


def read(box: Any) -> None:
    mail = got(box)
    assert (mail.subject, mail.body_text.strip(), mail.is_read) == ("Lunch", "At noon?", False)
    assert box.reader.email(mail.id) == mail
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def mark_read(box: Any) -> None:
    box.writer.mark_read(got(box).id, key="remit-1")
    assert box.held() == {"Lunch": {"INBOX"}}
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def label(box: Any) -> None:
    id = got(box).id
    box.writer.change_labels(id, add=["STARRED", "label_fyi"], remove=["UNREAD"], key="remit-1")
    assert box.held() == {"Lunch": {"INBOX", "STARRED", "label_fyi"}}
    box.writer.change_labels(id, add=["UNREAD"], remove=["STARRED", "label_fyi"], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def label_thread(box: Any) -> None:
    first = got(box, "Plan")
    second = got(box, "Re: Plan", answers=first.message_id)
    waiting, own = "label_to_reply", "label_fyi"
    box.writer.change_labels(first.id, add=[waiting, own], remove=[], key="remit-1")
    box.writer.change_labels(
        second.id, add=[own], remove=[waiting], thread_remove=[waiting], key="remit-2"
    )
    assert box.held() == {
        "Plan": {"INBOX", "UNREAD", own},
        "Re: Plan": {"INBOX", "UNREAD", own},
    }


def archive(box: Any) -> None:
    id = got(box).id
    box.writer.archive(id, key="remit-1")
    assert box.held() == {"Lunch": {"UNREAD"}}
    assert box.reader.email(id).labels == ("UNREAD",)
    box.writer.change_labels(id, add=["INBOX"], remove=[], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def move(box: Any) -> None:
    box.make_folder()
    id = got(box).id
    got(box, "Other")
    box.writer.move_email(id, folder_id=box.folder, key="remit-1")
    assert box.held() == {"Lunch": {box.folder, "UNREAD"}, "Other": {"INBOX", "UNREAD"}}
    with pytest.raises(NotFound):
        box.writer.move_email(id, folder_id="folder:Nowhere", key="remit-2")
    assert box.held() == {"Lunch": {box.folder, "UNREAD"}, "Other": {"INBOX", "UNREAD"}}


def trash(box: Any) -> None:
    id = got(box).id
    box.writer.trash_email(id, key="remit-1")
    assert box.held() == {"Lunch": {"TRASH", "UNREAD"}}
    assert set(box.reader.email(id).labels) == {"TRASH", "UNREAD"}
    box.writer.change_labels(id, add=["INBOX"], remove=["TRASH"], key="remit-2")
    assert box.held() == {"Lunch": {"INBOX", "UNREAD"}}


def draft(box: Any) -> None:
    mail = OutgoingMail(to=(TOM,), bcc=(BOSS,), subject="Friday", body="See you.")
    answer = box.writer.create_draft(mail, key="remit-1")
    assert box.writer.create_draft(mail, key="remit-1")["id"] == answer["id"]
    found = box.reader.draft(answer["id"])
    assert (found.to, found.bcc, found.subject) == ((TOM,), (BOSS,), "Friday")
    assert found.body.strip() == "See you."
    assert box.sent() == []
    box.writer.delete_draft(answer["id"], revision=found.revision, key="remit-2")
    with pytest.raises(NotFound):
        box.reader.draft(answer["id"])
    assert box.held() == {}


def send(box: Any) -> None:
    body = "Grüße\n.\nTwo\n.. and three"
    mail = OutgoingMail(to=(TOM,), cc=(ANN,), bcc=(BOSS,), subject="Plan", body=body)
    answer = box.writer.send_email(mail, key="remit-1")
    again = box.writer.send_email(mail, key="remit-1")
    assert (again["id"], box.sent()) == (answer["id"], [([ANN, BOSS, TOM], "Plan", body)])
    assert box.held()["Plan"] - {"UNREAD"} == {"SENT"}
    assert "SENT" in box.reader.email(answer["id"]).labels
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def answer(box: Any) -> None:
    asked = got(box, "Lunch: où ?")
    mail = OutgoingMail(to=(TOM,), subject="Re: Lunch: où ?", body="Yes.", reply_to_id=asked.id)
    said = box.writer.send_email(mail, key="remit-1")
    assert said["thread_id"] == asked.thread_id
    assert box.sent() == [([TOM], "Re: Lunch: où ?", "Yes.")]


def forward(box: Any) -> None:
    box.writer.forward_email(got(box).id, OutgoingMail(to=(ANN,), body="See below."), key="remit-1")
    ((receivers, subject, body),) = box.sent()
    assert (receivers, subject) == ([ANN], "Fwd: Lunch")
    assert body.startswith("See below.")


def recall(box: Any) -> None:
    sent = box.writer.send_email(OutgoingMail(to=(TOM,), subject="Plan"), key="remit-1")
    for _ in range(2):
        again = {"submission_id": sent["submission_id"], "key": "remit-2"}
        assert box.writer.recall_email(sent["id"], **again) == {"id": sent["id"]}
    assert box.sent() == []
    assert box.held()["Plan"] - {"UNREAD"} == {"DRAFT"}
    assert isinstance(box.reader.evidence("remit-2"), Performed)


def create_event(box: Any) -> None:
    first = box.writer.create_event(LUNCH, key="remit-1")
    forget()
    again = box.writer.create_event(LUNCH, key="remit-1")
    found = box.reader.event(first["id"])
    assert len(box.titles()) == 1
    assert (again["id"], found.revision) == (first["id"], first["revision"])
    assert (found.title, found.description) == (LUNCH["title"], LUNCH["description"])
    assert found.start.isoformat() == "2026-03-09T11:00:00+00:00"
    assert found.created_by == box.account.address


def change_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    said = box.writer.change_event(
        before.id, {"title": "New plan"}, revision=before.revision, key="remit-1"
    )
    found = box.reader.event(before.id)
    assert (found.title, found.start, found.end) == ("New plan", before.start, before.end)
    assert found.revision == said["revision"] != before.revision
    assert box.titles() == ["New plan"]


def refuse_changed_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    box.put_event("plan", "Plan of somebody else")
    with pytest.raises(Changed):
        box.writer.change_event(before.id, {"title": "X"}, revision=before.revision, key="remit-1")
    with pytest.raises(Changed):
        box.writer.cancel_event(before.id, revision=before.revision, key="remit-2")
    assert box.titles() == ["Plan of somebody else"]


def cancel_event(box: Any) -> None:
    box.put_event("plan", "Plan")
    before = only(box)
    box.writer.cancel_event(before.id, revision=before.revision, key="remit-1")
    assert box.titles() == []
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.writer.cancel_event(before.id, revision=before.revision, key="remit-1")


def move_one_of_a_series(box: Any) -> None:
    box.put_event("weekly", "Weekly", weekly=True)
    series = only(box)
    one = box.reader.event(f"{series.id}_20260316T100000Z")
    assert (one.series_id, one.recurrence) == (series.id, None)
    later = {"start": "2026-03-16T15:00:00+01:00", "end": "2026-03-16T16:00:00+01:00"}
    box.writer.change_event(one.id, later, revision=one.revision, key="remit-1")
    assert box.reader.event(one.id).start.isoformat() == "2026-03-16T14:00:00+00:00"
    assert box.reader.event(series.id).start == series.start


def invite(box: Any) -> None:
    made = box.writer.create_event({**LUNCH, "attendees": [TOM]}, key="remit-1")
    assert [one.email for one in box.reader.event(made["id"]).attendees] == [TOM]


def create_document(box: Any) -> None:
    box.make_folder()
    wanted = {"name": "Notes.txt", "content": "One", "folder_id": box.folder}
    first = box.writer.create_document(**wanted, key="remit-1")
    forget()
    assert box.writer.create_document(**wanted, key="remit-1")["id"] == first["id"]
    assert box.documents() == {"Clients/Notes.txt": "One"}
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def add_to_document(box: Any) -> None:
    before = box.reader.document(box.put_document("One"))
    box.writer.append_document(before.id, content=" two", revision=before.revision, key="remit-1")
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    box.writer.append_document(before.id, content=" two", revision=before.revision, key="remit-1")
    assert box.documents() == {"Notes.txt": "One two"}


def move_document(box: Any) -> None:
    box.make_folder()
    before = box.reader.document(box.put_document("One"))
    moved = {"folder_id": box.folder, "revision": before.revision, "key": "remit-1"}
    box.writer.move_document(before.id, **moved)
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    assert box.documents() == {"Clients/Notes.txt": "One"}
    assert box.reader.document(before.id).folder_id == box.folder


def refuse_changed_document(box: Any) -> None:
    before = box.reader.document(box.put_document("One"))
    box.put_document("Two, and longer")
    with pytest.raises(Changed):
        box.writer.append_document(before.id, content="!", revision=before.revision, key="remit-1")
    assert box.documents() == {"Notes.txt": "Two, and longer"}


def trash_document(box: Any) -> None:
    id = box.put_document("One")
    box.writer.trash_document(id, revision=None, key="remit-1")
    assert box.documents() == {}
    box.writer.restore_document(id, revision=None, key="remit-2")
    assert box.documents() == {"Notes.txt": "One"}


def share_document(box: Any) -> None:
    id = box.put_document("One")
    for _ in range(2):
        box.writer.share_document(id, email=TOM, role="reader", revision=None, key="remit-1")
        forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)
    found = box.reader.document(id)
    assert (found.shared_with, found.roles) == ((TOM,), {TOM: "reader"})
    box.writer.unshare_document(id, email=TOM, revision=None, key="remit-2")
    assert box.reader.document(id).shared_with == ()


def new_issue(box: Any, **more: Any) -> dict[str, Any]:
    usual = {
        "project_key": box.project,
        "type": "task",
        "summary": "CI",
        "description": "It is red",
    }
    none = {"priority": None, "labels": (), "assignee": None, "due_date": None}
    return dict(box.writer.create_issue(**{**usual, **none, **more}, key="remit-1"))


def create_issue(box: Any) -> None:
    first = new_issue(box)
    forget()
    assert new_issue(box)["key"] == first["key"]
    assert box.titles() == ["CI"]
    found = box.reader.issue(first["key"])
    assert (found.summary, found.description, found.status) == ("CI", "It is red", "To Do")
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def comment_issue(box: Any) -> None:
    key = box.put_issue("CI")
    revision = box.reader.issue(key).revision
    for _ in range(2):
        box.writer.comment_issue(key, body="Seen.", revision=revision, key="remit-1")
        forget()
    assert [one.body for one in box.reader.issue(key).comments] == ["Seen."]


def change_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    changes = {"summary": "Green"}
    if not getattr(box, "keeps_beginnings", False):
        changes["description"] = "It is green"
    box.writer.change_issue(before.key, changes, revision=before.revision, key="remit-1")
    found = box.reader.issue(before.key)
    assert (found.summary, found.description) == ("Green", changes.get("description", ""))
    assert box.titles() == ["Green"]
    forget()
    assert isinstance(box.reader.evidence("remit-1"), Performed)


def close_issue(box: Any) -> None:
    key = box.put_issue("CI")
    for number, status in enumerate(("Done", "To Do")):
        before = box.reader.issue(key)
        box.writer.change_issue(
            key, {"status": status}, revision=before.revision, key=f"remit-{number}"
        )
        assert box.reader.issue(key).status == status


def refuse_changed_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    box.change_issue(before.key, "Mine")
    with pytest.raises(Changed):
        box.writer.change_issue(
            before.key, {"summary": "X"}, revision=before.revision, key="remit-1"
        )
    assert box.titles() == ["Mine"]


def sort_issue(box: Any) -> None:
    before = box.reader.issue(box.put_issue("CI"))
    changes = {"labels": ["urgent"], "assignee": box.account.address}
    box.writer.change_issue(before.key, changes, revision=before.revision, key="remit-1")
    found = box.reader.issue(before.key)
    assert (found.labels, found.assignee) == (("urgent",), box.account.address)


def plan_issue(box: Any) -> None:
    key = new_issue(box, priority="high", due_date="2026-12-24")["key"]
    found = box.reader.issue(key)
    assert (str(found.priority).lower(), str(found.due_date)) == ("high", "2026-12-24")


def know_people(box: Any) -> None:
    box.put("tom", card("Tom", f"EMAIL:{TOM}"))
    assert (box.look(), box.known()) == (1, {TOM})
    box.put("tom", card("Tom", f"EMAIL:{ANN}"))
    assert (box.look(), box.known()) == (1, {ANN})
    assert box.look() == 0
    box.delete(f"{box.book}tom.vcf")
    assert (box.look(), box.known()) == (0, set())


def know_people_anew(box: Any) -> None:
    box.put("tom", card("Tom", f"EMAIL:{TOM}"))
    box.put("ann", card("Ann", f"EMAIL:{ANN}"))
    assert (box.look(), box.known()) == (2, {TOM, ANN})
    box.delete(f"{box.book}ann.vcf")
    AddressBook.objects.filter(account_id=box.account.id).update(token="lost")
    assert (box.look(), box.known()) == (0, {TOM})


def forget_a_book(box: Any) -> None:
    book = box.make_book("colleagues")
    box.put("tom", card("Tom", f"EMAIL:{TOM}"), book=book)
    box.put("ann", card("Ann", f"EMAIL:{ANN}"))
    assert (box.look(), box.known()) == (2, {TOM, ANN})
    box.delete(book)
    box.look()
    assert box.known() == {ANN}


MAIL = (
    *(read, mark_read, label, label_thread, archive, move, trash),
    *(draft, send, answer, forward, recall),
)
CALENDAR = (
    *(create_event, change_event, refuse_changed_event),
    *(cancel_event, move_one_of_a_series, invite),
)
FILES = (
    *(create_document, add_to_document, refuse_changed_document),
    *(move_document, trash_document, share_document),
)
ISSUES = (
    *(create_issue, comment_issue, change_issue, close_issue),
    *(refuse_changed_issue, sort_issue, plan_issue),
)
CONTACTS = (know_people, know_people_anew, forget_a_book)
CASES = [
    (kind, case)
    for kind, cases in {
        "mail": MAIL,
        "calendar": CALENDAR,
        "contacts": CONTACTS,
        "files": FILES,
        "issues": ISSUES,
    }.items()
    for case in cases
]
