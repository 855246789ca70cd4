#!/usr/bin/env python
"""Django's command line for Remit."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as error:
        raise SystemExit(
            "Django is not installed in this Python. Run `make run` or `make test` once: "
            "they set up .venv. Then use .venv/bin/python manage.py."
        ) from error
    from django.core.exceptions import ImproperlyConfigured

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(f"Remit does not start. {error}") from None


if __name__ == "__main__":
    main()
