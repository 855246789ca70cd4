"""What providers tell of their own accord: events in webhooks."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from integrations.contracts import ContentType, ProvidedSource
from integrations.contracts.field_types import JsonObject, Moment, Text


class ItemEvent(BaseModel):
    """What happened to one item of one user's account. `data` is the whole item for created and
    updated; a deletion has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["created", "updated", "deleted"]
    user_id: Text = Field(min_length=1, max_length=200)
    source: Text = Field(min_length=1, max_length=32)
    source_id: Text = Field(min_length=1, max_length=500)
    content_type: ContentType | None = None
    data: JsonObject | None = None
    changes: JsonObject | None = None
    timestamp: Moment


class WebhookEvent(ItemEvent):
    """One webhook of the data service, as it was sent (contract section 1.3). It speaks of its own
    sources alone."""

    source: ProvidedSource
