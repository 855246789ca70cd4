"""What Microsoft Graph answers about files, as far as Remit reads it (v1.0). Pure."""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from integrations.providers.microsoft.answers import OrNone, Said


class ParentSaid(Said):
    id: str | None = None


class FileSaid(Said):
    mime_type: str | None = Field(default=None, alias="mimeType")


class ItemSaid(Said):
    """A file, a folder or something else. `etag` names a version of it, `content_tag` one of its
    bytes alone."""

    id: str = Field(min_length=1, max_length=200)
    name: str | None = None
    size: int | None = Field(default=None, ge=0, lt=2**62)
    etag: str | None = Field(default=None, alias="eTag", max_length=500)
    content_tag: str | None = Field(default=None, alias="cTag", max_length=500)
    created: AwareDatetime | None = Field(default=None, alias="createdDateTime")
    changed: AwareDatetime | None = Field(default=None, alias="lastModifiedDateTime")
    parent: ParentSaid | None = Field(default=None, alias="parentReference")
    file: FileSaid | None = None
    folder: dict[str, Any] | None = None
    root: dict[str, Any] | None = None
    deleted: dict[str, Any] | None = None
    remote: dict[str, Any] | None = Field(default=None, alias="remoteItem")

    @property
    def is_file(self) -> bool:
        """Of this drive: what others share lies in theirs."""
        return self.file is not None and self.remote is None

    @property
    def is_folder(self) -> bool:
        return self.folder is not None and self.remote is None

    @property
    def folder_id(self) -> str:
        return (self.parent.id or "") if self.parent else ""


class ItemsSaid(Said):
    value: tuple[ItemSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")
    delta_link: str | None = Field(default=None, alias="@odata.deltaLink")


class IdentitySaid(Said):
    """`email` stands beside what Microsoft describes, and not always."""

    id: str | None = None
    email: str | None = None
    login: str | None = Field(default=None, alias="loginName")


class LetInSaid(Said):
    """Who is let in: a user as the directory and as the site knows them, or somebody else."""

    user: IdentitySaid | None = None
    site_user: IdentitySaid | None = Field(default=None, alias="siteUser")


class InvitationSaid(Said):
    email: str | None = None


class LinkSaid(Said):
    scope: str | None = None


class GrantSaid(Said):
    """`inherited` where it belongs to a folder above; OneDrive for work does not say so."""

    id: str = ""
    roles: Annotated[tuple[str, ...], OrNone] = ()
    link: LinkSaid | None = None
    invitation: InvitationSaid | None = None
    inherited: dict[str, Any] | None = Field(default=None, alias="inheritedFrom")
    let_in: LetInSaid | None = Field(default=None, alias="grantedToV2")
    all_let_in: Annotated[tuple[LetInSaid, ...], OrNone] = Field(
        default=(), alias="grantedToIdentitiesV2"
    )


class GrantsSaid(Said):
    value: tuple[GrantSaid, ...]
    next_link: str | None = Field(default=None, alias="@odata.nextLink")


class PartSaid(Said):
    """The answer to one of several requests that were sent as one."""

    id: str
    status: int
    body: dict[str, Any] | None = None
    headers: dict[str, str] | None = None

    def header(self, name: str) -> str | None:
        found = self.headers or {}
        return next((value for one, value in found.items() if one.lower() == name), None)


class PartsSaid(Said):
    responses: tuple[PartSaid, ...] = ()


class OwnerSaid(Said):
    user: IdentitySaid | None = None


class DriveSaid(Said):
    id: str = Field(min_length=1)
    kind: str = Field(default="", alias="driveType")
    owner: OwnerSaid | None = None
