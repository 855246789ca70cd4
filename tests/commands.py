"""What commands of manage.py write."""

from io import StringIO
from typing import Any

from django.core.management import call_command


def run_command(name: str, *arguments: str, **options: Any) -> str:
    """Runs the command; what it writes to its standard output."""
    written = StringIO()
    call_command(name, *arguments, stdout=written, **options)
    return written.getvalue()
