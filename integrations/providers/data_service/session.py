"""What both sides of the External Data Service contract share (`docs/data-service.md`)."""

import hashlib
import json
from typing import Any, TypeVar
from urllib.parse import quote

from django.conf import settings
from pydantic import BaseModel, ValidationError

from integrations.contracts import AccountRef, Page, ProviderObject, Rejected
from integrations.exceptions import Malformed, NotFound, NotPermitted
from integrations.network import http
from integrations.network.gate import Gate

M = TypeVar("M", bound=BaseModel)
P = TypeVar("P", bound=ProviderObject)
MALFORMED_ITEM = "malformed_item"
MAX_NAME = 500


def upstream(account: AccountRef) -> http.Upstream:
    """The connection pool of the organisation's data service.

    Raises NotPermitted when no address or key is configured for the organisation.
    """
    slug = account.organisation_slug
    url, key = settings.DATA_SERVICES.get(slug), settings.DATA_SERVICE_KEYS.get(slug)
    if not url or not key:
        raise NotPermitted(f"set DATA_SERVICES and DATA_SERVICE_KEYS for “{slug}”")
    return http.client(url, key)


def fingerprint(account: AccountRef) -> str:
    """Equal for equal keys of the data service, and tells nothing of them. Empty without one."""
    key = settings.DATA_SERVICE_KEYS.get(account.organisation_slug)
    return hashlib.sha256(f"data service key {key}".encode()).hexdigest() if key else ""


def has_upstream(account: AccountRef) -> bool:
    """Whether the organisation has a data service at all."""
    return bool(settings.DATA_SERVICES.get(account.organisation_slug))


def gate(account: AccountRef) -> Gate:
    """The pace and the circuit of the organisation's data service."""
    return Gate(account.organisation_slug)


def segment(value: str) -> str:
    """One path segment. Ids come from outside: a slash or dots must not leave the path.

    An id of dots alone survives quoting and would be resolved away, so it names nothing.
    """
    if value in ("", ".", ".."):
        raise NotFound("no such id")
    return quote(value, safe="")


def parse(model: type[M], data: object) -> M:
    """The value in an answer. The service's version of an object is its revision, as text."""
    try:
        found = model.model_validate(data)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        raise Malformed(f"{model.__name__}: {fields or 'not an object'}") from error
    if isinstance(found, ProviderObject) and found.version:
        return found.model_copy(update={"revision": str(found.version)})
    return found


def revised(answer: Any) -> Any:
    """The answer to a write with the object's revision, where it leaves an object. Answers to a
    creation do not tell the version, because each object begins with the first."""
    if not isinstance(answer, dict) or "id" not in answer:
        return answer
    return answer | {"revision": str(answer.get("version", 1))}


def listed(data: object, key: str) -> list[Any]:
    """The list under `key` of an answer. Raises Malformed."""
    found = data.get(key) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise Malformed(f"“{key}” is missing")
    return found


def page(model: type[P], data: object, *, cursor: str | None) -> Page[P]:
    """One page of a list that was asked for at `cursor`. An item that breaks the contract is
    rejected by itself. Raises Malformed when the page as such cannot be used: without a list, or
    with a cursor that leads nowhere."""
    items: list[P] = []
    rejected: list[Rejected] = []
    for value in listed(data, "items"):
        try:
            items.append(parse(model, value))
        except Malformed:
            rejected.append(Rejected(source_id=_name(value), reason=MALFORMED_ITEM))
    assert isinstance(data, dict)  # noqa: S101  # listed() found a list in it
    following = data.get("next_cursor")
    if data.get("has_more") is False:
        following = None
    if following is None and data.get("has_more") is True:
        raise Malformed("there is more, but no cursor")
    if following is not None and (
        not isinstance(following, str) or not following or "\x00" in following
    ):
        raise Malformed("next_cursor")
    if following is not None and following == cursor:
        raise Malformed("the cursor leads to itself")
    remaining = data.get("remaining")
    if not isinstance(remaining, int) or remaining < 0:
        remaining = None
    return Page(
        items=tuple(items),
        next_cursor=following,
        rejected=tuple(rejected),
        remaining=remaining if following else 0,
    )


def _name(value: object) -> str:
    """What to call an item that could not be read: its id, or else a digest of all of it."""
    id = value.get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and 0 < len(id) <= MAX_NAME and id.isprintable():
        return id
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return f"(no id) sha256:{digest[:16]}"
