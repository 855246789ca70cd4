"""The planning seed's metrics (section 11.2) over all scenarios, with how many there were."""

from collections.abc import Iterable
from dataclasses import dataclass

from integrations.models import Organisation
from tests.model_server import ScriptedModel
from tests.scenarios import gaps, runs


@dataclass(frozen=True, kw_only=True)
class Metric:
    """`share` of `chances`, over `scenarios` scenarios; the seed wants more than `target`."""

    name: str
    scenarios: int
    chances: int
    taken: int
    target: float | None
    missed: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.taken / self.chances

    def __str__(self) -> str:
        wanted = "" if self.target is None else f", wanted: over {self.target:.0%}"
        missed = f"\n    missed: {', '.join(self.missed)}" if self.missed else ""
        return (
            f"{self.name}: {self.share:.1%} ({self.taken} of n = {self.chances} in "
            f"{self.scenarios} scenarios{wanted}){missed}"
        )


def measure(model: ScriptedModel, organisation: Organisation) -> tuple[Metric, ...]:
    """Every scenario once."""
    planted = [one for one in gaps.SCENARIOS if one.gap]
    whole = [one for one in gaps.SCENARIOS if not one.gap]
    return (
        _metric(
            "Duplicate calls that were not run",
            ((s.name, runs.prevented(s, model, organisation)) for s in runs.DUPLICATES),
            0.99,
        ),
        _metric(
            "Turns that recovered from a failing tool",
            ((s.name, runs.recovered(s, model, organisation)) for s in runs.FAILING),
            0.90,
        ),
        _metric(
            "Independent calls of one step that ran side by side",
            ((s.name, runs.together(s, model, organisation)) for s in runs.INDEPENDENT),
            0.60,
        ),
        _metric(
            "Planted gaps that a review found",
            ((s.name, runs.Measured(chances=1, taken=int(gaps.found(s)))) for s in planted),
            0.85,
        ),
        _metric(
            "Whole answers in which a review found a gap",
            ((s.name, runs.Measured(chances=1, taken=int(gaps.found(s)))) for s in whole),
            None,
        ),
    )


def _metric(
    name: str, measured: Iterable[tuple[str, runs.Measured]], target: float | None
) -> Metric:
    made = list(measured)
    return Metric(
        name=name,
        scenarios=len(made),
        chances=sum(one.chances for _, one in made),
        taken=sum(one.taken for _, one in made),
        target=target,
        missed=tuple(what for what, one in made if one.taken < one.chances) if target else (),
    )
