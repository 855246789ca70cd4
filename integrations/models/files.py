"""What Remit has to remember about a server of files: where they are, and writes under way."""

from typing import Any
from uuid import uuid4

from django.db import models

from integrations.models.accounts import Account


def new_id() -> str:
    return f"file-{uuid4().hex}"


class FilePlace(models.Model):
    """Where a server keeps a file. Its id is Remit's own, because a server knows it by its path
    alone: it stays when Remit moves it. A file that is gone keeps its row, without an `etag`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="file_places")
    document_id = models.CharField(max_length=40, default=new_id)
    path = models.CharField(max_length=1000)
    etag = models.CharField(max_length=500, blank=True, help_text="As it was last looked at.")
    changes = models.BigIntegerField(default=0, help_text="How often it came out changed.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "document_id"], name="file_place_once"),
            models.UniqueConstraint(fields=["account", "path"], name="file_place_path_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} at {self.path}"


class FileWrite(models.Model):
    """One write to a server of files under its idempotency key: committed before the server is
    called, with the version that it was made on and a digest of what is to be there."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="file_writes")
    key = models.CharField(max_length=200)
    operation = models.CharField(max_length=40)
    document_id = models.CharField(max_length=40)
    path = models.CharField(max_length=1000, help_text="Where it is to be.")
    path_before = models.CharField(max_length=1000, blank=True)
    etag_before = models.CharField(max_length=500, blank=True)
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of its bytes.")
    was: "models.JSONField[Any, Any]" = models.JSONField(
        null=True,
        help_text="The file as it was, where its provider says nothing more of it afterwards.",
    )
    answer: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    done = models.BooleanField(default=False)
    begun_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="file_write_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class FolderTree(models.Model):
    """The folders of a drive whose provider lists them among all files alone, as they were when it
    gave a link to what has changed since."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="folder_tree")
    link = models.TextField()
    folders: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict, help_text="Name and the folder above, by id."
    )

    def __str__(self) -> str:
        return f"{len(self.folders)} folders of {self.account_id}"
