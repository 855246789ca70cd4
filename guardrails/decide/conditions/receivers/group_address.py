"""Whether a receiver is a group of people behind one address."""

import re
from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts import targets
from guardrails.facts.phrases import joined, phrase

# Words that name a group when one of them is a part of an address before the @.
GROUP_WORDS = frozenset(
    {
        "all", "allhands", "alle", "announce", "announcements", "board", "company", "department",
        "dept", "distribution", "dl", "everybody", "everyone", "group", "groups", "list", "lists",
        "mailinglist", "members", "office", "org", "staff", "team", "teams", "users",
    }
)  # fmt: skip


class GroupAddress(Condition):
    """`forbid`: no receiver is a group, by its name (`all-hands@`, `dev-team@`), because it is a
    mailing list or one of `groups`. `allow` limits nothing."""

    kind: Literal["group_address"]
    title: ClassVar[str] = "Group addresses"
    group_address: Literal["forbid", "allow"] = "forbid"
    groups: targets.Addresses = ()
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        if self.always_holds:
            return phrase("with or without group addresses")
        if self.groups:
            return phrase(
                "no receiver is a group address such as all@ or team@ and none is %(groups)s",
                groups=joined(self.groups),
            )
        return phrase("no receiver is a group address such as all@ or team@")

    @property
    def always_holds(self) -> bool:
        return self.group_address == "allow"

    def implies(self, other: Condition) -> bool:
        return isinstance(other, GroupAddress) and (
            other.always_holds or (not self.always_holds and set(self.folded) >= set(other.folded))
        )

    @property
    def folded(self) -> tuple[str, ...]:
        return tuple(one.casefold() for one in self.groups)

    def judge(self, context: Context) -> Check:
        if self.always_holds:
            return self.check(True, "Group addresses are permitted.")
        if not context.receivers:
            return self.check(False, "There are no receivers to look at.")
        for target in context.targets:
            if target.is_receiver and (self.is_group(target.value) or target.path in context.lists):
                return self.check(False, f"{target.value} is a group address.")
        return self.check(True, "No receiver is a group address.")

    def is_group(self, address: str) -> bool:
        folded = address.casefold()
        words = re.split(r"[^a-z0-9]+", folded.rpartition("@")[0])
        return folded in self.folded or not GROUP_WORDS.isdisjoint(words)
