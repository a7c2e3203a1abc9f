"""A channel with an address: each text that is posted to /hook becomes an event.

    python3 hook.py 8123 &
    scorel mcp add hook --transport http http://127.0.0.1:8123/mcp
    scorel --channels server:hook
    curl --data 'The build is red.' http://127.0.0.1:8123/hook

Whoever can post to it can write to the model, so it listens on this machine alone.
"""
import json
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

streams = []  # a queue of events for each client that listens


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        """The stream on which the server pushes."""
        events = queue.Queue(maxsize=100)
        streams.append(events)
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.flush()
            while True:
                try:
                    self.wfile.write(b"data: " + events.get(timeout=15) + b"\n\n")
                except queue.Empty:
                    self.wfile.write(b":\n\n")  # finds out whether somebody still listens
        except OSError:
            pass
        finally:
            streams.remove(events)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/hook":
            event = {"jsonrpc": "2.0", "method": "notifications/claude/channel",
                     "params": {"content": body.decode("utf-8", "replace")}}
            for events in list(streams):
                try:
                    events.put_nowait(json.dumps(event).encode())
                except queue.Full:
                    pass
            return self.answer(204 if streams else 503)
        call = json.loads(body)
        if "id" not in call:
            return self.answer(202)
        answer = {"jsonrpc": "2.0", "id": call["id"]}
        if call.get("method") == "initialize":
            answer["result"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "hook", "version": "1"},
                                "capabilities": {"experimental": {"claude/channel": {}}}}
        else:
            answer["error"] = {"code": -32601, "message": "there is no such method"}
        self.answer(200, json.dumps(answer).encode(), Content_Type="application/json", Mcp_Session_Id="hook")

    def do_DELETE(self):
        self.answer(200)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.daemon_threads = True
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
