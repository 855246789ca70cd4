"""Publishing skills: a change is a new version, and old versions stay as they were."""

from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max, Q

from guardrails.models import Skill


def publish(
    *,
    organisation_id: UUID,
    account_id: UUID | None,
    name: str,
    description: str,
    content: str,
    enabled: bool = True,
) -> Skill:
    """Store the next version of a skill. Raises ValidationError."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))",
                [f"skill {organisation_id} {account_id} {name}"],
            )
        skill = next_version(
            Skill(
                organisation_id=organisation_id,
                account_id=account_id,
                name=name,
                description=description,
                content=content,
                enabled=enabled,
            )
        )
        skill.save(force_insert=True)
        return skill


def next_version(skill: Skill) -> Skill:
    """The same skill as a version that is not stored yet, numbered after the newest."""
    newest = Skill.objects.filter(
        Q(account_id=skill.account_id), organisation_id=skill.organisation_id, name=skill.name
    ).aggregate(Max("version"))["version__max"]
    return Skill(
        organisation_id=skill.organisation_id,
        account_id=skill.account_id,
        name=skill.name,
        description=skill.description,
        content=skill.content,
        enabled=skill.enabled,
        version=(newest or 0) + 1,
    )
