"""Typed clients of the API, made from its schema.

    python -m scripts.clients build/clients

writes `python/remit_client` (openapi-python-client; needs attrs, httpx and python-dateutil) and
`typescript/remit.ts` (one module that needs nothing but fetch).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from scripts import typescript

PYTHON, TYPESCRIPT = Path("python", "remit_client"), Path("typescript", "remit.ts")
CONFIG = {
    "project_name_override": "remit-client",
    "package_name_override": "remit_client",
    # A bundle is a file; the generator knows files by this type alone.
    "content_type_overrides": {"application/zip": "application/octet-stream"},
    "post_hooks": [],
}


def load_schema() -> dict[str, Any]:
    """What `/api/schema` answers, without a server."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # No secret of anybody is needed to describe the API.
    for name in ("SECRET_KEY", "LEDGER_KEY"):
        os.environ.setdefault(name, "unused")
    import django  # noqa: PLC0415  # after the environment

    django.setup()
    from drf_spectacular.generators import SchemaGenerator  # noqa: PLC0415  # needs the apps

    found = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def write_python(schema: dict[str, Any], folder: Path) -> None:
    """Raises RuntimeError with what the generator says of a schema that it cannot take whole."""
    with tempfile.TemporaryDirectory() as scratch:
        described, config = Path(scratch, "schema.json"), Path(scratch, "config.yaml")
        described.write_text(json.dumps(schema), encoding="utf-8")
        config.write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
                *("--path", described, "--config", config, "--meta", "none"),
                *("--output-path", folder),
            ],
            capture_output=True,
            check=False,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)


def write_typescript(schema: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(typescript.render(schema), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, usage="python -m scripts.clients FOLDER")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    schema = load_schema()
    write_python(schema, folder / PYTHON)
    write_typescript(schema, folder / TYPESCRIPT)
    print(f"Written to {folder / PYTHON} and {folder / TYPESCRIPT}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
