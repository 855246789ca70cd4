"""An office day of honest work under the shipped presets, and what becomes of it; the attacks of
`tests.attacks` under the same presets. `make bench NAME=honest` runs all of it."""
