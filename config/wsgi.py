"""The WSGI entrance of the web process. Streams need the ASGI one."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.core.wsgi import get_wsgi_application  # after the settings are named

application = get_wsgi_application()
