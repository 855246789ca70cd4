"""People who decide, and the browsers in which they hear of it."""

from django.contrib.auth.models import Permission, User

from guardrails.approve.news import devices
from integrations.models import Membership
from tests.guardrails.office import Office
from tests.push_world import Browser


def person(office: Office, name: str, *rights: str, own: str = "") -> User:
    """Somebody of the organisation who may decide about everything there; with `own` about this
    user's things alone."""
    user = User.objects.create(username=name, is_staff=True)
    Membership.objects.create(user=user, organisation=office.organisation, external_user_id=own)
    wanted = rights or (("use_own_console",) if own else ("change_approval",))
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    return User.objects.get(pk=user.pk)


def switch_on(user: User, browser: Browser, time_zone: str = "UTC", language: str = "en") -> None:
    by = f"operator:{user.get_username()}"
    devices.switch_on(
        user,
        subscription=browser.subscription,
        time_zone=time_zone,
        language=language,
        by=by,
    )
