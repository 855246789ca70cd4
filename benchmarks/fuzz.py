"""Every operation of the API held against its schema, with and without a token (schemathesis),
every webhook that Hypothesis can think of, and what cannot be stored in every form of the admin, in
files that are imported, and over MCP both ways.

    make bench NAME=fuzz

`FUZZ_EXAMPLES` (200) examples of each operation; the suite tries two. One line of JSON: how many
examples of each, how many tests passed, and which failed.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "200")
TESTS = (
    "tests/config/rest/test_schema.py",
    "tests/config/test_urls_input.py",
    "tests/integrations/web/test_webhooks.py",
    "tests/stories/test_odd_webhooks.py",
    "tests/agents/api/mcp/test_server.py",
    "tests/guardrails/actions/tools/test_call_mcp_tool_input.py",
    "tests/knowledge/management/commands/test_import_mailbox_input.py",
    "tests/guardrails/policies/test_directory_file.py",
)


def main() -> int:
    started = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "--tb=short", *TESTS],
        cwd=PROJECT,
        env=os.environ | {"FUZZ_EXAMPLES": EXAMPLES},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = sorted(set(re.findall(r"^FAILED (\S.*?)(?: - |$)", ran.stdout, re.MULTILINE)))
    passed = re.search(r"(\d+) passed", ran.stdout)
    if failed or not passed:
        print(ran.stdout, ran.stderr, file=sys.stderr)
    found = {
        "examples_of_each": int(EXAMPLES),
        "passed": int(passed.group(1)) if passed else 0,
        "failed": failed,
        "seconds": round(time.monotonic() - started),
    }
    print(json.dumps(found))
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
