"""Who belongs to an organisation: its people with their names and addresses, and its own domains.
Rows of policy: what is in them permits more than what is not."""

import uuid
from collections.abc import Collection
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, OuterRef, Q

from guardrails.facts import targets
from guardrails.facts.people import MOST_OTHER_NAMES, NAME_CHARS, check_name, search_words
from guardrails.facts.public_domains import PUBLIC_DOMAINS
from guardrails.models.base import ValidatedModel
from integrations.models import Account, Membership, Organisation
from integrations.web.words import named


def plain_address(text: str) -> str:
    """The address in its one spelling. Raises ValidationError."""
    try:
        return targets.address(text.strip())
    except ValueError as error:
        raise ValidationError(f"This {error}.") from error


def plain_name(text: str) -> str:
    """The name in its one spelling. Raises ValidationError."""
    try:
        return check_name(text)
    except ValueError as error:
        raise ValidationError(f"A name {error}.") from error


class Person(ValidatedModel):
    """Somebody of an organisation, or a group of its people: an address, and the names that a
    user's words may mean it by."""

    class Source(models.TextChoices):
        OPERATOR = "operator", "Entered or imported by an operator"
        PROVIDER = "provider", "Read from a provider"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="people")
    address = models.CharField(
        max_length=targets.MAX_ADDRESS, help_text="One plain address, exactly as it is written to."
    )
    name = models.CharField(max_length=NAME_CHARS, help_text="First name and surname.")
    other_names = ArrayField(
        models.CharField(max_length=NAME_CHARS),
        default=list,
        blank=True,
        size=MOST_OTHER_NAMES,
        help_text="What else colleagues call this person, separated by commas.",
    )
    is_group = models.BooleanField(
        "Mailing list or group",
        default=False,
        help_text="Many people read what is sent there: a person is asked each time, and no name "
        "in a user's words means it.",
    )
    source = models.CharField(
        max_length=16, choices=Source, default=Source.OPERATOR, editable=False
    )
    words = ArrayField(models.TextField(), default=list, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "address"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "address"],
                name="person_once",
                violation_error_message="This address is in the directory already.",
            )
        ]
        indexes = [GinIndex(fields=["words"], name="person_words")]
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>"

    def clean_fields(self, exclude: object = None) -> None:
        """Everything in its one spelling before it is looked at. Raises ValidationError."""
        wrong = {}
        try:
            self.address = plain_address(self.address)
        except ValidationError as error:
            wrong["address"] = error
        try:
            self.name = plain_name(self.name)
        except ValidationError as error:
            wrong["name"] = error
        try:
            self.other_names = list(dict.fromkeys(map(plain_name, self.other_names)))
        except ValidationError as error:
            wrong["other_names"] = error
        if wrong:
            raise ValidationError(wrong)
        self.words = search_words((self.name, *self.other_names))
        super().clean_fields(exclude={*(exclude or ()), "words"})  # type: ignore[misc]


class DirectorySync(ValidatedModel):
    """Says that the organisation's directory is read once a day from the provider of one of its
    mailboxes. One for each organisation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.OneToOneField(
        Organisation, on_delete=models.CASCADE, related_name="directory_sync"
    )
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="The mailbox whose provider keeps the organisation's directory.",
    )
    enabled = models.BooleanField(default=True)
    tried_at = models.DateTimeField(null=True, blank=True, editable=False)
    done_at = models.DateTimeField(null=True, blank=True, editable=False)
    problem = models.TextField(blank=True, editable=False, help_text="What went wrong last time.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["organisation"]

    def __str__(self) -> str:
        return f"{self.organisation} from {self.account}"

    def clean(self) -> None:
        """Refuses a mailbox of another organisation, and what is none. Raises ValidationError."""
        super().clean()
        account = Account.objects.filter(pk=self.account_id).first()
        if account and account.organisation_id != self.organisation_id:
            raise ValidationError({"account": "This account is another organisation's."})
        if account and account.kind != "mail":
            raise ValidationError({"account": "Only a mailbox's provider has a directory."})


class OwnDomain(ValidatedModel):
    """A domain whose every address is the organisation's own."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="own_domains"
    )
    domain = models.CharField(
        max_length=targets.MAX_DOMAIN,
        help_text="Such as company.com. Only exactly this one: subdomains are other domains.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["domain"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "domain"],
                name="own_domain_once",
                violation_error_message="This domain is listed already.",
            )
        ]

    def __str__(self) -> str:
        return self.domain

    def clean_fields(self, exclude: object = None) -> None:
        """Refuses what is no plain domain, and domains where anybody can have an address. Raises
        ValidationError."""
        try:
            self.domain = targets.domain(self.domain.strip())
        except ValueError as error:
            raise ValidationError({"domain": f"This {error}."}) from error
        if self.domain in PUBLIC_DOMAINS:
            raise ValidationError(
                {
                    "domain": f"Anybody can have an address at {self.domain}, so it cannot be the "
                    "organisation's own. Add its people to the directory one by one."
                }
            )
        super().clean_fields(exclude=exclude)  # type: ignore[arg-type]


def of_people(words: str, organisations: Collection[UUID] | None) -> Q:
    """Accounts of people of this name in these organisations, or in all: as the account, the
    directory or the list of those who log in has it."""
    within = Q() if organisations is None else Q(organisation__in=organisations)
    own = named(words, "display_name", "external_user_id", "address")
    listed = Person.objects.filter(
        within,
        named(words, "name"),
        organisation=OuterRef("organisation"),
        address=OuterRef("address"),
    )
    of_staff = Membership.objects.filter(
        within,
        named(words, "user__first_name", "user__last_name", "user__username"),
        organisation=OuterRef("organisation"),
        external_user_id=OuterRef("external_user_id"),
    )
    others = Exists(listed.exclude(address="")) | Exists(of_staff.exclude(external_user_id=""))
    return within & (own | others)
