"""What sending and forwarding have in common: a mail leaves the organisation in the user's name."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field

from guardrails.actions.base import Arguments, Inverse, Outcome, artifact
from guardrails.actions.files import documents
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import named, receivers
from guardrails.actions.mail.recall_email import RecallEmail
from guardrails.facts.exposure import Exposure, Reader
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Address, Addresses, Target
from guardrails.facts.text import ObjectId, quote

MOST_FILES = 5
RECALL = "Recall the mail, if the mail server has not sent it yet."


class Receivers(Arguments):
    to: Annotated[tuple[Address, ...], Field(strict=False, min_length=1, max_length=50)]
    cc: Addresses = ()
    bcc: Addresses = ()

    @property
    def everybody(self) -> tuple[str, ...]:
        return (*self.to, *self.cc, *self.bcc)

    def in_words(self) -> str:
        if not self.bcc:
            return named(self.to + self.cc)
        return phrase(
            "%(people)s, blind copy to %(hidden)s",
            people=named(self.to + self.cc),
            hidden=named(self.bcc),
        )


class WithFiles(Receivers):
    """`attachments` are ids of documents of the user's own."""

    attachments: Annotated[tuple[ObjectId, ...], Field(strict=False, max_length=MOST_FILES)] = ()

    def with_files(self, facts: Facts) -> str:
        """The names of the documents, as they stand in a line."""
        names = [quote(one.object_title) for one in facts.attached]
        return phrase(" with %(files)s", files=", ".join(names)) if names else ""


R = TypeVar("R", bound=WithFiles)


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

    def attached(self, arguments: R) -> tuple[str, ...]:
        return arguments.attachments

    def exposes(self, arguments: R, facts: Facts) -> tuple[Exposure, ...]:
        """Each document that goes along, whole."""
        if not facts.attached:
            return ()
        coming = [Reader(one, "receiver") for one in arguments.everybody]
        return tuple(one for file in facts.attached for one in documents.exposed(file, coming))

    def inverse_of(self, answer: Mapping[str, Any]) -> tuple[str, Inverse] | None:
        """While the provider holds the mail back."""
        if not (answer.get("id") and answer.get("submission_id")):
            return None
        named = {"email_id": str(answer["id"]), "submission_id": str(answer["submission_id"])}
        until = str(answer.get("held_until") or "")
        said = f"Recall the mail. The mail server sends it at {until}." if until else RECALL
        return said, Inverse(action_type=RecallEmail.name, arguments=named)

    def outcome(self, arguments: R, answer: Mapping[str, Any]) -> Outcome:
        names = ("message_id", "thread_id", "held_until")
        result = {name: str(answer[name]) for name in names if answer.get(name)}
        return result, artifact("message", answer)
