"""The folder of real mail, documents, issues and calendars, where there is one.

It is no part of the project: REMIT_CORPUS names it, else it is looked for beside the project.
"""

import os
from pathlib import Path

import pytest

from config.local.state import PROJECT_DIR

CORPUS = Path(os.environ.get("REMIT_CORPUS") or PROJECT_DIR.parent / "shared" / "corpus")
MAIL = CORPUS / "mail.jsonl.gz"

needs_corpus = pytest.mark.skipif(
    not MAIL.exists(),
    reason=f"There is no real mail at {CORPUS}, so this was not tried. Set REMIT_CORPUS.",
)
