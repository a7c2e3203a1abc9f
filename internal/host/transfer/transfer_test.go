package transfer_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// spilled is a session in which a command has printed more than a result takes.
func spilled(t *testing.T) (*hosttest.World, *hosttest.Entry) {
	t.Helper()
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"seq 60000"}}],"stop":"tool_use"}`, `{"again":true,"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	e.Say("count")
	if n := len(w.FolderOf("blobs")); n != 1 {
		t.Fatalf("%d payloads are stored", n)
	}
	return w, e
}

func TestExportsAndImportsLeaveNothingBehind(t *testing.T) {
	w, e := spilled(t)
	for _, format := range []string{"jsonl", "markdown", "html", "bundle"} {
		ref := hosttest.Call[*protocol.BlobRef](t, e.C, e.ID, &protocol.ExportSession{Format: format})
		var data bytes.Buffer
		if err := e.C.Fetch(t.Context(), e.ID, ref, &data); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if n := len(w.FolderOf("blobs")); n != 1 {
			t.Errorf("%s: %d files are stored", format, n)
		}
		if format != "bundle" {
			continue
		}
		part, err := e.C.PutForImport(t.Context(), bytes.NewReader(data.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		hosttest.Call[*protocol.Imported](t, e.C, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}})
		hosttest.Refused(t, e.C, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}}, protocol.CodeForbidden) // it is dropped
		// What is cut off, or holds another session than it says, leaves nothing either.
		part, err = e.C.PutForImport(t.Context(), bytes.NewReader(data.Bytes()[:data.Len()-10]))
		if err != nil {
			t.Fatal(err)
		}
		hosttest.Refused(t, e.C, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part.SHA256}}, protocol.CodeInvalidRequest)
		if n := len(w.FolderOf("blobs")); n != 1 {
			t.Errorf("behind imports %d files are stored", n)
		}
	}
	if left := w.FolderOf("deleted"); len(left) != 0 {
		t.Errorf("to be removed are %q", left)
	}
}

func TestPartsThatWerePutAsPayloadsGoWhenTheirImportIsOver(t *testing.T) {
	w, e := spilled(t)
	part := hosttest.Put(t, e.C, []byte("no session"))
	hosttest.Refused(t, e.C, protocol.NewSessionID(time.Now(), rand.Reader), &protocol.ImportSession{Blobs: []string{part}}, protocol.CodeInvalidRequest)
	waits := w.FolderOf("deleted")
	if len(waits) != 1 {
		t.Fatalf("to be removed are %q", waits)
	}
	if text := w.ReadAll(filepath.Join(w.Home, ".scorel", "deleted", waits[0])); text != part+"\n" {
		t.Errorf("to be removed is %q", text)
	}
}

func TestAnExportBelongsToItsClientForAWhile(t *testing.T) {
	w, e := spilled(t)
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	conn := func(key []byte) *client.Client {
		c, err := w.Host.Connect(context.Background(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf(key), ClientName: "test"}, protocol.GrantControl)
		if err != nil {
			t.Fatal(err)
		}
		out := client.New(c)
		t.Cleanup(func() { _ = out.Close() })
		return out
	}
	first := conn(key)
	ref := hosttest.Call[*protocol.BlobRef](t, first, e.ID, &protocol.ExportSession{Format: "jsonl"})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := conn(key)
	if err := again.Fetch(t.Context(), e.ID, ref, &bytes.Buffer{}); err != nil {
		t.Errorf("over another connection: %v", err)
	}
	hosttest.Refused(t, e.C, e.ID, &protocol.GetBlob{SHA256: ref.SHA256, Length: 10}, protocol.CodeForbidden)
	for i := range 4 { // the oldest goes
		name := strings.Repeat("n", i+1)
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}})
		hosttest.Call[*protocol.BlobRef](t, again, e.ID, &protocol.ExportSession{Format: "jsonl"})
	}
	hosttest.Refused(t, again, e.ID, &protocol.GetBlob{SHA256: ref.SHA256, Length: 10}, protocol.CodeForbidden)
}

func TestADeletedSessionTakesItsPayloadsAlong(t *testing.T) {
	w, e := spilled(t)
	copied := protocol.NewSessionID(time.Now(), rand.Reader)
	hosttest.Call[*protocol.SessionSummary](t, e.C, copied, &protocol.CloneSession{FromSessionID: e.ID})
	old := time.Now().Add(-48 * time.Hour)
	blob := filepath.Join(w.Home, ".scorel", "blobs", w.FolderOf("blobs")[0])
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(blob, old, old); err != nil {
		t.Fatal(err)
	}
	if d := hosttest.Call[*protocol.Deleted](t, e.C, e.ID, &protocol.DeleteSession{}); !reflect.DeepEqual(*d, protocol.Deleted{Kept: 1}) {
		t.Errorf("the first: %+v", d)
	}
	d := hosttest.Call[*protocol.Deleted](t, e.C, copied, &protocol.DeleteSession{})
	if d.Removed != 1 || d.Bytes == 0 || d.Later+d.Kept != 0 || len(w.FolderOf("blobs")) != 0 {
		t.Errorf("the second: %+v, left are %q", d, w.FolderOf("blobs"))
	}
}

func TestTheHostRemovesLaterWhatADeletedSessionLeft(t *testing.T) {
	w, e := spilled(t)
	if err := e.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := hosttest.Call[*protocol.Deleted](t, e.C, e.ID, &protocol.DeleteSession{}); d.Later != 1 || len(w.FolderOf("blobs")) != 1 {
		t.Fatalf("%+v, left are %q", d, w.FolderOf("blobs"))
	}
	old := time.Now().Add(-25 * time.Hour)
	for _, dir := range []string{"blobs", "deleted"} {
		for _, name := range w.FolderOf(dir) {
			if err := os.Chtimes(filepath.Join(w.Home, ".scorel", dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Restart() // any host, without a command
	w.Eventually("the payload is gone", func() bool { return len(w.FolderOf("blobs"))+len(w.FolderOf("deleted")) == 0 })
}

func TestEveryExportSaysWhichPayloadsItLacks(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"`+strings.Repeat("A long answer. ", 220_000)+`"}]}`)
	e := w.Begin(false)
	e.Say("go")
	blobs := w.FolderOf("blobs")
	if len(blobs) != 1 {
		t.Fatalf("%q", blobs)
	}
	blob := filepath.Join(w.Home, ".scorel", "blobs", blobs[0])
	whole := w.ReadAll(blob)
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
				w.Write(blob, whole)
			}()
			for _, format := range []string{"bundle", "markdown", "html"} {
				ref := hosttest.Call[*protocol.BlobRef](t, e.C, e.ID, &protocol.ExportSession{Format: format})
				if said := strings.Join(ref.Notices, "\n"); !strings.HasPrefix(said, c.says) || (said == "") != (c.says == "") {
					t.Errorf("%s: %q", format, said)
				}
			}
		})
	}
}
