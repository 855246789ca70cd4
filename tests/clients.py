"""People who are logged in to the admin, and what they read there."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from integrations.models import Membership, Organisation


def log_in(name: str, *rights: str) -> Client:
    """Somebody of the staff who has these rights alone, in every organisation that there is."""
    user = User.objects.create(username=name, is_staff=True)
    for organisation in Organisation.objects.all():
        Membership.objects.create(user=user, organisation=organisation)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return client_of(user)


def log_in_superuser(name: str) -> Client:
    return client_of(User.objects.create(username=name, is_staff=True, is_superuser=True))


def client_of(user: User) -> Client:
    """No password is hashed, which would take long."""
    client = Client()
    client.force_login(user)
    return client


def read_page(client: Client, address: str, **query: Any) -> str:
    """The page at this address, which is there."""
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()
