"""Where somebody is logged in: Django's sessions, each with whose it is."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """One browser. `user` is None until somebody logs in; `browser` is its name in words, and
    `used_at` the hour in which it was last used. An address is not kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+"
    )
    browser = models.CharField(max_length=60, blank=True)
    began_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
