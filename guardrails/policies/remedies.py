"""What would have to change for a refused action to be permitted. Pure."""

from collections.abc import Mapping

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
    "changed_since_asked": "The person would have to be asked again, about what it is now.",
    "changed_meanwhile": "It would have to be asked for again, about what it is now.",
    "rejected": "A person would have to say yes to a new request.",
    "approval_expired": "The agent would have to ask again.",
    "action_id_reused": "The request would need an id of its own.",
    "guard_failed": "The error would have to be fixed: the log names it.",
}
