"""What Google Drive answers, as far as Remit reads it (its discovery document, drive v3). Pure."""

from datetime import datetime

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

FOLDER = "application/vnd.google-apps.folder"
NATIVE = "application/vnd.google-apps."


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Person(Said):
    address: str = Field(default="", alias="emailAddress")


class Grant(Said):
    """`type` is user, group, domain or anyone."""

    id: str = ""
    type: str
    role: str = ""
    address: str = Field(default="", alias="emailAddress")
    deleted: bool = False


class FileSaid(Said):
    """`grants` is None where this user may not see who else reads it. `marks` are Remit's own: no
    other program sees or changes them."""

    id: str = Field(min_length=1, max_length=200)
    name: str = ""
    mime_type: str = Field(default="", alias="mimeType")
    parents: tuple[str, ...] = ()
    created: AwareDatetime | None = Field(default=None, alias="createdTime")
    changed: AwareDatetime | None = Field(default=None, alias="modifiedTime")
    shared_at: datetime | None = Field(default=None, alias="sharedWithMeTime")
    version: str = ""
    md5: str = Field(default="", alias="md5Checksum")
    size: int = Field(default=0, ge=0, lt=2**62)
    trashed: bool = False
    owners: tuple[Person, ...] = ()
    grants: tuple[Grant, ...] | None = Field(default=None, alias="permissions")
    marks: dict[str, str] = Field(default={}, alias="appProperties")

    @property
    def is_folder(self) -> bool:
        return self.mime_type == FOLDER

    @property
    def is_native(self) -> bool:
        """Made with Google's own programs: it has no bytes, and can be exported alone."""
        return self.mime_type.startswith(NATIVE)


class FilesSaid(Said):
    files: tuple[FileSaid, ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")
    incomplete: bool = Field(default=False, alias="incompleteSearch")


class ChangeSaid(Said):
    id: str = Field(default="", alias="fileId", max_length=200)
    removed: bool = False
    time: str = ""
    file: FileSaid | None = None


class ChangesSaid(Said):
    changes: tuple[ChangeSaid, ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")
    newest: str = Field(default="", alias="newStartPageToken")


class StartSaid(Said):
    token: str = Field(alias="startPageToken", min_length=1)


class IdsSaid(Said):
    ids: tuple[str, ...] = Field(min_length=1)


class AboutSaid(Said):
    user: Person
