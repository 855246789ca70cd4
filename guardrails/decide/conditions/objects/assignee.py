"""Who may be given an issue without being listed."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.provenance import SPOKEN
from guardrails.facts.facts import Need


class Assignee(Condition):
    """An issue is given only to people whom an operator listed, or who are members of its project,
    as the provider tells, and whom the user typed or named in this request. In an allowed action
    it lets such members in without listing them; in the ceiling it only limits."""

    kind: Literal["assignee"]
    title: ClassVar[str] = "Who may be given an issue"
    assignee: Literal["project_members"] = "project_members"

    @property
    def sentence(self) -> str:
        return "who is given the issue is listed, or a member of its project whom the user named"

    @property
    def lets_members_in(self) -> bool:
        return True

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"members", "directory"})

    def unfit(self, action: AnyAction) -> str:
        return "" if "assignee" in action.takes else "it is about who is given an issue"

    def evaluate(self, context: Context) -> Check:
        if self.unfit(context.action) or not context.sources:
            return self.check(False, "It is not known who is given an issue.")
        members = context.facts.members or ()
        for target in context.targets:
            if target.kind != "assignee":
                continue
            sources = context.sources.get(target.path, frozenset())
            if not ("A" in sources or (target.value in members and sources & SPOKEN)):
                return self.check(False, f"{target.value} is neither ({target.path}).")
        return self.check(True, "Nobody else is given the issue.")
