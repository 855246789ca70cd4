"""What the mail at hand is about."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either, every
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase
from guardrails.facts.text import Line, is_hidden
from integrations.mail.text import normalised

Lines = Annotated[tuple[Line, ...], Field(strict=False, max_length=50)]


class Subject(Condition):
    """The mail's whole subject is one of `equals`, and has every one of `words` as a
    whole word. Case, hidden characters and extra blanks make no difference; there are no
    wildcards."""

    kind: Literal["subject"]
    title: ClassVar[str] = "Subject of the mail"
    equals: Lines = ()
    words: Lines = ()
    needs: ClassVar[frozenset[Need]] = frozenset({"email"})

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.equals or self.words):
            raise ValueError("name at least one subject or word")
        if any(not one for one in (*self.folded, *map(folded, self.words))):
            raise ValueError("a subject or word must be more than blanks")
        return self

    @property
    def sentence(self) -> str:
        parts = []
        if self.equals:
            whole = either(map(_quoted, self.equals))
            parts.append(phrase("the subject is %(subjects)s", subjects=whole))
        if self.words:
            words = every(map(_quoted, self.words))
            parts.append(phrase("the subject has the words %(words)s", words=words))
        return every(parts)

    @property
    def folded(self) -> frozenset[str]:
        return frozenset(map(folded, self.equals))

    def excludes(self, other: Condition) -> bool:
        if not isinstance(other, Subject):
            return False
        words = (*self.words, *other.words)
        whole = self.folded & other.folded if self.equals and other.equals else None
        candidates = whole if whole is not None else self.folded or other.folded
        return bool(self.equals or other.equals) and not any(
            all(has_word(one, word) for word in words) for one in candidates
        )

    def implies(self, other: Condition) -> bool:
        if not isinstance(other, Subject) or not set(other.words) <= set(self.words):
            return False
        return not other.equals or (bool(self.equals) and self.folded <= other.folded)

    def judge(self, context: Context) -> Check:
        if context.facts.email is None:
            return self.check(False, "The mail could not be read.")
        found = folded(context.facts.email.subject)
        passed = (not self.equals or found in self.folded) and all(
            has_word(found, word) for word in self.words
        )
        return self.check(passed, "The subject fits." if passed else "The subject does not fit.")


def folded(text: str) -> str:
    """The text as subjects are compared."""
    visible_text = "".join(one for one in text if one.isspace() or not is_hidden(one))
    return " ".join(normalised("NFKC", visible_text).casefold().split())


def has_word(subject: str, word: str) -> bool:
    """Whether a folded subject has this word, or words in a row, not as parts of longer ones."""
    return re.search(rf"(?<!\w){re.escape(folded(word))}(?!\w)", subject) is not None


def _quoted(words: str) -> str:
    return phrase("“%(words)s”", words=words)
