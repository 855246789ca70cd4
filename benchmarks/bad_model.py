"""A model that fails, as a program at the port of the real one.

python -m benchmarks.bad_model broken|lying|slow PORT
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_SECONDS = 6.0
# A tool that does not exist, one with arguments that are no JSON, and no end.
LIE = {
    "role": "assistant",
    "content": "Done. I have sent it to everybody.",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "wire_money", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "archive", "arguments": '{"id": '}},
    ],
}
ANSWERS = {
    "broken": (500, {"error": {"message": "The server had an error.", "type": "server_error"}}),
    "lying": (200, {"object": "chat.completion", "choices": [{"index": 0, "message": LIE}]}),
    "slow": (503, {"error": {"message": "Overloaded.", "type": "server_error"}}),
}


class Answering(BaseHTTPRequestHandler):
    how = "broken"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.how == "slow":
            time.sleep(SLOW_SECONDS)
        status, answer = ANSWERS[self.how]
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """It says nothing."""


if __name__ == "__main__":
    Answering.how = sys.argv[1]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Answering).serve_forever()
