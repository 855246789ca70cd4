"""The states that a mail thread can be in, as an operator listed them for an account."""

from dataclasses import dataclass

from guardrails.decide.snapshot import PolicySnapshot

TO_REPLY, AWAITING_REPLY, FYI, ACTIONED = "To Reply", "Awaiting Reply", "FYI", "Actioned"
FOLLOW_UP = "Follow Up"  # where there is such a label
THREAD_STATUS = (TO_REPLY, AWAITING_REPLY, FYI, ACTIONED)


@dataclass(frozen=True, kw_only=True)
class ThreadStates:
    """Labels by the provider's ids: which one says that the user is to answer, which one that they
    wait for an answer, which one that they waited long enough (empty: none), and all of the group.
    """

    to_reply: str
    awaiting_reply: str
    labels: frozenset[str]
    follow_up: str = ""


def find_thread_states(policy: PolicySnapshot) -> ThreadStates | None:
    """The labels of the single choice that holds “To Reply” and “Awaiting Reply”. None where the
    account has none. Pure."""
    groups: dict[str, dict[str, str]] = {}
    for one in sorted(policy.listed_targets, key=lambda one: one.group_id):
        if (one.action_type, one.kind, one.single) == ("classify", "label", True):
            groups.setdefault(one.group_id, {})[_plain(one.name)] = one.external_id
    for named in groups.values():
        to_reply, awaiting = named.get(_plain(TO_REPLY)), named.get(_plain(AWAITING_REPLY))
        if to_reply and awaiting:
            return ThreadStates(
                to_reply=to_reply,
                awaiting_reply=awaiting,
                labels=frozenset(named.values()),
                follow_up=named.get(_plain(FOLLOW_UP), ""),
            )
    return None


def _plain(name: str) -> str:
    """A mail server's labels have no blanks: “To_Reply” is “To Reply”."""
    return name.replace("_", " ").replace("-", " ").casefold()
