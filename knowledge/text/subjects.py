"""Who and what an item is about, from its fields and from what a model read. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from integrations.mail.text import normalised
from knowledge.text.parsing import Parsed
from knowledge.text.visible import address, line

Kind = Literal["person", "project", "organisation", "topic"]
Role = Literal["sender", "participant", "subject"]

MAX_PARTICIPANTS = 50
MAX_FOUND = 20
MAX_KEY = 320
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Subject:
    kind: Kind
    role: Role
    name: str
    address: str = ""

    @property
    def key(self) -> str:
        """What makes two subjects of one kind the same: the address, else the name."""
        # Some letters are three without case.
        return self.address or " ".join(words(self.name))[:MAX_KEY]


class _Found(BaseModel):
    """An entity as a model names it. Models name things loosely: unknown fields are let go."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: Kind
    name: str
    email: str | None = None


def words(text: str) -> tuple[str, ...]:
    """The words of `text` for comparing names: letters and digits, without case. An accent is part
    of its letter, also where it was written as a character of its own."""
    if not text.isascii():
        text = normalised("NFKC", text)
    return tuple(_WORD.findall(text.casefold()))


def subjects(parsed: Parsed, found: Sequence[object]) -> tuple[Subject, ...]:
    """Sender, participants, projects and what a model found, each once, the surest first.

    An address from a model counts only if it stands in what the model was shown.
    """
    known: list[Subject] = []
    if parsed.sender_address or parsed.sender_name:
        known.append(
            Subject(
                kind="person",
                role="sender",
                name=parsed.sender_name,
                address=parsed.sender_address,
            )
        )
    known += [
        Subject(kind="person", role="participant", name=name, address=entry)
        for entry, name in parsed.participants[:MAX_PARTICIPANTS]
    ]
    known += [Subject(kind="project", role="subject", name=name) for name in parsed.projects]
    known += [_subject(entity, parsed.prompt.lower()) for entity in _valid(found)]
    unique: dict[tuple[str, str], Subject] = {}
    for subject in known:
        if subject.key:
            unique.setdefault((subject.kind, subject.key), subject)
    return tuple(unique.values())


def _valid(found: Sequence[object]) -> list[_Found]:
    valid: list[_Found] = []
    for entity in found[:MAX_FOUND]:
        try:
            valid.append(_Found.model_validate(_plain(entity)))
        except ValidationError:
            continue
    return valid


def _plain(entity: object) -> Any:
    if isinstance(entity, dict) and entity.get("type") not in get_args(Kind):
        return {**entity, "type": str(entity.get("type", "")).lower()}
    return entity


def _subject(entity: _Found, source: str) -> Subject:
    email = address(entity.email or "")
    if entity.type != "person" or "@" not in email or email not in source:
        email = ""
    return Subject(kind=entity.type, role="subject", name=line(entity.name, 200), address=email)
