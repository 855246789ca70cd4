"""A form that can be left unchecked, so that a draft goes back and forth before it is saved."""

from django import forms
from django.forms.utils import ErrorDict


class DraftForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in stubs only
    """While somebody comes back to it, everything that was filled in is shown again, and
    nothing is checked or saved."""

    @property
    def is_unchecked(self) -> bool:
        return "_back" in self.data

    def is_valid(self) -> bool:
        return not self.is_unchecked and super().is_valid()

    def full_clean(self) -> None:
        if self.is_unchecked:
            self._errors, self.cleaned_data = ErrorDict(), {}
        else:
            super().full_clean()
