"""What Remit has to remember about a mail server: places of mails, writes under way, how far it
looked."""

from typing import Any

from django.db import models

from integrations.models.accounts import Account


class MailPlace(models.Model):
    """Where a server keeps a mail now. The id of a mail is made from its bytes; servers number
    mails by folder, and anew whenever a folder's `validity` changes."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mail_places")
    mail_id = models.CharField(max_length=40)
    thread_id = models.CharField(max_length=40)
    message_id = models.CharField(max_length=260, blank=True)
    gmail_id = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        help_text="What Gmail calls the mail in every folder.",
    )
    folder = models.CharField(max_length=500, blank=True, help_text="Empty: nobody knows.")
    validity = models.BigIntegerField()
    uid = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "folder", "validity", "uid"], name="mail_place_once"
            )
        ]
        indexes = [
            models.Index(fields=["account", "mail_id"], name="mail_place_of_mail"),
            models.Index(fields=["account", "thread_id"], name="mail_place_of_thread"),
        ]

    def __str__(self) -> str:
        return f"{self.mail_id} in {self.folder}"

    def lose(self) -> None:
        """The mail is not here any more. That it was known, and by which Message-ID, stays."""
        self.folder, self.validity, self.uid = "", 0, -self.pk
        self.save(update_fields=["folder", "validity", "uid"])


class MailWrite(models.Model):
    """One write to a mail server under its idempotency key, and how far it came: committed before
    each step, because the server keeps no such key itself."""

    class State(models.TextChoices):
        STARTED = "started", "Started"
        SUBMITTING = "submitting", "The last byte of a mail is under way"
        DONE = "done", "Done"
        GIVEN_UP = "given_up", "Given up: nothing is sent under this key any more"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mail_writes")
    key = models.CharField(max_length=200)
    operation = models.CharField(max_length=40, blank=True, help_text="Empty: none had begun.")
    mail_id = models.CharField(max_length=40, blank=True)
    target: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    answer: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State, default=State.STARTED)
    begun_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="mail_write_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class MailMark(models.Model):
    """How far a folder had been looked at: what has a higher number arrived since."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mail_marks")
    folder = models.CharField(max_length=500)
    validity = models.BigIntegerField()
    next_uid = models.BigIntegerField()
    modseq = models.BigIntegerField(default=0)
    mails = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "folder"], name="mail_mark_once")]

    def __str__(self) -> str:
        return f"{self.folder} below {self.next_uid}"


class MailState(models.Model):
    """How far a JMAP server's mailbox had been looked at: its state then, in the server's words."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="mail_state")
    state = models.CharField(max_length=1000)
    begun_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.account_id} at {self.state}"


class MailFolderLink(models.Model):
    """How far a folder at Microsoft had been looked at: the link to what has changed since, without
    its site."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mail_folder_links")
    folder = models.CharField(max_length=600)
    link = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "folder"], name="mail_folder_link_once")
        ]

    def __str__(self) -> str:
        return f"{self.account_id} in {self.folder}"
