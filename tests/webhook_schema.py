"""What the API's schema says of webhooks that Remit sends, held against one that came."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
from django.test import Client


def validate_sent(message: dict[str, Any]) -> None:
    """A message is as it is documented, and so is the example."""
    webhooks = Client().get("/api/schema?format=json").json()["webhooks"]
    body = webhooks[message["type"]]["post"]["requestBody"]["content"]["application/json"]
    for one in (body["example"], message):
        jsonschema.validate(one, body["schema"])
    assert set(body["example"]["data"]) == set(message["data"])
