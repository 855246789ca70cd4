"""In which domains the receivers must be."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.facts import targets
from guardrails.facts.phrases import phrase


class RecipientDomain(Condition):
    """Every receiver (to, cc and bcc) is in one of `domains`, compared whole."""

    kind: Literal["recipient_domain"]
    title: ClassVar[str] = "Domains of the receivers"
    domains: Annotated[
        tuple[targets.Domain, ...], Field(strict=False, min_length=1, max_length=200)
    ]
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return phrase("every receiver is at %(domains)s", domains=either(self.domains))

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, RecipientDomain) and not set(self.domains) & set(other.domains)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, RecipientDomain) and set(self.domains) <= set(other.domains)

    def widened(self, context: Context) -> Condition:
        found = dict.fromkeys([*self.domains, *map(targets.domain_of, context.receivers)])
        return self.model_copy(update={"domains": tuple(found)})

    def judge(self, context: Context) -> Check:
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
