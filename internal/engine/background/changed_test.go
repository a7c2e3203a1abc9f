package background

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

func TestWhatACommandPrintsIsToldAtMostOnceASecondAndItsEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var told []string
		b.set.cfg.Changed = func(i protocol.TaskInfo) { told = append(told, string(i.State)+" "+i.LastLine) }
		b.start("watch")
		for range 5 {
			for range 100 {
				b.last().print("one\n")
			}
			b.last().print("two \r\n\n \n")
			time.Sleep(changedEvery)
			synctest.Wait()
		}
		b.last().print("last, without an end")
		b.last().end <- sandbox.Exit{}
		synctest.Wait()
		time.Sleep(changedEvery) // nothing comes after the end
		synctest.Wait()
		want := []string{"running ", "running two", "running two", "running two", "running two", "running two", "exited last, without an end"}
		if strings.Join(told, "|") != strings.Join(want, "|") {
			t.Errorf("told %q, want %q", told, want)
		}
		b.set.Close()
	})
}

func TestTheEndOfACommandIsTheLastThatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var told []string
		slow := make(chan struct{})
		b.set.cfg.Changed = func(i protocol.TaskInfo) {
			if i.State == protocol.TaskRunning && i.LastLine != "" {
				<-slow
			}
			told = append(told, string(i.State))
		}
		b.start("watch")
		b.last().print("one\n")
		time.Sleep(changedEvery)
		synctest.Wait() // it is being told of the line
		b.last().end <- sandbox.Exit{}
		synctest.Wait()
		close(slow)
		synctest.Wait()
		if strings.Join(told, " ") != "running running exited" {
			t.Errorf("told %q", told)
		}
		b.set.Close()
	})
}

func TestTheLastLineIsCut(t *testing.T) {
	tk := &task{}
	tk.out.write([]byte("x\n" + strings.Repeat("é", 10_000)))
	if line := tk.lastLine(); len([]rune(line)) > infoLine+40 || !strings.HasPrefix(line, "é") {
		t.Errorf("%d characters: %.60q", len([]rune(line)), line)
	}
}
