"""How the receivers must stand to the user, and who may be reached without being listed."""

from collections.abc import Mapping, Set
from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, OpeningCondition, either
from guardrails.decide.provenance import Relation
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase

IN_WORDS: Mapping[Relation, str] = {
    "typed": "typed by the user in this request",
    "named": "a person whom the user named in this request",
    "own_domain": "somebody known at the account's own domain",
    "corresponded": "somebody the user has written to",
    "thread_participant": "a proved participant of the thread",
    "belongs": "somebody whom the organisation let into the user's own event, document or thread",
    "directory": "a colleague in the organisation's directory",
    "listed": "listed",
}


class Recipient(OpeningCondition):
    """Every receiver has one of these relations to the user. In an allowed action it also
    lets them in: they need not be listed (but the address of a blind copy always must be).
    The directory has this organisation's people, and whose accounts are connected here. Named
    is whom a name in the user's words means, and nobody else. Who belongs attends the user's own
    event, reads their own document or takes part in their thread, which the user named, and was
    let in by the user or by somebody of the organisation. Outside the organisation a person is
    asked about either.

    own_domain alone opens nothing: it means somebody at the account's own domain who is
    typed, listed, corresponded with or a participant. Who stands in none of them is refused,
    or with `novel: ask` always asked about. In the ceiling nothing is opened.
    """

    kind: Literal["recipient"]
    title: ClassVar[str] = "How receivers relate to the user"
    novel: Literal["forbid", "ask"] = "forbid"
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        if self.novel == "ask":
            return phrase(
                "every receiver is %(who)s; about anybody else a person is asked", who=self.who
            )
        return phrase("every receiver is %(who)s", who=self.who)

    @property
    def who(self) -> str:
        return either(phrase(IN_WORDS[one]) for one in self.relation)

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        looked_up: Mapping[Relation, Need] = {
            "corresponded": "corresponded",
            "directory": "directory",
            "named": "directory",
            "belongs": "directory",
        }
        return frozenset(looked_up[one] for one in self.relation if one in looked_up)

    @property
    def opens(self) -> bool:
        return True

    def implies(self, other: Condition) -> bool:
        return (
            isinstance(other, Recipient)
            and set(self.relation) <= set(other.relation)
            and other.novel in ("ask", self.novel)
        )

    def admits(self, relations: Set[Relation]) -> bool:
        return self.knows(relations) or self.novel == "ask"

    def widened(self, context: Context) -> Condition | None:
        """Listed receivers too: then it is for an operator to list them, one by one."""
        if "listed" in self.relation:
            return None
        return self.model_copy(update={"relation": (*self.relation, "listed")})

    def judge(self, context: Context) -> Check:
        if not context.sources:
            return self.check(False, "It is not known where anything comes from.")
        for target in context.targets:
            known = context.relations.get(target.path, frozenset())
            if target.is_receiver and not self.admits(known):
                return self.check(False, f"{target.value} is none of these ({target.place}).")
        return self.check(True, "Every receiver has a permitted relation to the user.")
