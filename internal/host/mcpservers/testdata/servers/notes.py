#!/usr/bin/env python3
"""An MCP server of the version 2025-06-18 in plain Python: one tool, one prompt, one resource."""

import json
import sys

NOTES = []


def add(arguments):
    NOTES.append(arguments["text"])
    return {"content": [{"type": "text", "text": "%d notes" % len(NOTES)}]}


def read(params):
    return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "\n".join(NOTES)}]}


def prompt(params):
    text = "Sum up the notes in %s." % params["arguments"]["language"]
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


METHODS = {
    "initialize": lambda p: {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": "notes", "version": "1"},
    },
    "ping": lambda p: {},
    "tools/list": lambda p: {"tools": [{
        "name": "add",
        "description": "Adds a note",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }]},
    "tools/call": lambda p: add(p["arguments"]),
    "prompts/list": lambda p: {"prompts": [{"name": "sum-up", "arguments": [{"name": "language", "required": True}]}]},
    "prompts/get": prompt,
    "resources/list": lambda p: {"resources": [{"name": "all", "uri": "notes://all"}]},
    "resources/templates/list": lambda p: {"resourceTemplates": []},
    "resources/read": read,
}

for line in sys.stdin:
    call = json.loads(line)
    if "id" not in call:
        continue
    answer = {"jsonrpc": "2.0", "id": call["id"]}
    if call.get("method") in METHODS:
        answer["result"] = METHODS[call["method"]](call.get("params", {}))
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
