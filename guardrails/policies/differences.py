"""What differs between two policies of an account, for programs and in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from guardrails.actions import registry
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.policy_file import PolicyFile
from guardrails.decide.snapshot import Mode
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.text import duration, visible
from guardrails.policies import explain, history

MODES: Mapping[Mode, str] = {
    "auto": "done without asking",
    "ask": "a person is asked each time",
    "draft_only": "only drafted",
    "never": "refused",
}
HELD = "held for %(time)s first where it reaches others or destroys something"
CARDINALITIES = {"single": "one at a time", "multi": "several at once"}
KEYS: Mapping[str, tuple[str, ...]] = {
    "allowed_actions": ("action", "resource"),
    "groups": ("name",),
    "targets": ("action", "resource", "kind", "id"),
}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One entry that a policy adds, changes or removes."""

    section: str
    key: tuple[str, ...]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def __str__(self) -> str:
        """As a line of a program: “~ allowed action archive (mode: ask → auto)”."""
        sign = "~" if self.before and self.after else "+" if self.after else "-"
        fields = "; ".join(
            f"{one.name}: {' → '.join(side for side in (one.before, one.after) if side)}"
            for one in history.differences(self.before, self.after)
            if one.name not in KEYS[self.section]
        )
        name = " ".join(part for part in self.key if part)
        kind = self.section[:-1].replace("_", " ")
        return f"{sign} {kind} {name}" + (f" ({fields})" if fields else "")

    @property
    def verb(self) -> str:
        return "changed" if self.before and self.after else "added" if self.after else "removed"

    @property
    def name(self) -> str:
        """What it is about, for people."""
        return _name(self.section, self.before or self.after or {})

    @property
    def was(self) -> str:
        return _in_words(self.section, self.before) if self.before else ""

    @property
    def becomes(self) -> str:
        return _in_words(self.section, self.after) if self.after else ""


def differences(old: PolicyFile, new: PolicyFile) -> tuple[Difference, ...]:
    """What `new` changes of `old`, section by section. A section that it leaves out stays."""
    return tuple(_differences(old, new))


def keys(policy: PolicyFile, section: str) -> list[tuple[str, ...]]:
    """What names each entry of a section, in order."""
    return [_key(section, entry) for entry in _entries(policy, section) or ()]


def _differences(old: PolicyFile, new: PolicyFile) -> Iterator[Difference]:
    for section in KEYS:
        wanted = _entries(new, section)
        if wanted is None:
            continue
        before = {_key(section, one): one for one in _entries(old, section) or ()}
        after = {_key(section, one): one for one in wanted}
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) != after.get(key):
                yield Difference(
                    section=section, key=key, before=before.get(key), after=after.get(key)
                )


def _entries(policy: PolicyFile, section: str) -> list[dict[str, Any]] | None:
    found = getattr(policy, section)
    return None if found is None else [one.model_dump(mode="json") for one in found]


def _key(section: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry[name]) for name in KEYS[section])


def _name(section: str, entry: Mapping[str, Any]) -> str:
    if section == "groups":
        return phrase("Group “%(name)s”", name=visible(entry["name"]))
    action = registry.BY_NAME.get(entry["action"])
    known = phrase(action.title) if action else visible(entry["action"])
    title = phrase("“%(title)s”", title=known)
    if entry["resource"]:
        title = phrase("%(action)s on %(what)s", action=title, what=visible(entry["resource"]))
    if section == "allowed_actions":
        return phrase("Allowed action %(action)s", action=title)
    return phrase(
        "%(kind)s %(id)s for %(action)s",
        kind=phrase(entry["kind"].replace("_", " ").capitalize()),
        id=visible(entry["id"]),
        action=title,
    )


def _in_words(section: str, entry: Mapping[str, Any]) -> str:
    if section == "groups":
        return phrase(CARDINALITIES[entry["cardinality"]])
    if section == "allowed_actions":
        if not entry["enabled"]:
            return phrase("switched off")
        conditions_in_words = map(explain.in_words, conditions.read_all(entry["conditions"]))
        only_if = joined(conditions_in_words, by="; ")
        parts = [phrase(MODES[entry["mode"]])]
        if only_if:
            parts.append(phrase("only if %(conditions)s", conditions=only_if))
        if entry["hold_seconds"]:
            parts.append(phrase(HELD, time=duration(entry["hold_seconds"])))
        if entry["patterns_unapproved"]:
            parts.append(phrase("also by patterns that nobody approved"))
        if entry["confirm_in_words"]:
            parts.append(phrase("also confirmed in words"))
        return joined(parts)
    called = phrase("called “%(name)s”", name=visible(entry["name"]))
    if not entry["group"]:
        return called
    return joined((called, phrase("in “%(group)s”", group=visible(entry["group"]))))
