"""The one model client: calls, protocols, prices, budgets and traces."""
