"""What came of trying the guarantees at this installation."""

from typing import Any

from django.db import models


class InstallationCheck(models.Model):
    """One run of `manage.py verify_installation`, with its results in their order: each has a
    name, a promise, a verdict (PASS, FAIL, n/a), and what was found where it did not pass."""

    began_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(auto_now_add=True)
    results: "models.JSONField[Any, Any]" = models.JSONField(default=list)

    class Meta:
        ordering = ["-began_at"]
        verbose_name = "check of the installation"
        verbose_name_plural = "checks of the installation"

    def __str__(self) -> str:
        return f"{self.count('PASS')} guarantees hold, {self.count('FAIL')} do not"

    def count(self, verdict: str) -> int:
        return sum(one["verdict"] == verdict for one in self.results)
