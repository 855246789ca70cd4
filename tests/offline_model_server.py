"""The offline model as a real HTTP server for tests."""

import contextlib
from collections.abc import Iterator

from sandbox.offline_model.app import build_app
from tests.sandbox_server import serving


@contextlib.contextmanager
def running_offline_model() -> Iterator[str]:
    """Serves the offline model on a free port of 127.0.0.1 until the block ends; gives the
    base URL for the `openai` package (any key will do)."""
    with serving(build_app()) as origin:
        yield f"{origin}/v1"
