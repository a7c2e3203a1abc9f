package conversation

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// chain makes the events from one number to another, each the parent of the next.
func chain(from, to int) []protocol.Event {
	var path []protocol.Event
	for n := from; n < to; n++ {
		path = append(path, protocol.Event{Envelope: protocol.Envelope{ID: protocol.EventID(fmt.Sprint("evt_", n))}})
	}
	return path
}

func TestAPathThatGrowsCostsWhatIsNew(t *testing.T) {
	harness.Computed(t)
	for _, held := range []int{20, 2000} {
		var s shownPath
		s.follow(chain(0, held))
		for range 1000 { // pieces of an answer: the path is as it was
			s.follow(chain(0, held)[:held:held])
		}
		for n := range 100 { // each event pushes the oldest out
			s.follow(chain(n+1, held+n+1))
		}
		if s.looked > 1000+2*100 {
			t.Errorf("with %d events held, 1,000 pieces and 100 events cost %d looks", held, s.looked)
		}
	}
}

func TestTheTranscriptFollowsEveryWayOfThePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s shownPath
		var shown []protocol.EventID // by the transcript
		var whole []protocol.Event   // the path from its beginning on
		held, born := 0, 0           // the first event of it that is held, and how many were ever made
		begin := func(n int) []protocol.Event { born += n; return chain(born-n, born) }
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch half := (held + len(whole)) / 2; rapid.SampledFrom([]string{"grow", "slide", "older", "back", "branch", "gone"}).Draw(t, "step") {
			case "grow":
				whole = append(whole, begin(2)...)
			case "slide":
				whole, held = append(whole, begin(1)...), min(held+2, len(whole))
			case "older":
				held = max(0, held-3)
			case "back":
				whole = whole[:half]
			case "branch":
				whole = append(slices.Clone(whole[:half]), begin(3)...)
			case "gone":
				whole, held = begin(5), 2
			}
			path := whole[held:]
			st := s.follow(path)
			if st.cut {
				shown = shown[:slices.Index(shown, st.leaf)+1]
			}
			if len(shown) > 0 {
				shown = append(ids(st.before(shown[0])), shown...)
			}
			shown = append(slices.Clone(shown), ids(st.newer)...)
			if !slices.Equal(s.ids, ids(path)) {
				t.Fatalf("it holds %v of %v", s.ids, ids(path))
			}
			if all := ids(whole); len(shown) < len(path) || !slices.Equal(shown, all[len(all)-len(shown):]) {
				t.Fatalf("the transcript has %v; the path is %v of %v", shown, ids(path), all)
			}
		}
	})
}
