"""The ledger for people and programs outside: CSV, JSON Lines, Parquet, OCSF and a feed for a
SIEM."""
