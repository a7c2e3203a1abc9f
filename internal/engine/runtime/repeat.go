package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/protocol"
)

// Bounds of steps that repeat themselves: the same calls with the same input and the
// same results, alone or in a cycle.
const (
	maxCycle    = 4 // steps of a cycle that is looked for
	repeatsTold = 3 // times after which the model is told
	repeatsAsk  = 5 // times after which people are asked whether it goes on
)

// Repetition is a cycle of steps that a model goes through again and again.
type Repetition struct {
	Times int      // how often in a row
	Tools []string // those of the cycle, in order, each once
	Steps int      // of the cycle
}

// String returns what is repeated, as the object of a sentence.
func (r Repetition) String() string {
	with := strings.Join(r.Tools, ", ")
	if r.Steps == 1 {
		return fmt.Sprintf("the same step %d times in a row (%s with the same input and the same result)", r.Times, with)
	}
	return fmt.Sprintf("the same %d steps %d times in a row (%s with the same input and the same results)", r.Steps, r.Times, with)
}

// footprint is what one step did.
type footprint struct {
	sum   [sha256.Size]byte
	tools []string
	waits bool // it has only calls that wait for something
}

// repeats looks for repetitions in the steps of a turn.
type repeats struct {
	last []footprint // the newest last, at most maxCycle × repeatsAsk
	told bool        // the model knows of the repetition that goes on
}

// note adds a step, and returns the repetition that it ends, of zero times for none. Of
// several the one of the most times counts, and of those the shortest cycle. A cycle of
// steps that only wait is none.
func (r *repeats) note(f footprint) Repetition {
	if r.last = append(r.last, f); len(r.last) > maxCycle*repeatsAsk {
		r.last = r.last[1:]
	}
	var best Repetition
	for n := 1; n <= maxCycle; n++ {
		if found := r.cycle(n); found.Times > best.Times {
			best = found
		}
	}
	if best.Times < repeatsTold {
		r.told = false
	}
	return best
}

// cycle returns the repetition of the last n steps, of zero times where they wait.
func (r *repeats) cycle(n int) Repetition {
	end := len(r.last)
	if n > end {
		return Repetition{}
	}
	found := Repetition{Steps: n, Times: 1}
	waits := true
	for _, f := range r.last[end-n:] {
		waits = waits && f.waits
		for _, t := range f.tools {
			if !strings.Contains("\n"+strings.Join(found.Tools, "\n")+"\n", "\n"+t+"\n") {
				found.Tools = append(found.Tools, t)
			}
		}
	}
	if waits {
		return Repetition{}
	}
	for i := end - n - 1; i >= 0 && r.last[i].sum == r.last[i+n].sum; i-- {
		if (end-i)%n == 0 {
			found.Times++
		}
	}
	return found
}

// footprintOf is what the calls of a step did. Ids of calls are left out: they are new
// each time, and cut results name them.
func (l *loop) footprintOf(jobs []*job) footprint {
	f := footprint{waits: true}
	h := sha256.New()
	for _, j := range jobs {
		f.tools = append(f.tools, j.name())
		if j.tool == nil || !j.spec.Waits {
			f.waits = false
		}
		fmt.Fprintf(h, "%q %s %t", j.block.Name, canonical(j.block.Input), j.message.IsError)
		for _, b := range j.message.Content {
			text := b.Text
			if j.block.ID != "" {
				text = strings.ReplaceAll(text, j.block.ID, "")
			}
			fmt.Fprintf(h, " %s %q %s", b.Type, text, b.Blob)
		}
		h.Write([]byte{'\n'})
	}
	h.Sum(f.sum[:0])
	return f
}

// said is what an answer without calls did. A turn that goes on after it goes on for a
// reason of its own, so it is no repetition alone.
func said(text string) footprint {
	return footprint{sum: sha256.Sum256([]byte(text)), waits: true}
}

// canonical is JSON with sorted keys and without spaces, or what is not JSON as it is.
func canonical(input json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return input
	}
	data, err := json.Marshal(v)
	if err != nil {
		return input
	}
	return data
}

// repeated acts on a step that may repeat others: it tells the model, and later asks
// people whether the turn goes on. It is false when the run ends here.
func (l *loop) repeated(ctx context.Context, t *turnState, f footprint) (outcome, bool, error) {
	found := t.repeats.note(f)
	switch {
	case found.Times >= repeatsAsk:
		asked, resume, err := l.Host.Repeats(ctx, found)
		if err != nil {
			return outcome{}, false, err
		}
		if resume {
			t.repeats = repeats{}
			return outcome{}, true, nil
		}
		why := "and nobody could be asked, so the run was stopped"
		if asked {
			why = "so the run was stopped"
		}
		return outcome{terminal: protocol.TerminalLoop,
			err: protocol.Errorf(protocol.CodeLoop, "The model made %s, %s; send another message that says what to do differently.", found, why)}, false, nil
	case found.Times >= repeatsTold && !t.repeats.told:
		t.repeats.told = true
		return outcome{}, true, l.Host.Notice(ctx, fmt.Sprintf("You have made %s. To do it again will change nothing: try another way, or end your turn and say what is missing.", found))
	}
	return outcome{}, true, nil
}
