"""Publishing skills: a change is a new version, and old versions stay as they were."""

from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

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
        newest = (
            Skill.objects.filter(
                Q(account_id=account_id), organisation_id=organisation_id, name=name
            )
            .order_by("-version")
            .first()
        )
        skill = Skill(
            organisation_id=organisation_id,
            account_id=account_id,
            name=name,
            description=description,
            content=content,
            version=newest.version + 1 if newest else 1,
            enabled=enabled,
        )
        skill.save(force_insert=True)
        return skill
