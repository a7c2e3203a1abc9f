"""An extension in Python: a tool, a command and a hook, with the standard library.

It speaks JSON-RPC 2.0, one message a line, on stdin and stdout; what it prints to
stderr stands in the diagnostics of the session. docs/extensions.md has the methods.
"""

import json
import sys

entries = []  # the conversation
forbidden = ["shred"]  # words that no shell command may hold; see load()


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text_of(message):
    """The text of a message: its content is a string or a list of blocks."""
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text", "") for b in content if b.get("type") == "text")


def load(params):
    """What the extension offers. config is [extensions.python-words] of config.toml."""
    global forbidden
    forbidden = (params.get("config") or {}).get("forbidden", forbidden)
    return {
        "name": "Words",
        "version": "1.0.0",
        "hooks": ["tool_call"],
        "tools": [{
            "name": "count_words",
            "description": "Counts the words and the different words of a text.",
            "kind": "read",  # it changes nothing, so nobody is asked
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "The text."}},
                "required": ["text"],
            },
        }],
        "commands": [{"name": "words", "description": "How many words the conversation has", "argumentHint": "[user|assistant]"}],
    }


def run_tool(params):
    words = params["input"]["text"].split()
    return {
        "content": [{"type": "text", "text": f"{len(words)} words, {len(set(w.lower() for w in words))} different"}],
        "details": {"words": len(words)},  # for people; the model does not see it
    }


def run_command(params):
    roles = params["args"] or ["user", "assistant"]
    messages = [e["message"] for e in entries if e.get("type") == "message" and e["message"]["role"] in roles]
    words = sum(len(text_of(m).split()) for m in messages)
    return {"status": f"{words} words in {len(messages)} messages"}


def run_hook(params):
    """tool_call: None lets the call go on, an answer with block refuses it."""
    call = params["data"]
    command = call["input"].get("command", "") if call["toolName"] == "Bash" else ""
    for word in forbidden:
        if word in command.split():
            return {"block": True, "reason": f"Commands with {word} are not run here."}
    return None


METHODS = {
    # entries: the conversation is sent, too.
    "initialize": lambda params: {"protocol": 1, "entries": True},
    "extension/load": load,
    "extension/unload": lambda params: None,
    "tool/run": run_tool,
    "command/run": run_command,
    "hook": run_hook,
    "shutdown": lambda params: None,
}

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if method == "entries":
        # Of what was sent before, the first keep stay.
        entries[params["keep"]:] = params["add"]
    if "id" not in message or method is None:
        continue  # a notification, or an answer
    try:
        send({"id": message["id"], "result": METHODS[method](params)})
    except KeyError as err:
        send({"id": message["id"], "error": {"code": -32601, "message": f"missing: {err}"}})
    except Exception as err:  # the model sees the text of a tool's error
        send({"id": message["id"], "error": {"code": -32000, "message": str(err)}})
    if method == "shutdown":
        break
