"""What `make run` and `make test` need on one machine: set-up, the embedded database, child
processes, ports, secrets and the state folder."""
