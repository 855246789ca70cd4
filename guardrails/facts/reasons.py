"""Why something was or was not done: a closed list of codes, each with its sentence. Pure."""

from typing import NamedTuple

from guardrails.facts.phrases import phrase


class Reason(NamedTuple):
    code: str
    sentence: str


REASONS: tuple[Reason, ...] = (
    Reason("allowed", "The policy permits this."),
    Reason("needs_approval", "A person must confirm this first."),
    Reason(
        "exposure_not_named",
        "A person must see this before others do: the user did not say that this is meant.",
    ),
    Reason("exposure_of_agent", "A person must see what the agent wrote before others do."),
    Reason(
        "role_not_said",
        "Nobody said that anybody may change it or comment on it. Share it for reading.",
    ),
    Reason("draft_holds_secret", "A person must see first what secrets a draft would hold."),
    Reason("draft_leads_out", "A person must see first where the links of a draft would lead."),
    Reason("paused", "Actions of this account are paused."),
    Reason("switched_off", "An operator stopped this with a switch."),
    Reason("unknown_action", "There is no such action for this source."),
    Reason("forbidden_by_ceiling", "The organisation forbids this action for every account."),
    Reason("above_ceiling", "A condition of the organisation's ceiling does not hold."),
    Reason("not_permitted", "No operator permits this action for this account."),
    Reason(
        "draft_only",
        "Nothing may be sent. A mail may be drafted, and the user sends it.",
    ),
    Reason("invalid_arguments", "The arguments are not valid."),
    Reason("argument_unclassified", "Remit does not know what one of the arguments is."),
    Reason("facts_unavailable", "The provider could not be asked. Try again later."),
    Reason("object_unknown", "There is no such item in this account."),
    Reason("not_own", "Only who owns it may do this."),
    Reason("not_invited", "The user is not among those who are invited."),
    Reason("already_sorted", "Somebody has sorted it already, and that stays."),
    Reason("label_corrected", "A person took this label off mail of this sender."),
    Reason(
        "tool_not_enabled",
        "No operator has enabled this tool as it is now; it may have changed since one did.",
    ),
    Reason(
        "outside_own_item", "What arrived may only set off actions on itself, or in its own thread."
    ),
    Reason("not_from_mail", "A mail may not set this action off: it reaches other people."),
    Reason(
        "harm_not_from_mail", "A mail may not set this action off: it hides or destroys something."
    ),
    Reason("audience_unknown", "It is not known who would see this."),
    Reason("receiver_not_in_thread", "A receiver does not provably take part in this thread."),
    Reason(
        "receiver_unattended", "A mail may not set off a reply to an address that nobody reads."
    ),
    Reason("receiver_oneself", "A mail may not set off mail or a draft to the user alone."),
    Reason(
        "list_not_from_mail",
        "A mail may not set off mail to a mailing list: nobody knows who reads it.",
    ),
    Reason(
        "receiver_stranger",
        "A mail may not set off mail or a draft to somebody to whom the user never wrote.",
    ),
    Reason("target_not_listed", "A target is not among those an operator listed."),
    Reason("receiver_novel", "Nobody typed or listed a receiver, and the user never wrote to it."),
    Reason("name_ambiguous", "The name that the user typed may mean several people."),
    Reason("target_changed", "A listed target is gone or renamed at the provider."),
    Reason("condition_failed", "A condition of the policy does not hold."),
    Reason("condition_unknown", "A condition of the policy cannot be read."),
    Reason("rate_exceeded", "This was done as often as is permitted for now."),
    Reason("counts_unavailable", "It is not known how often this was done."),
    Reason(
        "not_sealed",
        "The ledger is not sealed, so nothing that cannot be undone is done.",
    ),
    Reason("ask_not_from_mail", "A mail may not make Remit ask a person for this."),
    Reason("too_many_asks", "Too many actions are already waiting for a person."),
    Reason(
        "too_many_asks_about_it",
        "A person was asked often enough about the same mail, file or person.",
    ),
    Reason("too_many_asks_waiting", "Too many questions are waiting for this user already."),
    Reason("already_so", "Nothing to do: it is already like this."),
    Reason("held", "It is held for a while, and can be recalled until then."),
    Reason("recalled", "It was recalled before it was carried out."),
    Reason("rejected", "A person said no."),
    Reason("approval_expired", "Nobody confirmed this in time."),
    Reason("changed_since_asked", "Something changed since the person was asked."),
    Reason("changed_while_held", "Somebody changed it while it was held: is it still meant?"),
    Reason("delegated", "Somebody else was asked to decide this."),
    Reason("escalated", "This was brought to the operators' attention."),
    Reason("edited", "A person changed this. The changed action takes its place."),
    Reason("no_longer_waiting", "This was decided before it was changed."),
    Reason("changed_since_done", "It was changed since this was done, so it is left alone."),
    Reason("already_undone", "This was undone before."),
    Reason("nothing_to_undo", "This was not done, so there is nothing to undo."),
    Reason("cannot_be_undone", "This cannot be undone."),
    Reason("action_id_reused", "This action id belongs to another request."),
    Reason("guard_failed", "The guardrails could not decide, so nothing was done."),
    Reason("performed", "Done."),
    Reason("provider_refused", "The provider refused this."),
    Reason("no_room", "There is no room left there: make some, then try again."),
    Reason("too_late", "It has gone out already and cannot be recalled."),
    Reason("changed_meanwhile", "It was just changed elsewhere: look at it again."),
    Reason("provider_unavailable", "The provider could not be reached; nothing was done."),
    Reason("interrupted", "Interrupted before the provider did anything."),
    Reason("approved", "A person said yes."),
    Reason("first_yes", "One of two people said yes. Another one has to say it too."),
    Reason("second_yes_missing", "Two people have to say yes, and only one did."),
    Reason("cannot_tell", "The provider cannot tell yet whether it did this."),
    Reason("unresolved", "Nobody could find out whether the provider did this: please check."),
    Reason("found_done", "The provider's history says that this was done."),
    Reason("found_not_done", "The provider's history says that this was not done."),
    Reason("looked_into", "A person looked into this."),
    Reason("outcome_unknown", "The provider may have done this; Remit keeps asking."),
)
SENTENCES = {reason.code: phrase(reason.sentence) for reason in REASONS}


def sentence(reason: str, detail: str = "") -> str:
    """A reason in words, with what it is about."""
    why = SENTENCES[reason]
    return phrase("%(why)s %(detail)s", why=why, detail=detail) if detail else why


# There are enough questions: one more is not asked.
NO_ROOM = frozenset({"too_many_asks", "too_many_asks_about_it", "too_many_asks_waiting"})

# What a change of the account's policy may permit. Everything else is refused whatever that says,
# or passes by itself.
CHANGEABLE = frozenset(
    {
        "not_permitted",
        "draft_only",
        "target_not_listed",
        "receiver_novel",
        "target_changed",
        "condition_failed",
    }
)


def can_be_asked_for(*, trigger: str, reason: str) -> bool:
    """Whether a user may ask for a change of policy after this refusal. What a mail or a pattern
    set off was nobody's wish."""
    return trigger == "chat" and reason in CHANGEABLE
