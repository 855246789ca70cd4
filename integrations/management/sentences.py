"""What keeps an account from being connected, as commands say it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from integrations.credentials import sealing
from integrations.exceptions import ProviderError
from integrations.models import Organisation


@contextmanager
def sentences() -> Iterator[None]:
    """Raises CommandError."""
    try:
        yield
    except ProviderError as error:
        raise CommandError(str(error)) from error
    except sealing.BadKey as error:
        raise CommandError(
            "Set CREDENTIALS_PUBLIC_KEY, so that the password can be sealed. `manage.py "
            "make_credential_keys` makes a pair."
        ) from error
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error


def organisation_of(slug: str) -> Organisation:
    """Raises CommandError where there is none."""
    found = Organisation.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no organisation “{slug}”.")
    return found
