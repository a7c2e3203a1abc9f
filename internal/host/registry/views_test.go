package registry_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// readers counts how often logs were opened for reading, and how many are.
type readers struct {
	disk.FS
	opened, open atomic.Int32
}

func (r *readers) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	f, err := r.FS.Open(name, flag)
	if err != nil || flag != disk.ReadOnly || !strings.HasSuffix(name, ".jsonl") {
		return f, err
	}
	r.opened.Add(1)
	r.open.Add(1)
	return &counted{f, r}, nil
}

type counted struct {
	disk.File
	r *readers
}

func (c *counted) Close() error {
	c.r.open.Add(-1)
	return c.File.Close()
}

func TestALogIsReadOnceForAllItsPages(t *testing.T) {
	r := &readers{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: r})
	id, _ := w.Written(hosttest.Sized(1200, 1000)...)
	other, _ := w.Written(hosttest.Sized(1100, 1000)...)
	c := w.Plug("reader", false, protocol.GrantView)
	read := func(id protocol.SessionID) (n int) {
		for after := protocol.Seq(0); ; {
			page := c.Do(id, &protocol.GetTree{AfterSeq: after, Limit: 100}).(*protocol.Events)
			n += len(page.Events)
			if !page.More {
				return n
			}
			after = page.Events[len(page.Events)-1].Seq
		}
	}
	if n := read(id); n != 1200 || r.opened.Load() != 1 {
		t.Errorf("%d events; the log was opened %d times", n, r.opened.Load())
	}
	w.Appended(id, &protocol.MessageBody{Message: protocol.UserText("of another process")})
	if n := read(id); n != 1201 {
		t.Errorf("%d events when another process has appended one", n)
	}
	if n := read(other); n != 1100 || r.open.Load() != 1 {
		t.Errorf("%d events of another log; %d are kept open", n, r.open.Load())
	}
	if err := os.Remove(filepath.Join(w.Home, ".scorel", "sessions", string(other)+".jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Try(other, &protocol.GetTree{}); err == nil || err.Code != protocol.CodeSessionNotFound {
		t.Errorf("a log that is gone: %v", err)
	}
	w.Close()
	if n := r.open.Load(); n != 0 {
		t.Errorf("%d logs are open when the host has ended", n)
	}
}

// TestAnOpenSessionWhoseLogWasCutIsReadAsFarAsItGoes cuts the log of an open session in the
// middle of its last line.
func TestAnOpenSessionWhoseLogWasCutIsReadAsFarAsItGoes(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"An answer."}]}`)
	e := w.Begin(false)
	e.Say("one")
	e.Say("two")
	log := filepath.Join(w.Home, ".scorel", "sessions", string(e.ID)+".jsonl")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()-50); err != nil {
		t.Fatal(err)
	}
	path := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{})
	tree := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetTree{})
	for name, page := range map[string]*protocol.Events{"path": path, "tree": tree} {
		var texts []string
		for _, ev := range page.Events {
			if m, ok := ev.Message(); ok {
				texts = append(texts, m.PlainText())
			}
		}
		slices.Sort(texts)
		if want := []string{"An answer.", "one", "two"}; !slices.Equal(texts, want) {
			t.Errorf("%s: %q, want %q", name, texts, want)
		}
		if len(page.Findings) == 0 || !strings.Contains(page.Findings[0], "another program has cut the log") {
			t.Errorf("%s: found %q", name, page.Findings)
		}
	}
}
