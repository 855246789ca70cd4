"""What archiving and marking as read have in common: one label of the provider's own is taken off
one mail."""

from collections.abc import Sequence
from typing import ClassVar

from guardrails.actions.base import Arguments, Inverse
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.restore_labels import to_restore
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import Facts
from guardrails.facts.text import ObjectId


class MailArguments(Arguments):
    email_id: ObjectId


class TakesOff(MailAction[MailArguments]):
    """`label` is what is taken off, and `taken_back` says how a person puts it back."""

    label: ClassVar[str]
    taken_back: ClassVar[str]
    resource_type = "email"
    needs = frozenset({"email", "alert"})
    object_kind = "email"
    object_field = "email_id"
    from_mail = True
    in_patterns = True
    puts_away = True
    arguments = MailArguments

    def effects(self, arguments: MailArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts)

    def undo(self, arguments: MailArguments, facts: Facts) -> str:
        return self.taken_back

    def inverse(self, arguments: MailArguments, facts: Facts, removals: Sequence[str]) -> Inverse:
        return to_restore(arguments.email_id, add=[self.label])

    def already_so(self, arguments: MailArguments, facts: Facts, removals: Sequence[str]) -> bool:
        return facts.email is not None and self.label not in facts.email.labels
