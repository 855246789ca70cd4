"""What of the user's own may be cancelled or put into the trash without a question."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase

OPERATIONS = frozenset({"cancel_event", "trash_document", "trash_email"})


class Removing(Condition):
    """In an allowed action it lets go unasked what can be taken back and the user named: an event
    that the user made, once and not as a series, which only people of the organisation attend,
    where the cancelling is held first; a document of the user's own that nobody else reads, and a
    mail, into the trash. About others a person is asked. In the ceiling it says nothing."""

    kind: Literal["removing"]
    title: ClassVar[str] = "Cancelling and putting away one's own"
    unasked: Literal["own"]

    @property
    def sentence(self) -> str:
        return phrase(
            "it is the user's own, named, at most colleagues' too and can be taken back, or a "
            "person is asked"
        )

    @property
    def opens(self) -> bool:
        return True

    @property
    def always_holds(self) -> bool:
        return True

    @property
    def lets_own_go(self) -> bool:
        return True

    def unfit(self, action: AnyAction) -> str:
        if action.operation in OPERATIONS:
            return ""
        return "it is about cancelling events and putting things into the trash"

    def judge(self, context: Context) -> Check:
        return self.check(True, "It may be asked.")
