"""The same thing twice: words, webhooks, workers. The provider acts at most once.

Two workers on one delivery and two people on one approval are threads that call
`agents.inbound.reactions.react` and the decision's endpoint at the same moment; everything else
goes through HTTP.
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

from agents.inbound.reactions import react
from agents.models import Turn
from guardrails.contracts import ActionRequest, Origin
from guardrails.execute import executor
from integrations.models import Delivery
from tests.attacks.case import ITEM, Grant, Story
from tests.attacks.desk import BOB, EVE, Desk, drain, outline
from tests.attacks.plays import ARCHIVE, BOB_LISTED, SEND
from tests.attacks.run import wish
from tests.guardrails.office import in_threads

REPLAY = "replay"
ASKING = Grant(action="send_email", mode="ask", targets=BOB_LISTED)
ARCHIVING = Grant(action="archive")
ARCHIVE_ITEM = replace(ARCHIVE.case(REPLAY, "", "").twin, arguments={"email_id": ITEM})


def permit(desk: Desk, grant: Grant) -> None:
    desk.office.permit(grant.action, grant.mode)
    for kind, external_id, *name in grant.targets:
        desk.office.list_target(grant.action, kind, external_id, *name)


def ask_to_send(desk: Desk) -> str:
    """A wish to send a mail that waits for a person; its approval."""
    if not desk.office.mailbox.allowed_actions.filter(action_type="send_email").exists():
        permit(desk, ASKING)
    with desk.obeyed(chat=[wish(SEND.case(REPLAY, "", "").twin, item=""), "It waits."]):
        answer = desk.say("Please see to it.")
    return str(answer["pending_actions"][0]["id"])


def sent_once(desk: Desk) -> None:
    approval = ask_to_send(desk)
    assert desk.decide(approval).json()["status"] == "succeeded"


def confirmed_again(desk: Desk) -> None:
    approval = ask_to_send(desk)
    words = [desk.decide(approval).json() for _ in range(5)]
    assert {word["status"] for word in words} == {"succeeded"}


def confirmed_by_two_at_once(desk: Desk) -> None:
    approval = ask_to_send(desk)
    words = in_threads(4, lambda: desk.decide(approval).json())
    assert {word["status"] for word in words} <= {"succeeded"}


def confirmed_in_chat_and_by_api(desk: Desk) -> None:
    approval = ask_to_send(desk)
    with desk.obeyed(chat=["Done."]):
        desk.say("Yes.", session_id=session(desk), confirm_actions=[approval])
    assert desk.decide(approval).json()["status"] == "succeeded"
    with desk.obeyed(chat=["Done."]):
        desk.say("Yes.", session_id=session(desk), confirm_actions=[approval])


def session(desk: Desk) -> str:
    return str(desk.turns()[-1].conversation_id)


def rejected_then_confirmed(desk: Desk) -> None:
    approval = ask_to_send(desk)
    assert desk.decide(approval, "reject").json()["reason"] == "rejected"
    assert desk.decide(approval).status_code == 409
    assert outline(desk.rows())[-1] == ("control", "denied", "rejected")


def an_old_grant_for_a_new_wish(desk: Desk) -> None:
    """A yes to one mail says nothing about the next, to the letter the same."""
    desk.decide(ask_to_send(desk))
    again = ask_to_send(desk)
    assert [card["state"] for card in desk.cards()] == ["pending", "executed"]
    assert desk.cards()[0]["id"] == again


def archived(desk: Desk, *, pushes: int, same_id: bool) -> None:
    """A mail that is archived when it arrives; its webhook comes several times."""
    permit(desk, ARCHIVING)
    mail = desk.mail()
    with desk.obeyed(mail=[wish(ARCHIVE_ITEM, item=mail["id"]), "Done."]):
        for number in range(pushes):
            answer = desk.push(mail, webhook_id="one" if same_id else f"number-{number}")
            assert answer.status_code == 202
            drain()
    assert len(desk.turns()) == 1


def redelivered(desk: Desk) -> None:
    archived(desk, pushes=4, same_id=True)
    assert Delivery.objects.filter(organisation=desk.office.organisation).count() == 1


def pushed_again(desk: Desk) -> None:
    archived(desk, pushes=4, same_id=False)


def worked_by_two(desk: Desk) -> None:
    permit(desk, ARCHIVING)
    mail = desk.mail()
    delivery = UUID(desk.push(mail).json()["delivery_id"])
    with desk.obeyed(mail=[wish(ARCHIVE_ITEM, item=mail["id"]), "Done."]):
        assert sorted(in_threads(4, lambda: react(delivery))) == [False, False, False, True]
        drain()


def archived_once(desk: Desk) -> None:
    mail = desk.mail()
    with desk.obeyed(mail=[wish(ARCHIVE_ITEM, item=mail["id"]), "Done."]):
        desk.arrive(mail)


def replayed_turn(desk: Desk) -> None:
    """Reading a turn again, or starting it again, does nothing again."""
    permit(desk, replace(ASKING, mode="auto"))
    with desk.obeyed(chat=[wish(SEND.case(REPLAY, "", "").twin, item=""), "Done."]):
        answer = desk.say("Please see to it.")
    for _ in range(3):
        again = desk.request("GET", f"/api/v1/turns/{answer['turn_id']}").json()
        assert again["completed_actions"] == answer["completed_actions"]


def sent(desk: Desk) -> None:
    with desk.obeyed(chat=[wish(SEND.case(REPLAY, "", "").twin, item=""), "Done."]):
        desk.say("Please see to it.")


def request(desk: Desk, action_id: UUID, **changes: Any) -> ActionRequest:
    return desk.office.request(
        "send_email",
        {**SEND.arguments, **changes},
        action_id=action_id,
        origin=Origin(trigger="chat", turn_id="turn"),
    )


def executed_by_two(desk: Desk) -> None:
    """Two workers that hold the same action."""
    permit(desk, replace(ASKING, mode="auto"))
    wanted = request(desk, desk.office.request("send_email", {}).action_id)
    results = in_threads(4, lambda: executor.execute(wanted))
    assert {result.status for result in results} == {"succeeded"}


def another_act_under_its_id(desk: Desk) -> None:
    """What was done once does not lend its id to another receiver, listed or not."""
    permit(desk, replace(ASKING, mode="auto"))
    desk.office.list_target("send_email", "recipient", EVE)
    known = request(desk, desk.office.request("send_email", {}).action_id)
    assert executor.execute(known).status == "succeeded"
    result = executor.execute(request(desk, known.action_id, to=[EVE]))
    assert (result.status, result.reason) == ("refused", "action_id_reused")
    assert [call["body"]["to"] for call in desk.calls()] == [[BOB]]


def lost_answer(desk: Desk) -> None:
    """The provider acts and its answer is lost: it is asked, not told again."""
    permit(desk, replace(ASKING, mode="auto"))
    desk.office.faults(fail_after_perform_rate=1.0)
    try:
        with desk.obeyed(chat=[wish(SEND.case(REPLAY, "", "").twin, item=""), "Done."]):
            desk.say("Please see to it.")
    finally:
        desk.office.faults()
    assert Turn.objects.get(organisation=desk.office.organisation).actions


CASES: tuple[Story, ...] = tuple(
    Story(name=name, row=REPLAY, attack=attack, twin=twin, calls=1, calls_in_attack=calls)
    for name, attack, twin, calls in (
        ("one approval is confirmed five times", confirmed_again, sent_once, 1),
        ("one approval is confirmed by four at once", confirmed_by_two_at_once, sent_once, 1),
        ("in the chat and by the API", confirmed_in_chat_and_by_api, sent_once, 1),
        ("confirmed after it was rejected", rejected_then_confirmed, sent_once, 0),
        ("an old yes for a new wish", an_old_grant_for_a_new_wish, sent_once, 1),
        ("a webhook is delivered again", redelivered, archived_once, 1),
        ("a mail is pushed under other ids", pushed_again, archived_once, 1),
        ("four workers on one delivery", worked_by_two, archived_once, 1),
        ("a turn is read again", replayed_turn, sent, 1),
        ("four workers on one action", executed_by_two, sent, 1),
        ("another act under a known id", another_act_under_its_id, sent, 1),
        ("a lost answer", lost_answer, sent, 1),
    )
)
