"""The WSGI entrance of the web process. Streams need the ASGI one."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.core.exceptions import ImproperlyConfigured  # after the settings are named
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from audit.database.start import find_refusals  # noqa: E402  # needs the app registry

if reasons := find_refusals():
    raise ImproperlyConfigured(" ".join(reasons))
