"""A channel without senders: each line that is added to a file becomes an event.

    scorel mcp add build -- python3 tail.py /path/to/build.log
    scorel -p --channels server:build "Wait for the build."
"""
import json
import os
import sys
import threading
import time

lock = threading.Lock()


def send(message):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def size(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


def tail(name, at):
    """Pushes the lines after a place."""
    rest = b""
    while True:
        time.sleep(0.2)
        if not os.path.exists(name):
            continue
        at = at if size(name) >= at else 0  # it was written again from its beginning
        with open(name, "rb") as f:
            f.seek(at)
            data = f.read()
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            send({"method": "notifications/claude/channel",
                  "params": {"content": line.decode("utf-8", "replace"), "meta": {"file": os.path.basename(name)}}})


def main():
    name, at = sys.argv[1], 0
    for line in sys.stdin:
        call = json.loads(line)
        if "id" not in call:
            if call.get("method") == "notifications/initialized":
                threading.Thread(target=tail, args=[name, at], daemon=True).start()
        elif call.get("method") == "initialize":
            at = size(name)
            send({"id": call["id"], "result": {
                "protocolVersion": "2025-11-25", "serverInfo": {"name": "tail", "version": "1"},
                "capabilities": {"experimental": {"claude/channel": {}}}}})
        elif "method" in call:
            send({"id": call["id"], "error": {"code": -32601, "message": "there is no such method"}})


main()
