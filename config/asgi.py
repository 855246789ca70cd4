"""The ASGI entrance of the web process."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("REMIT_PROCESS", "web")

from django.core.asgi import get_asgi_application  # noqa: E402  # after the settings are named

application = get_asgi_application()
