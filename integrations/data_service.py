"""What both sides of the External Data Service contract share (`docs/data-service.md`)."""

from typing import TypeVar
from urllib.parse import quote

from django.conf import settings
from pydantic import BaseModel, ValidationError

from integrations import http
from integrations.contracts import AccountRef
from integrations.exceptions import Malformed, NotFound, NotPermitted

M = TypeVar("M", bound=BaseModel)


def upstream(account: AccountRef) -> http.Upstream:
    """The connection pool of the organisation's data service.

    Raises NotPermitted when no address or key is configured for the organisation.
    """
    slug = account.organisation_slug
    url, key = settings.DATA_SERVICES.get(slug), settings.DATA_SERVICE_KEYS.get(slug)
    if not url or not key:
        raise NotPermitted(f"set DATA_SERVICES and DATA_SERVICE_KEYS for “{slug}”")
    return http.client(url, key)


def segment(value: str) -> str:
    """One path segment. Ids come from outside: a slash or dots must not leave the path.

    An id of dots alone survives quoting and would be resolved away, so it names nothing.
    """
    if value in ("", ".", ".."):
        raise NotFound("no such id")
    return quote(value, safe="")


def parse(model: type[M], data: object) -> M:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        raise Malformed(f"{model.__name__}: {fields or 'not an object'}") from error
