"""Whether the mail belongs to a conversation."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, number_of
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class Thread(Condition):
    """The mail's thread exists and has at least `min_messages` mails, this one included."""

    kind: Literal["thread"]
    title: ClassVar[str] = "The mail is in a conversation"
    min_messages: Annotated[int, Field(ge=1, le=1000)] = 2
    needs: ClassVar[frozenset[Need]] = frozenset({"email", "thread"})

    @property
    def sentence(self) -> str:
        return phrase(
            "the mail's thread has at least %(mails)s", mails=number_of(self.min_messages, "mail")
        )

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Thread) and self.min_messages >= other.min_messages

    def judge(self, context: Context) -> Check:
        facts = context.facts
        if facts.thread is None and facts.thread_summary is None:
            return self.check(False, "The mail's thread is not known.")
        mails = facts.summarised_thread.mails
        return self.check(
            mails >= self.min_messages,
            f"The thread has {mails} mails; {self.min_messages} are required.",
        )
