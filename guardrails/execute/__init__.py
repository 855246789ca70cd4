"""Carries out: the executor, how an attempt ends, held sends, undo, recovery and kill switches.
The only room that reaches provider writes."""
