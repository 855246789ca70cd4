"""What a credential keeps of a service that its user signed in to. Pure."""

from datetime import datetime
from typing import Any


def service(api: str, *, ends_at: datetime | None) -> dict[str, Any]:
    """`ends_at`: when the consent ends, where the provider says so."""
    return {"api": api, "ends_at": ends_at.isoformat() if ends_at else ""}
