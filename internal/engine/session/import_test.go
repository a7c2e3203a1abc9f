package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/archive"
	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// elsewhere is a world whose ids are not those of newWorld.
func elsewhere(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	w.rand = rand.NewChaCha8([32]byte{2})
	w.restart(t)
	return w
}

// bundle makes a bundle of a session with events of every type and a payload.
func (w *world) bundle(t testing.TB, payload string) []byte {
	t.Helper()
	other := elsewhere(t)
	log := other.create(t)
	events, leaf := other.every("", 1)
	put, _, err := other.store.Blobs().Put(t.Context(), strings.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	m := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, Name: "f", MediaType: "text/plain", Blob: put}}}
	events = append(events, other.event(leaf, &protocol.MessageBody{Message: m}))
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	return other.export(t)
}

// export returns the bundle of the current session.
func (w *world) export(t testing.TB) []byte {
	t.Helper()
	v, _, err := w.store.View(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var buf bytes.Buffer
	if _, err := w.store.ExportBundle(t.Context(), &buf, v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func (w *world) imports(t testing.TB, data []byte, opt ImportOptions) (*Log, health.Report, error) {
	t.Helper()
	log, report, err := w.store.Import(t.Context(), bytes.NewReader(data), protocol.Header{DeviceID: protocol.DeviceIDOf([]byte("here"))}, opt)
	if err == nil {
		t.Cleanup(func() { _ = log.Close() })
	}
	return log, report, err
}

// linesAs returns the events of a log as they stand there, with another sessionId.
func linesAs(t testing.TB, ix *Index, as protocol.SessionID) []string {
	t.Helper()
	var out []string
	for l, err := range ix.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := protocol.WithSession(l.Bytes, as)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(line))
	}
	return out
}

func TestImportOfABundleKeepsEveryEventAndPayload(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	events, leaf := from.every("", 1)
	payload, _, err := from.store.Blobs().Put(t.Context(), strings.NewReader("a payload"))
	if err != nil {
		t.Fatal(err)
	}
	lost := sha("never stored")
	m := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockFile, Name: "f", MediaType: "text/plain", Blob: payload},
		{Type: protocol.BlockImage, MediaType: "image/png", Blob: lost}}}
	last := from.event(leaf, &protocol.MessageBody{Message: m})
	back := leaf
	if err := log.Commit(t.Context(), append(events, last, from.rewind(last.ID, &back))); err != nil {
		t.Fatal(err)
	}
	data := from.export(t)
	if !bytes.Equal(data, from.export(t)) {
		t.Error("two exports of a session differ")
	}

	w := newWorld(t)
	made, report, err := w.imports(t, data, ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(linesAs(t, log.Index(), made.ID()), func(l string) bool { return strings.HasPrefix(l, `{"type":"queue_update"`) })
	if got := linesAs(t, made.Index(), made.ID()); !slices.Equal(got, want) {
		t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if made.Index().Leaf() != leaf || made.Index().Meta() != log.Index().Meta() {
		t.Errorf("leaf %s and meta %+v, want %s and %+v", made.Index().Leaf(), made.Index().Meta(), leaf, log.Index().Meta())
	}
	h := made.Index().Header()
	if c := h.ClonedFrom; c == nil || c.SessionID != log.ID() || c.DeviceID != log.Index().Header().DeviceID || c.EventID != leaf {
		t.Errorf("cloned from %+v", h.ClonedFrom)
	}
	if h.ImportedThrough != log.Index().LastSeq() || h.DeviceID != protocol.DeviceIDOf([]byte("here")) || made.ID() == log.ID() {
		t.Errorf("the header is %+v", h)
	}
	if !w.store.Blobs().Has(payload) {
		t.Error("the payload is not there")
	}
	var missing []string
	for _, f := range report.Findings {
		missing = append(missing, f.Detail)
		if f.Kind != health.BlobMissing {
			t.Errorf("found %+v", f)
		}
	}
	if slices.Sort(missing); !slices.Contains(missing, lost) || len(missing) != 2 { // every has one that is missing too
		t.Errorf("missing are %q", missing)
	}
	again, _, err := w.imports(t, data, ImportOptions{})
	if err != nil || again.ID() == made.ID() {
		t.Errorf("a second import gives %v, %v", again, err)
	}
	files, err := w.mem.ReadDir("/home/.scorel/sessions")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if disk.IsTemp(f.Name()) {
			t.Errorf("%s is left", f.Name())
		}
	}
}

func TestImportNeverTouchesASessionThatIsThere(t *testing.T) {
	w := newWorld(t)
	data := w.bundle(t, "x")
	log := w.create(t)
	before := string(w.mem.Bytes(w.logName()))
	_, _, err := w.store.Import(t.Context(), bytes.NewReader(data), protocol.Header{SessionID: log.ID()}, ImportOptions{})
	if !errors.Is(err, ErrExists) || string(w.mem.Bytes(w.logName())) != before {
		t.Errorf("it gives %v", err)
	}
}

func TestImportOfALogSaysWhatIsDamagedAndTakesTheRest(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	a := from.user("", "one")
	b := from.assistant(a.ID, "two")
	c := from.user(b.ID, "three")
	if err := log.Commit(t.Context(), []protocol.Event{a, b, c}); err != nil {
		t.Fatal(err)
	}
	raw := string(from.mem.Bytes(from.logName()))
	w := newWorld(t)
	for name, damage := range map[string]struct {
		data string
		kind health.Kind
		len  int
	}{
		"whole":                          {raw, "", 3},
		"a torn end":                     {raw + `{"type":"message","id":"evt_to`, health.Tail, 3},
		"a line that is no event":        {strings.Replace(raw, "\n", "\nrubbish\n", 2), health.DamagedLine, 3},
		"a line that is not JSON inside": {strings.Replace(raw, `"two"`, `"t`+"\x01"+`wo"`, 1), health.DamagedLine, 3}, // two, and a repair that names the gap
		"no header":                      {raw[strings.Index(raw, "\n")+1:], health.DamagedHeader, 3},
		"an event twice":                 {raw + raw[strings.LastIndex(raw[:len(raw)-1], "\n")+1:], health.RepeatedID, 3},
	} {
		t.Run(name, func(t *testing.T) {
			made, report, err := w.imports(t, []byte(damage.data), ImportOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if made.Index().Len() != damage.len || damage.kind != "" && !report.Has(damage.kind) || damage.kind == "" && !report.Clean() {
				t.Errorf("%d events, %q", made.Index().Len(), report.Sentences())
			}
			if r, err := w.store.Verify(t.Context(), made.ID()); err != nil || !r.Clean() {
				t.Errorf("the new log is damaged: %q, %v", r.Sentences(), err)
			}
		})
	}
}

func TestImportRefusesWhatIsNoWholeSession(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	a := from.user("", "one")
	if err := log.Commit(t.Context(), []protocol.Event{a, from.assistant(a.ID, "two"), from.event(a.ID, &protocol.FileSnapshot{Path: "/f", Blob: sha("named")})}); err != nil {
		t.Fatal(err)
	}
	raw := from.mem.Bytes(from.logName())
	pack := func(blobs ...string) []byte { // names and contents
		var buf bytes.Buffer
		out := archive.NewWriter(&buf)
		if err := out.Session(bytes.NewReader(raw), int64(len(raw))); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(blobs); i += 2 {
			if err := out.Blob(blobs[i], strings.NewReader(blobs[i+1]), int64(len(blobs[i+1]))); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	whole := from.bundle(t, "a payload that is named")
	w := newWorld(t)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing":                       {nil, "holds no session"},
		"a text":                        {[]byte("hello\n"), "holds no session"},
		"damage that may move the leaf": {append(bytes.Clone(raw), "x{\"type\":\"rewind\",\n"...), "continue from (the newest that is whole is evt_"},
		"a bundle that is cut off":      {whole[:len(whole)-20], "cut off"},
		"a bundle with rubbish behind":  {append(bytes.Clone(whole), "rubbish"...), "not a bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.imports(t, c.data, ImportOptions{})
			if !errors.Is(err, ErrImport) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it gives %v", err)
			}
		})
	}
	for _, dir := range []string{"sessions", "blobs"} {
		if files, err := w.mem.ReadDir("/home/.scorel/" + dir); err != nil || len(files) != 0 {
			t.Errorf("%d files are left in %s, %v", len(files), dir, err)
		}
	}
	made, report, err := w.imports(t, pack(sha("x"), "x", sha("named"), "named"), ImportOptions{})
	if err != nil || !report.Has(health.BlobUnnamed) || len(report.Findings) != 1 {
		t.Fatalf("a payload that nobody names: %q, %v", report.Sentences(), err)
	}
	if w.store.Blobs().Has(sha("x")) || !w.store.Blobs().Has(sha("named")) {
		t.Errorf("what nobody names is stored, or what somebody names is not, of %s", made.ID())
	}
}

func TestAnImportThatFailsAtItsEndLeavesThePayloadsThatWereThere(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	names := []string{"there before", "came with it"}
	for _, text := range names {
		put, _, err := from.store.Blobs().Put(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Commit(t.Context(), []protocol.Event{from.event("", &protocol.FileSnapshot{Path: "/f", Blob: put})}); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	if _, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader(names[0])); err != nil {
		t.Fatal(err)
	}
	id := protocol.NewSessionID(w.now(), w.rand)
	ahead := false
	_, _, err := w.store.Import(t.Context(), bytes.NewReader(from.export(t)), protocol.Header{SessionID: id}, ImportOptions{Meta: func(m protocol.Meta) protocol.Meta {
		other, err := w.store.Create(t.Context(), protocol.Header{SessionID: id}) // somebody else is faster
		if err != nil {
			t.Fatal(err)
		}
		ahead = true
		t.Cleanup(func() { _ = other.Close() })
		return m
	}})
	if err == nil || !ahead {
		t.Fatalf("the import gives %v", err)
	}
	if !w.store.Blobs().Has(sha(names[0])) || w.store.Blobs().Has(sha(names[1])) {
		t.Errorf("left is\n%s", w.mem)
	}
}

func TestImportOfADamagedLogGoesOnFromTheEventThatIsNamed(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	a := from.user("", "one")
	b := from.assistant(a.ID, "two")
	if err := log.Commit(t.Context(), []protocol.Event{a, b}); err != nil {
		t.Fatal(err)
	}
	data := append(bytes.Clone(from.mem.Bytes(from.logName())), "x{\"type\":\"rewind\",\n"...)
	w := newWorld(t)
	if _, _, err := w.imports(t, data, ImportOptions{Leaf: "evt_0000000000000000"}); !errors.Is(err, ErrImport) {
		t.Errorf("an unknown event gives %v", err)
	}
	made, report, err := w.imports(t, data, ImportOptions{Leaf: a.ID, ClientID: protocol.HostClient})
	if err != nil {
		t.Fatal(err)
	}
	if made.Index().Leaf() != a.ID || made.NeedsLeaf() || !report.Has(health.Tail) || made.Index().Header().ClonedFrom.EventID != a.ID {
		t.Errorf("leaf %s, %q", made.Index().Leaf(), report.Sentences())
	}
}

func TestImportLeavesOutAPayloadOfOtherContentAndNamesIt(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	file := func(text string) protocol.Block {
		return protocol.Block{Type: protocol.BlockFile, Name: "f", MediaType: "text/plain", Blob: sha(text)}
	}
	m := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{file("right"), file("whole")}}
	if err := log.Commit(t.Context(), []protocol.Event{from.event("", &protocol.MessageBody{Message: m})}); err != nil {
		t.Fatal(err)
	}
	raw := from.mem.Bytes(from.logName())
	var buf bytes.Buffer
	out := archive.NewWriter(&buf)
	if err := errors.Join(out.Session(bytes.NewReader(raw), int64(len(raw))), out.Blob(sha("right"), strings.NewReader("wrong"), 5), out.Blob(sha("whole"), strings.NewReader("whole"), 5), out.Close()); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	made, report, err := w.imports(t, buf.Bytes(), ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Index().Len() != log.Index().Len() || len(report.Findings) != 1 || report.Sentences()[0] != "a file that an event names has other content ("+sha("right")+", left out)" {
		t.Errorf("%d events, %q", made.Index().Len(), report.Sentences())
	}
	if b := w.store.Blobs(); b.Has(sha("right")) || b.Has(sha("wrong")) || !b.Has(sha("whole")) {
		t.Error("the wrong content is stored, or the right one is not")
	}
	if files, err := w.mem.ReadDir("/home/.scorel/blobs"); err != nil || len(files) != 1 {
		t.Errorf("%d files are payloads, %v", len(files), err)
	}
	if _, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader("right")); err != nil {
		t.Fatal(err)
	}
	if _, report, err = w.imports(t, buf.Bytes(), ImportOptions{}); err != nil || len(report.Findings) != 0 {
		t.Errorf("with the payload here: %q, %v", report.Sentences(), err)
	}
}

func TestImportIntoAnotherFolderIsAChangeBehindTheEvents(t *testing.T) {
	w := newWorld(t)
	made, _, err := w.imports(t, w.bundle(t, "x"), ImportOptions{ClientID: protocol.HostClient, Meta: func(m protocol.Meta) protocol.Meta {
		m.WorkDir = "/elsewhere"
		return m
	}})
	if err != nil {
		t.Fatal(err)
	}
	name := made.Index().Meta().Name
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	w.id = made.ID()
	again, report := w.open(t)
	if !report.Clean() || again.Index().Meta().WorkDir != "/elsewhere" || again.Index().Meta().Name != name {
		t.Errorf("meta %+v, %q", again.Index().Meta(), report.Sentences())
	}
}
