"""Every check that is not a test, one after another; all run even where one fails.

python -m scripts.check
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time

from config.local import embedded, state

MANAGE = (sys.executable, "manage.py")
CHECKS = {
    "ruff check": (sys.executable, "-m", "ruff", "check", "."),
    "ruff format": (sys.executable, "-m", "ruff", "format", "--check", "."),
    "import layers": (
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as lint; lint()",
    ),
    "glossary": (sys.executable, "-m", "scripts.words"),
    "references": (sys.executable, "-m", "scripts.references"),
    "servers": (sys.executable, "-m", "scripts.servers"),
    "mypy": (sys.executable, "-m", "mypy"),
    "deployment": (*MANAGE, "check", "--deploy", "--fail-level", "WARNING"),
    "migrations": (*MANAGE, "makemigrations", "--check", "--dry-run"),
    "rolling": (sys.executable, "-m", "scripts.migrations"),
    "prompts": (*MANAGE, "print_prompts", "--check"),
    "API schema": (*MANAGE, "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull),
}


def environment(folder: str) -> dict[str, str]:
    """The environment of a deployment behind TLS, with a state folder of its own."""
    test_state = state.state_dir() / "test"
    return {
        **os.environ,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "LEDGER_KEY": secrets.token_urlsafe(64),
        "HTTPS": "true",
        "ALLOWED_HOSTS": "remit.example",
        "DATABASE_URL": os.environ.get("DATABASE_URL") or embedded.start(test_state, durable=False),
        "REMIT_STATE_DIR": folder,
    }


def main() -> int:
    """Returns 0 if every check passed."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        deployment = environment(folder)
        for name, command in CHECKS.items():
            start = time.monotonic()
            result = subprocess.run(
                command,
                cwd=state.PROJECT_DIR,
                env=deployment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            verdict = "FAILED" if result.returncode else "ok"
            print(f"{name:14} {verdict:6} {time.monotonic() - start:5.1f} s", flush=True)
            if result.returncode:
                failed.append(name)
                print(result.stdout, flush=True)
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
