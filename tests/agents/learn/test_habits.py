from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from agents.learn import habits, precedents
from agents.learn.habits import Learnable
from agents.learn.precedents import Past
from audit.contracts import Recorded
from guardrails.contracts.learning import Pattern
from knowledge.contracts import StoredMail
from tests.agents.learn import test_precedents
from tests.guardrails.values import allow, list_target, policy_of

AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
MAIL = StoredMail(
    source_id="m0",
    thread_id="t",
    sender="billing@cloudnest.example",
    subject="Invoice 17",
    list_id="",
    authenticated=True,
    labels=(),
    occurred_at=AT,
)
CONFIRMED = {"approved_by": "user:maya"}
FILED = (("archive", "{}"), ("classify", '{"label_id":"label_1"}'))


def recorded(action_type: str, arguments: dict[str, Any], **changes: Any) -> Recorded:
    return test_precedents.recorded(
        action_type, **({"payload": {"arguments": arguments}} | changes)
    )


def heads(number: int, **changes: Any) -> dict[str, StoredMail]:
    return {
        f"m{n}": replace(MAIL, **({"source_id": f"m{n}", "thread_id": f"t{n}"} | changes))
        for n in range(number)
    }


def test_only_what_people_decided_and_patterns_can_do_counts() -> None:
    assert habits.find_decisions(
        [
            recorded("classify", {"email_id": "m1", "label_id": "label_2"}, **CONFIRMED),
            recorded("classify", {"email_id": "m1", "label_id": "label_1"}, **CONFIRMED),
            recorded("archive", {"email_id": "m0"}, trigger="chat"),
            recorded("archive", {"email_id": "m1"}, trigger="webhook", approved_by="user:maya"),
            recorded("archive", {"email_id": "m2"}, trigger="webhook"),
            recorded("archive", {"email_id": "m3"}, trigger="pattern"),
            recorded("archive", {"email_id": "m4"}, status="failed", **CONFIRMED),
            recorded("archive", {"email_id": "m5"}, payload={}, **CONFIRMED),
            recorded("send_email", {"to": ["a@b.example"]}, **CONFIRMED),
            recorded("forward", {"email_id": "m6", "to": ["a@b.example"]}, **CONFIRMED),
        ]
    ) == {"m1": (("archive", "{}"), ("classify", '{"label_id":"label_2"}'))}


@pytest.mark.parametrize(("number", "found"), [(2, 0), (3, 1), (50, 1)])
def test_three_mails_of_one_sender_make_a_pattern(number: int, found: int) -> None:
    decided = dict.fromkeys(heads(number), FILED)
    patterns = [pattern for pattern, _ in habits.find_repeated(decided, heads(number))]

    assert len(patterns) == found
    for pattern in patterns:
        assert (pattern.sender_address, pattern.list_id, pattern.subject) == (MAIL.sender, "", "")
        assert pattern.actions == (("archive", {}), ("classify", {"label_id": "label_1"}))


def test_a_list_is_named_by_its_id() -> None:
    found = heads(3, list_id="<weekly.example>", authenticated=False)
    [(pattern, _)] = habits.find_repeated(dict.fromkeys(found, FILED), found)
    assert (pattern.sender_address, pattern.list_id) == ("", "<weekly.example>")


@pytest.mark.parametrize("changes", [{"sender": ""}, {"authenticated": False}])
def test_nobody_and_an_unproved_sender_make_none(changes: dict[str, Any]) -> None:
    found = heads(3, **changes)
    assert list(habits.find_repeated(dict.fromkeys(found, FILED), found)) == []


def test_mail_that_is_not_stored_counts_for_nothing() -> None:
    assert list(habits.find_repeated(dict.fromkeys(heads(3), FILED), heads(2))) == []


def test_different_decisions_are_not_added_up() -> None:
    decided = {f"m{n}": FILED if n % 2 else FILED[:1] for n in range(8)}
    assert list(habits.find_repeated(decided, heads(8))) == []


LEARNABLE = Learnable(labels=frozenset({"label_1"}), folders=frozenset({"folder_1"}), archives=True)


def test_only_what_is_permitted_and_listed_here_is_learnt_and_no_state_of_a_thread() -> None:
    targets = (
        list_target("classify", "label", "label_1"),
        list_target("classify", "label", "label_to_reply", single=True),
        list_target("classify", "label", "label_2", source="outlook"),
        list_target("move_email", "folder", "folder_1"),
    )
    permitted = policy_of(allow("classify"), allow("move_email", "ask"), allow("archive"), *targets)
    forbidden = policy_of(allow("move_email", enabled=False), allow("archive", "never"), *targets)

    assert habits.find_learnable(permitted, "gmail") == LEARNABLE
    assert habits.find_learnable(forbidden, "gmail") == Learnable()


def by_hand(labels: tuple[str, ...], *rows: Recorded, **given: Any) -> tuple[Any, ...]:
    found = habits.find_by_hand(
        Past(
            mails={"m0": replace(MAIL, labels=labels)},
            done={"m0": rows},
            filings=given.get("filings", {}),
        ),
        learnable=LEARNABLE,
    )
    return found.get("m0", ())


@pytest.mark.parametrize(
    ("labels", "steps"),
    [
        (("INBOX", "UNREAD"), ()),
        (("INBOX", "label_1", "To Reply"), (FILED[1],)),
        (("UNREAD", "label_1"), FILED),
        (("label_1",), (FILED[1],)),  # read, then put away: archiving unread is another thing
        (("folder_1", "UNREAD"), (("move_email", '{"folder_id":"folder_1"}'),)),
    ],
)
def test_what_hands_did_is_read_off_the_mail(labels: tuple[str, ...], steps: Any) -> None:
    assert by_hand(labels) == steps


def test_what_the_agent_did_is_no_hand_but_a_correction_of_it_is() -> None:
    wrong = recorded("classify", {"email_id": "m0", "label_id": "label_2"})
    right = recorded("classify", {"email_id": "m0", "label_id": "label_1"})
    mine, unknown = {"m0": {wrong.action_id}}, {"m0": {UUID(int=99)}}

    assert by_hand(("INBOX", "label_1"), right, filings=mine) == ()
    assert by_hand(("INBOX", "label_1"), wrong, filings=mine) == (FILED[1],)
    assert by_hand(("INBOX", "label_1"), wrong, filings=unknown) == ()
    pattern = Pattern(
        id=UUID(int=0),
        name="",
        sender_address=MAIL.sender,
        sender_domain="",
        list_id="",
        subject="",
        content_type="email",
        actions=(("classify", {"label_id": "label_1"}),),
    )
    [found] = precedents.weigh(
        pattern, [replace(MAIL, labels=("label_1",))], done={"m0": [wrong]}, filings=mine, now=AT
    )
    assert (found.side, found.by_person) == ("supporting", True)


def test_mail_that_the_agent_filed_and_the_user_left_so_adds_to_what_they_did() -> None:
    filed = recorded("classify", {"email_id": "m0", "label_id": "label_1"})
    away = recorded("archive", {"email_id": "m0"}, action_id=UUID(int=2))
    read = replace(MAIL, labels=("label_1",))
    later = AT + precedents.TO_PUT_RIGHT

    def seen(mail: StoredMail, *rows: Recorded) -> Any:
        past = Past(mails={"m0": mail}, done={"m0": rows}, filings={})
        return habits.find_seen(past, learnable=LEARNABLE, now=later)

    assert seen(read, filed, away) == {"m0": set(FILED)}
    assert seen(read, filed) == {"m0": {FILED[1]}}
    assert seen(replace(read, labels=("INBOX",)), filed) == {"m0": frozenset()}
    assert seen(replace(read, labels=("UNREAD", "label_1")), filed) == {}
    assert seen(read) == {}

    mails = heads(9)
    left = dict.fromkeys([f"m{n}" for n in range(1, 9)], frozenset(FILED))
    [(pattern, _)] = habits.find_repeated({"m0": FILED}, mails, seen=left)
    assert pattern.sender_address == MAIL.sender
    assert [one[0] for one in pattern.actions] == ["archive", "classify"]
    assert list(habits.find_repeated({}, mails, seen=left)) == []
    few = dict(list(left.items())[:5])
    assert list(habits.find_repeated({"m0": FILED}, mails, seen=few)) == []
    other = dict.fromkeys(left, frozenset(FILED[:1]))
    assert list(habits.find_repeated({"m0": FILED}, mails, seen=other)) == []
    thread = {name: replace(one, thread_id="t") for name, one in mails.items()}
    assert list(habits.find_repeated({"m0": FILED}, thread, seen=left)) == []


def test_subjects_and_domains_stand_for_what_a_sender_alone_does_not() -> None:
    invoices = heads(3)
    others = {
        f"o{n}": replace(MAIL, source_id=f"o{n}", thread_id=f"o{n}", subject="News")
        for n in range(3)
    }
    apart = dict.fromkeys(invoices, FILED) | dict.fromkeys(others, FILED[:1])
    assert {p.subject for p, _ in habits.find_repeated(apart, invoices | others)} == {
        "invoice #",
        "news",
    }
    many = {
        name: replace(one, sender=f"bot-{name}@cloudnest.example") for name, one in heads(3).items()
    }
    [(pattern, _)] = habits.find_repeated(dict.fromkeys(many, FILED), many)
    assert (pattern.sender_domain, pattern.sender_address) == ("cloudnest.example", "")
    public = {name: replace(one, sender=f"{name}@gmail.com") for name, one in many.items()}
    assert list(habits.find_repeated(dict.fromkeys(public, FILED), public)) == []


def test_to_put_one_thread_away_is_no_word_about_all_who_wrote_in_it() -> None:
    thread = heads(9, thread_id="t")
    assert list(habits.find_repeated(dict.fromkeys(thread, FILED), thread)) == []
    colleagues = {
        name: replace(one, sender=f"{name}@company.example") for name, one in heads(9).items()
    }
    decided = dict.fromkeys(colleagues, FILED)
    assert list(habits.find_repeated(decided, colleagues, own_domain="company.example")) == []
