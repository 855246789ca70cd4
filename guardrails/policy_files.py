"""An account's policy as a file that can be reviewed like code: YAML, or JSON.

A section that a file leaves out stays as it is; a section that it has becomes exactly what
the file says. Nothing is changed before its differences were shown.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import yaml
from django.core.exceptions import ValidationError as InvalidRow
from django.db import transaction
from django.db.models import ProtectedError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from guardrails import changes, history
from guardrails.changes import Author
from guardrails.models import AllowedAction, AllowedActionOption, TargetGroup
from integrations.models import Account

MAX_CHARS = 1_000_000
Row = AllowedAction | AllowedActionOption | TargetGroup


class PolicyFileError(ValueError):
    """The file is no policy for this account. The message says what to do."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Permission(Part):
    action: str
    resource: str = ""
    mode: Literal["auto", "ask", "never"]
    enabled: bool = True
    conditions: list[dict[str, Any]] = Field(default_factory=list)


class Group(Part):
    name: str
    cardinality: Literal["single", "multi"]


class Listed(Part):
    action: str
    resource: str = ""
    kind: str
    id: str
    name: str
    group: str = ""


class PolicyFile(Part):
    """One account's policy. Conditions and targets are as docs/guardrails.md describes them."""

    version: Literal[1]
    permissions: list[Permission] | None = None
    groups: list[Group] | None = None
    targets: list[Listed] | None = None


KEYS: Mapping[str, tuple[str, ...]] = {
    "permissions": ("action", "resource"),
    "groups": ("name",),
    "targets": ("action", "resource", "kind", "id"),
}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One entry that a file adds, changes or removes."""

    section: str
    key: tuple[str, ...]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def __str__(self) -> str:
        sign = "~" if self.before and self.after else "+" if self.after else "-"
        fields = "; ".join(
            f"{one.name}: {' → '.join(side for side in (one.before, one.after) if side)}"
            for one in history.differences(self.before, self.after)
            if one.name not in KEYS[self.section]
        )
        name = " ".join(part for part in self.key if part)
        return f"{sign} {self.section[:-1]} {name}" + (f" ({fields})" if fields else "")


class _Loader(yaml.SafeLoader):
    """Refuses what a reviewer could misread: keys given twice, and aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise PolicyFileError("The file uses a YAML alias. Write it out.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise PolicyFileError(f"“{twice[0]}” is given twice in one place. Keep one of them.")
        return super().construct_mapping(node, deep=deep)


def read(text: str) -> PolicyFile:
    """The policy in a YAML or JSON text. Raises PolicyFileError."""
    if len(text) > MAX_CHARS:
        raise PolicyFileError(f"The file is longer than {MAX_CHARS} characters.")
    try:
        found = PolicyFile.model_validate(yaml.load(text, Loader=_Loader))  # noqa: S506  # is safe
    except yaml.YAMLError as error:
        raise PolicyFileError(f"This is neither YAML nor JSON: {error}") from error
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}"
            for one in error.errors(include_input=False, include_url=False)[:5]
        )
        raise PolicyFileError(f"This is no policy file. {details}.") from error
    for section in KEYS:
        entries = _entries(found, section) or ()
        keys = [_key(section, entry) for entry in entries]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise PolicyFileError(f"{section}: “{' '.join(twice[0])}” is listed twice.")
    return found


def preset_names() -> list[str]:
    """The policies that come with Remit."""
    folder = resources.files("guardrails").joinpath("preset_files")
    return sorted(one.name.removesuffix(".yaml") for one in folder.iterdir())


def preset(name: str) -> str:
    """The text of a policy that comes with Remit. Raises PolicyFileError."""
    if name not in preset_names():
        raise PolicyFileError(f"There is no preset “{name}”. Known: {', '.join(preset_names())}.")
    folder = resources.files("guardrails").joinpath("preset_files")
    return folder.joinpath(f"{name}.yaml").read_text("utf-8")


def exported(account: Account) -> PolicyFile:
    """The account's policy as it is now, in an order of its own."""
    groups = {row.pk: row for row in TargetGroup.objects.filter(account=account)}
    return PolicyFile(
        version=1,
        permissions=[
            Permission(
                action=row.action_type,
                resource=row.resource_type,
                mode=row.approval_mode,  # type: ignore[arg-type]  # a check constraint holds it
                enabled=row.enabled,
                conditions=row.conditions,
            )
            for row in AllowedAction.objects.filter(account=account).order_by(
                "action_type", "resource_type"
            )
        ],
        groups=[
            Group(name=row.name, cardinality=row.cardinality)  # type: ignore[arg-type]  # the same
            for row in sorted(groups.values(), key=lambda row: row.name)
        ],
        targets=[
            Listed(
                action=row.action_type,
                resource=row.resource_type,
                kind=row.kind,
                id=row.external_id,
                name=row.name,
                group=groups[row.group_id].name if row.group_id else "",
            )
            for row in AllowedActionOption.objects.filter(account=account).order_by(
                "action_type", "resource_type", "kind", "external_id"
            )
        ],
    )


def as_yaml(policy: PolicyFile) -> str:
    found: str = yaml.safe_dump(
        policy.model_dump(mode="json", exclude_none=True), sort_keys=False, allow_unicode=True
    )
    return found


def differences(account: Account, wanted: PolicyFile) -> tuple[Difference, ...]:
    """What the file would change, section by section. Reads only."""
    return tuple(_differences(exported(account), wanted))


def apply(account: Account, wanted: PolicyFile, *, author: Author) -> tuple[Difference, ...]:
    """Make the account's policy what the file says, all of it or nothing; what was changed.
    Every changed row is in the history of policy. Raises PolicyFileError."""
    with transaction.atomic():
        Account.objects.select_for_update().get(pk=account.pk)
        found = differences(account, wanted)
        rows = [_row(account, one) for one in found]
        with ExitStack() as stack:
            for model in (TargetGroup, AllowedAction, AllowedActionOption):
                ids = [row.pk for row in rows if isinstance(row, model)]
                stack.enter_context(changes.recording(model, ids, author=author))
            try:
                _write(account, found, rows)
            except InvalidRow as error:
                raise PolicyFileError(" ".join(error.messages)) from error
            except ProtectedError as error:
                raise PolicyFileError("A group that goes is still used by a target.") from error
    return found


def _write(account: Account, found: tuple[Difference, ...], rows: list[Row]) -> None:
    """Groups come before the targets in them, and go after them."""
    steps = list(zip(found, rows, strict=True))
    for one, row in sorted(steps, key=lambda step: step[0].section == "targets"):
        if one.after is None:
            continue
        for name, value in _fields(account, one.section, one.after).items():
            setattr(row, name, value)
        row.save()
    for one, row in sorted(steps, key=lambda step: step[0].section == "groups"):
        if one.after is None:
            row.delete()


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


def _row(account: Account, one: Difference) -> Row:
    """The row that an entry is about, new where there is none."""
    if one.section == "groups":
        return TargetGroup.objects.filter(account=account, name=one.key[0]).first() or TargetGroup(
            account=account
        )
    if one.section == "permissions":
        action_type, resource_type = one.key
        return AllowedAction.objects.filter(
            account=account, action_type=action_type, resource_type=resource_type
        ).first() or AllowedAction(account=account)
    action_type, resource_type, kind, external_id = one.key
    return AllowedActionOption.objects.filter(
        account=account,
        action_type=action_type,
        resource_type=resource_type,
        kind=kind,
        external_id=external_id,
    ).first() or AllowedActionOption(account=account)


def _fields(account: Account, section: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as the fields of its row. Raises PolicyFileError."""
    if section == "groups":
        return dict(entry)
    found = {"action_type": entry["action"], "resource_type": entry["resource"]}
    if section == "permissions":
        return found | {
            "approval_mode": entry["mode"],
            "enabled": entry["enabled"],
            "conditions": entry["conditions"],
        }
    group = None
    if entry["group"]:
        group = TargetGroup.objects.filter(account=account, name=entry["group"]).first()
        if group is None:
            raise PolicyFileError(f"There is no group “{entry['group']}”. List it under groups.")
    return found | {
        "source": account.source,
        "kind": entry["kind"],
        "external_id": entry["id"],
        "name": entry["name"],
        "group": group,
    }
