"""What an inbound item may set off. Pure."""

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check, bare
from guardrails.decide.checks.case import Case
from guardrails.facts.corrections import find_standing
from guardrails.facts.facts import Facts
from guardrails.facts.mailing_lists import is_list_host
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import address_or_none, is_unattended
from guardrails.facts.text import visible


def scope(case: Case, action: AnyAction, facts: Facts) -> None:
    """What an inbound item sets off stays in its thread, and neither hides nor destroys."""
    origin = case.request.origin
    if case.receivers:
        takes_part = facts.authenticated_participants
        case.lists = _lists(case, facts)
        case.authenticated = frozenset(
            [
                target.path
                for target in case.receivers
                if target.value in takes_part and target.path not in case.lists
            ]
        )
    if not case.from_content:
        return
    reaches_out = case.has("egress")
    answers = bool(case.receivers) or not reaches_out
    case.require("not_from_mail", bare("reach", action.from_mail and answers))
    case.require("harm_not_from_mail", bare("harm", not case.has("concealing", "destructive")))
    is_mail = facts.email is not None and (
        facts.email.id == origin.item_source_id
        or bool(origin.thread_id and facts.email.thread_id == origin.thread_id)
    )
    is_document = facts.document is not None and facts.document.id == origin.item_source_id
    own = is_mail or is_document
    case.require("outside_own_item", bare("own item", own))
    if is_document:  # it has no thread whose people could be answered
        case.require("not_from_mail", bare("nobody else", not reaches_out))
    user = address_or_none(facts.own_address)
    if case.receivers and all(target.value == user for target in case.receivers):
        case.refuse("receiver_oneself", "others")
    for target in case.receivers:
        if is_unattended(target.value):
            case.refuse("receiver_unattended", f"attended {target.path}", f"“{target.value}”")
        if target.path in case.lists:
            case.refuse("list_not_from_mail", f"one reader {target.path}", f"“{target.value}”")
    for target in case.receivers if reaches_out else ():
        case.require(
            "receiver_not_in_thread",
            Check(
                name=f"thread {target.path}",
                passed=target.path in case.authenticated,
                detail=f"“{target.value}” ({target.place})",
            ),
        )


def strangers(case: Case, facts: Facts) -> None:
    """What an inbound item sets off is for nobody to whom the user never wrote, whatever else lets
    that receiver in (`guardrails.gather.strangers`)."""
    if not (case.from_content and case.receivers):
        return
    found = case.strangers(facts)
    if found is None:
        case.refuse("facts_unavailable", "strangers")
    for target in case.receivers:
        case.require(
            "receiver_stranger",
            Check(
                name=f"no stranger {target.path}",
                passed=target.value not in found,
                detail=f"“{target.value}” ({target.place})",
            ),
        )


def corrected(case: Case, facts: Facts) -> None:
    """A label that a person took off mail of this sender stays off, whatever a model makes of the
    next one. Not where a person chose it on the card, nor for a pattern that one approved since.
    """
    if not (case.from_content and facts.corrections) or case.request.origin.revises:
        return
    for target in case.targets:
        if target.kind != "label":
            continue
        at = find_standing(facts.corrections, target.value, now=case.now)
        approved = facts.pattern_approved_at
        case.require(
            "label_corrected",
            Check(
                name=f"no correction {target.path}",
                passed=at is None or (approved is not None and approved > at),
                detail=phrase(
                    "It was “%(label)s”, on %(date)s. "
                    "Label it so yourself again, and it counts as before.",
                    label=visible((facts.labels or {}).get(target.value, target.value)),
                    date=f"{at:%Y-%m-%d}",
                )
                if at
                else "",
            ),
        )


def _lists(case: Case, facts: Facts) -> frozenset[str]:
    """The paths of receivers that are mailing lists, by the headers of the mail that is answered,
    by the provider, or by their host."""
    known = facts.lists
    return frozenset(
        [
            target.path
            for target in case.receivers
            if target.value.lower() in known or is_list_host(target.value)
        ]
    )
