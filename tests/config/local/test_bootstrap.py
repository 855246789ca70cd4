import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from config.local import bootstrap, state

# Makes environments as uv does; "installs" by writing down that it was asked.
UV = f"""#!/bin/sh
echo "$*" >> "$UV_CALLS"
case "$1" in
    venv) exec "{sys.executable}" -m venv --without-pip "$5" ;;
    pip) echo "$UV_SAYS"; exit "${{UV_EXIT:-0}}" ;;
esac
"""


@dataclass(frozen=True)
class Project:
    """A fresh clone in a folder with a space and letters outside ASCII."""

    folder: Path

    @property
    def environment(self) -> Path:
        return self.folder / ".venv"

    def uv_calls(self) -> list[str]:
        path = self.folder / "uv-calls"
        return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []

    def bootstrap(
        self, *arguments: str, python: str = sys.executable, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-m", "config.local.bootstrap", *arguments],
            cwd=self.folder,
            env={
                "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}",
                "UV_CALLS": str(self.folder / "uv-calls"),
                **variables,
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "mein Prøject 家"
    (folder / "config" / "local").mkdir(parents=True)
    (folder / "config" / "__init__.py").touch()
    for name in ("__init__", "bootstrap", "state"):
        shutil.copy(state.PROJECT_DIR / "config/local" / f"{name}.py", folder / "config/local")
    for lock in bootstrap.LOCKS.values():
        (folder / lock).write_text(f"# nothing for {lock}\n")
    (folder / "programs").mkdir()
    (folder / "programs" / "uv").write_text(UV)
    (folder / "programs" / "uv").chmod(0o755)
    return Project(folder)


def test_a_fresh_clone_is_set_up_and_the_command_runs_inside(project: Project) -> None:
    result = project.bootstrap("run", "-c", "import sys; print(sys.prefix, sys.argv[1])", "a b")

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"{project.environment} a b"
    assert project.uv_calls() == ["venv", "pip"]


def test_a_second_start_installs_nothing(project: Project) -> None:
    project.bootstrap("run")

    result = project.bootstrap("run", "-c", "print('here')")

    assert (result.returncode, result.stdout) == (0, "here\n")
    assert project.uv_calls() == ["venv", "pip"]


def test_a_changed_lock_is_installed(project: Project) -> None:
    project.bootstrap("run")
    (project.folder / "requirements.lock").write_text("# more\n")

    project.bootstrap("run")

    assert project.uv_calls() == ["venv", "pip", "pip"]


def test_the_environment_for_tests_is_enough_to_run(project: Project) -> None:
    project.bootstrap("dev")
    project.bootstrap("run")
    assert project.uv_calls() == ["venv", "pip"]


def test_the_environment_to_run_is_not_enough_for_tests(project: Project) -> None:
    project.bootstrap("run")
    project.bootstrap("dev")
    assert project.uv_calls() == ["venv", "pip", "pip"]


def test_an_interrupted_set_up_begins_anew(project: Project) -> None:
    project.bootstrap("run")
    (project.environment / "remit-incomplete").touch()
    (project.environment / "half").touch()

    assert project.bootstrap("run").returncode == 0

    assert project.uv_calls() == ["venv", "pip", "venv", "pip"]
    assert not (project.environment / "half").exists()
    assert not (project.environment / "remit-incomplete").exists()


def test_an_environment_whose_python_is_gone_is_made_again(project: Project) -> None:
    project.bootstrap("run")
    python = project.environment / "bin" / "python"
    python.unlink()
    python.symlink_to("/nonexistent/python")

    result = project.bootstrap("run", "-c", "print('here')")

    assert result.stdout.splitlines()[-1] == "here"
    assert project.uv_calls() == ["venv", "pip", "venv", "pip"]


@pytest.mark.slow
def test_pip_is_tried_where_uv_fails(project: Project) -> None:
    result = project.bootstrap("run", "-c", "print('here')", UV_EXIT="1")

    assert result.returncode == 0, result.stdout + result.stderr
    assert "trying pip" in result.stdout
    assert result.stdout.splitlines()[-1] == "here"


@pytest.mark.slow
def test_pip_alone_is_enough(project: Project) -> None:
    (project.folder / "programs" / "uv").unlink()

    result = project.bootstrap("run", "-c", "print('here')", PATH="/usr/bin:/bin")

    assert result.stdout.splitlines()[-1] == "here", result.stdout + result.stderr


def test_a_state_folder_that_cannot_be_written_is_named(project: Project) -> None:
    result = project.bootstrap("run", REMIT_STATE_DIR="/dev/null/state")

    assert result.returncode == 1
    assert result.stderr.startswith("Cannot write /dev/null/state: ")
    assert "Traceback" not in result.stderr


def test_misuse_is_explained(project: Project) -> None:
    result = project.bootstrap("everything")

    assert result.returncode == 2
    assert result.stderr.startswith("Usage: python3 -m config.local.bootstrap")


def test_a_python_without_environments_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "INCOMPLETE", Path("/dev/null/none"))
    monkeypatch.setattr(bootstrap, "PYTHON", Path("/dev/null/none"))
    nothing = SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None))
    monkeypatch.setattr("config.local.bootstrap.importlib", nothing)

    with pytest.raises(bootstrap.SetupError, match="apt-get install python3-venv"):
        bootstrap._make_environment(None)


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full."),
        ("error: Permission denied (os error 13)", "A folder cannot be written."),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n do not match the hashes", "refused"),
        ("NewConnectionError('<...>: Failed to establish')", "index cannot be reached"),
        ("error: error sending request for url", "index cannot be reached"),
        ("error: command 'gcc' failed: No such file", "Install a C compiler"),
        ("ERROR: No matching distribution found for x", "Use Python 3.11 to 3.13"),
        ("something new", "could not be installed"),
    ],
)
def test_an_installers_failure_is_put_into_words(output: str, sentence: str) -> None:
    words = bootstrap.explain(output)

    assert sentence in words.splitlines()[0]
    assert words.splitlines()[-1] == f"  {output.splitlines()[-1]}"
