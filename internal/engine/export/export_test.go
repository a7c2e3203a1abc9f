package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

var update = flag.Bool("update", false, "write the golden files")

// talk makes the events of a session.
type talk struct {
	rand   *rand.ChaCha8
	seq    protocol.Seq
	leaf   protocol.EventID
	events []protocol.Event
	blobs  map[string][]byte
}

func newTalk() *talk { return &talk{rand: rand.NewChaCha8([32]byte{7}), blobs: map[string][]byte{}} }

func (t *talk) add(body protocol.Body) protocol.EventID {
	t.seq++
	e := protocol.NewEvent(body)
	e.ID, e.ParentID, e.Seq = protocol.NewEventID(t.rand), t.leaf, t.seq
	e.SessionID, e.ClientID, e.TS = "ses_06gvgpgd01lecu1v9uuui6ren2", protocol.HostClient, 1_795_168_800_000+int64(t.seq)*41_000
	if !e.Control {
		t.leaf = e.ID
	}
	t.events = append(t.events, e)
	return e.ID
}

func (t *talk) blob(data []byte) string {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	t.blobs[name] = data
	return name
}

func (t *talk) user(text string, more ...protocol.Block) protocol.EventID {
	return t.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: append([]protocol.Block{protocol.Text(text)}, more...)}})
}

func (t *talk) assistant(blocks ...protocol.Block) protocol.EventID {
	m := protocol.Message{Role: protocol.RoleAssistant, Content: blocks, Provider: "p", Model: "claude-x", StopReason: protocol.StopEndTurn,
		Usage: &protocol.Usage{InputTokens: 1200, OutputTokens: 310, CacheReadTokens: 20_000, CostUSD: 0.0123}}
	if len(m.Calls()) > 0 {
		m.StopReason = protocol.StopToolUse
	}
	return t.add(&protocol.MessageBody{Message: m})
}

func (t *talk) result(call, tool, text string, failed bool, details string) protocol.EventID {
	return t.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: call, ToolName: tool, IsError: failed,
		Content: []protocol.Block{protocol.Text(text)}, Details: json.RawMessage(details)}})
}

func (t *talk) source() Source {
	parent := map[protocol.EventID]protocol.EventID{}
	for _, e := range t.events {
		parent[e.ID] = e.ParentID
	}
	var path []protocol.EventID
	for id := t.leaf; id != ""; id = parent[id] {
		path = append([]protocol.EventID{id}, path...)
	}
	return Source{Path: path, Header: protocol.Header{Version: 1, SessionID: "ses_06gvgpgd01lecu1v9uuui6ren2", CreatedAt: 1_795_168_800_000,
		Meta: protocol.Meta{WorkDir: "/home/ada/work/tally", Model: "anthropic/claude-x"}},
		All: func() iter.Seq2[protocol.Event, error] {
			return func(yield func(protocol.Event, error) bool) {
				for _, e := range t.events {
					if !yield(e, nil) {
						return
					}
				}
			}
		},
		Blob: func(sha string) (io.ReadCloser, int64, error) {
			data, ok := t.blobs[sha]
			if !ok {
				return nil, 0, os.ErrNotExist
			}
			return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
		}}
}

func (t *talk) page(tb testing.TB) string {
	tb.Helper()
	var out bytes.Buffer
	if err := HTML(tb.Context(), &out, t.source()); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// onePixel is a picture of one pixel.
func onePixel() []byte {
	data, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	return data
}

// small is a session with an event of every kind that a page shows.
func small() *talk {
	t := newTalk()
	t.add(&protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Version: 1, Text: "You are a careful engineer.\nAnswer briefly."}})
	first := t.user("`make check` fails since yesterday. Find out why, and repair it.\n\nThe last lines are in the picture.",
		protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: t.blob(onePixel())},
		protocol.Block{Type: protocol.BlockFile, Name: "notes.pdf", MediaType: "application/pdf", Blob: t.blob(make([]byte, 48_213))})
	t.assistant(protocol.Block{Type: protocol.BlockThinking, Thinking: "The check runs a script. I should run it first and read what it says before I guess."},
		protocol.Text("I'll run the check and read what fails."),
		protocol.ToolUse("c1", "Bash", json.RawMessage(`{"command":"make check 2>&1 | tail -5"}`)),
		protocol.ToolUse("c2", "Read", json.RawMessage(`{"path":"lib/tally.sh"}`)))
	t.add(&protocol.PermissionDecision{ToolCallID: "c1", Decision: protocol.DecisionAllow, Scope: "session", Rule: "Bash(make check:*)"})
	t.result("c1", "Bash", "ok   totals of an empty file\nFAIL median of four numbers: got 3, want 2.5\nmake: *** [check] Error 1\n", true, "")
	t.result("c2", "Read", "     1\tmedian() {\n     2\t\tlocal n=$#\n     3\t\techo \"${sorted[$((n / 2))]}\"\n     4\t}\n", false, "")
	t.add(&protocol.Label{TargetEventID: first, Label: ptr("the report")})
	t.assistant(protocol.Text("The median of an even count takes the upper middle instead of the **mean of both**."),
		protocol.ToolUse("c3", "Edit", json.RawMessage(`{"path":"lib/tally.sh","edits":[{"old_string":"a","new_string":"b"}]}`)),
		protocol.ToolUse("c4", "Bash", json.RawMessage(`{"command":"git push --force"}`)))
	t.add(&protocol.FileSnapshot{ToolCallID: "c3", Path: "/home/ada/work/tally/lib/tally.sh", Existed: true})
	t.result("c3", "Edit", "Edited lib/tally.sh.", false, `{"diff":"--- lib/tally.sh\n+++ lib/tally.sh\n@@ -1,4 +1,8 @@\n median() {\n \tlocal n=$#\n-\techo \"${sorted[$((n / 2))]}\"\n+\tif ((n % 2)); then\n+\t\techo \"${sorted[$((n / 2))]}\"\n+\t\treturn\n+\tfi\n }\n"}`)
	t.add(&protocol.PermissionDecision{ToolCallID: "c4", Decision: protocol.DecisionDeny, Scope: "once", Reason: "Never force-push this branch."})
	t.result("c4", "Bash", "Not run: a person refused it and says: Never force-push this branch.", true, "")
	fork := t.leaf
	t.assistant(protocol.Text("I shall rewrite the whole file instead."))
	t.user("No, keep it small.")
	t.leaf = fork
	t.add(&protocol.Compact{Summary: "The median of an even count was **wrong**; `lib/tally.sh` is repaired.", CompactedThrough: fork, TokensBefore: 41_210, TokensAfter: 3_000})
	t.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("And the documentation?")}, Meta: &protocol.MessageMeta{Source: protocol.SourceSteer}}})
	t.assistant(protocol.Text("# What I changed\n\nThe check passes now. Two things are worth knowing:\n\n1. `median` returns the mean of the two middle numbers.\n2. Nothing else calls it:\n   - `totals` sorts by itself\n   - the tests use [the wrapper](https://example.com/wrapper)\n\n| input | before | now |\n|---|--:|--:|\n| 1 2 3 | 2 | 2 |\n| 1 2 3 4 | 3 | 2.5 |\n\n> An even count has no single middle.\n\n```sh\nmake check\n```\n\nSee https://en.wikipedia.org/wiki/Median for the definition."))
	t.user("Thank you — what is left to do?")
	t.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.Text("Nothing in the code. I would")}, Provider: "p", Model: "claude-x",
		StopReason: protocol.StopCancelled, Partial: true}})
	return t
}

func ptr(s string) *string { return &s }

func TestPageOfASmallSession(t *testing.T) {
	got := small().page(t)
	name := filepath.Join("testdata", "small.html")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page differs from %s; look at it and run with -update", name)
	}
}

// hostile texts try to become more than text.
func hostile(address string) []string {
	return []string{
		`<script>document.title="pwned";alert(1)</script>`, `</style><script>document.title="pwned"</script>`, `</title><script>document.title="pwned"</script>`,
		`<img src=x onerror="document.title='pwned'">`, `<img src="` + address + `/img">`, `![x](` + address + `/markdown)`,
		`[x](javascript:document.title='pwned')`, `[x](JaVaScRiPt:alert(1))`, `[x](data:text/html,<script>alert(1)</script>)`, `<javascript:alert(1)>`,
		`[x](` + address + `/link" onmouseover="document.title='pwned')`, "[x](" + "https://a.example/\"onfocus=alert(1) autofocus x=\")",
		`<iframe src="` + address + `/frame"></iframe>`, `<link rel=stylesheet href="` + address + `/style">`, `<meta http-equiv=refresh content="0;url=` + address + `/refresh">`,
		`<svg onload="document.title='pwned'">`, `<style>@import "` + address + `/import";body{display:none}</style>`, `<base href="` + address + `/base">`,
		"```html\"><script>document.title='pwned'</script>\n<b>x</b>\n```", "`<b>`", "<!--", "]]>", "&lt;script&gt;", `<details open ontoggle="document.title='pwned'">`,
		"a\u202eb\u2066c", "\x1b[31mred\x1b[0m \x07\x00", "| <script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | \\| |", "> > > <script>alert(1)</script>",
		"- <script>alert(1)</script>\n  - <img src=x onerror=alert(1)>", `<form action="` + address + `/form"><input autofocus onfocus="document.title='pwned'">`,
		"\xff\xfe<script>", `<a href="` + address + `" ping="` + address + `/ping">x</a>`,
	}
}

// evil puts every hostile text into every place.
func evil(address string) *talk {
	t := newTalk()
	svg := t.blob([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='pwned'"><image href="` + address + `/svg"/></svg>`))
	for _, x := range hostile(address) {
		id := t.user(x, protocol.Block{Type: protocol.BlockFile, Name: x, MediaType: x, Blob: svg}, protocol.Block{Type: protocol.BlockImage, MediaType: "image/svg+xml", Blob: svg},
			protocol.Block{Type: protocol.BlockImage, MediaType: `image/png" onerror="document.title='pwned'`, Blob: svg})
		input, _ := json.Marshal(map[string]string{"command": x, x: x})
		t.assistant(protocol.Block{Type: protocol.BlockThinking, Thinking: x}, protocol.Text(x), protocol.ToolUse("c", x, input))
		t.add(&protocol.PermissionDecision{ToolCallID: "c", Decision: protocol.DecisionDeny, Scope: x, Rule: x, Reason: x})
		details, _ := json.Marshal(map[string]string{"diff": "+" + x + "\n-" + x})
		t.result("c", x, x, true, string(details))
		t.add(&protocol.Compact{Summary: x})
		t.add(&protocol.Label{TargetEventID: id, Label: &x})
		t.add(&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemKind(x), Content: x, Visibility: protocol.VisibilityDisplay}})
		t.add(&protocol.CustomMessage{Kind: x, Message: protocol.UserText(x)})
		t.add(&protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Version: 1, Text: x}})
		t.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Model: x, ErrorMessage: x, StopReason: protocol.StopError, Content: []protocol.Block{{Type: protocol.BlockType("x" + x)}}}})
		fork := t.leaf
		t.user(x)
		t.leaf = fork
	}
	return t
}

func TestPageHoldsNoTagsOrAddressesOfItsContent(t *testing.T) {
	page := evil("http://attacker.example").page(t)
	tag := regexp.MustCompile(`<(/?)([a-zA-Z!][a-zA-Z0-9]*)([^>]*)>`)
	known := strings.Fields("!DOCTYPE html head meta title style body a header h1 h2 h3 h4 h5 h6 dl div dt dd nav ol ul li details summary span p main article b time code pre figure figcaption img section footer em strong del blockquote hr br table thead tbody tr th td")
	attribute := regexp.MustCompile(`^(\s+(lang|charset|http-equiv|content|name|class|href|id|dir|datetime|title|role|aria-label|rel|start|alt|src)="[^"<>]*"|\s+html|\s+open)*$`)
	head, rest, _ := strings.Cut(page, "</style>")
	head, _, _ = strings.Cut(head, "<style>")
	for _, m := range tag.FindAllStringSubmatch(head+rest, -1) {
		found := false
		for _, k := range known {
			found = found || k == m[2]
		}
		if !found || !attribute.MatchString(m[3]) {
			t.Fatalf("the page holds the tag %s", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`(href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch u := m[2]; {
		case m[1] == "src":
			t.Errorf("a picture of %.60s", u)
		case !strings.HasPrefix(u, "#") && !strings.HasPrefix(u, "http://attacker.example") && !strings.HasPrefix(u, "https://a.example/"):
			t.Errorf("a link leads to %q", u)
		}
	}
	if strings.ContainsAny(page, "\x00\x07\x1b\u202e\u2066") || !strings.Contains(page, "[U+202E]") {
		t.Error("control or bidirectional characters are in the page, or cannot be seen")
	}
	if n := strings.Count(page, "<a href=\"http"); n != strings.Count(page, `rel="noopener noreferrer"`) || n == 0 {
		t.Errorf("%d links lead outside, not all with rel", n)
	}
}

func TestPictureIsShownOnlyWhenItsBytesAreOne(t *testing.T) {
	for name, data := range map[string][]byte{"svg": []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), "html": []byte("<html>"), "text": []byte("hello"), "empty": {}} {
		talk := newTalk()
		talk.user("see", protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: talk.blob(data)})
		if page := talk.page(t); strings.Contains(page, "<img") || strings.Contains(page, "data:image") {
			t.Errorf("%s is shown as a picture", name)
		}
	}
	talk := newTalk()
	big := append(onePixel(), make([]byte, 15<<20)...)
	talk.user("see", protocol.Block{Type: protocol.BlockImage, MediaType: "image/jpeg", Blob: talk.blob(big)},
		protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: talk.blob(append(big, 1))},
		protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: talk.blob(onePixel())},
		protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: strings.Repeat("0", 64)})
	page := talk.page(t)
	if n := strings.Count(page, `src="data:image/png;base64,`); n != 2 || !strings.Contains(page, "left out: the page holds at most 20 MiB") || !strings.Contains(page, "missing") {
		t.Errorf("%d pictures are shown", n)
	}
	if !strings.Contains(page, base64.StdEncoding.EncodeToString(onePixel())) {
		t.Error("the bytes of the picture are not in the page")
	}
}

func TestALongPageIsWrittenAsItIsRead(t *testing.T) {
	talk := newTalk()
	for i := range 1600 { // 6,400 events
		call := fmt.Sprint("c", i)
		talk.user(fmt.Sprintf("Question %d", i))
		talk.assistant(protocol.Text("I look."), protocol.ToolUse(call, "Read", json.RawMessage(`{"path":"a"}`)))
		talk.result(call, "Read", strings.Repeat("some text\n", 100), false, "")
		talk.assistant(protocol.Text("- **done**\n- with `it`\n"))
	}
	longest := &longestWrite{}
	began := time.Now()
	if err := HTML(t.Context(), longest, talk.source()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes in %d writes, %v", longest.total, longest.n, time.Since(began))
	if longest.n < 50 || longest.most > 256<<10 {
		t.Errorf("%d writes, the longest of %d bytes: the page is not written as it is read", longest.n, longest.most)
	}
}

type longestWrite struct{ n, most, total int }

func (l *longestWrite) Write(p []byte) (int, error) {
	l.n, l.most, l.total = l.n+1, max(l.most, len(p)), l.total+len(p)
	return len(p), nil
}

func TestPageReturnsTheErrorOfItsWriter(t *testing.T) {
	if err := HTML(t.Context(), failing{}, small().source()); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("it gives %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("the disk is full") }

func TestAMessageThatWasChangedInTheLogIsMarked(t *testing.T) {
	talk := newTalk()
	talk.user("hello")
	e, err := talk.events[0].SealAfter(0)
	if err != nil {
		t.Fatal(err)
	}
	if talk.events[0], err = protocol.ParseEvent(bytes.Replace(e.Raw(), []byte("hello"), []byte("hallo"), 1)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := HTML(t.Context(), &out, talk.source()); err != nil || !strings.Contains(out.String(), "this was changed after it was written") {
		t.Errorf("%v:\n%s", err, &out)
	}
}
