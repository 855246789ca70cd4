"""Whom users know, by their own address books."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from integrations.models.accounts import Account


class ContactCard(models.Model):
    """One card of an address book, as it was last read: whom it names. One that names nobody, or
    cannot be read, has no addresses."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="contact_cards")
    path = models.CharField(max_length=1000)
    etag = models.CharField(max_length=500, blank=True)
    name = models.CharField(max_length=200, blank=True)
    addresses = ArrayField(models.CharField(max_length=320), default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "path"], name="contact_card_once")
        ]

    def __str__(self) -> str:
        return self.name or self.path


class AddressBook(models.Model):
    """How far an address book had been looked at: the token that its server gave for that."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="address_books")
    path = models.CharField(max_length=1000)
    token = models.CharField(max_length=1000, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "path"], name="address_book_once")
        ]

    def __str__(self) -> str:
        return f"{self.path} at {self.token}"
