"""Every action Remit can perform, by kind: one file each, one line each in `registry`. Pure:
readers and writers are given."""
