package progress

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// TestAFloodOfDifferentEventsIsBoundedEverywhere has one operation report 100,000
// events a second, all different, with lines of stderr between them, for two seconds.
func TestAFloodOfDifferentEventsIsBoundedEverywhere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "ses_1")
	synctest.Test(t, func(t *testing.T) {
		rec := New(Config{Session: "ses_1", Dir: folder, FS: disk.OS()})
		wake := make(chan struct{}, 1)
		c := rec.Begin(Info{CallID: "c1", Tool: "ExecuteSkill"}, func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		})
		sent := make(chan int)
		go func() { // ends with wake
			n := 0
			for range wake {
				n += len(c.Take())
			}
			sent <- n
		}()
		const seconds, perSecond = 2, floodRate
		before := heap()
		most := uint64(0)
		for i := range seconds * perSecond {
			u := protocol.ProcessUpdate{Message: fmt.Sprintf("batch %d", i), Stage: "detect", Payload: json.RawMessage(`{"frame":1}`)}
			c.Update(u)
			if i%10 == 0 {
				c.Stderr(fmt.Sprintf("line %d", i))
			}
			if i%(perSecond/1000) == 0 {
				time.Sleep(time.Millisecond)
			}
			if i%perSecond == perSecond/2 {
				most = max(most, heap())
			}
		}
		if most > before+4<<20 {
			t.Errorf("the heap grew by %d KiB", (most-before)>>10)
		}
		s := c.End(Ending{Status: protocol.ProcessCompleted})
		close(wake)
		n := <-sent + len(c.Take())
		rec.Close()
		if n > seconds*maxPerSecond+2 || n < seconds*maxPerSecond/2 {
			t.Errorf("%d events were sent in %d seconds", n, seconds)
		}
		if s.Latest.Sequence != seconds*perSecond || s.Latest.Message != fmt.Sprint("batch ", seconds*perSecond-1) {
			t.Errorf("the newest is %+v", s.Latest)
		}
		var total int64
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
		if len(files) != 1 || total > maxLog || total < maxLog-maxLog/16 {
			t.Errorf("%d logs of %d bytes", len(files), total)
		}
		lines, missing, beyond := 0, 0, 0
		for offset := 0; ; {
			page, err := Read(disk.OS(), folder, "tool-c1", offset, MaxPage)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page.Lines {
				switch {
				case l.Event != nil || l.Stderr != "":
					lines++
				case strings.Contains(l.Note, "are missing"):
					k := 0
					fmt.Sscanf(l.Note, "%d", &k)
					missing += k
				default:
					if _, err := fmt.Sscanf(l.Note, "%d further lines", &beyond); err != nil {
						t.Errorf("the log has %q", l.Note)
					}
				}
			}
			if offset = page.Next; !page.More {
				break
			}
		}
		if want := seconds * perSecond * 11 / 10; lines+missing+beyond != want {
			t.Errorf("%d lines, %d missing, %d beyond: not all of %d", lines, missing, beyond, want)
		}
		t.Logf("%d events sent, %d lines in %d bytes, %d missing, %d beyond, heap +%d KiB", n, lines, total, missing, beyond, int64(most-before)>>10)
	})
}

// heap returns the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkUpdate(b *testing.B) {
	for _, c := range []struct{ name, payload string }{{"plain", ""}, {"payload", `{"frame":17,"resolution":"960x544","apiKey":"x"}`}} {
		b.Run(c.name, func(b *testing.B) {
			rec := New(Config{Session: "ses_1", Dir: b.TempDir()})
			call := rec.Begin(Info{CallID: "c"}, nil)
			messages := [2]string{"one", "another"}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				call.Update(protocol.ProcessUpdate{Stage: "s", Message: messages[i%2], Payload: json.RawMessage(c.payload)})
				if i++; i%1000 == 0 {
					call.Take()
				}
			}
			call.End(Ending{Status: protocol.ProcessCompleted})
			rec.Close()
		})
	}
}

func BenchmarkParseLine(b *testing.B) {
	for name, line := range map[string]string{
		"event": `{"type":"process_event","time":"2026-05-06T04:07:17.187Z","stage":"frames","message":"frames extracted","frameCount":361,"resolution":"960x544"}`,
		"other": "2026-05-06 04:07:17 INFO frames extracted",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseLine([]byte(line))
			}
		})
	}
}

func BenchmarkReadLog(b *testing.B) {
	dir := b.TempDir()
	rec := New(Config{Session: "ses_1", Dir: dir})
	call := rec.Begin(Info{CallID: "c"}, nil)
	for i := range 60_000 {
		call.Update(protocol.ProcessUpdate{Message: fmt.Sprint("step ", i)})
		if i%1000 == 0 {
			rec.Flush()
		}
	}
	call.End(Ending{Status: protocol.ProcessCompleted})
	rec.Close()
	b.ReportAllocs()
	for b.Loop() {
		page, err := Read(disk.OS(), dir, "tool-c", 50_000, 200)
		if err != nil || len(page.Lines) != 200 {
			b.Fatalf("%d lines, %v", len(page.Lines), err)
		}
	}
}
