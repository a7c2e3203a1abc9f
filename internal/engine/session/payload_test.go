package session

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// nameIn makes every field below v that may name a payload name one of its own; open
// JSON as results and extensions write it too. What is put is called with each.
func nameIn(v reflect.Value, field string, put func() string) {
	switch v.Kind() {
	case reflect.String:
		if strings.HasSuffix(field, "Blob") {
			v.SetString(put())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			nameIn(v.Elem(), field, put)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			if field == "Details" || field == "Data" {
				v.SetBytes([]byte(fmt.Sprintf(`{"fullBlob":%q,"deep":[{"blob":%q}]}`, put(), put())))
			}
			return
		}
		if v.Type() == reflect.TypeFor[[]protocol.Block]() {
			v.Set(reflect.ValueOf([]protocol.Block{{Type: protocol.BlockFile, Name: "f", MediaType: "text/plain"}}))
		}
		if v.Type() == reflect.TypeFor[[]protocol.QueueItem]() {
			v.Set(reflect.ValueOf([]protocol.QueueItem{{ID: "itm_0000000000000000"}}))
		}
		for i := range v.Len() {
			nameIn(v.Index(i), field, put)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				nameIn(v.Field(i), f.Name, put)
			}
		}
	}
}

// naming returns an event of every type that names a payload, and which those are.
func (w *world) naming(t *testing.T) map[protocol.EventType][]string {
	t.Helper()
	old := w.now()
	w.mem.Now = func() time.Time { return old.Add(-48 * time.Hour) }
	defer func() { w.mem.Now = nil }()
	log := w.create(t)
	events, _ := w.every("", 1)
	named, n := map[protocol.EventType][]string{}, 0
	for _, e := range events {
		nameIn(reflect.ValueOf(e.Body).Elem(), "", func() string {
			n++
			put, _, err := w.store.Blobs().Put(t.Context(), strings.NewReader(fmt.Sprint("payload ", n)))
			if err != nil {
				t.Fatal(err)
			}
			return put
		})
		switch b := e.Body.(type) { // only results write details
		case *protocol.MessageBody:
			if b.Message.Role != protocol.RoleToolResult {
				b.Message.Details = nil
			}
		case *protocol.CustomMessage:
			b.Message.Details = nil
		}
		named[e.Type] = append(named[e.Type], e.Payloads()...)
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return named
}

func TestWhatAnyEventNamesTravelsIsKeptIsCheckedAndIsGivenOut(t *testing.T) {
	w := elsewhere(t)
	named := w.naming(t)
	var all []string
	for typ, list := range named {
		all = append(all, list...)
		t.Logf("%s: %d", typ, len(list))
	}
	if len(all) < 15 || len(named[protocol.TypeMessage]) < 6 {
		t.Fatalf("only %d payloads are named", len(all))
	}
	if got, err := w.store.Blobs().Prune(t.Context(), 0); err != nil || got.Blobs == 0 || !allThere(w, all) {
		t.Errorf("prune removed %d of those that nobody names, or others: %v", got.Blobs, err)
	}
	v, _, err := w.store.View(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for typ, list := range named {
		for _, sha := range list {
			if ok, err := v.Index().Names(t.Context(), sha); !ok || err != nil {
				t.Errorf("a client may not read what a %s event names (%v)", typ, err)
			}
		}
	}
	here := newWorld(t)
	made, report, err := here.imports(t, w.export(t), ImportOptions{})
	if err != nil || !report.Clean() {
		t.Fatalf("the import gives %q, %v", report.Sentences(), err)
	}
	for typ, list := range named {
		for _, sha := range list {
			// What waits in queues stays behind, and its payloads with it: nobody names them here.
			if there := here.store.Blobs().Has(sha); there != (typ != protocol.TypeQueueUpdate) {
				t.Errorf("the payload of a %s event is there: %t", typ, there)
			}
		}
	}
	if report, err := here.store.Verify(t.Context(), made.ID()); err != nil || !report.Clean() {
		t.Errorf("verify finds %q, %v", report.Sentences(), err)
	}
	clone, lost, err := w.store.Clone(t.Context(), w.id, w.header())
	if err != nil || len(lost.Missing) > 0 {
		t.Fatalf("the clone lacks %q, %v", lost.Missing, err)
	}
	defer clone.Close()
	for _, sha := range all {
		if err := w.mem.Remove("/home/.scorel/blobs/" + sha); err != nil {
			t.Fatal(err)
		}
	}
	again := w.header()
	again.SessionID = protocol.NewSessionID(time.Now(), rand.Reader)
	if second, lost, err := w.store.Clone(t.Context(), w.id, again); err != nil || len(lost.Missing) == 0 {
		t.Errorf("a clone of what lacks payloads lacks %q, %v", lost.Missing, err)
	} else {
		for _, sha := range lost.Missing {
			if !slices.Contains(all, sha) {
				t.Errorf("the clone lacks %s, which nobody names", sha)
			}
		}
		defer second.Close()
	}
	report, err = w.store.Verify(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, f := range report.Findings {
		if f.Kind == health.BlobMissing && slices.Contains(all, f.Detail) {
			missing++
		}
	}
	if missing != len(all) {
		t.Errorf("verify misses %d of %d payloads", missing, len(all))
	}
}

func allThere(w *world, names []string) bool {
	return !slices.ContainsFunc(names, func(sha string) bool { return !w.store.Blobs().Has(sha) })
}
