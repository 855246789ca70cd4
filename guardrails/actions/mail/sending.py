"""What sending and forwarding have in common: a mail leaves the organisation in the user's name."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field

from guardrails.actions.base import Arguments, MailAction, Outcome, artifact
from guardrails.actions.mail.messages import named, receivers
from guardrails.facts.targets import Address, Addresses, Target


class Receivers(Arguments):
    to: Annotated[tuple[Address, ...], Field(strict=False, min_length=1, max_length=50)]
    cc: Addresses = ()
    bcc: Addresses = ()

    def in_words(self) -> str:
        hidden = f", blind copy to {named(self.bcc)}" if self.bcc else ""
        return f"{named(self.to + self.cc)}{hidden}"


R = TypeVar("R", bound=Receivers)


class Sends(MailAction[R]):
    """Every receiver must be listed."""

    resource_type = "email"
    needs = frozenset({"email", "thread"})
    takes = ("recipient", "recipient_domain")
    needs_targets = True
    can_be_drafted = True
    sends_mail = True
    object_kind = "email"

    def targets(self, arguments: R) -> tuple[Target, ...]:
        return (
            receivers("to", arguments.to)
            + receivers("cc", arguments.cc)
            + receivers("bcc", arguments.bcc)
        )

    def outcome(self, arguments: R, answer: Mapping[str, Any]) -> Outcome:
        names = ("message_id", "thread_id")
        result = {name: str(answer[name]) for name in names if answer.get(name)}
        return result, artifact("message", answer)
