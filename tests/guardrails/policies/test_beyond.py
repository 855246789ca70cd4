"""What a change permits beyond the one action, in words."""

from typing import Any

from guardrails.actions import registry
from guardrails.decide.smallest_change import Change
from guardrails.decide.snapshot import AllowedAction, ListedTarget
from guardrails.policies.beyond import Beyond, describe_beyond
from tests.guardrails.decide.test_smallest_change import found
from tests.guardrails.values import ADA, STRANGER, allow, list_target, policy_of

READ = {"email_id": "mail-1"}
TO_ADA = {"to": [ADA], "subject": "Hello", "body": "Text."}
ANY_TEXT = "It counts for {} from now on, whatever else the agent says or asks."
BY_MAIL = "A mail that comes in may set it off too, within its own thread."
UNASKED = "It is done without asking anybody, unless the guard itself has a reason to ask."


def beyond(
    action_type: str, arguments: dict[str, Any], *rows: AllowedAction | ListedTarget
) -> Beyond:
    change = found(action_type, arguments, *rows)
    assert isinstance(change, Change), change
    action = registry.BY_NAME[action_type]
    return describe_beyond(policy_of(*rows), change, action=action, source="gmail")


def test_an_action_without_targets_counts_for_everything_of_its_sort() -> None:
    said = beyond("archive", READ)
    assert said.sentences == ("It counts for every email of this account, not for this one alone.",)
    assert (said.before.verdict, said.after.verdict) == ("refuse", "ask")
    assert said.after.sentence == (
        "A person is asked each time, only if a person in the chat set it off."
    )


def test_targets_that_slept_wake_up() -> None:
    asleep = [list_target("send_email", "recipient", f"p{n}@client.com") for n in range(22)]
    said = beyond("send_email", TO_ADA, allow("send_email", "never"), *asleep)
    listed = said.sentences[0]
    assert listed.startswith("Targets that were listed before count from now on: p0@client.com, p1")
    assert listed.endswith(" and 2 more.")
    assert said.sentences[1:] == (ANY_TEXT.format(ADA), BY_MAIL)


def test_a_listed_target_counts_for_all_that_the_action_does_with_it() -> None:
    chats = {"kind": "trigger", "any_of": ["chat"]}
    wanted = TO_ADA | {"to": [ADA, STRANGER]}
    said = beyond("send_email", wanted, allow("send_email", "ask", chats))
    assert said.sentences == (ANY_TEXT.format(f"{ADA}, {STRANGER}"),)


def test_what_is_done_without_asking_is_said_so() -> None:
    row = allow("classify", "auto", agent_text=False)
    said = beyond("classify", {"email_id": "mail-1", "label_id": "label_fyi"}, row)
    assert said.sentences == (ANY_TEXT.format("“FYI” (label_fyi)"), BY_MAIL, UNASKED)


def test_a_wider_condition_is_said_whole() -> None:
    row = allow("archive", "ask", {"kind": "sender", "domains": ["company.com"]})
    said = beyond("archive", READ, row)
    assert said.sentences[0] == (
        f"From now on it is enough that the mail is from {ADA} or somebody at company.com."
    )


def test_findings_that_were_there_before_are_left_out() -> None:
    sleeping = list_target("classify", "label", "label_fyi")  # its action is not permitted
    elsewhere = {"kind": "recipient_domain", "domains": ["company.com"]}
    row = allow("send_email", "ask", elsewhere, {"kind": "max_recipients", "max": 3})
    said = beyond("send_email", TO_ADA, row, sleeping)
    assert said.findings == ()
