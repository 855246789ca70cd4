import os
import subprocess
import time

from config.local import processes


def test_a_process_is_known_by_its_start_not_by_its_number_alone() -> None:
    with subprocess.Popen(["sleep", "300"]) as child:
        mark = processes.started(child.pid)
        assert mark
        assert processes.started(child.pid) == mark
        assert processes.started(os.getpid()) != mark
        child.kill()
        # A zombie until it is waited for: it counts as gone.
        deadline = time.monotonic() + 60
        while processes.started(child.pid) and time.monotonic() < deadline:
            pass
        assert processes.started(child.pid) == ""
        assert processes.command(child.pid) == ""
