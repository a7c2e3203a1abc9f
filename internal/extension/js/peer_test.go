package js

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/extension/rpc"
)

func TestLinesThatNobodyReadsAreLeftOutAndCounted(t *testing.T) {
	r, w := io.Pipe()
	p := newPeer(w)
	line := []byte(`{"message":"` + strings.Repeat("x", 1000) + `"}`)
	const sent = 10 * maxNotes / 1000
	for range sent {
		p.notify(rpc.NoteLog, line, true)
	}
	p.mu.Lock()
	size := p.size
	p.mu.Unlock()
	if size > maxNotes+len(line)+100 {
		t.Errorf("%d bytes wait", size)
	}
	p.answer([]byte("1"), []byte(`"last"`), nil) // what is no log is never left out
	lines, left, last := 0, "", false
	in := bufio.NewReader(r)
	for !last {
		b, err := in.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines++
		if bytes.Contains(b, []byte("were left out")) {
			left = string(b)
		}
		last = bytes.Contains(b, []byte(`"result":"last"`))
	}
	if lines >= sent/2 {
		t.Errorf("%d of %d lines came", lines, sent)
	}
	if left == "" { // after the answer
		b, err := in.ReadBytes('\n')
		if err != nil || !bytes.Contains(b, []byte("lines of extensions were left out")) {
			t.Errorf("the number of those left out is not said: %s, %v", b, err)
		}
	}
	r.CloseWithError(io.ErrClosedPipe)
	p.notify(rpc.NoteLog, line, false) // goes nowhere, and does not wait
	p.flush()
}

func TestALineThatIsTooLongIsSkippedAndTheNextOneRead(t *testing.T) {
	long := io.MultiReader(strings.NewReader("one\n"), io.LimitReader(zeros{}, rpc.MaxMessage+10), strings.NewReader("\n\r\ntwo\r\nrest"))
	r := bufio.NewReaderSize(long, 64<<10)
	var got []string
	for {
		line, err := readLine(r)
		if errors.Is(err, errTooLong) {
			got = append(got, "too long")
			continue
		}
		if err != nil {
			break
		}
		got = append(got, string(line))
	}
	if s := strings.Join(got, "|"); s != "one|too long||two" {
		t.Errorf("read %s", s)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

func TestAClockStandsStillWhileItIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan time.Time, 1)
		began := time.Now()
		c := newClock(50*time.Second, func() { over <- time.Now() })
		time.Sleep(10 * time.Second)
		c.Pause()
		c.Pause()
		c.Resume()
		time.Sleep(time.Hour)
		c.Resume()
		if d := (<-over).Sub(began); d != time.Hour+50*time.Second {
			t.Errorf("over after %s", d)
		}
		stopped := newClock(time.Second, func() { over <- time.Now() })
		stopped.stop()
		stopped.Pause()
		stopped.Resume()
		select {
		case <-over:
			t.Error("one that was stopped ran on")
		case <-time.After(time.Hour):
		}
	})
}
