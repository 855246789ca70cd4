"""The demo's office, where real mail and other items arrive."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from benchmarks import corpus
from benchmarks.lived_worlds import SLUG


@contextmanager
def running() -> Iterator[Any]:
    """The data service, the offline model and the demo. What reads items and makes vectors is the
    offline model's own code, without the way there."""
    from django.conf import settings
    from django.core.management import call_command

    from integrations.llm import llm
    from tests.offline_model_server import running_offline_model
    from tests.sandbox_server import running_sandbox

    with ExitStack() as stack:
        office = stack.enter_context(running_sandbox())
        settings.SANDBOX_PORT = int(office.origin.rpartition(":")[2])
        settings.DATA_SERVICES, settings.DATA_SERVICE_KEYS = {SLUG: office.url}, {SLUG: office.key}
        settings.OPENAI_BASE_URL = stack.enter_context(running_offline_model())
        settings.OPENAI_API_KEY, settings.MODEL_IS_OFFLINE = "offline", True
        settings.CHAT_MODEL = settings.INGEST_MODEL = "offline-rules"
        settings.EMBEDDING_MODEL = "offline-hash-384"
        stack.enter_context(mock.patch.object(llm, "complete_json", corpus.read))
        stack.enter_context(mock.patch.object(llm, "embed", corpus.embed))
        call_command("load_demo", verbosity=0)
        yield office
