"""Whether the mail belongs to a conversation."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.conditions.base import Condition, Context
from guardrails.contracts import Check
from guardrails.facts import Need


class Thread(Condition):
    """The mail's thread exists and has at least `min_messages` mails, this one included."""

    kind: Literal["thread"]
    title: ClassVar[str] = "The mail is in a conversation"
    min_messages: Annotated[int, Field(ge=1, le=1000)] = 2
    needs: ClassVar[frozenset[Need]] = frozenset({"email", "thread"})

    def evaluate(self, context: Context) -> Check:
        thread = context.facts.thread
        if thread is None:
            return self.check(False, "The mail's thread is not known.")
        return self.check(
            len(thread) >= self.min_messages,
            f"The thread has {len(thread)} mails; {self.min_messages} are required.",
        )
