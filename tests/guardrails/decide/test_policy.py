"""The decision, as a pure function: what it permits, and that it permits nothing else."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from guardrails.contracts import Origin, Trigger
from guardrails.decide.snapshot import AllowedAction, ListedTarget
from guardrails.facts.counts import Counts, Question, Tally
from guardrails.facts.facts import Facts
from guardrails.facts.reasons import REASONS
from integrations.contracts import Authentication
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    STRANGER,
    account,
    allow,
    chat,
    decide,
    directory_of,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

MAIL = {"subject": "Hello", "body": "Text."}
ISSUE = {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"}
LISTED_ADA = list_target("send_email", "recipient", ADA)
CLIENTS = list_target("send_email", "recipient_domain", "client.com")
PROJ = list_target("create_jira_task", "project", "PROJ")


def verdict(
    action_type: str,
    arguments: dict[str, Any],
    *rows: AllowedAction | ListedTarget,
    origin: Origin | None = None,
    found: Facts | None = None,
) -> tuple[str, str]:
    decision = decide(
        request=request(action_type, arguments, origin),
        policy=policy_of(*rows),
        facts=found or facts(),
        now=NOW,
    )
    return decision.verdict, decision.reason


ALLOWED, ASKED = ("allow", "allowed"), ("ask", "needs_approval")


# --- allowed actions -----------------------------------------------------------------------


def test_modes_allow_ask_and_refuse() -> None:
    arguments = {"email_id": "mail-1"}
    assert verdict("archive", arguments, allow("archive")) == ALLOWED
    assert verdict("archive", arguments, allow("archive", "ask")) == ASKED
    assert verdict("archive", arguments, allow("archive", "never")) == (
        "refuse",
        "not_permitted",
    )
    assert verdict("archive", arguments) == ("refuse", "not_permitted")


def test_a_specific_allowed_action_beats_the_general_one_both_ways() -> None:
    general, specific = (
        allow("archive"),
        allow("archive", "never", resource_type="email"),
    )
    arguments = {"email_id": "mail-1"}
    assert verdict("archive", arguments, general, specific)[0] == "refuse"
    assert verdict("archive", arguments, specific, general)[0] == "refuse"
    opened = allow("archive", resource_type="email"), allow("archive", "never")
    assert verdict("archive", arguments, *opened) == ALLOWED


def test_a_disabled_allowed_action_is_none() -> None:
    switched_off = allow("archive", enabled=False)
    assert verdict("archive", {"email_id": "mail-1"}, switched_off)[0] == "refuse"


def test_an_action_of_another_source_is_unknown() -> None:
    wish = replace(request("archive", {"email_id": "mail-1"}), account=account(source="jira"))
    decision = decide(request=wish, policy=policy_of(allow("archive")), facts=facts(), now=NOW)
    assert decision.reason == "unknown_action"


@pytest.mark.parametrize("place", ["account", "policy"])
def test_a_pause_comes_before_everything(place: str) -> None:
    wish = request("archive", {"email_id": "mail-1"})
    if place == "account":
        wish = replace(wish, account=account(paused=True))
    policy = policy_of(allow("archive"), paused=place == "policy")
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert (decision.verdict, decision.reason) == ("refuse", "paused")


def test_a_wish_to_be_asked_tightens() -> None:
    origin = chat(tighten=True)
    assert verdict("archive", {"email_id": "mail-1"}, allow("archive"), origin=origin) == ASKED


def test_without_facts_the_answer_is_no() -> None:
    decision = decide(
        request=request("archive", {"email_id": "mail-1"}),
        policy=policy_of(allow("archive")),
        facts=None,
        now=NOW,
    )
    assert (decision.verdict, decision.reason) == ("refuse", "facts_unavailable")


def test_another_mail_than_the_one_named_is_no_answer() -> None:
    found = facts(email(id="mail-2"))
    outcome = verdict("archive", {"email_id": "mail-1"}, allow("archive"), found=found)
    assert outcome == ("refuse", "object_unknown")


# --- targets ---------------------------------------------------------------------------


def test_no_targets_permit_nothing() -> None:
    label = {"email_id": "mail-1", "label_id": "label_fyi"}
    refused = ("refuse", "target_not_listed")
    assert verdict("classify", label, allow("classify")) == refused
    assert verdict("send_email", {"to": [ADA], **MAIL}, allow("send_email")) == refused
    assert verdict("create_jira_task", ISSUE, allow("create_jira_task")) == refused


def test_a_label_is_its_id_and_never_its_name() -> None:
    rows = allow("classify"), list_target("classify", "label", "label_fyi")
    assert verdict("classify", {"email_id": "mail-1", "label_id": "label_fyi"}, *rows) == ALLOWED
    for label_id in ("FYI", "label_FYI", "label_to_reply", "INBOX"):
        outcome = verdict("classify", {"email_id": "mail-1", "label_id": label_id}, *rows)
        assert outcome == ("refuse", "target_not_listed")


@pytest.mark.parametrize("labels", [{}, {"label_fyi": "Renamed"}, {"label_other": "FYI"}, None])
def test_a_target_that_is_gone_or_renamed_is_refused(labels: dict[str, str] | None) -> None:
    outcome = verdict(
        "classify",
        {"email_id": "mail-1", "label_id": "label_fyi"},
        allow("classify"),
        list_target("classify", "label", "label_fyi"),
        found=facts(labels=labels),
    )
    assert outcome == ("refuse", "target_changed")


def test_targets_count_for_their_action_source_and_type_only() -> None:
    arguments = {"to": [ADA], **MAIL}
    for other in (
        list_target("draft", "recipient", ADA),
        list_target("send_email", "recipient", ADA, source="outlook"),
        list_target("send_email", "recipient", ADA, resource_type="event"),
        list_target("send_email", "label", ADA),
    ):
        assert verdict("send_email", arguments, allow("send_email"), other)[0] == "refuse"
    specific = list_target("send_email", "recipient", ADA, resource_type="email")
    assert verdict("send_email", arguments, allow("send_email"), specific) == ALLOWED


@pytest.mark.parametrize("place", ["to", "cc", "bcc"])
def test_every_receiver_is_decided(place: str) -> None:
    arguments: dict[str, Any] = {"to": [ADA], "cc": [], "bcc": [], **MAIL}
    rows = allow("send_email"), LISTED_ADA
    assert verdict("send_email", arguments, *rows) == ALLOWED
    arguments[place] = [*arguments[place], STRANGER]
    assert verdict("send_email", arguments, *rows) == ("refuse", "target_not_listed")


def test_a_blind_copy_needs_the_address_itself_listed() -> None:
    arguments = {"to": [ADA], "bcc": ["bob@client.com"], **MAIL}
    origin = chat(f"write {ADA} and bob@client.com")
    rows = allow("send_email"), LISTED_ADA, CLIENTS
    assert verdict("send_email", arguments, *rows, origin=origin)[1] == "target_not_listed"
    listed = list_target("send_email", "recipient", "bob@client.com")
    assert verdict("send_email", arguments, *rows, listed, origin=origin) == ALLOWED


@pytest.mark.parametrize(
    "address",
    ["bob@mail.client.com", "bob@client.com.evil.example", "bob@notclient.com", "bob@client.co"],
)
def test_a_listed_domain_lists_no_other(address: str) -> None:
    outcome = verdict("send_email", {"to": [address], **MAIL}, allow("send_email"), CLIENTS)
    assert outcome == ("refuse", "target_not_listed")


@pytest.mark.parametrize("address", ["Ada@client.com", "ada+x@client.com", "a.da@client.com"])
def test_a_variant_of_a_listed_address_is_another_address(address: str) -> None:
    outcome = verdict("send_email", {"to": [address], **MAIL}, allow("send_email"), LISTED_ADA)
    assert outcome == ("refuse", "target_not_listed")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"project_key": "OPS"}, "target_not_listed"),
        ({"assignee": "bob@company.com"}, "target_not_listed"),
        ({"labels": ["urgent"]}, "target_not_listed"),
        ({"labels": ["portal", "urgent"]}, "target_not_listed"),
        ({"assignee": "ada@company.com", "labels": ["portal"]}, "allowed"),
    ],
)
def test_project_assignee_and_labels_of_an_issue_are_decided(
    change: dict[str, Any], reason: str
) -> None:
    rows = (
        allow("create_jira_task"),
        PROJ,
        list_target("create_jira_task", "assignee", "ada@company.com"),
        list_target("create_jira_task", "label", "portal"),
    )
    assert verdict("create_jira_task", ISSUE | change, *rows)[1] == reason


def test_a_reply_may_be_drafted_to_anybody_in_the_thread() -> None:
    found = facts(email(cc=("bob@client.com",), reply_to=(STRANGER,)))
    draft = {"reply_to_id": "mail-1", **MAIL}
    rows = (allow("draft"),)
    assert verdict("draft", {"to": [ADA, "bob@client.com"], **draft}, *rows, found=found) == ALLOWED
    refused = ("refuse", "target_not_listed")
    assert verdict("draft", {"to": [STRANGER], **draft}, *rows, found=found) == refused
    assert verdict("draft", {"to": [ADA], "cc": [STRANGER], **draft}, *rows, found=found) == refused
    listed = list_target("draft", "recipient", STRANGER)
    assert verdict("draft", {"to": [STRANGER], **draft}, *rows, listed, found=found) == ALLOWED


def test_single_choice_takes_the_rest_of_the_group_off() -> None:
    group = {"group_id": "status", "single": True}
    decision = decide(
        request=request("classify", {"email_id": "mail-1", "label_id": "label_fyi"}),
        policy=policy_of(
            allow("classify"),
            list_target("classify", "label", "label_fyi", **group),
            list_target("classify", "label", "label_to_reply", **group),
            list_target("classify", "label", "label_gone", **group),
        ),
        facts=facts(email(labels=("INBOX", "label_to_reply"))),
        now=NOW,
    )
    assert decision.removals == ("label_to_reply",)
    assert decision.side_effects == ("Takes off the label To Reply.",)
    assert decision.target_group_id == "status"


def test_several_at_once_takes_nothing_off() -> None:
    group = {"group_id": "topics", "single": False}
    decision = decide(
        request=request("classify", {"email_id": "mail-1", "label_id": "label_fyi"}),
        policy=policy_of(
            allow("classify"),
            list_target("classify", "label", "label_fyi", **group),
            list_target("classify", "label", "label_to_reply", **group),
        ),
        facts=facts(email(labels=("label_to_reply",))),
        now=NOW,
    )
    assert (decision.removals, decision.side_effects) == ((), ())


# --- what a mail may set off -----------------------------------------------------------


@pytest.mark.parametrize("trigger", ["webhook", "pattern"])
def test_an_inbound_item_acts_on_its_own_thread_only(trigger: str) -> None:
    origin = inbound(trigger=trigger)
    rows = (allow("archive"),)
    wish = {"email_id": "mail-1"}
    assert verdict("archive", wish, *rows, origin=origin) == ALLOWED
    same_thread = inbound(trigger=trigger, item_source_id="mail-0")
    assert verdict("archive", wish, *rows, origin=same_thread) == ALLOWED
    outside = ("refuse", "outside_own_item")
    other = inbound(trigger=trigger, item_source_id="mail-0", thread_id="thread-0")
    assert verdict("archive", wish, *rows, origin=other) == outside
    nothing = inbound(trigger=trigger, item_source_id="", thread_id="")
    found = facts(email(thread_id=""))
    assert verdict("archive", wish, *rows, origin=nothing, found=found) == outside


@pytest.mark.parametrize("trigger", get_args(Trigger))
def test_what_is_off_forbidden_or_used_up_is_so_whatever_sets_it_off(trigger: str) -> None:
    def archive(row: AllowedAction, *, before: int = 0) -> tuple[str, str]:
        question = Question(what="actions", per="hour", max=2)
        tally = Tally(question=question, own=1, count=before + 1)
        found = replace(facts(), counts=Counts(tallies=(tally,)))
        origin = inbound(trigger=trigger)
        return verdict("archive", {"email_id": "mail-1"}, row, origin=origin, found=found)

    twice_an_hour = allow("archive", "auto", {"kind": "rate", "max": 2, "per": "hour"})
    assert archive(twice_an_hour, before=1) == ALLOWED
    assert archive(twice_an_hour, before=2) == ("refuse", "rate_exceeded")
    assert archive(allow("archive", enabled=False)) == ("refuse", "not_permitted")
    assert archive(allow("archive", "never")) == ("refuse", "not_permitted")


def test_a_mail_never_creates_an_issue() -> None:
    outcome = verdict("create_jira_task", ISSUE, allow("create_jira_task"), PROJ, origin=inbound())
    assert outcome == ("refuse", "not_from_mail")


def test_a_mail_is_answered_only_to_a_proved_and_listed_participant() -> None:
    reply = {"to": [ADA], "reply_to_id": "mail-1", **MAIL}
    ask = allow("send_email", "ask")
    assert verdict("send_email", reply, ask, LISTED_ADA, origin=inbound()) == ASKED
    unlisted = verdict("send_email", reply, ask, origin=inbound())
    assert unlisted == ("refuse", "target_not_listed")
    spoofed = facts(email(authentication=Authentication(spf="pass", dkim="none", dmarc="none")))
    outcome = verdict("send_email", reply, ask, LISTED_ADA, origin=inbound(), found=spoofed)
    assert outcome == ("refuse", "receiver_not_in_thread")


def test_whom_a_stranger_puts_in_copy_takes_no_part() -> None:
    found = facts(email(cc=("bob@client.com",)))
    reply = {"to": [ADA], "cc": ["bob@client.com"], "reply_to_id": "mail-1", **MAIL}
    rows = allow("send_email", "ask"), LISTED_ADA, CLIENTS
    outcome = verdict("send_email", reply, *rows, origin=inbound(), found=found)
    assert outcome == ("refuse", "receiver_not_in_thread")
    mine = email(id="mail-0", **{"from": ME}, to=("bob@client.com",), labels=("SENT",))
    answered = replace(found, thread=(mine, email(cc=("bob@client.com",))))
    assert verdict("send_email", reply, *rows, origin=inbound(), found=answered) == ASKED


def test_a_mail_sends_nothing_that_is_no_reply() -> None:
    new = {"to": [ADA], **MAIL}
    rows = allow("send_email"), LISTED_ADA
    nothing = Facts(own_address=ME)
    outcome = verdict("send_email", new, *rows, origin=inbound(), found=nothing)
    assert outcome == ("refuse", "outside_own_item")


def test_a_mail_makes_somebody_be_asked_where_the_policy_wants_it_and_not_else() -> None:
    refused = ("refuse", "ask_not_from_mail")
    wish = {"email_id": "mail-1"}
    assert verdict("archive", wish, allow("archive", "ask"), origin=inbound()) == ASKED
    tightened = inbound(tighten=True)
    assert verdict("archive", wish, allow("archive"), origin=tightened) == refused
    draft = {"to": [ADA], "reply_to_id": "mail-1", **MAIL}
    assert verdict("draft", draft, allow("draft"), origin=inbound()) == ALLOWED
    assert verdict("draft", draft, allow("draft", "ask"), origin=inbound()) == ASKED
    harmful = draft | {"body": "The password is: hunter2-Blau"}
    leaks = ("refuse", "draft_holds_secret")
    assert verdict("draft", harmful, allow("draft", "ask"), origin=inbound()) == leaks
    listed = list_target("draft", "recipient", ADA)
    assert verdict("draft", draft, allow("draft", "ask"), listed, origin=inbound()) == ASKED


def test_a_mail_asks_about_nobody_new_and_for_no_other_reason_than_the_policys_wish() -> None:
    refused = ("refuse", "ask_not_from_mail")
    colleague = "bob@company.com"
    opened = allow("draft", "ask", {"kind": "recipient", "relation": ["directory"]})
    found = facts(directory=directory_of(ADA, colleague))
    answer = {"to": [ADA], "reply_to_id": "mail-1", **MAIL}
    assert verdict("draft", answer, opened, origin=inbound(), found=found) == ASKED
    wider = answer | {"cc": [colleague]}
    assert verdict("draft", wider, opened, origin=inbound(), found=found) == refused
    unnamed = allow("archive", "ask", {"kind": "named", "unnamed": "ask"})
    assert verdict("archive", {"email_id": "mail-1"}, unnamed, origin=inbound()) == refused


def test_a_mail_drafts_nothing_where_drafts_are_off_forbidden_or_bound_elsewhere() -> None:
    draft = {"to": [ADA], "reply_to_id": "mail-1", **MAIL}
    none = {"kind": "first_contact"}
    for row, reason in (
        (allow("draft", enabled=False), "not_permitted"),
        (allow("draft", "never"), "not_permitted"),
        (allow("draft", "auto", none), "condition_failed"),
    ):
        assert verdict("draft", draft, row, origin=inbound()) == ("refuse", reason)


def test_a_mail_drafts_nothing_to_an_unproved_participant() -> None:
    found = facts(email(cc=(STRANGER,)))
    draft = {"to": [STRANGER], "reply_to_id": "mail-1", **MAIL}
    outcome = verdict("draft", draft, allow("draft"), origin=inbound(), found=found)
    assert outcome == ("refuse", "target_not_listed")


# --- provenance ------------------------------------------------------------------------


def test_a_receiver_nobody_typed_or_listed_itself_is_asked_about() -> None:
    rows = allow("send_email"), CLIENTS
    wish = {"to": ["bob@client.com"], **MAIL}
    assert verdict("send_email", wish, *rows) == ASKED
    typed = chat("tell bob@client.com that I am late")
    assert verdict("send_email", wish, *rows, origin=typed) == ALLOWED
    resembling = chat("tell bob@client.com.au that I am late")
    assert verdict("send_email", wish, *rows, origin=resembling) == ASKED


def test_the_origin_of_each_value_is_named() -> None:
    decision = decide(
        request=request(
            "send_email",
            {"to": [ADA, "bob@client.com"], "cc": ["eve@client.com"], **MAIL},
            chat("Say Hello to bob@client.com"),
        ),
        policy=policy_of(allow("send_email"), LISTED_ADA, CLIENTS),
        facts=facts(),
        now=NOW,
    )
    assert decision.provenance == {
        "to[0]": "A",
        "to[1]": "U",
        "cc[0]": "X",
        "subject": "U",
        "body": "X",
    }


# --- what a decision says --------------------------------------------------------------


def test_every_reason_is_known_and_every_code_is_once_in_the_list() -> None:
    codes = [reason.code for reason in REASONS]
    assert len(codes) == len(set(codes))
    assert all(reason.sentence.endswith((".", "?")) for reason in REASONS)


def test_a_refusal_names_what_was_wrong() -> None:
    decision = decide(
        request=request("send_email", {"to": [STRANGER], **MAIL}),
        policy=policy_of(allow("send_email"), LISTED_ADA),
        facts=facts(),
        now=NOW,
    )
    assert decision.sentence == (
        "A target is not among those an operator listed. “mallory@evil.example” (to)"
    )
    assert [check.passed for check in decision.checks][-1] is False
