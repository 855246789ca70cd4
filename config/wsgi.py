"""The WSGI entrance of the web process. Streams need the ASGI one."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.core.exceptions import ImproperlyConfigured  # after the settings are named
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from audit.database import start  # noqa: E402  # needs the app registry
from knowledge import checks  # noqa: E402

if reasons := [*start.find_refusals(), *checks.find_refusals()]:
    raise ImproperlyConfigured(" ".join(reasons))
