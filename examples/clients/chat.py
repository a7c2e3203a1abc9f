"""A client of the Scorel host, in the standard library of Python. It prints what the model
says, asks on the terminal what is asked, and goes on where it was when the connection
breaks. docs/protocol.md explains each step.
    python3 chat.py "Which tests are slow?" "Make them faster."
    python3 chat.py --session ses_… "Go on."
    python3 chat.py --list
"""
import argparse, base64, json, os, random, secrets, socket, struct, sys, time

class Broken(Exception): """The connection is gone; the next one goes on."""
class Refused(SystemExit): """The host said no, and would say it again."""

def new_id(prefix, value, bits):  # the base32 of a number of so many bits, with zero bits after them
    return prefix + "".join("0123456789abcdefghijklmnopqrstuv"[value << 130 - bits >> shift & 31] for shift in range(125, -1, -5))

class WebSocket:  # what is needed of RFC 6455
    def __init__(self, path, header):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)  # the host sends a ping every 20 s
        self.sock.connect(path)
        self.input = self.sock.makefile("rb")
        self.sock.sendall(("GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           f"Sec-WebSocket-Version: 13\r\n{header}\r\n"
                           f"Sec-WebSocket-Key: {base64.b64encode(secrets.token_bytes(16)).decode()}\r\n\r\n").encode())
        if (status := self.input.readline()[9:12]) != b"101":
            raise (Refused if status in (b"400", b"401", b"403") else Broken)(f"the host answers HTTP {status.decode()}")
        while self.input.readline().strip():
            pass

    def write(self, data, opcode=1):
        n, mask = len(data), b"\0\0\0\0"  # a mask is for proxies, and there is none here
        size = struct.pack("!B", 128 | n) if n < 126 else struct.pack("!BH", 254, n) if n < 65536 else struct.pack("!BQ", 255, n)
        self.sock.sendall(bytes([128 | opcode]) + size + mask + data)

    def take(self, n):
        if len(data := self.input.read(n)) < n:
            raise Broken("it has ended")
        return data

    def receive(self):
        text = b""
        while True:
            first, n = self.take(2)
            data = self.take(n if n < 126 else int.from_bytes(self.take(2 if n == 126 else 8), "big"))
            if first & 15 == 9:  # a ping
                self.write(data, 10)
            elif first & 15 < 2:  # a message, or a part of one
                text += data
                if first & 128:
                    return json.loads(text)

class Chat:
    def __init__(self, options):
        self.options, self.session, self.ws, self.answer = options, options.session, None, None
        self.client = new_id("cli_", secrets.randbits(130), 130)
        self.pending, self.sent = {}, set()  # requests that act and have no answer; those sent on this connection
        self.anchors, self.mode, self.streaming = None, "", False
        self.printed, self.questions, self.asked = -1, {}, set()  # printed: the seq of the newest message
        self.mine, self.stored, self.over, self.creation = "", False, True, ""  # mine: the request of my newest message
        if not self.session and not options.list:
            self.session = new_id("ses_", int(time.time() * 1000) << 82 | secrets.randbits(82), 130)
            self.creation = self.act("create_session", meta={"workDir": os.getcwd()})
            print("session", self.session, file=sys.stderr)

    def new(self, kind, **fields):
        return {"type": kind, "requestId": new_id("req_", secrets.randbits(128), 128), "sessionId": self.session, **fields}

    def act(self, kind, **fields):  # a request that acts: it is sent until it has an answer
        message = self.new(kind, **fields)
        return self.pending.setdefault(message["requestId"], message)["requestId"]

    def send(self, message):
        self.sent.add(message["requestId"])
        data = json.dumps(message).encode()
        message["repeat"] = True  # in every copy after the first
        self.ws.write(data)

    def call(self, message):  # waits for the answer
        self.send(message)
        while not self.answer or self.answer["requestId"] != message["requestId"]:
            self.step()
        return fine(self.answer)["data"]

    def connect(self):
        self.ws = WebSocket(self.options.home + "/host.sock", open(self.options.home + "/host.header").read().strip())
        hello = dict(type="hello", protocolVersion=1, clientId=self.client, clientName="chat.py", interactive=True)
        self.ws.write(json.dumps(hello).encode())
        fine(self.ws.receive())
        self.sent, self.streaming = set(), False
        if self.options.list:
            for s in self.call(self.new("list_sessions"))["sessions"]:
                print(s["sessionId"], s["meta"].get("name") or s.get("firstPrompt", ""))
            sys.exit()
        if self.creation in self.pending:
            self.call(self.pending[self.creation])
        self.call(self.new("open_session", anchors=self.anchors, tail=0 if self.printed < 0 else 2000))
        while not self.streaming:
            self.step()

    def until(self, done):  # takes messages until done, over as many connections as that needs
        wait = 0.25
        while not (self.ws and done()):
            try:
                if not self.ws:
                    self.connect()
                    wait = 0.25
                    continue
                for message in [m for key, m in self.pending.items() if key not in self.sent]:
                    self.send(message)
                self.step()
                self.ask()
            except (Broken, OSError) as e:
                self.ws = None
                print("reconnecting:", e, file=sys.stderr)
                time.sleep(random.uniform(0, wait))
                wait = min(wait * 2, 15)

    def step(self):  # takes one message of the host
        m = self.ws.receive()
        if m["type"] in ("response", "error"):
            self.answer, failed = m, m["type"] == "error"
            if self.pending.pop(m["requestId"], None) and failed and m["code"] != "conflict":
                print(m["message"], file=sys.stderr)  # at a conflict somebody else has answered the question
            self.over = self.over or m["requestId"] == self.mine and (failed or "handled" in m["data"])
        elif m.get("sessionId") != self.session:
            return  # news of the device
        elif m["type"] == "resync":
            self.mode, self.streaming = m["mode"], m["mode"] == "stream_resume"
            if self.mode != "stream_resume":
                held = self.anchors if self.mode == "persistent_fallback" else dict(deviceId="", persistentLastSeq=0, persistentLastId="")
                self.anchors = {**held, "streamEpoch": "", "streamLastSeq": 0}
        elif m["type"] == "live":
            self.live(m["live"])
        elif m["type"] == "session_closed":
            raise Broken("the host has closed the session")
        for event in m.get("events", []):
            self.event(event)

    def live(self, live):
        at, held = live["persistentLastSeq"], self.anchors["persistentLastSeq"]
        self.anchors = {"deviceId": live["deviceId"], "streamEpoch": live["streamEpoch"], "streamLastSeq": live["throughSeq"],
                        "persistentLastSeq": at, "persistentLastId": live.get("persistentLastId", "")}
        if self.mode != "full_reload" and at > held:
            self.anchors = None  # only a full reload helps
            raise Broken("the host left something out")
        self.streaming, self.printed = True, at if self.printed < 0 else self.printed
        self.questions = {q.get("permissionId") or q["uiId"]: q for q in live.get("permissions", []) + live.get("ui", [])}
        if not self.over and self.mode != "stream_resume" and self.stored and not live["running"]:  # it ended meanwhile
            self.end(live.get("ended", {}))  # how, unless the host was restarted since

    def event(self, e):
        kind, seq, question = e["type"], e["seq"], e.get("permissionId") or e.get("uiId")
        if seq <= self.anchors["persistentLastSeq" if "id" in e else "streamLastSeq"]:
            return
        if "id" in e:
            self.anchors.update(persistentLastSeq=seq, persistentLastId=e["id"])
        if self.streaming:
            self.anchors["streamLastSeq"] = seq
        self.stored = self.stored or e.get("cause", {}).get("requestId") == self.mine
        if kind == "message" and e["message"]["role"] == "assistant" and seq > self.printed >= 0:
            self.printed = seq
            print("".join(b["text"] + "\n" for b in e["message"]["content"] if b["type"] == "text"), end="", flush=True)
        elif question:  # opened or closed
            self.questions[question] = e if kind.endswith("_request") else None
        elif kind == "runtime_end":
            self.end(e)

    def end(self, how):  # the turn has ended
        self.over = self.over or self.stored
        sys.stderr.write(how["error"]["message"] + "\n" if "error" in how else "")

    def ask(self):
        for key, q in [(key, q) for key, q in self.questions.items() if q and key not in self.asked]:
            self.asked.add(key)
            if "permissionId" in q:
                labels = [s["label"] for s in q["suggestions"]]
                said = prompt(f"May {q['toolName']} run? {json.dumps(q['args'])} {list(enumerate(labels))}")
                self.act("answer_permission", permissionId=key, choice=int(said) if said in map(str, range(len(labels))) else -1)
            else:  # null closes what an extension asks
                value = [prompt(f"{a['question']} {[o['label'] for o in a['options']]}") for a in q["data"].get("questions", [])]
                self.act("answer_ui", uiId=key, value=value or None)

def fine(message):
    if message["type"] == "error":
        raise (Broken if message["code"] in ("rate_limited", "session_locked", "internal_error") else Refused)(message["message"])
    return message

def prompt(text):
    print(text, end=": ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--home", default=os.path.expanduser("~/.scorel"), help="the folder with host.sock and host.header")
    p.add_argument("--session", default="", help="go on in this session; without it a new one is made, in this folder")
    p.add_argument("--list", action="store_true", help="list the sessions")
    p.add_argument("message", nargs="*", help="what to send, one turn each")
    chat = Chat(p.parse_args())
    chat.until(lambda: True)
    for text in chat.options.message:
        chat.stored = chat.over = False
        chat.mine = chat.act("send_message", content=[{"type": "text", "text": text}], whenBusy="reject")
        chat.until(lambda: chat.over)
