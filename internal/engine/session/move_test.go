package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// old returns the lines of a log as a version before checksums wrote them.
func old(data []byte) []byte {
	return regexp.MustCompile(`,"prev":[0-9]+|,"crc":"[0-9a-f]{8}"`).ReplaceAll(data, nil)
}

// moved writes a conversation of three messages from which the person went back to the
// first, and what follows on that.
func (w *world) moved(t *testing.T, more func(back protocol.EventID) []protocol.Event) (data []byte, first, left protocol.EventID) {
	t.Helper()
	log := w.create(t)
	a := w.user("", "one")
	b := w.assistant(a.ID, "two")
	c := w.user(b.ID, "three")
	events := []protocol.Event{a, b, c, w.rewind(c.ID, &a.ID)}
	if more != nil {
		events = append(events, more(a.ID)...)
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return w.mem.Bytes(w.logName()), a.ID, c.ID
}

const moveLine = 4 // of moved, the header is 0

func damagedMoves() map[string]func(line []byte) []byte {
	over := func(what, with string) func([]byte) []byte {
		return func(l []byte) []byte { return bytes.Replace(l, []byte(what), []byte(with), 1) }
	}
	return map[string]func(line []byte) []byte{
		"a letter of its type":       over(`"rewind"`, `"rewins"`),
		"NULs in its type":           over(`"rewind"`, "\"r\x00\x00\x00nd\""),
		"its type unquoted":          over(`"rewind"`, `"rewind `),
		"the key of its type":        over(`"type"`, `"tyqe"`),
		"its control mark":           over(`"control":true`, `"control":tsue`),
		"the key of its mark":        over(`"control"`, `"contrnl"`),
		"the key of its target":      over(`"targetEventId"`, `"targetEventIe"`),
		"the form of its target":     over(`"targetEventId":"evt_`, `"targetEventId":"evu_`),
		"a target that is not there": over(`"targetEventId":"evt_`, `"targetEventId":"evt_0000000000000000","x":"`),
		"the whole line":             func(l []byte) []byte { return make([]byte, len(l)) },
		"the first half":             func(l []byte) []byte { return append(make([]byte, len(l)/2), l[len(l)/2:]...) },
		"garbage":                    func(l []byte) []byte { return bytes.Repeat([]byte("x"), len(l)) },
	}
}

func TestADamagedMoveAsksForTheLeaf(t *testing.T) {
	for _, version := range []string{"with checksums", "without"} {
		for name, damage := range damagedMoves() {
			t.Run(version+"/"+name, func(t *testing.T) {
				w := newWorld(t)
				data, first, _ := w.moved(t, nil)
				if version == "without" {
					data = old(data)
				}
				l := lines(data)
				l[moveLine] = damage(l[moveLine])
				c := w.with(t, append(bytes.Join(l, []byte("\n")), '\n'))
				log, report := c.open(t)
				if !log.NeedsLeaf() || report.Clean() {
					t.Fatalf("it does not ask, and goes on from %s: %v", log.Index().Leaf(), report.Sentences())
				}
				if err := log.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := c.store.Repair(t.Context(), c.id); !isErr(err, ErrReadOnly) {
					t.Fatalf("repaired without a leaf: %v", err)
				}
				log, _ = c.open(t)
				c.seq = log.NextSeqFloor() - 1
				if err := log.PickLeaf(t.Context(), c.rewind("", &first)); err != nil {
					t.Fatal(err)
				}
				if err := log.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := c.store.Repair(t.Context(), c.id); err != nil {
					t.Fatal(err)
				}
				log, report = c.open(t)
				if !report.Clean() || log.Index().Leaf() != first {
					t.Fatalf("after the repair: leaf %s, %v", log.Index().Leaf(), report.Sentences())
				}
			})
		}
	}
}

func TestAMessageBehindADamagedMoveProvesTheLeaf(t *testing.T) {
	for _, version := range []string{"with checksums", "without"} {
		for name, damage := range damagedMoves() {
			t.Run(version+"/"+name, func(t *testing.T) {
				w := newWorld(t)
				var next protocol.Event
				data, first, _ := w.moved(t, func(back protocol.EventID) []protocol.Event {
					next = w.user(back, "another way")
					return []protocol.Event{next}
				})
				if version == "without" {
					data = old(data)
				}
				l := lines(data)
				l[moveLine] = damage(l[moveLine])
				log, report := w.with(t, append(bytes.Join(l, []byte("\n")), '\n')).open(t)
				if log.NeedsLeaf() || report.Clean() {
					t.Fatalf("asks %t: %v", log.NeedsLeaf(), report.Sentences())
				}
				if path, err := log.Index().Path(log.Index().Leaf()); err != nil || !slices.Equal(path, []protocol.EventID{first, next.ID}) {
					t.Fatalf("the path is %v (%v)", path, err)
				}
			})
		}
	}
}

func TestAMissingMoveAsksForTheLeaf(t *testing.T) {
	w := newWorld(t)
	data, _, left := w.moved(t, func(back protocol.EventID) []protocol.Event {
		return []protocol.Event{w.event(back, &protocol.Label{TargetEventID: back, Label: ptr("here")})}
	})
	l := slices.Delete(lines(data), moveLine, moveLine+1)
	c := w.with(t, append(bytes.Join(l, []byte("\n")), '\n'))
	log, report := c.open(t)
	if !log.NeedsLeaf() || !report.Has(health.MissingLines) {
		t.Fatalf("it goes on from %s (left was %s): %v", log.Index().Leaf(), left, report.Sentences())
	}
}

func TestAnOrphanHangsWhereTheConversationWas(t *testing.T) {
	w := newWorld(t)
	var lost, next protocol.Event
	data, first, _ := w.moved(t, func(back protocol.EventID) []protocol.Event {
		lost = w.user(back, "another way")
		next = w.assistant(lost.ID, "yes")
		return []protocol.Event{lost, next}
	})
	l := lines(old(data))
	l[moveLine+1] = []byte(`{"type":"message","id":"evt_`)
	log, report := w.with(t, append(bytes.Join(l, []byte("\n")), '\n')).open(t)
	if path, err := log.Index().Path(log.Index().Leaf()); err != nil || !slices.Equal(path, []protocol.EventID{first, next.ID}) {
		t.Fatalf("the path is %v (%v): %v", path, err, report.Sentences())
	}
}

// TestWhatDamageTakesIsTold damages logs at random. Whatever it removes or changes is in
// the report, unless the log is cut at the end of a line, and the conversation never
// goes on from a branch that was left.
func TestWhatDamageTakesIsTold(t *testing.T) {
	harness.Computed(t)
	const damageTrials = 6000
	w := newWorld(t)
	log := w.create(t)
	leaf := protocol.EventID("")
	for i := range 3 {
		var events []protocol.Event
		events, leaf = w.every(leaf, i)
		first := w.user(leaf, "a way that is left")
		second := w.assistant(first.ID, "it is")
		events = append(events, first, second, w.rewind(second.ID, &leaf))
		if err := log.Commit(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	data := w.mem.Bytes(w.logName())
	all := lines(data)
	originals := map[protocol.EventID][]byte{}
	parents := map[protocol.EventID]protocol.EventID{}
	for _, l := range all[1:] {
		e, err := protocol.ParseEvent(l)
		if err != nil {
			t.Fatal(err)
		}
		originals[e.ID], parents[e.ID] = l, e.ParentID
	}
	ancestors := map[protocol.EventID]bool{"": true}
	for id := leaf; id != ""; id = parents[id] {
		ancestors[id] = true
	}
	r := rand.New(rand.NewPCG(7, 7))
	for n := range damageTrials {
		bad, what := harm(r, data, len(all[0])+1)
		if bytes.Equal(bad, data) {
			continue
		}
		c := w.with(t, bad)
		log, report, err := c.store.Open(t.Context(), c.id)
		if err != nil {
			t.Fatalf("%d, %s: %v", n, what, err)
		}
		sound := 0
		for l, err := range log.Index().After(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			// A line that has lost both members at once is as one of an older version.
			bare := originals[l.ID] != nil && !bytes.Contains(l.Bytes, []byte(`"prev":`)) && !bytes.Contains(l.Bytes, []byte(`"crc":`))
			if bare || bytes.Equal(originals[l.ID], l.Bytes) {
				sound++
			}
		}
		cut := len(bad) < len(data) && bytes.HasPrefix(data, bad) && bad[len(bad)-1] == '\n'
		if sound < len(originals) && report.Clean() && !cut {
			t.Fatalf("%d, %s: %d of %d events are as they were, and nothing is told", n, what, sound, len(originals))
		}
		// Of bytes that were taken out over the end of a line nobody knows how many lines
		// they were.
		joined := strings.HasPrefix(what, "without") && bytes.Count(bad, []byte("\n")) < len(all)
		shortened := len(bad) < len(data) && bytes.HasPrefix(data, bad)
		if at := log.Index().Leaf(); !log.NeedsLeaf() && !ancestors[at] && !shortened && !joined {
			t.Fatalf("%d, %s: it goes on from %s: %v", n, what, at, report.Sentences())
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// harm damages a log after its header in one place.
func harm(r *rand.Rand, data []byte, from int) ([]byte, string) {
	bad := slices.Clone(data)
	at := from + r.IntN(len(data)-from)
	size := 1 + r.IntN(600)
	end := min(len(bad), at+size)
	begin := bytes.LastIndexByte(data[:at], '\n') + 1
	line := begin + bytes.IndexByte(data[begin:], '\n') + 1
	switch r.IntN(7) {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, fmt.Sprintf("a bit at %d", at)
	case 1:
		return bad[:at], fmt.Sprintf("cut at %d", at)
	case 2:
		clear(bad[at:end])
		return bad, fmt.Sprintf("zero from %d to %d", at, end)
	case 3:
		return slices.Delete(bad, at, end), fmt.Sprintf("without %d to %d", at, end)
	case 4:
		for i := at; i < end; i++ {
			bad[i] = byte(r.IntN(256))
		}
		return bad, fmt.Sprintf("noise from %d to %d", at, end)
	case 5:
		clear(bad[begin : line-1])
		return bad, fmt.Sprintf("zero the line at %d", begin)
	}
	if line == len(data) {
		return data, "" // as cut at the end of a line
	}
	return slices.Delete(bad, begin, line), fmt.Sprintf("without the line at %d", begin)
}
