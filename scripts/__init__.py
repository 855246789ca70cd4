"""What a developer runs by hand or `make check` runs: nothing here is part of the product."""
