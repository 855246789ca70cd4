"""Why one action of the ledger was decided as it was, in words. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.contracts import Recorded
from guardrails.actions import registry
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.provenance import IN_WORDS
from guardrails.facts.targets import place_of
from guardrails.facts.text import visible

CHECKS: Mapping[str, str] = {
    "switches": "No switch stops it",
    "switches by effect": "No switch stops what it does to others",
    "pause": "Neither the account nor its organisation is paused",
    "own": "Remit does it for itself, by its schedule",
    "action": "The action is known for this source",
    "ceiling": "The organisation does not forbid it",
    "permission": "The action is allowed, switched on, and not in the mode “never”",
    "drafts": "It may be done, and not only drafted",
    "classes": "It is known what each argument is",
    "arguments": "The arguments fit what the action takes",
    "facts": "The provider could be asked",
    "object": "The item exists in this account",
    "audience": "It is known who would see it",
    "reach": "A mail may set this off",
    "harm": "It neither hides nor destroys anything",
    "own item": "It stays in the thread of the mail that set it off",
    "nobody else": "Nobody else hears of it",
    "others": "It is for somebody else than the user",
    "strangers": "It is known whether the user has written to the receivers",
    "attached by a person": "No mail has it attach anything",
    "attached": "What is attached exists in this account",
    "attached own": "What is attached is the user's own",
    "command": "A person gave the command",
    "unchanged": "It is as it was left",
    "asking": "A person may be asked",
    "seals": "The ledger is sealed",
}
ABOUT_PATH: Mapping[str, str] = {
    "thread": "The receiver takes part in the thread",
    "target": "The target is listed",
    "no stranger": "The user has written to the receiver",
    "attended": "Somebody reads what the receiver gets",
    "one reader": "The receiver is no mailing list",
    "provider has": "The listed target is unchanged at the provider",
    "no correction": "No person took it off mail of this sender",
    "role of": "Somebody said that this reader may do so much",
}
# What would have to change for a refused action to be permitted.
REMEDIES: Mapping[str, str] = {
    "paused": "The pause would have to be lifted, on the page of switches.",
    "switched_off": "The switch would have to be lifted, by somebody who may.",
    "unknown_action": "Nothing helps: this source has no such action.",
    "forbidden_by_ceiling": "The ceiling limit would have to be removed, or forbid less.",
    "above_ceiling": "The ceiling's condition would have to hold, or be changed.",
    "not_permitted": "The action would have to be allowed or switched on.",
    "invalid_arguments": "The agent would have to give arguments that fit the action.",
    "facts_unavailable": "The provider would have to answer. Nothing is wrong with the policy.",
    "object_unknown": "The item would have to exist in this account.",
    "outside_own_item": "A person would have to ask for it: a mail stays within its thread.",
    "not_from_mail": "A person would have to ask for it. No policy lets a mail set this off.",
    "harm_not_from_mail": "A person would have to ask for it. No policy lets a mail do harm.",
    "audience_unknown": "The provider would have to say who can see it.",
    "receiver_not_in_thread": "The receiver would have to have written in this thread, with a "
    "proved sender; or a person would have to ask for it.",
    "label_corrected": "A person would have to label such mail so by hand, or in a chat.",
    "target_not_listed": "The target would have to be listed for this action.",
    "target_changed": "Somebody would have to look at the listed target: it has a new name at "
    "the provider, or it is gone.",
    "condition_failed": "The condition would have to hold, or be changed.",
    "condition_unknown": "The condition that cannot be read would have to be removed.",
    "draft_only": "The agent would have to propose a draft; or the policy, or the ceiling, "
    "would have to say more than “draft only”.",
    "argument_unclassified": "The argument would have to be declared in Remit's code.",
    "receiver_novel": "The receiver would have to be listed, typed by the user in the request, or "
    "written to by the user before.",
    "rate_exceeded": "Time would have to pass, or the limit would have to be higher.",
    "counts_unavailable": "It would have to be counted. Try again.",
    "not_sealed": "The ledger would have to be sealed: is `manage.py seal_ledger` running?",
    "ask_not_from_mail": "The action would have to be automatic, or the receiver listed and "
    "proved; or a person would have to ask for it.",
    "too_many_asks": "The actions that wait would have to be decided first.",
    "too_many_asks_about_it": "What waits about the same mail, file or person would have to be "
    "decided first; where nothing waits, a day would have to pass. Or the user would have to ask "
    "for it in words of their own.",
    "too_many_asks_waiting": "What waits for this user would have to be decided first.",
    "second_yes_missing": "Another person would have to say yes too.",
    "changed_since_asked": "The person would have to be asked again, about what it is now.",
    "changed_while_held": "It would have to be asked for again, about what it is now.",
    "changed_meanwhile": "It would have to be asked for again, about what it is now.",
    "rejected": "A person would have to say yes to a new request.",
    "approval_expired": "The agent would have to ask again.",
    "action_id_reused": "The request would need an id of its own.",
    "guard_failed": "The error would have to be fixed: the log names it.",
}


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One check in words."""

    words: str
    passed: bool
    detail: str


@dataclass(frozen=True, kw_only=True)
class Given:
    """One value of the action, and where it came from."""

    path: str
    value: str
    provenance: str

    @property
    def place(self) -> str:
        return visible(place_of(self.path))


@dataclass(frozen=True, kw_only=True)
class Why:
    """One decision of the past. `remedy` says what would have to change."""

    row: Recorded
    title: str
    verdict: str
    sentence: str
    remedy: str
    checks: tuple[Checked, ...]
    values: tuple[Given, ...]
    allowed_action_id: str
    target_ids: tuple[str, ...]


def why(phases: Sequence[Recorded]) -> Why | None:
    """The last decision among the phases of one action. None where none is kept, as in rows
    that remark on something or whose payload was erased."""
    row = next((one for one in reversed(phases) if "decision" in one.payload), None)
    if row is None:
        return None
    found = row.payload["decision"]
    action = registry.BY_NAME.get(row.action_type)
    return Why(
        row=row,
        title=visible(action.title if action else row.action_type),
        verdict=found["verdict"],
        sentence=visible(found["sentence"]),
        remedy=REMEDIES.get(found["reason"], "") if found["verdict"] == "refuse" else "",
        checks=tuple(
            Checked(
                words=check_in_words(one["name"]),
                passed=one["passed"],
                detail=visible(one["detail"]),
            )
            for one in found["checks"]
        ),
        values=list_values(row, found["provenance"]),
        allowed_action_id=found["rule_id"],
        target_ids=tuple(found["option_ids"]),
    )


def check_in_words(name: str) -> str:
    """What a check asks, for people."""
    if name in CHECKS:
        return CHECKS[name]
    kind, _, rest = name.rpartition(" ")
    if kind in ABOUT_PATH:
        return f"{ABOUT_PATH[kind]}: {visible(place_of(rest))}"
    if kind == "condition" and rest in conditions.BY_KIND:
        return f"Condition: {conditions.BY_KIND[rest].title}"
    return visible(place_of(name)).capitalize()


def list_values(row: Recorded, provenance: Mapping[str, str]) -> tuple[Given, ...]:
    """Every value of the arguments of this row; those that came by facts alone have none."""
    given = dict(_by_path(row.payload.get("arguments") or {}))
    return tuple(
        Given(
            path=path,
            value=visible(str(given.get(path, "")), limit=300),
            provenance=IN_WORDS.get(provenance.get(path, ""), provenance.get(path, "")),
        )
        for path in [*given, *(path for path in provenance if path not in given)]
    )


def _by_path(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        if isinstance(value, list):
            yield from ((f"{name}[{index}]", one) for index, one in enumerate(value))
        elif value not in (None, ""):
            yield name, value
