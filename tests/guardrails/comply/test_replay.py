"""Every decision of a bundle follows from what the bundle holds, and a false one is named."""

import io
import json
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.ledger.chain import canonical_bytes
from audit.ledger.selectors import recorded
from guardrails.actions.mail.draft import Draft, DraftArguments
from guardrails.comply.replay import Replay
from guardrails.contracts import Origin
from guardrails.execute.executor import execute
from guardrails.execute.releases import release_due
from guardrails.facts.text import ObjectId
from guardrails.models import Approval, HeldSend
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files
from tests.commands import run_command
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import Office, mail_to, webhook

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def live(office: Office) -> bytes:
    """A morning of an agent: allowed, refused, asked and confirmed; as a bundle."""
    office.permit("archive")
    office.permit("draft", "ask", conditions=[{"kind": "sender", "domains": ["client.com"]}])
    mail = office.receive()
    thread = office.email(mail)["thread_id"]
    draft = {"to": ["ada@client.com"], "reply_to_id": mail, "subject": "Re", "body": "Yes."}
    assert execute(office.request("archive", {"email_id": mail})).status == "succeeded"
    assert execute(office.request("archive", {"email_id": mail})).status == "noop"
    assert execute(office.request("archive", {"email_id": "unknown"})).status == "refused"
    assert execute(office.request("archive", {"email_id": mail, "x": 1})).status == "refused"
    assert execute(office.request("mark_read", {"email_id": mail})).status == "refused"
    by_mail = office.request("archive", {"email_id": mail}, origin=webhook(mail, thread))
    assert execute(by_mail).status == "noop"
    asked = ask(office, "draft", draft)
    assert confirm(asked, decided_by="user:maya").status == "succeeded"
    sealed.seal(office.organisation.id)
    return bundles.make(office.organisation.id)


def replayed(data: bytes) -> tuple[list[str], Replay]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        replay = Replay(archive)
        return [one.sentence for one in replay], replay


def test_every_decision_of_a_bundle_is_made_again_offline(
    office: Office, tmp_path: Path, django_assert_num_queries: Callable[..., Any]
) -> None:
    data = live(office)
    assert bundles.check(tmp_path, data, sealed.key(office.organisation.id)) == 0
    with (
        django_assert_num_queries(0),
        django_assert_num_queries(0, using="ledger"),
    ):
        findings, replay = replayed(data)
    # Three attempts, three refusals, one that waited and its attempt.
    assert (findings, replay.agreed, replay.erased) == ([], 8, 0)


def test_an_action_that_was_held_follows_from_its_policy(office: Office) -> None:
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient", "ann@company.com")
    typed = Origin(trigger="chat", turn_id="turn-1", user_words="Write to ann@company.com")
    mail = {"to": ["ann@company.com"], "subject": "Lunch", "body": "At noon?"}
    assert execute(office.request("send_email", mail, origin=typed)).status == "held"
    sealed.seal(office.organisation.id)

    findings, replay = replayed(bundles.make(office.organisation.id))

    assert (findings, replay.agreed) == ([], 1)
    assert office.calls() == []


def test_what_was_changed_while_it_was_held_follows_with_its_question(office: Office) -> None:
    office.permit("forward_email", hold_seconds=300)
    office.list_target("forward_email", "recipient", "ann@company.com")
    mail = office.receive()
    typed = Origin(trigger="chat", turn_id="turn-1", user_words=f"Send {mail} to ann@company.com")
    forward = {"email_id": mail, "to": ["ann@company.com"]}
    assert execute(office.request("forward_email", forward, origin=typed)).status == "held"
    office.change("emails", mail, body_text="Other words")
    HeldSend.objects.update(until=timezone.now())
    release_due(now=timezone.now())
    assert confirm(Approval.objects.get(), decided_by="user:maya").status == "succeeded"
    sealed.seal(office.organisation.id)

    findings, replay = replayed(bundles.make(office.organisation.id))

    assert (findings, replay.agreed) == ([], 3)  # held, asked, done
    assert len(office.calls()) == 1


class DemandsAMail(DraftArguments):
    """As a version before had it: a draft answers a mail."""

    reply_to_id: ObjectId


def test_a_new_mail_that_a_version_before_refused_is_decided_again_as_it_was(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.permit("draft")
    office.list_target("draft", "recipient", "ada@client.com")
    new = {"to": ["ada@client.com"], "subject": "Lunch", "body": "At noon?"}
    with monkeypatch.context() as before:
        before.setattr(Draft, "arguments", DemandsAMail)
        refused = execute(office.request("draft", new))
    assert (refused.status, refused.reason) == ("refused", "invalid_arguments")
    assert execute(office.request("draft", new)).status == "succeeded"
    sealed.seal(office.organisation.id)

    findings, replay = replayed(bundles.make(office.organisation.id))

    assert (findings, replay.agreed, replay.unkept) == ([], 2, 0)
    assert len(office.calls()) == 1


def test_a_row_does_not_grow_with_its_thread(office: Office, tmp_path: Path) -> None:
    """500 mails of 100 people, each to four of them, as the ledger keeps what was decided."""
    people = [f"person{at:02}@client.com" for at in range(100)]
    office.permit("send_email", conditions=[{"kind": "thread", "min_messages": 500}])
    office.permit("draft", conditions=[{"kind": "thread", "min_messages": 501}])
    for receiver in people[:2]:
        office.list_target("send_email", "recipient", receiver)
        office.list_target("draft", "recipient", receiver)
    mails = [
        mail_to(
            office.mailbox.address,
            **{"from": people[at % 100]},
            id=f"mail-{at:03}",
            thread_id="thread-1",
            to=[office.mailbox.address, *(people[(at + more) % 100] for more in (1, 3, 7))],
        )
        for at in range(500)
    ]
    body = {"items": mails, "notify": False}
    office.control("POST", f"/users/{office.user_id}/emails", body)
    typed = Origin(
        trigger="chat", turn_id="turn-1", user_words=f"Answer mail-499 to {people[0]}: yes."
    )
    answer = {"to": people[:2], "reply_to_id": "mail-499", "subject": "Re", "body": "Yes."}

    refused = execute(office.request("draft", answer, origin=typed))
    done = execute(office.request("send_email", answer, origin=typed))

    assert (done.status, refused.status) == ("succeeded", "refused")
    attempt, block = recorded(done.action_id)[0], recorded(refused.action_id)[0]
    assert (attempt.decision, attempt.decision_reason) == ("allowed", "allowed")
    assert (block.decision, block.decision_reason) == ("blocked", "condition_failed")
    assert block.payload["sentence"].endswith("The thread has 500 mails; 501 are required.")
    summary = attempt.payload["decided_on"]["facts"]["thread_summary"]
    assert [(one["address"], one["adders"]) for one in summary["people"]] == [
        (people[0], 4),
        (people[1], 4),
        (people[99], 4),  # who sent the mail that is answered
        (office.mailbox.address, 100),
    ]
    assert attempt.payload["decision"]["provenance"] == {
        "to[0]": "U",
        "to[1]": "A",
        "reply_to_id": "U",
        "subject": "X",
        "body": "X",
    }
    assert len(canonical_bytes(attempt.payload)) < 5_000
    assert len(canonical_bytes(block.payload)) < 5_000
    sealed.seal(office.organisation.id)
    data = bundles.make(office.organisation.id)
    assert bundles.check(tmp_path, data, sealed.key(office.organisation.id)) == 0
    findings, replay = replayed(data)
    assert (findings, replay.agreed) == ([], 2)


def test_what_was_so_already_needed_nobodys_word(office: Office) -> None:
    office.permit("archive", "ask")
    mail = office.receive(labels=["unread"])
    assert execute(office.request("archive", {"email_id": mail})).status == "noop"
    sealed.seal(office.organisation.id)

    findings, replay = replayed(bundles.make(office.organisation.id))

    assert (findings, replay.agreed) == ([], 1)
    assert office.calls() == []


def test_refusals_of_what_was_too_long_to_keep_are_counted_apart(
    office: Office, tmp_path: Path
) -> None:
    office.permit("archive")
    for arguments in ({"email_id": "x" * 5000, "y": 1}, {"email_id": "x", "y": 1}):
        assert execute(office.request("archive", arguments)).status == "refused"
    sealed.seal(office.organisation.id)
    data = bundles.make(office.organisation.id)

    findings, replay = replayed(data)

    assert (findings, replay.agreed, replay.unkept) == ([], 1, 1)
    (tmp_path / "bundle.zip").write_bytes(data)
    said = run_command("replay_bundle", str(tmp_path / "bundle.zip"))
    assert "1 refusals cannot be made again: the arguments were invalid, or too long" in said
    assert office.calls() == []


def test_an_attempt_without_its_arguments_does_not_follow(office: Office) -> None:
    office.permit("archive")
    mail = office.receive()
    assert execute(office.request("archive", {"email_id": mail})).status == "succeeded"
    sealed.seal(office.organisation.id)
    files = bundles.unpack(bundles.make(office.organisation.id))

    def cut(row: dict[str, Any], payload: dict[str, Any]) -> None:
        payload["proposed"] = '{"email_id": "mai'

    change(files, "allowed", cut)
    findings, replay = replayed(bundles.pack(files))
    assert findings == ["It keeps no evidence that it could be decided on again."]
    assert replay.unkept == 0


def test_an_approval_that_nobody_gave_is_named(office: Office) -> None:
    files = bundles.unpack(live(office))
    rows = bundles.lines(files, "ledger")
    word = next(row for row in rows if row["decision_reason"] == "approved")
    attempt = next(row for row in rows if row["decision"] == "approved" and row != word)
    sentence = f"There is no record of who gave the approval {attempt['approval_id']}."

    def keep(rows: list[dict[str, Any]]) -> None:
        kept = {row["id"] for row in rows}
        bundles.put(files, "ledger", rows)
        given = bundles.lines(files, "payloads")
        bundles.put(files, "payloads", [one for one in given if one["row_id"] in kept])

    keep([row for row in rows if row != word])
    assert replayed(bundles.pack(files))[0] == [sentence]
    manifest = json.loads(files["manifest.json"])
    files["manifest.json"] = json.dumps(manifest | {"first": 1}).encode()
    assert replayed(bundles.pack(files))[0] == [sentence]  # it was asked for in this period

    keep([row for row in rows if row != word and row["status"] != "waiting"])
    assert replayed(bundles.pack(files))[0] == []  # both may stand before the period's first row
    files["manifest.json"] = json.dumps(manifest).encode()
    assert replayed(bundles.pack(files))[0] == [sentence]


def change(
    files: Files, reason: str, edit: Callable[[dict[str, Any], dict[str, Any]], None]
) -> int:
    """Edits the line with this reason and its payload, as who owns database and keys could."""
    rows = {row["id"]: row for row in bundles.lines(files, "ledger")}
    given = bundles.lines(files, "payloads")
    row = next(row for row in rows.values() if row["decision_reason"] == reason)
    payload = next(one for one in given if one["row_id"] == row["id"])
    body = payload["body"]
    edit(row, body["payload"])
    bundles.put(files, "ledger", list(rows.values()))
    bundles.put(files, "payloads", given)
    return int(row["id"])


@pytest.mark.parametrize(
    ("reason", "edit", "sentence"),
    [
        (
            "object_unknown",
            lambda row, payload: row.update(phase="attempt"),
            "It was carried on as “blocked”, but the verdict is “refuse”.",
        ),
        (
            "allowed",
            lambda row, payload: payload["decided_on"].update(verdict="refuse", reason="paused"),
            "It was decided “refuse” (paused) and is “allow” (allowed) by its evidence.",
        ),
        (
            "allowed",
            lambda row, payload: payload["decided_on"].update(paused=True),
            "It was decided “allow” (allowed) and is “refuse” (paused) by its evidence.",
        ),
        (
            "not_permitted",
            lambda row, payload: payload.pop("decided_on"),
            "It keeps no evidence that it could be decided on again.",
        ),
        (
            "not_permitted",
            lambda row, payload: row.update(policy_digest="0" * 64),
            "The policy that decided it is missing or altered.",
        ),
        (
            "not_permitted",
            lambda row, payload: row.update(decision_reason="paused"),
            "It says “blocked” (paused), but the verdict is “refuse” (not_permitted).",
        ),
        (
            "not_permitted",
            lambda row, payload: row.update(decision_reason="too_many_asks"),
            "It says “blocked” (too_many_asks), but the verdict is “refuse” (not_permitted).",
        ),
        (
            "not_permitted",
            lambda row, payload: row.update(decision_reason="guard_failed"),
            "It says “blocked” (guard_failed), but the verdict is “refuse” (not_permitted).",
        ),
        (
            "allowed",
            lambda row, payload: row.update(decision_reason="held"),
            "It says “allowed” (held), but the verdict is “allow” (allowed).",
        ),
        (
            "not_permitted",
            lambda row, payload: row.update(decision="allowed"),
            "It says “allowed” (not_permitted), but the verdict is “refuse” (not_permitted).",
        ),
        (
            "allowed",
            lambda row, payload: row.update(decision_reason="guard_failed"),
            "It says “allowed” (guard_failed), but the verdict is “allow” (allowed).",
        ),
        (
            "allowed",
            lambda row, payload: row.update(decision="blocked"),
            "It says “blocked” (allowed), but the verdict is “allow” (allowed).",
        ),
        (
            "allowed",
            lambda row, payload: row.update(phase="blocked", decision="blocked"),
            "It was carried on as “blocked”, but the verdict is “allow”.",
        ),
        (
            "needs_approval",
            lambda row, payload: row.update(decision_reason="paused"),
            "It says “none” (paused), but the verdict is “ask” (needs_approval).",
        ),
        (
            "needs_approval",
            lambda row, payload: row.update(phase="attempt", decision="allowed", approval_id=""),
            "It was carried out without a person's answer, but the verdict is “ask”.",
        ),
    ],
)
def test_a_decision_that_does_not_follow_is_named(
    office: Office, tmp_path: Path, reason: str, edit: Any, sentence: str
) -> None:
    files = bundles.unpack(live(office))
    row_id = change(files, reason, edit)
    (tmp_path / "bundle.zip").write_bytes(bundles.pack(files))
    out = StringIO()
    with pytest.raises(CommandError, match=r"1 decisions do not follow\. 7 decisions follow"):
        call_command("replay_bundle", str(tmp_path / "bundle.zip"), stdout=out)
    assert out.getvalue() == f"row {row_id}: {sentence}\n"


def test_a_wider_policy_in_the_bundle_is_not_believed(office: Office) -> None:
    files = bundles.unpack(live(office))
    kept = bundles.lines(files, "policies")
    for policy in kept:
        policy["body"] = policy["body"].replace('"mode":"ask"', '"mode":"auto"')
    bundles.put(files, "policies", kept)
    findings, replay = replayed(bundles.pack(files))
    assert set(findings) == {"The policy that decided it is missing or altered."}
    assert len(findings) + replay.agreed == 8


def test_decisions_whose_evidence_was_erased_are_counted(office: Office) -> None:
    files = bundles.unpack(live(office))
    kept = bundles.lines(files, "payloads")
    bundles.put(files, "payloads", kept[1:])  # the first attempt's
    findings, replay = replayed(bundles.pack(files))
    assert (findings, replay.agreed, replay.erased) == ([], 7, 1)


def test_what_is_no_bundle_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "other.zip").write_bytes(b"no zip")
    with pytest.raises(CommandError, match="The bundle cannot be read"):
        call_command("replay_bundle", str(tmp_path / "other.zip"))
