"""Tries all guarantees, one after another: first this installation as it is, then each deed in an
office of its own."""

from collections.abc import Callable, Collection, Iterator

from agents.installation import (
    acting,
    approving,
    arriving,
    here,
    holding,
    learning,
    limiting,
    recording,
    securing,
)
from agents.installation.guarantees import Result, attempt
from agents.installation.office import Office, built_site, found

IN_AN_OFFICE: tuple[Callable[[Office], None], ...] = (
    *acting.TRIALS,
    *approving.TRIALS,
    *limiting.TRIALS,
    *holding.TRIALS,
    *learning.TRIALS,
    *recording.TRIALS,
    *arriving.TRIALS,
    *securing.TRIALS,
)
HERE: tuple[Callable[[], None], ...] = here.TRIALS
NAMES = tuple(trial.__name__ for trial in (*HERE, *IN_AN_OFFICE))


def run(names: Collection[str] = NAMES) -> Iterator[Result]:
    """The results in this order. Raises NoDatabase and DidNotStart where no office can be made."""
    yield from (attempt(trial) for trial in HERE if trial.__name__ in names)
    chosen = [trial for trial in IN_AN_OFFICE if trial.__name__ in names]
    if not chosen:
        return
    with built_site() as site:
        for trial in chosen:
            yield attempt(trial, found(site))
