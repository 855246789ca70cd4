"""What the services of Microsoft Graph answer in the same form. Pure."""

from typing import Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field


def _or_none(value: Any) -> Any:
    return () if value is None else value


OrNone = BeforeValidator(_or_none)


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AddressSaid(Said):
    name: str | None = None
    address: str | None = None


class RecipientSaid(Said):
    mail: AddressSaid = Field(default=AddressSaid(), alias="emailAddress")


class BodySaid(Said):
    kind: str = Field(default="", alias="contentType")
    content: str = ""


class MarkSaid(Said):
    """A property of Remit's own: which of its writes it was."""

    id: str = ""
    value: str | None = None


class Who(Said):
    mail: str | None = None
    name: str = Field(alias="userPrincipalName")


class SubscriptionSaid(Said):
    id: str = Field(min_length=1, max_length=200, pattern=r"^[\w-]+$")
    address: str = Field(default="", alias="notificationUrl")
    expires_at: AwareDatetime = Field(alias="expirationDateTime")


class SubscriptionsSaid(Said):
    value: tuple[SubscriptionSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")
