package session_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// before is an archive of 200 logs that the program of commit 71d398c wrote, and of what that
// program read from them: fold, context, items shown and Markdown. That commit is the last one
// before requests and events were generated from descriptors. 162 logs are from its command
// line: turns with every tool, questions, queues, moves of the leaf, compactions, sub-agents,
// skills, hooks, extensions, clones, imports, kills and repairs. The other 38 went through its
// store, with random contents: every optional member is present in some events and missing in
// others, and in a third of these logs also null, unknown or escaped in another way.
//
// The archive is never written again. A difference is a fault, or is normalised in replay with
// the reason.
const before = "testdata/before/logs.tar.gz"

// persistentBefore are the types of persistent events of that version.
var persistentBefore = []protocol.EventType{
	protocol.TypeMessage, protocol.TypeCompact, protocol.TypeCustomMessage, protocol.TypeHarnessItem, protocol.TypeBranchSummary,
	protocol.TypeRewind, protocol.TypeBranch, protocol.TypeChannelInject, protocol.TypeSessionInfo, protocol.TypeCustom, protocol.TypeLabel,
	protocol.TypeInstructionSnapshot, protocol.TypeQueueUpdate, protocol.TypeSkillIndexSnapshot, protocol.TypeSkillIndexDelta,
	protocol.TypePermissionDecision, protocol.TypeFileSnapshot, protocol.TypeContextCut,
}

// unpackBefore returns the files of the archive by their names.
func unpackBefore(t *testing.T) map[string][]byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.FromSlash(before))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLogsOfTheVersionBeforeReplayToTheSameBytes(t *testing.T) {
	harness.Computed(t)
	files := unpackBefore(t)
	types := map[protocol.EventType]int{}
	logs := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		id, ok := strings.CutSuffix(strings.TrimPrefix(name, "sessions/"), ".jsonl")
		if !ok || path.Dir(name) != "sessions" {
			continue
		}
		logs++
		for line := range bytes.Lines(files[name]) {
			if e, err := protocol.ScanEnvelope(bytes.TrimSuffix(line, []byte("\n"))); err == nil {
				types[e.Type]++
			}
		}
		t.Run(id, func(t *testing.T) {
			mem := disktest.NewMem()
			mem.Put("/home/.scorel/"+name, files[name])
			store, err := session.OpenStore(session.Config{FS: mem, Dir: "/home/.scorel"})
			if err != nil {
				t.Fatal(err)
			}
			view, report, err := store.View(t.Context(), protocol.SessionID(id))
			if err != nil {
				t.Fatal(err)
			}
			compareBefore(t, files, id, report, view.Index())
			if err := view.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mem.Bytes("/home/.scorel/"+name), files[name]) {
				t.Error("reading changed the log")
			}
			appendBefore(t, files, store, mem, name, protocol.SessionID(id))
		})
	}
	if logs != 200 {
		t.Errorf("the archive has %d logs", logs)
	}
	for _, typ := range persistentBefore {
		if types[typ] < 3 {
			t.Errorf("the logs have %d events of type %s", types[typ], typ)
		}
	}
}

// hides is in what is shown now of a text with a sequence that a terminal obeys, and that could
// hide a text from whoever decides about it: the version before left it out, with what belonged
// to it. What such texts are shown as is in the tests of package display.
var hides = regexp.MustCompile(`\[U\+00[19]B\\?\]`)

// reworded are the words for people that have changed since.
var reworded = regexp.MustCompile(`"title":"(queued|followUp)"|[0-9,]+ new lines? from task_\w+[^"<]*|task_\w+: [0-9,]+ lines? match[^"<]*`)

// unanswered is what Markdown says since then of a call without a result.
var unanswered = regexp.MustCompile("(?m)^\\*.*: no result(: it may have taken effect| yet, or it is lost)\\.\\*\n\n")

// endings are how an answer ended that did not end well: now with it in words, then as a state
// alone. An answer that the output limit has cut is no longer partial, as the next one continues it.
var endings = regexp.MustCompile("(?m)(,\"parts\":\\[|,)?\\{\"kind\":\"notice\",\"text\":\"(Cancelled|The answer is not complete|The answer ended with an error|The model refused to answer)\\.\",\"status\":\"\\w+\"\\}\\]?|\\]\\}$|\"status\":\"(ok|partial)\",?|^[>*] ?(Cancelled|The answer is not complete|The answer ended with an error|The model refused to answer)\\.\\*?\n\n?")

// apart is what stood between the pieces of an answer that the output limit had cut: Markdown
// has them as one answer since then.
var apart = regexp.MustCompile(`## Assistant\n|\s+`)

// compareBefore compares what a log is read as with what the version before read.
func compareBefore(t *testing.T, files map[string][]byte, id string, report health.Report, index *session.Index) {
	t.Helper()
	if got, want := findings(report), files["replay/"+id+"/findings"]; !bytes.Equal(got, want) {
		t.Errorf("found\n%sbefore\n%s", got, want)
	}
	now, err := replay(t.Context(), index)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		name string
		got  []byte
	}{{"fold.jsonl", now.fold}, {"context.jsonl", now.context}, {"display.jsonl", now.display}, {"export.md", now.markdown}} {
		want, ok := files["replay/"+id+"/"+part.name]
		if !ok {
			t.Fatalf("the archive has no %s", part.name)
		}
		if part.name == "display.jsonl" || part.name == "export.md" {
			if hides.Match(part.got) {
				continue
			}
			part.got, want = reworded.ReplaceAll(endings.ReplaceAll(unanswered.ReplaceAll(part.got, nil), nil), nil), reworded.ReplaceAll(endings.ReplaceAll(want, nil), nil)
		}
		if part.name == "export.md" && bytes.Contains(files["sessions/"+id+".jsonl"], []byte(`"stopReason":"max_tokens"`)) {
			part.got, want = apart.ReplaceAll(part.got, nil), apart.ReplaceAll(want, nil)
		}
		if bytes.Equal(part.got, want) {
			continue
		}
		got, old := strings.SplitAfter(string(part.got), "\n"), strings.SplitAfter(string(want), "\n")
		for i := range max(len(got), len(old)) {
			a, b := "(no line)", "(no line)"
			if i < len(got) {
				a = got[i]
			}
			if i < len(old) {
				b = old[i]
			}
			if a != b {
				at := 0
				for at < min(len(a), len(b)) && a[at] == b[at] {
					at++
				}
				from := max(0, at-80)
				t.Errorf("%s line %d, from byte %d: now\n%.300s\nbefore\n%.300s", part.name, i+1, from, a[from:], b[from:])
				break
			}
		}
	}
}

// appendBefore opens a log as its writer and adds an event.
func appendBefore(t *testing.T, files map[string][]byte, store *session.Store, mem *disktest.Mem, name string, id protocol.SessionID) {
	t.Helper()
	log, report, err := store.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if only, why := log.ReadOnly(); only {
		t.Fatalf("opened read-only: %s", why)
	}
	compareBefore(t, files, string(id), report, log.Index())
	if !bytes.Equal(mem.Bytes("/home/.scorel/"+name), files[name]) {
		t.Error("opening changed the log")
	}
	leaf := log.Index().Leaf()
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText("I go on")})
	e.ID, e.ParentID, e.Seq = "evt_00000000000000aa", leaf, log.NextSeqFloor()
	e.SessionID, e.ClientID, e.TS = id, protocol.HostClient, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixMilli()
	if err := log.Commit(t.Context(), []protocol.Event{e}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	after := mem.Bytes("/home/.scorel/" + name)
	if added, ok := bytes.CutPrefix(after, files[name]); !ok || bytes.Count(added, []byte("\n")) != 1 {
		t.Errorf("an event that is added does more than add a line: %.300q", added)
	}
	log, again, err := store.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(findings(again), findings(report)) {
		t.Errorf("after an event was added: %v", again.Sentences())
	}
	if log.Index().Leaf() != e.ID {
		t.Errorf("the leaf is %s after an event was added", log.Index().Leaf())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
