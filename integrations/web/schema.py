"""What the schema of the API says of each operation beside its shape: which scope it needs."""

from typing import Any

from drf_spectacular.openapi import AutoSchema as Base


class AutoSchema(Base):
    def get_operation(self, *about: Any) -> Any:
        """An operation's description ends with the scope that it needs. With a token of it the
        scope stands too, as OpenAPI 3.1 has it for roles."""
        operation = super().get_operation(*about)
        needed = [
            found for one in self.view.get_permissions() if (found := getattr(one, "needs", ""))
        ]
        if operation and needed:
            said = [
                operation.get("description", ""),
                *(f"Needs the scope `{one}`." for one in needed),
            ]
            operation["description"] = "\n\n".join(filter(None, said))
            operation["security"] = [
                {name: needed if name == "serviceToken" else roles for name, roles in one.items()}
                for one in operation.get("security", ())
            ]
        return operation
