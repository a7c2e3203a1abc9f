package rawlog

import (
	"bytes"

	"scorel/protocol"
)

// sector is the piece of a file that a disk writes whole.
const sector = 512

// Tail looks through the end of a log that holds no whole event, line by line.
type Tail struct {
	Unfinished int64 // where the last line begins when no newline ends it, else the end

	line    Damage // the one that is being read
	at      int64  // where it begins
	doubt   bool   // a line that was ended may have moved the leaf
	moves   bool   // one says so itself
	lost    bool   // the unfinished one is no beginning of an event, and may have
	MaxSeq  protocol.Seq
	NUL     int64
	runs    []run // of NULs; the last may go on
	tooMany bool
}

// run is a run of NULs in a file.
type run struct{ from, to int64 }

// maxRuns bounds the runs of NULs that are remembered. A power cut leaves at most one
// for every two sectors of a write.
const maxRuns = 4096

func (t *Tail) Feed(p []byte, off int64) {
	t.findRuns(p, off)
	for len(p) > 0 {
		if t.line.Size == 0 {
			t.at = off
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.line.Feed(p)
			return
		}
		t.line.Feed(p[:i])
		t.End()
		p, off = p[i+1:], off+int64(i)+1
	}
}

func (t *Tail) findRuns(p []byte, off int64) {
	for i := 0; i < len(p); {
		n := bytes.IndexByte(p[i:], 0)
		if n < 0 {
			return
		}
		from := i + n
		for i = from; i < len(p) && p[i] == 0; i++ {
		}
		r := run{off + int64(from), off + int64(i)}
		switch last := len(t.runs) - 1; {
		case last >= 0 && t.runs[last].to == r.from:
			t.runs[last].to = r.to
		case len(t.runs) == maxRuns:
			t.tooMany = true
		default:
			t.runs = append(t.runs, r)
		}
	}
}

// End ends a line.
func (t *Tail) End() {
	d := &t.line
	t.MaxSeq, t.NUL = max(t.MaxSeq, d.MaxSeq), t.NUL+d.NUL
	if t.at < t.Unfinished {
		t.moves = t.moves || d.Moves
		t.doubt = t.doubt || d.Doubtful()
	} else {
		t.lost = t.lost || !d.begun() && d.Doubtful()
	}
	t.line = Damage{}
}

// Doubtful reports whether the tail, from one offset to another, may have moved the leaf.
// NULs as a power cut leaves them, in whole sectors of what was being written, stand
// for bytes that were told to nobody.
func (t *Tail) Doubtful(from, to int64) bool {
	torn := len(t.runs) > 0 && !t.tooMany
	for _, r := range t.runs {
		torn = torn && (r.from == from || r.from%sector == 0) && (r.to == to || r.to%sector == 0)
	}
	return t.moves || !torn && (t.doubt || t.lost)
}
