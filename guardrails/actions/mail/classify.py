"""Put one listed label on one mail.

A label of a single-choice group, such as the states a thread can be in, is the thread's: the mail
gets it, and the group's others come off every mail of the thread in the same step.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from guardrails.actions.base import NOTHING, Arguments, Call, Difference, Inverse, Outcome
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.actions.mail.restore_labels import to_restore
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId, TargetId, visible
from integrations.ports.mail import MailWriter


class ClassifyArguments(Arguments):
    email_id: ObjectId
    label_id: TargetId


class Classify(MailAction[ClassifyArguments]):
    name = "classify"
    operation = "change_labels"
    resource_type = "email"
    title = "Label a mail"
    description = (
        "Put one of the listed labels on one mail. If the label belongs to a single-choice "
        "group, the other labels of that group are taken off its thread in the same step."
    )
    needs = frozenset({"email", "alert", "labels"})
    takes = ("label",)
    needs_targets = True
    object_kind = "email"
    object_field = "email_id"
    from_mail = True
    in_patterns = True
    chooses_for_thread = True
    arguments = ClassifyArguments

    def targets(self, arguments: ClassifyArguments) -> tuple[Target, ...]:
        return (
            Target(path="label_id", kind="label", value=arguments.label_id, catalogue="labels"),
        )

    def effects(self, arguments: ClassifyArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts)

    def undo(self, arguments: ClassifyArguments, facts: Facts) -> str:
        return "Put the labels that this changes back as they were."

    def differences(
        self, arguments: ClassifyArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        names, present = facts.labels or {}, facts.email.labels if facts.email else ()
        given_up = sorted(facts.thread_labels.intersection(removals).difference(present))
        before = [label for label in (*present, *given_up) if label in names]
        after = [label for label in before if label not in removals]
        after += [arguments.label_id] if arguments.label_id not in after else []

        def list_labels(labels: Sequence[str]) -> str:
            return ", ".join(names.get(label, label) for label in labels) or NOTHING

        return (("labels", list_labels(before), list_labels(after)),)

    def inverse(
        self, arguments: ClassifyArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        before = facts.email.labels if facts.email else ()
        # The mail gets back what the thread had.
        return to_restore(
            arguments.email_id,
            add=_latest(facts, removals),
            remove=[] if arguments.label_id in before else [arguments.label_id],
        )

    def describe(self, arguments: ClassifyArguments, facts: Facts) -> str:
        name = (facts.labels or {}).get(arguments.label_id, arguments.label_id)
        return phrase("Label as %(label)s: %(title)s", label=visible(name), title=subject_of(facts))

    def already_so(
        self, arguments: ClassifyArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        if facts.email is None:
            return False
        return arguments.label_id in facts.email.labels and not facts.thread_labels.intersection(
            removals
        )

    def others_changed(
        self, arguments: ClassifyArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[str, ...]:
        return tuple(
            mail.id
            for mail in facts.thread or ()
            if mail.id != arguments.email_id and not set(removals).isdisjoint(mail.labels)
        )

    def perform(
        self, writer: MailWriter, arguments: ClassifyArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_labels(
            arguments.email_id,
            add=[arguments.label_id],
            remove=call.removals,
            thread_remove=call.removals,
            key=call.key,
        )

    def outcome(self, arguments: ClassifyArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"email_id": arguments.email_id, "label_id": arguments.label_id}, ()


def _latest(facts: Facts, removals: Sequence[str]) -> list[str]:
    """Those of these labels that the mail has; where it has none, those of the newest other mail
    of the thread that has one."""
    others = sorted(facts.thread or (), key=lambda mail: mail.date, reverse=True)
    for mail in [*([facts.email] if facts.email else []), *others]:
        if found := [label for label in removals if label in mail.labels]:
            return found
    return []
