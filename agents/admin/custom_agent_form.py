"""The form of a custom agent: tools and sources as boxes, capabilities one a line."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextareaWidget,
)

from agents.models import CustomAgent
from agents.turns import roster
from integrations.registry import BY_SOURCE

CAPABILITY_CHARS = 80


class CustomAgentForm(forms.ModelForm):  # type: ignore[type-arg]
    tools = forms.MultipleChoiceField(
        choices=[(tool.name, tool.name.replace("_", " ")) for tool in roster.CUSTOM_TOOLS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it may use. Actions stay inside the limits of the user it works for.",
    )
    sources = forms.MultipleChoiceField(
        choices=[(source, connector.label) for source, connector in BY_SOURCE.items()],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it may see and act on, of the user it works for.",
    )
    capabilities = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="Short names of what it can do, one a line.",
    )

    class Meta:
        model = CustomAgent
        fields = (
            "organisation",
            "name",
            "description",
            "capabilities",
            "prompt",
            "tools",
            "sources",
            "model",
            "enabled",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and isinstance(self.instance.capabilities, list):
            self.initial["capabilities"] = "\n".join(map(str, self.instance.capabilities))

    def clean_capabilities(self) -> list[str]:
        lines = [" ".join(line.split()) for line in self.cleaned_data["capabilities"].splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        if any(len(line) > CAPABILITY_CHARS for line in found):
            raise forms.ValidationError(f"At most {CAPABILITY_CHARS} characters a line.")
        return found
