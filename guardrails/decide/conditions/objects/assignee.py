"""Who may be given an issue without being listed."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.provenance import SPOKEN, Provenance
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase

LISTED: frozenset[Provenance] = frozenset({"A"})


class Assignee(Condition):
    """An issue is given only to people whom an operator listed, or who are members of its project,
    as the provider tells, and whom the user typed or named in this request. With `unnamed: ask` a
    person is asked about other members. In an allowed action it lets such members in without
    listing them; in the ceiling it only limits."""

    kind: Literal["assignee"]
    title: ClassVar[str] = "Who may be given an issue"
    assignee: Literal["project_members"] = "project_members"
    unnamed: Literal["refuse", "ask"] = "refuse"

    @property
    def sentence(self) -> str:
        if self.unnamed == "ask":
            return phrase(
                "who is given the issue is listed, or a member of its project whom the user "
                "named, or a person is asked about the member"
            )
        return phrase(
            "who is given the issue is listed, or a member of its project whom the user named"
        )

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Assignee) and self.unnamed in ("refuse", other.unnamed)

    def lets_member_in(self, *, named: bool) -> bool:
        return named or self.unnamed == "ask"

    def doubt(self, context: Context) -> str:
        for target in context.targets:
            sources = context.sources.get(target.path, frozenset())
            if target.kind == "assignee" and not sources & (SPOKEN | LISTED):
                return phrase("Nobody named %(who)s, who is given the issue.", who=target.value)
        return ""

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"members", "directory"})

    def unfit(self, action: AnyAction) -> str:
        return "" if "assignee" in action.takes else "it is about who is given an issue"

    def judge(self, context: Context) -> Check:
        if not context.sources:
            return self.check(False, "It is not known who is given an issue.")
        members = context.facts.members or ()
        for target in context.targets:
            if target.kind != "assignee":
                continue
            sources = context.sources.get(target.path, frozenset())
            is_member = target.value in members and self.lets_member_in(
                named=bool(sources & SPOKEN)
            )
            if not (is_member or sources & LISTED):
                return self.check(False, f"{target.value} is neither ({target.place}).")
        return self.check(True, "Nobody else is given the issue.")
