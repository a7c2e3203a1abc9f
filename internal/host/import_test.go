package host_test

import (
	"bytes"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// exported gives the bytes of an export.
func exported(t *testing.T, c *client.Client, id protocol.SessionID, format string) []byte {
	t.Helper()
	ref := call[*protocol.BlobRef](t, c, id, &protocol.ExportSession{Format: format})
	var out []byte
	for int64(len(out)) < ref.Size {
		p := call[*protocol.BlobPart](t, c, id, &protocol.GetBlob{SHA256: ref.SHA256, Offset: int64(len(out)), Length: 48 << 10})
		out = append(out, p.Data...)
	}
	return out
}

// put stores a payload in one part.
func put(t *testing.T, c *client.Client, data []byte) string {
	t.Helper()
	return call[*protocol.BlobRef](t, c, "", &protocol.PutBlob{UploadID: "u", Data: data, Last: true}).SHA256
}

func TestAnImportedSessionBringsNoPermission(t *testing.T) {
	w := newWorld(t, setting{attended: true}, runTwice, `{"do":[{"text":"done"}]}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`,
		`{"do":[{"call":"Bash","id":"c3","input":{"command":"echo one"}}]}`, `{"do":[{"text":"done"}]}`)
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "session")})
	e.end()

	data := exported(t, e.c, e.id, "bundle")
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	made := call[*protocol.Imported](t, e.c, id, &protocol.ImportSession{Blobs: []string{put(t, e.c, data)}})
	if made.Summary.ClonedFrom == nil || made.Summary.ClonedFrom.SessionID != e.id || made.Summary.Meta.ProjectID == "" || len(made.Findings) > 0 {
		t.Errorf("made %+v", made)
	}
	for _, copied := range []bool{false, true} {
		if copied { // a copy of an import is one
			from := id
			id = protocol.NewSessionID(time.Now(), rand.Reader)
			call[*protocol.SessionSummary](t, e.c, id, &protocol.CloneSession{FromSessionID: from})
		}
		i := w.open(e.c, id)
		i.send("run again")
		q = i.asked(1) // although a rule for the session stands in the log
		call[*protocol.Done](t, i.c, i.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: -1})
		i.end()
	}
	w.judged()
}

func TestARepeatedImportMeetsItsSession(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("hi")
	data := exported(t, e.c, e.id, "jsonl")
	c := w.caller()
	upload := func() string {
		r := c.call(newCall("", &protocol.PutBlob{UploadID: "u", Data: data, Last: true}))
		return r.Data.(*protocol.BlobRef).SHA256
	}
	sha := upload()
	first := newCall(protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{sha}})
	made := c.call(first)
	if made.Err != nil {
		t.Fatal(made.Err)
	}
	w.restart()
	c.connect()
	first.Repeat = true
	again := c.call(first)
	if again.Err != nil || asText(t, again.Data) != asText(t, made.Data) {
		t.Errorf("the repeat gives %s, %v; want %s", asText(t, again.Data), again.Err, asText(t, made.Data))
	}
	// Another request for the same id is refused, and nothing is overwritten.
	other := newCall(first.SessionID, &protocol.ImportSession{Blobs: []string{upload()}})
	if r := c.call(other); r.Err == nil || r.Err.Code != protocol.CodeConflict {
		t.Errorf("a second import gives %+v", r)
	}
	list := c.call(newCall("", &protocol.ListSessions{})).Data.(*protocol.SessionList)
	if len(list.Sessions) != 2 {
		t.Errorf("%d sessions", len(list.Sessions))
	}
}

func TestARepeatedImportTellsAgainWhatItFound(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("hi")
	data := exported(t, e.c, e.id, "jsonl")
	damaged := append(data[:len(data)-20:len(data)-20], []byte("\n\x00\x00 half a line")...)
	c := w.caller()
	sha := c.call(newCall("", &protocol.PutBlob{UploadID: "u", Data: damaged, Last: true})).Data.(*protocol.BlobRef).SHA256
	first := newCall(protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{sha}})
	made := c.call(first)
	if made.Err != nil || len(made.Data.(*protocol.Imported).Findings) == 0 {
		t.Fatalf("%+v %v", made.Data, made.Err)
	}
	first.Repeat = true
	for _, how := range []string{"from memory", "behind a restart"} {
		again := c.call(first)
		if again.Err != nil || !slices.Equal(again.Data.(*protocol.Imported).Findings, made.Data.(*protocol.Imported).Findings) {
			t.Errorf("%s: %+v, %v", how, again.Data, again.Err)
		}
		w.restart()
		c.connect()
	}
	// What a copy brings along is not its own.
	copied := newCall(protocol.NewSessionID(time.Now(), rand.Reader), &protocol.CloneSession{FromSessionID: first.SessionID})
	if r := c.call(copied); r.Err != nil {
		t.Fatal(r.Err)
	}
	whole := exported(t, w.connect(false), copied.SessionID, "jsonl")
	sha = c.call(newCall("", &protocol.PutBlob{UploadID: "v", Data: whole, Last: true})).Data.(*protocol.BlobRef).SHA256
	second := newCall(protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{sha}})
	want := c.call(second)
	w.restart()
	c.connect()
	second.Repeat = true
	if again := c.call(second); again.Err != nil || asText(t, again.Data) != asText(t, want.Data) {
		t.Errorf("%+v, %v; want %+v", again.Data, again.Err, want.Data)
	}
}

func TestAClientImportsOnlyWhatItHasPut(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("hi")
	sha := put(t, e.c, exported(t, e.c, e.id, "jsonl"))
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	stranger := w.connect(false)
	refused(t, stranger, id, &protocol.ImportSession{Blobs: []string{sha}}, protocol.CodeForbidden)
	refused(t, stranger, id, &protocol.ImportSession{}, protocol.CodeInvalidRequest)
	refused(t, stranger, id, &protocol.ImportSession{Blobs: []string{put(t, stranger, []byte("hello"))}}, protocol.CodeInvalidRequest)
	refused(t, stranger, id, &protocol.ImportSession{Blobs: []string{put(t, stranger, []byte("hello"))}, WorkDir: "/nowhere"}, protocol.CodeInvalidRequest)
	refused(t, stranger, id, &protocol.OpenSession{}, protocol.CodeSessionNotFound)
}

func TestALargeExportIsOneFileAndGoesInAgainInParts(t *testing.T) {
	w := newWorld(t, setting{})
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	log, err := protocol.Header{Version: 1, SessionID: id, Meta: protocol.Meta{WorkDir: w.project}}.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a name of some length ", 30_000)
	for i := range largeExport {
		ev := protocol.NewEvent(&protocol.SessionInfo{Changes: protocol.MetaChanges{Name: &text}})
		ev.ID, ev.Seq, ev.SessionID, ev.ClientID = protocol.NewEventID(rand.Reader), protocol.Seq(i+1), id, protocol.HostClient
		if log, err = ev.AppendLine(append(log, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	w.write(filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl"), string(log)+"\n")
	c := w.connect(false)
	ref := call[*protocol.BlobRef](t, c, id, &protocol.ExportSession{Format: "jsonl"})
	if len(ref.Parts) != 0 || ref.Size != int64(len(log)+1) {
		t.Fatalf("the export is %+v", ref)
	}
	var data bytes.Buffer
	if err := c.Fetch(t.Context(), id, ref, &data); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for data.Len() > 0 {
		part, err := c.PutForImport(t.Context(), bytes.NewReader(data.Next((len(log)+1)*3/5)))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part.SHA256)
	}
	made := call[*protocol.Imported](t, c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{WorkDir: w.project, Blobs: parts})
	if len(parts) != 2 || made.Summary.Events != largeExport || len(made.Findings) > 0 {
		t.Errorf("made %d events, %q", made.Summary.Events, made.Findings)
	}
}
