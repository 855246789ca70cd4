"""Skills: offered to agents, and published. A change is a new version, and old versions stay as
they were.

Every new version is in the history of policy. One that the agent proposes is never loaded
before a person approves it.
"""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from guardrails.contracts.learning import LoadedSkill, SkillRef
from guardrails.models import Skill
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef
from integrations.database import instances
from integrations.database.locks import take_lock
from integrations.database.together import Read

State = Skill.State
MAX_WAITING = 20  # proposed versions of one account
_LONG = ("content",)
# Of every mail: composed by Django, it took several times as long. What is long is left out, and
# read where somebody asks for it.
_CURRENT = f"""
SELECT DISTINCT ON (name) {instances.columns(Skill, but=_LONG)} FROM guardrails_skill
WHERE organisation_id = %s AND (account_id = %s OR account_id IS NULL) AND state = 'published'
ORDER BY name, account_id ASC NULLS LAST, version DESC
"""  # noqa: S608  # only constants


@dataclass(frozen=True, kw_only=True)
class ProposedVersion:
    """What became of a proposal. known: this very text is there already. crowded: too many
    wait. invalid: `sentence` says why."""

    status: Literal["new", "known", "crowded", "invalid"]
    sentence: str
    version: int = 0


def publish(
    *,
    organisation_id: UUID,
    account_id: UUID | None,
    name: str,
    description: str,
    content: str,
    author: Author,
    enabled: bool = True,
) -> Skill:
    """Store the next version of a skill, for agents to load from now on. Raises
    ValidationError, and audit.contracts.LedgerError; then nothing was stored."""
    skill = Skill(
        organisation_id=organisation_id,
        account_id=account_id,
        name=name,
        description=description,
        content=content,
        enabled=enabled,
    )
    with transaction.atomic():
        return _store(skill, author)


def propose(
    account: AccountRef,
    *,
    name: str,
    description: str,
    content: str,
    reason: str,
    proposed_by: Literal["chat", "webhook"],
    author: Author,
) -> ProposedVersion:
    """Store a version of the account's own skill that waits for a person. Raises
    audit.contracts.LedgerError; then nothing was stored."""
    skill = Skill(
        organisation_id=account.organisation_id,
        account_id=account.id,
        name=name,
        description=description,
        content=content,
        reason=reason,
        proposed_by=proposed_by,
        state=State.PROPOSED,
    )
    with transaction.atomic():
        take_lock(f"skills {account.id}")
        same = versions(skill).exclude(state=State.REJECTED).order_by("-version").first()
        if same and (same.description, same.content) == (description, content):
            return ProposedVersion(
                status="known",
                sentence="The published skill has this text already.",
                version=same.version,
            )
        waiting = Skill.objects.filter(account_id=account.id, state=State.PROPOSED)
        if waiting.count() >= MAX_WAITING:
            return ProposedVersion(
                status="crowded", sentence="Too many proposals are already waiting."
            )
        try:
            with transaction.atomic():
                stored = _store(skill, author)
        except ValidationError as error:
            return ProposedVersion(status="invalid", sentence=" ".join(error.messages))
    return ProposedVersion(
        status="new",
        sentence="It waits for an operator to approve it.",
        version=stored.version,
    )


def approve(*, skill_id: UUID, by: str) -> bool:
    """A person publishes a proposed version. False when it does not wait any more, or when a
    newer version was published meanwhile: then the proposal is about a text that is gone."""
    with transaction.atomic():
        row = Skill.objects.select_for_update().filter(pk=skill_id, state=State.PROPOSED).first()
        if row is None:
            return False
        _lock_versions(row)
        if versions(row).filter(state=State.PUBLISHED, version__gt=row.version).exists():
            return False
        return bool(Skill.objects.filter(pk=row.pk).update(state=State.PUBLISHED, decided_by=by))


def reject(*, skill_id: UUID, by: str) -> bool:
    """A person declines a proposed version. False when it does not wait any more."""
    waiting = Skill.objects.filter(pk=skill_id, state=State.PROPOSED)
    return bool(waiting.update(state=State.REJECTED, decided_by=by))


def versions(skill: Skill) -> QuerySet[Skill]:
    """Every version of this skill, its own account's or the shared one."""
    return Skill.objects.filter(
        Q(account_id=skill.account_id), organisation_id=skill.organisation_id, name=skill.name
    )


def next_version(skill: Skill) -> Skill:
    """The same skill as a version that is not stored yet, numbered after the newest."""
    newest = versions(skill).aggregate(Max("version"))["version__max"]
    return Skill(
        organisation_id=skill.organisation_id,
        account_id=skill.account_id,
        name=skill.name,
        description=skill.description,
        content=skill.content,
        enabled=skill.enabled,
        version=(newest or 0) + 1,
    )


def _store(skill: Skill, author: Author) -> Skill:
    _lock_versions(skill)
    skill.version = next_version(skill).version
    skill.save(force_insert=True)
    changes.record_made([skill], author=author)
    return skill


def _lock_versions(skill: Skill) -> None:
    take_lock(f"skill {skill.organisation_id} {skill.account_id} {skill.name}")


def list_offered(account: AccountRef) -> tuple[SkillRef, ...]:
    """The skills offered to this account, by name. One query."""
    return read_offered(account).run()


def read_offered(account: AccountRef) -> Read[tuple[SkillRef, ...]]:
    """The same, to be run with others."""
    return _current_skills(account).then(
        lambda found: tuple(
            SkillRef(name=skill.name, version=skill.version, description=skill.description)
            for skill in found
            if skill.enabled
        )
    )


def load(account: AccountRef, name: str) -> LoadedSkill | None:
    """The newest version of a skill, and one more use of it; None when it is not offered."""
    skill = next((one for one in _current_skills(account).run() if one.name == name), None)
    used = skill is not None and Skill.objects.filter(pk=skill.pk, enabled=True).update(
        use_count=F("use_count") + 1, last_used_at=timezone.now()
    )
    if skill is None or not used:
        return None
    return LoadedSkill(name=skill.name, version=skill.version, content=skill.content)


def _current_skills(account: AccountRef) -> Read[list[Skill]]:
    """The newest version of each skill, by name: the account's own before the organisation's."""
    return instances.read(Skill, _CURRENT, [account.organisation_id, account.id], but=_LONG)
