package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/protocol"
)

// stored lists the files in the folder of payloads, and in that of what is to be removed.
func (w *world) folderOf(dir string) []string {
	w.t.Helper()
	files, err := os.ReadDir(filepath.Join(w.home, ".scorel", dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

// spilled is a session in which a command has printed more than a result takes.
func spilled(t *testing.T) (*world, *entry) {
	t.Helper()
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"seq 60000"}}],"stop":"tool_use"}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("count")
	if n := len(w.folderOf("blobs")); n != 1 {
		t.Fatalf("%d payloads are stored", n)
	}
	return w, e
}

func TestExportsAndImportsLeaveNothingBehind(t *testing.T) {
	w, e := spilled(t)
	for _, format := range []string{"jsonl", "markdown", "html", "bundle"} {
		ref := call[*protocol.BlobRef](t, e.c, e.id, &protocol.ExportSession{Format: format})
		var data bytes.Buffer
		if err := e.c.Fetch(t.Context(), e.id, ref, &data); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if n := len(w.folderOf("blobs")); n != 1 {
			t.Errorf("%s: %d files are stored", format, n)
		}
		if format != "bundle" {
			continue
		}
		part, err := e.c.PutForImport(t.Context(), bytes.NewReader(data.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		call[*protocol.Imported](t, e.c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}})
		refused(t, e.c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}}, protocol.CodeForbidden) // it is dropped
		// What is cut off, or holds another session than it says, leaves nothing either.
		part, err = e.c.PutForImport(t.Context(), bytes.NewReader(data.Bytes()[:data.Len()-10]))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, e.c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}}, protocol.CodeInvalidRequest)
		if n := len(w.folderOf("blobs")); n != 1 {
			t.Errorf("behind imports %d files are stored", n)
		}
	}
	if left := w.folderOf("deleted"); len(left) != 0 {
		t.Errorf("to be removed are %q", left)
	}
}

func TestPartsThatWerePutAsPayloadsGoWhenTheirImportIsOver(t *testing.T) {
	w, e := spilled(t)
	part := put(t, e.c, []byte("no session"))
	refused(t, e.c, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part}}, protocol.CodeInvalidRequest)
	waits := w.folderOf("deleted")
	if len(waits) != 1 {
		t.Fatalf("to be removed are %q", waits)
	}
	if text := w.readAll(filepath.Join(w.home, ".scorel", "deleted", waits[0])); text != part+"\n" {
		t.Errorf("to be removed is %q", text)
	}
}

func TestAnExportBelongsToItsClientForAWhile(t *testing.T) {
	w, e := spilled(t)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	conn := func(key []byte) *client.Client {
		c, err := w.host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key), ClientName: "test"}, protocol.GrantControl)
		if err != nil {
			t.Fatal(err)
		}
		out := client.New(c)
		t.Cleanup(func() { _ = out.Close() })
		return out
	}
	first := conn(key)
	ref := call[*protocol.BlobRef](t, first, e.id, &protocol.ExportSession{Format: "jsonl"})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := conn(key)
	if err := again.Fetch(t.Context(), e.id, ref, &bytes.Buffer{}); err != nil {
		t.Errorf("over another connection: %v", err)
	}
	refused(t, e.c, e.id, &protocol.GetBlob{SHA256: ref.SHA256, Length: 10}, protocol.CodeForbidden)
	for i := range 4 { // the oldest goes
		name := strings.Repeat("n", i+1)
		call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		call[*protocol.BlobRef](t, again, e.id, &protocol.ExportSession{Format: "jsonl"})
	}
	refused(t, again, e.id, &protocol.GetBlob{SHA256: ref.SHA256, Length: 10}, protocol.CodeForbidden)
}

func TestADeletedSessionTakesItsPayloadsAlong(t *testing.T) {
	w, e := spilled(t)
	copied := protocol.NewSessionID(time.Now(), rand.Reader)
	call[*protocol.SessionSummary](t, e.c, copied, &protocol.CloneSession{FromSessionID: e.id})
	old := time.Now().Add(-48 * time.Hour)
	blob := filepath.Join(w.home, ".scorel", "blobs", w.folderOf("blobs")[0])
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(blob, old, old); err != nil {
		t.Fatal(err)
	}
	if d := call[*protocol.Deleted](t, e.c, e.id, &protocol.DeleteSession{}); *d != (protocol.Deleted{Kept: 1}) {
		t.Errorf("the first: %+v", d)
	}
	d := call[*protocol.Deleted](t, e.c, copied, &protocol.DeleteSession{})
	if d.Removed != 1 || d.Bytes == 0 || d.Later+d.Kept != 0 || len(w.folderOf("blobs")) != 0 {
		t.Errorf("the second: %+v, left are %q", d, w.folderOf("blobs"))
	}
}

func TestTheHostRemovesLaterWhatADeletedSessionLeft(t *testing.T) {
	w, e := spilled(t)
	if err := e.s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := call[*protocol.Deleted](t, e.c, e.id, &protocol.DeleteSession{}); d.Later != 1 || len(w.folderOf("blobs")) != 1 {
		t.Fatalf("%+v, left are %q", d, w.folderOf("blobs"))
	}
	old := time.Now().Add(-25 * time.Hour)
	for _, dir := range []string{"blobs", "deleted"} {
		for _, name := range w.folderOf(dir) {
			if err := os.Chtimes(filepath.Join(w.home, ".scorel", dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.restart() // any host, without a command
	w.eventually("the payload is gone", func() bool { return len(w.folderOf("blobs"))+len(w.folderOf("deleted")) == 0 })
}

func TestEveryExportSaysWhichPayloadsItLacks(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"`+strings.Repeat("A long answer. ", 220_000)+`"}]}`)
	e := w.begin(false)
	e.say("go")
	blobs := w.folderOf("blobs")
	if len(blobs) != 1 {
		t.Fatalf("%q", blobs)
	}
	blob := filepath.Join(w.home, ".scorel", "blobs", blobs[0])
	whole := w.readAll(blob)
	for what, c := range map[string]struct {
		harm func(name string) error
		says string
	}{
		"missing":  {os.Remove, "1 payloads that the session names are missing here"},
		"damaged":  {func(name string) error { return os.WriteFile(name, []byte("other"), 0o600) }, "1 payloads that the session names are damaged here"},
		"unread":   {func(name string) error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o700)) }, "1 payloads that the session names cannot be read here"},
		"as it is": {func(string) error { return nil }, ""},
	} {
		t.Run(what, func(t *testing.T) {
			if err := c.harm(blob); err != nil {
				t.Fatal(err)
			}
			defer func() { // as it was, for the next
				if err := os.RemoveAll(blob); err != nil {
					t.Fatal(err)
				}
				w.write(blob, whole)
			}()
			for _, format := range []string{"bundle", "markdown", "html"} {
				ref := call[*protocol.BlobRef](t, e.c, e.id, &protocol.ExportSession{Format: format})
				if said := strings.Join(ref.Notices, "\n"); !strings.HasPrefix(said, c.says) || (said == "") != (c.says == "") {
					t.Errorf("%s: %q", format, said)
				}
			}
		})
	}
}
