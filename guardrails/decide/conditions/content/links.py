"""Where links in outgoing text may lead."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.decide.conditions.content.outgoing import ContentCondition, outgoing
from guardrails.facts import targets
from guardrails.facts.content import Content
from guardrails.facts.links import UNKNOWN
from guardrails.facts.phrases import phrase

WIDER = ("none", "known", "any")


class Links(ContentCondition):
    """Links, images and bare web addresses in what goes out: `none` at all, only to `domains`
    and the account's own domain (`known`), or `any`, which limits nothing. A subdomain is
    another domain, and a host that is not plain is never known."""

    kind: Literal["links"]
    title: ClassVar[str] = "Links in the text"
    links: Literal["none", "known", "any"] = "known"
    domains: targets.Domains = ()

    @model_validator(mode="after")
    def _domains_are_for_known(self) -> Self:
        if self.domains and self.links != "known":
            raise ValueError("domains are listed only for known links")
        return self

    @property
    def sentence(self) -> str:
        if self.links == "none":
            return phrase("its text has no links and no images")
        if self.links == "any":
            return phrase("with or without links")
        places = either([*self.domains, phrase("the account's own domain")])
        return phrase("its links lead only to %(places)s", places=places)

    @property
    def always_holds(self) -> bool:
        return self.links == "any"

    def implies(self, other: Condition) -> bool:
        if not isinstance(other, Links) or WIDER.index(self.links) > WIDER.index(other.links):
            return False
        return self.links != other.links or set(self.domains) <= set(other.domains)

    def widened(self, context: Context) -> Condition | None:
        found = outgoing(context)
        if found is None or UNKNOWN in found.hosts:
            return None
        hosts = [one for one in sorted(found.hosts) if one != context.own_domain]
        domains = tuple(dict.fromkeys([*self.domains, *hosts]))
        return self.model_copy(update={"links": "known", "domains": domains})

    def judge_content(self, found: Content, context: Context) -> Check:
        known = {*self.domains, context.own_domain} if self.links == "known" else set()
        unknown = [host for host in found.hosts if host == UNKNOWN or host not in known]
        if unknown:
            where = unknown[0] or "a place that cannot be read"
            return self.check(False, f"A link or image leads to {where}.")
        return self.check(True, f"Its links lead to {len(found.hosts)} places, all known.")
