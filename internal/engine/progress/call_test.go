package progress

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

const dir = "/home/processes/ses_1"

// desk is a call with a log in memory, and what clients were sent of it.
type desk struct {
	t    *testing.T
	fs   disk.FS
	rec  *Recorder
	call *Call

	mu    sync.Mutex
	sent  []protocol.ToolProcess
	times []time.Duration // when, from begin on
	begin time.Time
	wake  chan struct{}
	done  chan struct{}
}

// newDesk begins a call, whose events are taken as soon as they are ready.
func newDesk(t *testing.T, fsys disk.FS) *desk {
	d := &desk{t: t, fs: fsys, begin: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	d.rec = New(Config{Session: "ses_1", Dir: dir, FS: fsys})
	d.call = d.rec.Begin(Info{CallID: "c1", Tool: "Bash", Asked: "evt_a", Result: "evt_r"}, func() {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	})
	go func() {
		defer close(d.done)
		for range d.wake {
			d.take()
		}
	}()
	return d
}

func (d *desk) take() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.call.Take() {
		d.sent = append(d.sent, p)
		d.times = append(d.times, time.Since(d.begin))
	}
}

func (d *desk) end(e Ending) *protocol.ProcessSummary {
	s := d.call.End(e)
	close(d.wake)
	<-d.done
	d.take()
	d.rec.Close()
	return s
}

// lines returns what was sent, a line for each event.
func (d *desk) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]string, len(d.sent))
	for i, p := range d.sent {
		out[i] = fmt.Sprintf("%s %s %d %s %s", d.times[i], p.Event.OperationID, p.Event.Sequence, p.Event.Status, p.Event.Message)
		if p.Event.Payload != nil {
			out[i] += " " + string(p.Event.Payload)
		}
	}
	return out
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func say(message string) protocol.ProcessUpdate { return protocol.ProcessUpdate{Message: message} }

func TestEventsOfOneStageAndMessageBecomeTheNewestWithACount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, disktest.NewMem())
		for i := range 3 {
			u := say("batch")
			u.Payload = json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))
			d.call.Update(u)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		d.call.Update(say("batch"))
		d.end(Ending{Status: protocol.ProcessCompleted})
		expect(t, d.lines(), `400ms tool-c1 3 running batch {"i":2,"repeatCount":3}`, "1.3s tool-c1 4 running batch")
		if p := d.sent[0]; p.ToolCallID != "c1" || p.ToolName != "Bash" || p.AssistantEventID != "evt_a" {
			t.Errorf("the event names %+v", p)
		}
	})
}

func TestAnEventOfAnotherMessageLetsTheOlderGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, disktest.NewMem())
		d.call.Update(say("a"))
		d.call.Update(protocol.ProcessUpdate{Message: "a", Stage: "s"})
		time.Sleep(150 * time.Millisecond)
		d.call.Update(say("b"))
		time.Sleep(time.Second)
		d.end(Ending{Status: protocol.ProcessCompleted})
		expect(t, d.lines(), "0s tool-c1 1 running a", "150ms tool-c1 2 running a", "550ms tool-c1 3 running b")
	})
}

func TestEndsAndErrorsGoAtOnceBehindWhatIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, disktest.NewMem())
		d.call.Update(say("a"))
		d.call.Update(protocol.ProcessUpdate{Message: "bad", Level: "error"})
		d.call.Update(say("b"))
		d.call.Update(protocol.ProcessUpdate{Message: "over", Status: "completed"})
		d.call.Update(protocol.ProcessUpdate{Message: "once more", Status: "running"})
		synctest.Wait()
		expect(t, d.lines(), "0s tool-c1 1 running a", "0s tool-c1 2 running bad", "0s tool-c1 3 running b", "0s tool-c1 4 completed over")
		d.end(Ending{Status: protocol.ProcessCompleted})
		expect(t, d.lines()[4:], "0s tool-c1 5 running once more")
	})
}

func TestAtMostTenEventsASecondAreSentAndTheRestIsCounted(t *testing.T) {
	for _, c := range []struct {
		name string
		most int // in any second
		make func(i int) protocol.ProcessUpdate
	}{
		{"progress", 10, func(i int) protocol.ProcessUpdate { return say(fmt.Sprint(i)) }},
		{"errors", 20, func(i int) protocol.ProcessUpdate {
			return protocol.ProcessUpdate{Message: fmt.Sprint(i), Level: "error"}
		}},
		{"ends", 20, func(i int) protocol.ProcessUpdate {
			return protocol.ProcessUpdate{Message: fmt.Sprint(i), Status: "completed"}
		}},
		{"all of them", 20, func(i int) protocol.ProcessUpdate {
			u := say(fmt.Sprint(i))
			switch i % 3 {
			case 1:
				u.Level = "error"
			case 2:
				u.Status = "failed"
			}
			return u
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, disktest.NewMem())
				const n = 5000
				for i := range n { // for 5 seconds
					d.call.Update(c.make(i))
					time.Sleep(time.Millisecond)
				}
				d.end(Ending{Status: protocol.ProcessCompleted})
				var counted, seq int64
				for i, p := range d.sent {
					if p.Event.Sequence <= seq {
						t.Fatalf("event %d comes behind %d", p.Event.Sequence, seq)
					}
					seq = p.Event.Sequence
					var payload struct{ RepeatCount, OmittedCount int64 }
					if p.Event.Payload != nil {
						if err := json.Unmarshal(p.Event.Payload, &payload); err != nil {
							t.Fatal(err)
						}
					}
					counted += max(payload.RepeatCount, 1) + payload.OmittedCount
					if i >= c.most && d.times[i]-d.times[i-c.most] < time.Second && i < len(d.sent)-1 {
						t.Errorf("more than %d events came within %v", c.most, d.times[i]-d.times[i-c.most])
					}
				}
				if counted != n || seq != n {
					t.Errorf("%d events are accounted for, the last is %d", counted, seq)
				}
				if len(d.sent) < 45 {
					t.Errorf("only %d were sent in 5 seconds", len(d.sent))
				}
			})
		})
	}
}

func TestWhatNobodyTakesIsBoundedAndTheNewestComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := New(Config{Session: "ses_1"})
		call := rec.Begin(Info{CallID: "c1"}, func() {})
		big := strings.Repeat("x", maxMessage)
		for i := range 100 {
			for op := range maxOperations {
				call.Update(protocol.ProcessUpdate{OperationID: fmt.Sprint("op", op), Message: fmt.Sprint(i, big)})
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(call.ready); n > maxReady || call.bytes > maxReadyBytes+16<<10 {
			t.Errorf("%d events, %d bytes wait", n, call.bytes)
		}
		call.Take()
		time.Sleep(2 * time.Second)
		got := call.Take()
		if len(got) != maxOperations {
			t.Fatalf("%d events came when there was room again", len(got))
		}
		for _, p := range got {
			if !strings.HasPrefix(p.Event.Message, "99") {
				t.Errorf("%s ends with %.10s", p.Event.OperationID, p.Event.Message)
			}
		}
		call.End(Ending{Status: protocol.ProcessCompleted})
	})
}

func TestACallThatFailsOrIsCancelledLeavesNoOperationRunning(t *testing.T) {
	for _, c := range []struct {
		end  Ending
		want []string
	}{
		{Ending{protocol.ProcessFailed, "Failed"}, []string{"failed error Failed s t1", "failed error Failed  ", "completed info over  "}},
		{Ending{protocol.ProcessCancelled, "Cancelled by user"}, []string{"cancelled warning Cancelled by user s t1", "cancelled warning Cancelled by user  ", "completed info over  "}},
		{Ending{protocol.ProcessCompleted, ""}, []string{"running info a s t1", "started info b  ", "completed info over  "}},
	} {
		t.Run(string(c.end.Status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, disktest.NewMem())
				d.call.Update(protocol.ProcessUpdate{Message: "a", Stage: "s", TaskID: "t1", TargetType: "skill", Source: "skill"})
				d.call.Update(protocol.ProcessUpdate{OperationID: "sub", ParentOperationID: "tool-c1", Message: "b", Status: "started"})
				d.call.Update(protocol.ProcessUpdate{OperationID: "other", Message: "over", Status: "completed"})
				sum := d.end(c.end)
				d.call.Update(say("too late"))
				d.call.Stderr("too late")
				if s := d.call.End(Ending{Status: protocol.ProcessFailed}); s != nil {
					t.Errorf("a second end gives %+v", s)
				}
				last := map[string]protocol.ProcessEvent{}
				for _, p := range d.sent {
					last[p.Event.OperationID] = p.Event
				}
				var got []string
				for _, op := range []string{"tool-c1", "sub", "other"} {
					e := last[op]
					got = append(got, fmt.Sprintf("%s %s %s %s %s", e.Status, e.Level, e.Message, e.Stage, e.TaskID))
				}
				expect(t, got, c.want...)
				if e := last["tool-c1"]; e.TargetType != "skill" || c.end.Status != "completed" && e.Source != "runtime" {
					t.Errorf("the end is told as of %s by %s", e.TargetType, e.Source)
				}
				if ref := sum.LogRef; *ref != (protocol.ProcessLogRef{Kind: "runtime_process_log", SessionID: "ses_1", OperationID: "tool-c1", ToolCallID: "c1"}) {
					t.Errorf("the summary refers to %+v", ref)
				}
			})
		})
	}
}

func TestTheSummaryHasTheFirstTenAndTheLastFortyThatWereSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, disktest.NewMem())
		for i := range 200 {
			d.call.Update(say(fmt.Sprint(i)))
			time.Sleep(time.Second)
		}
		s := d.end(Ending{Status: protocol.ProcessCompleted})
		var got []string
		for _, e := range s.Events {
			got = append(got, e.Message)
		}
		var want []string
		for i := range 200 {
			if i < 10 || i >= 160 {
				want = append(want, fmt.Sprint(i))
			}
		}
		expect(t, got, want...)
		if s.Latest == nil || s.Latest.Message != "199" {
			t.Errorf("the newest is %+v", s.Latest)
		}
	})
}

func TestASummaryOfLargeEventsIsCutInItsMiddle(t *testing.T) {
	var k kept
	for i := range 60 {
		k.add(protocol.ProcessEvent{Message: fmt.Sprint(i), Payload: json.RawMessage(strings.Repeat("x", 15<<10))})
	}
	s := k.summary(nil)
	total := 0
	for i := range s.Events {
		total += size(&s.Events[i])
	}
	if n := len(s.Events); total > maxSummary || n < 12 || s.Events[9].Message != "9" || s.Events[n-1].Message != "59" || s.Latest.Message != "59" {
		t.Errorf("%d events of %d bytes, the last %s", n, total, s.Events[n-1].Message)
	}
}

func TestACallThatReportsNothingHasNoSummaryAndTouchesNoDisk(t *testing.T) {
	fsys := &disktest.Faulty{FS: disktest.NewMem()}
	rec := New(Config{Session: "ses_1", Dir: dir, FS: fsys})
	if s := rec.Begin(Info{CallID: "c1"}, nil).End(Ending{Status: protocol.ProcessFailed}); s != nil {
		t.Errorf("it has the summary %+v", s)
	}
	rec.Close()
	if n := fsys.Calls(); n > 0 {
		t.Errorf("%d calls of the disk", n)
	}
	var none *Recorder
	call := none.Begin(Info{}, nil)
	call.Update(say("a"))
	call.Stderr("b")
	call.Name("c")
	if call.End(Ending{}) != nil || call.Take() != nil {
		t.Error("nobody follows, and there is something")
	}
	none.Flush()
	none.Close()
}

func TestTwoCallsAtOnceKeepTheirEventsApartAndInOrder(t *testing.T) {
	mem := disktest.NewMem()
	rec := New(Config{Session: "ses_1", Dir: dir, FS: mem})
	var calls [2]*Call
	for i := range calls {
		calls[i] = rec.Begin(Info{CallID: fmt.Sprint("c", i), Tool: "ExecuteSkill", Result: protocol.EventID(fmt.Sprint("evt_", i))}, nil)
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			for k := range 500 {
				c.Update(say(fmt.Sprintf("%d/%d", i, k)))
				c.Update(protocol.ProcessUpdate{OperationID: "detect", Message: fmt.Sprintf("%d/%d", i, k)}) // the same id in both
				c.Stderr(fmt.Sprintf("%d/%d", i, k))
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, c := range calls {
		c.End(Ending{Status: protocol.ProcessCompleted})
		ids := map[string]int64{}
		for _, p := range c.Take() {
			if p.ToolCallID != fmt.Sprint("c", i) || !strings.HasPrefix(p.Event.Message, fmt.Sprint(i, "/")) || p.Event.Sequence <= ids[p.Event.OperationID] {
				t.Errorf("call %d is told %+v", i, p)
			}
			ids[p.Event.OperationID] = p.Event.Sequence
		}
		rec.Flush()
		for id, last := range ids {
			if last != 500 || seen[id] {
				t.Errorf("operation %s ends with %d", id, last)
			}
			seen[id] = true
			n := 0
			for offset := 0; ; {
				page, err := Read(mem, dir, id, offset, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range page.Lines {
					switch {
					case l.Event != nil && l.Event.OperationID == id && l.Event.Message == fmt.Sprintf("%d/%d", i, n):
						n++
					case l.Stderr == fmt.Sprintf("%d/%d", i, n-1) && !strings.HasPrefix(id, "detect"):
					default:
						t.Fatalf("the log of %s has %+v", id, l)
					}
				}
				if offset = page.Next; !page.More {
					break
				}
			}
			if n != 500 {
				t.Errorf("the log of %s has %d events", id, n)
			}
		}
	}
	if len(seen) != 4 || !seen["detect"] {
		t.Errorf("operations: %v", seen)
	}
}

func TestACallOfAnIdThatWasUsedBeforeGetsALogOfItsOwn(t *testing.T) {
	mem := disktest.NewMem()
	for i, result := range []protocol.EventID{"evt_1", "evt_2"} {
		rec := New(Config{Session: "ses_1", Dir: dir, FS: mem}) // as after a restart
		c := rec.Begin(Info{CallID: "c", Result: result}, nil)
		c.Update(say(string(result)))
		s := c.End(Ending{Status: protocol.ProcessCompleted})
		rec.Close()
		page, err := Read(mem, dir, s.LogRef.OperationID, 0, 0)
		if err != nil || len(page.Lines) != 1 || page.Lines[0].Event.Message != string(result) || page.Lines[0].Event.OperationID != s.LogRef.OperationID {
			t.Errorf("call %d: %+v, %v", i, page, err)
		}
	}
}

func TestACallKeepsSixtyFourOperationsAndCountsTheRest(t *testing.T) {
	mem := disktest.NewMem()
	rec := New(Config{Session: "ses_1", Dir: dir, FS: mem})
	c := rec.Begin(Info{CallID: "c"}, nil)
	for i := range 640 {
		c.Update(protocol.ProcessUpdate{OperationID: fmt.Sprint("op", i), Message: "m"})
	}
	s := c.End(Ending{Status: protocol.ProcessCompleted})
	rec.Close()
	files, err := mem.ReadDir(dir)
	if err != nil || len(files) != maxOperations || len(s.Events) != 50 {
		t.Errorf("%d logs, %d events, %v", len(files), len(s.Events), err)
	}
	page, err := Read(mem, dir, "op0", 0, 0)
	if err != nil || len(page.Lines) != 2 || page.Lines[1].Note != "576 events of further operations were left out; a call keeps 64 operations." {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestADiskThatRefusesLosesLinesAndNothingElse(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, sticky := range []bool{false, true} {
			for _, short := range []bool{false, true} {
				fsys := &disktest.Faulty{FS: disktest.NewMem(), N: n, Sticky: sticky, Short: short, Err: disk.ErrNoSpace}
				var reports []string
				rec := New(Config{Session: "ses_1", Dir: dir, FS: fsys, Report: func(what string, _ []byte) { reports = append(reports, what) }})
				c := rec.Begin(Info{CallID: "c"}, nil)
				for i := range 10 {
					c.Update(say(fmt.Sprint(i)))
					c.Stderr(fmt.Sprint("line ", i))
					rec.Flush()
				}
				s := c.End(Ending{Status: protocol.ProcessCompleted})
				rec.Close()
				if len(s.Events) == 0 || s.Latest.Message != "9" {
					t.Fatalf("fault %d: the summary is %+v", n, s)
				}
				if len(reports) > 1 || fsys.Fired() && len(reports) != 1 {
					t.Errorf("fault %d: reports %q", n, reports)
				}
				page, err := Read(fsys.FS, dir, "tool-c", 0, 0)
				if sticky && errors.Is(err, ErrNoLog) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				lines, missing := 0, 0
				for _, l := range page.Lines {
					switch {
					case l.Event != nil || l.Stderr != "":
						lines++
					default:
						k := 0
						if _, err := fmt.Sscanf(l.Note, "%d lines are missing here", &k); err != nil {
							t.Errorf("fault %d: the log has %+v", n, l)
						}
						missing += k
					}
				}
				if lines+missing != 20 && !sticky {
					t.Errorf("fault %d: %d lines, and %d are said to be missing", n, lines, missing)
				}
			}
		}
	}
}

// low is a disk that is nearly full.
type low struct{ disk.FS }

func (low) Free(string) (uint64, error) { return minFree - 1, nil }

func TestProcessLogsDoNotFillTheDisk(t *testing.T) {
	d := newDesk(t, low{disktest.NewMem()})
	d.call.Update(say("a"))
	d.end(Ending{Status: protocol.ProcessCompleted})
	if _, err := Read(d.fs, dir, "tool-c1", 0, 0); !errors.Is(err, ErrNoLog) {
		t.Errorf("a log was written: %v", err)
	}
}

func TestTheLogsOfASessionAreBoundedTogether(t *testing.T) {
	folder := t.TempDir()
	big, err := os.Create(filepath.Join(folder, "earlier.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(maxLogs); err != nil { // sparse
		t.Fatal(err)
	}
	big.Close()
	var reports []string
	rec := New(Config{Session: "ses_1", Dir: folder, Report: func(what string, _ []byte) { reports = append(reports, what) }})
	c := rec.Begin(Info{CallID: "c"}, nil)
	c.Update(say("a"))
	s := c.End(Ending{Status: protocol.ProcessCompleted})
	rec.Close()
	if _, err := Read(disk.OS(), folder, "tool-c", 0, 0); !errors.Is(err, ErrNoLog) || len(s.Events) != 1 {
		t.Errorf("%v; the summary has %+v", err, s)
	}
	if len(reports) != 1 || !strings.Contains(reports[0], "1024 MiB") {
		t.Errorf("reports: %q", reports)
	}
}
