import socket

from config.local import ports


def test_picked_ports_are_free() -> None:
    port = ports.pick()

    assert ports.is_free(port)
    with socket.create_server(("127.0.0.1", port)):
        assert not ports.is_free(port)
        assert ports.answers(port)
    assert not ports.answers(port)
