"""Whether outgoing text may hold what should not leave by accident."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.decide.conditions.content.outgoing import ContentCondition
from guardrails.facts.content import Content
from guardrails.facts.phrases import phrase
from guardrails.facts.sensitive import SENSITIVE, Sensitive

IN_WORDS: Mapping[Sensitive, str] = {
    "one_time_code": "one-time codes",
    "iban": "IBANs",
    "card": "card numbers",
    "token": "passwords, access tokens or private keys",
}


class Secrets(ContentCondition):
    """What goes out has none of the things in `forbid` written plainly: one-time codes, IBANs,
    payment cards, and tokens (passwords, access tokens, private keys)."""

    kind: Literal["secrets"]
    title: ClassVar[str] = "Secrets in the text"
    forbid: Annotated[tuple[Sensitive, ...], Field(strict=False, min_length=1)] = SENSITIVE

    @property
    def sentence(self) -> str:
        what = either(phrase(IN_WORDS[one]) for one in self.forbid)
        return phrase("its text has no %(what)s", what=what)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Secrets) and set(self.forbid) >= set(other.forbid)

    def judge_content(self, found: Content, context: Context) -> Check:
        there = [IN_WORDS[one] for one in found.sensitive if one in self.forbid]
        if there:
            return self.check(False, f"Its text seems to have {either(there)}.")
        return self.check(True, "None were found in its text.")
