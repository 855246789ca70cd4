"""What operators look at and try out: dashboard, console, a turn's page, the demo and the replay
of real mail. The demo and the replay talk to the sandbox; nothing else here does."""
