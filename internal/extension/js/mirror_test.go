package js_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"scorel/internal/extension/js/jstest"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// conversation makes entries with n messages: a question, an answer with a call, and its
// result, over and over.
func conversation(t testing.TB, n int) []json.RawMessage {
	t.Helper()
	all := make([]json.RawMessage, n)
	for i := range all {
		var m protocol.Message
		switch i % 3 {
		case 0:
			m = protocol.UserText(fmt.Sprintf("question %d: %s", i, strings.Repeat("why ", 40)))
		case 1:
			m = protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("I look. " + strings.Repeat("x", 100)), protocol.ToolUse(fmt.Sprint("call", i), "Bash", json.RawMessage(`{"command":"ls"}`))},
				Provider: "p", Model: "m", StopReason: protocol.StopToolUse, Usage: &protocol.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: 0.00125}}
		default:
			m = protocol.Message{Role: protocol.RoleToolResult, ToolCallID: fmt.Sprint("call", i-1), ToolName: "Bash", Content: []protocol.Block{protocol.Text(strings.Repeat("file <a> & b\n", 40))}}
		}
		raw, err := json.Marshal(rpc.Entry{Type: "message", ID: protocol.EventID(fmt.Sprintf("evt_%d", i)), Timestamp: 1700000000000 + int64(i), Message: &m})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = raw
	}
	return all
}

// contextExtension has a hook for each way to answer.
const contextExtension = `
const ways = {
  undefined: (m) => undefined, same: (m) => m, slice: (m) => m.slice(), filter: (m) => m.filter(() => true), map: (m) => m.map((x) => x), spread: (m) => [...m],
  roles: (m) => m.filter((x) => x.role !== "none"),
  read: (m) => m.filter((x) => x.content.length > 0),
  wrap: (m) => m.map((x) => ({ message: x.message, entryIndex: x.entryIndex })),
  clone: (m) => m.map((x) => ({ message: JSON.parse(JSON.stringify(x.message)), entryIndex: x.entryIndex })),
  tail: (m) => m.slice(-3),
  drop: (m) => m.filter((x, i) => i !== 1),
  swap: (m) => [m[1], m[0], ...m.slice(2)],
  write: (m) => { m[0].content = "new"; return m },
  deep: (m) => { m[1].content[0].text = "deep"; return m },
  replaced: (m) => { m[0].message = { role: "user", content: "by hand" }; return m },
  removed: (m) => { delete m[1].stopReason; return m },
  copied: (m) => m.map((x, i) => i === 0 ? { ...x, content: "copied" } : x),
  added: (m) => [{ role: "user", content: "first" }, ...m, { message: { role: "user", content: [{ type: "text", text: "last" }] }, entryIndex: null }],
  wrong: (m) => [1], noarray: (m) => ({}), norole: (m) => [{ content: "x" }],
};
export default (host) => {
  const hooks = {};
  for (const form of ["scorel", "pi"]) for (const [name, way] of Object.entries(ways)) hooks[form + " " + name] = (data) => {
    const answer = way(host.list(data, form));
    return answer === undefined ? undefined : host.unlist(answer, form);
  };
  hooks.looks = (data) => { const m = host.list(data, "pi"), x = m[1]; return [x.role, Object.keys(x), x.message === x, x.entryIndex, JSON.stringify(x).includes("entryIndex"), "content" in x, { ...x }.entryIndex === undefined, Array.isArray(m), m.length] };
  hooks.pi = (data) => host.list(data, "pi");
  hooks.entries = (f) => { const e = host.entries(f); return [e.length, e.map((x) => x.type), e.filter((x) => x.type === "message").map((x) => x.message.role), e, e === host.entries(f)] };
  hooks.frozen = () => { "use strict"; const e = host.entries("scorel"); const errors = []; for (const f of [() => e.push(1), () => { e[0] = 1 }, () => { e[0].type = "x" }, () => { e.length = 0 }]) try { f(); errors.push("none") } catch (x) { errors.push(x.name) } return errors };
  return { hooks };
};`

func TestAListComesBackAsIndexesOfWhatIsUnchangedAndMessagesOfWhatIsNew(t *testing.T) {
	h := loaded(t, contextExtension)
	h.Notify(rpc.NoteEntries, rpc.Entries{Add: conversation(t, 6)})
	whole := `{"list":[[0,5]]}`
	for way, want := range map[string]string{
		"undefined": "null", "same": "null", "slice": "null", "filter": "null", "map": "null", "spread": "null", "roles": "null", "read": "null", "wrap": "null", "clone": "null",
		"tail": `{"list":[[3,5]]}`, "drop": `{"list":[[0,0],[2,5]]}`, "swap": `{"list":[[1,1],[0,0],[2,5]]}`,
		"write":    `{"list":[{"role":"user","content":"new"},[1,5]]}`,
		"replaced": `{"list":[{"role":"user","content":"by hand"},[1,5]]}`,
		"copied":   `{"list":[{"role":"user","content":"copied"},[1,5]]}`,
		"added":    `{"list":[{"role":"user","content":"first"},[0,5],{"role":"user","content":"last"}]}`,
	} {
		for _, form := range []string{"scorel", "pi"} {
			for range 2 { // what a call has written to is not seen by the next
				got, err := h.Hook("x", form+" "+way, json.RawMessage(whole))
				if err != nil || string(got) != want {
					t.Errorf("%s %s: %s, %v; want %s", form, way, got, err, want)
				}
			}
		}
	}
	for _, form := range []string{"scorel", "pi"} {
		got, err := h.Hook("x", form+" deep", json.RawMessage(whole))
		if err != nil {
			t.Fatal(err)
		}
		var list rpc.ContextData
		if err := json.Unmarshal(got, &list); err != nil || len(list.List) != 3 {
			t.Fatalf("%s deep: %s", form, got)
		}
		var m, was protocol.Message
		var e rpc.Entry
		if err := json.Unmarshal(list.List[1].Message, &m); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(conversation(t, 6)[1], &e)
		was = *e.Message
		was.Content[0].Text = "deep"
		if a, b := js(t, m), js(t, was); a != b {
			t.Errorf("%s deep:\ngot  %s\nwant %s", form, a, b)
		}
	}
	for way, want := range map[string]string{"wrong": "messages[0]: 1 is not a message", "noarray": "messages is not an array", "norole": "messages[0]: it is not a message"} {
		if _, err := h.Hook("x", "pi "+way, json.RawMessage(whole)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", way, err)
		}
	}
	if _, err := h.Hook("x", "pi same", json.RawMessage(`{"list":[[0,6]]}`)); err == nil || !strings.Contains(err.Error(), "names the entry 6, and there are 6") {
		t.Errorf("an index behind the end: %v", err)
	}
	got, err := h.Hook("x", "pi slice", json.RawMessage(`{"list":[{"role":"user","content":"summary"},[4,5]]}`))
	if err != nil || string(got) != "null" {
		t.Errorf("a list with a summary: %s, %v", got, err)
	}
	got, err = h.Hook("x", "pi drop", json.RawMessage(`{"list":[{"role":"user","content":"summary"},[4,5]]}`))
	if err != nil || string(got) != `{"list":[{"role":"user","content":"summary"},[5,5]]}` {
		t.Errorf("a list with a summary without one: %s, %v", got, err)
	}
}

func js(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnElementIsTheMessageWithItsIndexBesideIt(t *testing.T) {
	h := loaded(t, contextExtension)
	h.Notify(rpc.NoteEntries, rpc.Entries{Add: conversation(t, 3)})
	got, err := h.Hook("x", "looks", json.RawMessage(`{"list":[[0,2]]}`))
	want := `["assistant",["role","content","provider","model","usage","stopReason","timestamp"],true,1,false,true,true,true,3]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	got, err = h.Hook("x", "pi", json.RawMessage(`{"list":[[0,2]]}`))
	if err != nil || !strings.Contains(string(got), `{"type":"toolCall","id":"call1","name":"bash","arguments":{"command":"ls"}}`) || !strings.Contains(string(got), `"role":"toolResult","toolCallId":"call1"`) {
		t.Errorf("in pi's form: %s, %v", got, err)
	}
}

func TestEntriesFollowTheConversation(t *testing.T) {
	h := loaded(t, contextExtension)
	zero := 1
	add := append(conversation(t, 2),
		json.RawMessage(js(t, rpc.Entry{Type: "compaction", ID: "evt_c", Timestamp: 5, Summary: "short", FirstKeptEntryIndex: &zero, TokensBefore: 9})),
		json.RawMessage(js(t, rpc.Entry{Type: "stack_pop", Custom: true, ID: "evt_p", Timestamp: 6, Data: json.RawMessage(`{"backToIndex":1,"summary":"s","type":"ignored","deep":{"a":[1]}}`)})))
	h.Notify(rpc.NoteEntries, rpc.Entries{Add: add})
	got, err := h.Hook("x", "entries", "pi")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`[4,["message","message","compaction","stack_pop"],["user","assistant"],`, `{"type":"compaction","id":"evt_c","timestamp":5,"summary":"short","firstKeptEntryIndex":1,"tokensBefore":9}`,
		`"backToIndex":1,"summary":"s","type":"stack_pop","deep":{"a":[1]},"id":"evt_p","timestamp":6}`, `],true]`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the entries do not have %s:\n%s", want, got)
		}
	}
	h.Notify(rpc.NoteEntries, rpc.Entries{Keep: 1, Add: []json.RawMessage{json.RawMessage(`{"type":"message","id":"evt_n","timestamp":1,"message":{"role":"user","content":"other"}}`)}})
	got, err = h.Hook("x", "entries", "scorel")
	if err != nil || !strings.HasPrefix(string(got), `[2,["message","message"],["user","user"],`) || !strings.Contains(string(got), `"content":"other"`) {
		t.Errorf("after another branch: %s, %v", got, err)
	}
	if got, err := h.Hook("x", "frozen", nil); err != nil || string(got) != `["TypeError","TypeError","TypeError","TypeError"]` {
		t.Errorf("writing to entries gives %s, %v", got, err)
	}
	h.Notify(rpc.NoteEntries, rpc.Entries{Keep: 9})
	h.Note(rpc.NoteLog, "9 entries are to stay, and there are 2")
}

func benchContext(b *testing.B, hook string) {
	h := loaded(b, contextExtension, jstest.Within(time.Minute, time.Minute)) // on a busy machine 0.6 s can be 8
	h.Notify(rpc.NoteEntries, rpc.Entries{Add: conversation(b, 10_000)})
	data := json.RawMessage(`{"list":[[0,9999]]}`)
	if got, err := h.Hook("x", hook, data); err != nil || string(got) != "null" && hook != "pi tail" {
		b.Fatalf("%.200s, %v", got, err)
	}
	for b.Loop() {
		if _, err := h.Hook("x", hook, data); err != nil {
			b.Fatal(err)
		}
	}
}

// The figures of a context handler over 10,000 messages: 10 ms unchanged, 40 ms as a new
// list of the same messages.
func BenchmarkContextOf10000Messages(b *testing.B) {
	for _, form := range []string{"scorel", "pi"} {
		for _, way := range []string{"undefined", "slice", "filter", "map", "spread", "roles", "wrap", "read"} {
			b.Run(form+"/"+way, func(b *testing.B) { benchContext(b, form+" "+way) })
		}
	}
}

func BenchmarkToolCallHandler(b *testing.B) {
	h := loaded(b, `export default () => ({ hooks: { tool_call: (c) => c.toolName === "Bash" && c.input.command.includes("rm -rf") ? { block: true } : undefined } })`)
	data := json.RawMessage(`{"toolName":"Bash","toolCallId":"c1","input":{"command":"ls -la /tmp"}}`)
	for b.Loop() {
		if _, err := h.Hook("x", "tool_call", data); err != nil {
			b.Fatal(err)
		}
	}
}

func benchStart(b *testing.B, cached bool) {
	dir := b.TempDir()
	path := write(b, dir, "x.ts", contextExtension)
	cache := b.TempDir()
	i := 0
	for b.Loop() {
		at := cache
		if !cached {
			at = fmt.Sprint(cache, i)
			i++
		}
		h := jstest.Start(b)
		h.Begin(dir)
		if _, err := h.Call(rpc.MethodLoad, rpc.Load{Ext: "x", Path: path, Root: dir, Cache: at, Reason: "startup"}); err != nil {
			b.Fatal(err)
		}
		if _, err := h.Call(rpc.MethodShutdown, struct{}{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The figures of a start with one TypeScript extension: 80 ms, cached 40 ms. The binary
// is the test's.
func BenchmarkStart(b *testing.B) {
	b.Run("first", func(b *testing.B) { benchStart(b, false) })
	b.Run("cached", func(b *testing.B) { benchStart(b, true) })
}
