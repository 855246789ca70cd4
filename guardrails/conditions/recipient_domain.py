"""In which domains the receivers must be."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails import targets
from guardrails.conditions.base import Condition, Context
from guardrails.contracts import Check


class RecipientDomain(Condition):
    """Every receiver (to, cc and bcc) is in one of `domains`, compared whole."""

    kind: Literal["recipient_domain"]
    title: ClassVar[str] = "Domains of the receivers"
    domains: Annotated[
        tuple[targets.Domain, ...], Field(strict=False, min_length=1, max_length=200)
    ]
    about_receivers: ClassVar[bool] = True

    def evaluate(self, context: Context) -> Check:
        outside = [
            receiver
            for receiver in context.receivers
            if targets.domain_of(receiver) not in self.domains
        ]
        if not context.receivers:
            return self.check(False, "There are no receivers to look at.")
        if outside:
            return self.check(False, f"{outside[0]} is outside the permitted domains.")
        return self.check(True, "Every receiver is in a permitted domain.")
