#!/bin/sh
# An extension in shell, without jq: a tool that keeps notes in notes.jsonl of the
# folder in which the session works. A message is a line of JSON; all that is needed of
# it is its method, its id and one string, and sed finds these. The string stays as it
# is written in JSON, so nothing has to be unescaped.

string='\(\([^"\\]\|\\.\)*\)'

# field NAME: the string with that name in the message.
field() { printf '%s\n' "$line" | sed -n "s/.*\"$1\":\"$string\".*/\1/p"; }

# answer RESULT: answers the message.
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }

while IFS= read -r line; do
  # The head of each message is {"jsonrpc":"2.0","id":N,"method":"…"
  id=$(printf '%s\n' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  method=$(printf '%s\n' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":[0-9]*,"method":"\([^"]*\)".*/\1/p')
  case $method in
  initialize)
    dir=$(field cwd)
    answer '{"protocol":1}'
    ;;
  extension/load)
    answer '{"name":"Notes","tools":[{"name":"note","kind":"write","description":"Keeps a note for later.","parameters":{"type":"object","properties":{"text":{"type":"string","minLength":1}},"required":["text"],"additionalProperties":false}}]}'
    ;;
  tool/run)
    text=$(printf '%s\n' "$line" | sed -n "s/.*\"input\":{\"text\":\"$string\"}.*/\1/p")
    if printf '{"date":"%s","text":"%s"}\n' "$(date +%F)" "$text" >>"$dir/notes.jsonl"; then
      answer '{"content":[{"type":"text","text":"Noted."}]}'
    else
      answer '{"content":[{"type":"text","text":"The note could not be written."}],"isError":true}'
    fi
    ;;
  shutdown)
    answer null
    exit 0
    ;;
  ?*) answer null ;;
  esac
done
