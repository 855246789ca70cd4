from pathlib import Path
from types import SimpleNamespace

import pytest

from config.local import place


def test_a_full_disk_is_named() -> None:
    failure = place.failure("It failed.", "FATAL: could not write: No space left on device")

    assert "The disk is full" in str(failure)


def test_only_the_last_words_are_repeated() -> None:
    failure = place.failure("It failed.", "\n".join(f"line {number}" for number in range(20)))

    lines = str(failure).splitlines()
    assert (len(lines), lines[1], lines[-1]) == (13, "  line 8", "  line 19")


def test_a_platform_without_binaries_learns_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None))
    monkeypatch.setattr("config.local.place.importlib", nothing)

    with pytest.raises(place.EmbeddedDatabaseError, match="set DATABASE_URL"):
        place.binaries_dir()


def test_two_projects_in_one_folder_one_after_the_other_share_no_relocated_data() -> None:
    folder = Path("/somewhere/.remit")

    assert place.relocated(folder, "one") == place.relocated(folder, "one")
    assert place.relocated(folder, "one") != place.relocated(folder, "another")
    assert place.relocated(folder, "one").parent == Path("/var/lib/remit")
