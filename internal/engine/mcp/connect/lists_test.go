package connect

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestPromptsAndResourcesAreListedAndRead(t *testing.T) {
	for _, older := range []bool{false, true} {
		to := target(t, "offering")
		to.Older = older
		s, err := Open(t.Context(), to, Options{Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		l, faults := s.Lists(t.Context())
		if len(l.Prompts) != 2 || len(l.Resources) != 3 || len(faults) != 1 || !strings.Contains(faults[0], `"odd" is left out`) {
			t.Fatalf("%+v, %q", l, faults)
		}
		greet := l.Prompts[1]
		if greet.Name != "mcp__test__greet" || greet.Own != "greet" || greet.Title != "Greet[31m" || len(greet.Arguments) != 2 || !greet.Arguments[0].Required {
			t.Errorf("%+v", greet)
		}
		if r := l.Resources[2]; !r.Template || r.URI != "notes://{day}" {
			t.Errorf("%+v", r)
		}
		said, err := s.Prompt(t.Context(), Call{Tool: "greet"}, map[string]string{"who": "Ada"})
		if err != nil || len(said) != 3 || said[0].Part.Text != "Greet Ada.[31m" || said[0].Assistant || !said[1].Assistant || !said[2].Part.Image {
			t.Errorf("%+v, %v", said, err)
		}
		if _, err := s.Prompt(t.Context(), Call{Tool: "empty"}, nil); err == nil || err.Error() != "the prompt has no text" {
			t.Errorf("%v", err)
		}
		a, err := s.Resource(t.Context(), Call{Tool: "notes://today"})
		if got := text(t, a, err); got != "the text of notes://today[31m|[notes://today application/zip, 2 bytes]" {
			t.Errorf("%q", got)
		}
		if _, err := s.Resource(t.Context(), Call{Tool: "notes://gone"}); err == nil || !strings.Contains(err.Error(), "it answers with an error") {
			t.Errorf("%v", err)
		}
	}
}

// TestACallThatIsCancelledLeavesTheServerSubscribable: who cancels says nothing of the server.
func TestACallThatIsCancelledLeavesTheServerSubscribable(t *testing.T) {
	to := target(t, "offering")
	to.Older = true
	s, err := Open(t.Context(), to, Options{Updated: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	state := func() (uris []string, refused bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Clone(s.subscribed.uris), s.subscribed.refused
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s.Subscribe(cancelled, "notes://a")
	if uris, refused := state(); len(uris) > 0 || refused {
		t.Errorf("after a cancelled call: %q, refused %v", uris, refused)
	}
	s.Subscribe(t.Context(), "notes://a")
	if uris, refused := state(); len(uris) != 1 || refused {
		t.Errorf("%q, refused %v", uris, refused)
	}
}

// TestAListThatNeverComesToRestIsReadNevertheless: a server that tells of changes without end
// does not have what was read first count for good.
func TestAListThatNeverComesToRestIsReadNevertheless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32 // two that tell need not wait for each other
		tell := func() { told.Add(1) }
		s := newServer(Target{}, Options{})
		const long = time.Minute
		for began := time.Now(); time.Since(began) < long; time.Sleep(settle / 2) {
			s.changed(ofTools, tell)
			synctest.Wait()
		}
		time.Sleep(settle)
		synctest.Wait()
		if n, most := told.Load(), int32(long/maxSettle)+1; n < 2 || n > most {
			t.Errorf("told %d times, at most %d are right", n, most)
		}
		before := told.Load()
		for range 5 {
			s.changed(ofTools, tell)
		}
		time.Sleep(settle)
		synctest.Wait()
		if n := told.Load() - before; n != 1 {
			t.Errorf("changes at once are told %d times", n)
		}
	})
}

func TestWhatAServerLogsHasNoSecretOfItsEntry(t *testing.T) {
	to := target(t, "logging")
	to.Older, to.Hide = true, func(text string) string { return strings.ReplaceAll(text, "odd", "[hidden]") }
	s, err := Open(t.Context(), to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	//lint:ignore SA1019 the server sends nothing before that
	if err := s.session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Call(t.Context(), Call{Tool: "log"}); text(t, a, err) != "logged" {
		t.Fatal(a)
	}
	for late := time.Now().Add(patience); !strings.Contains(s.Log(), "row 99 is"); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%q", s.Log())
		}
	}
	if log := s.Log(); strings.Contains(log, "odd") || !strings.Contains(log, "[hidden]") {
		t.Errorf("%.300q", log)
	}
}

func TestAServerWithoutPromptsIsNotAskedForThem(t *testing.T) {
	s := open(t, "hang:prompts/list", Options{})
	if l, faults := s.Lists(t.Context()); len(l.Prompts)+len(l.Resources)+len(faults) > 0 {
		t.Errorf("%+v, %q", l, faults)
	}
}

func TestWhatAServerLogsIsKeptCleanedAndBounded(t *testing.T) {
	to := target(t, "logging")
	to.Older = true
	s, err := Open(t.Context(), to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	//lint:ignore SA1019 the server sends nothing before that
	if err := s.session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	a, err := s.Call(t.Context(), Call{Tool: "log"})
	if got := text(t, a, err); got != "logged" {
		t.Fatal(got)
	}
	for late := time.Now().Add(patience); !strings.Contains(s.Log(), "row 99 is"); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%q", s.Log())
		}
	}
	log := s.Log()
	if len(log) > maxMessages+maxStderr || strings.Contains(log, "row 1 is") || strings.Contains(log, "\x1b") || !strings.Contains(log, "warning db: row 98 is[31m odd") {
		t.Errorf("%d bytes: %.300q", len(log), log)
	}
}

func TestHowLongListsCountIsBounded(t *testing.T) {
	s := newServer(Target{}, Options{})
	for _, test := range []struct {
		ms   int
		want time.Duration
	}{{0, 0}, {-5, 0}, {1, minFresh}, {3_600_000, time.Hour}, {1 << 62, maxFresh}} {
		s.lasts(ofTools, test.ms, true)
		if got, _ := s.Fresh(); got != test.want {
			t.Errorf("%d ms are %v", test.ms, got)
		}
	}
	s.lasts(ofOthers, 7_200_000, true)
	s.lasts(ofOthers, 3_600_000, false)
	if _, got := s.Fresh(); got != time.Hour {
		t.Errorf("of two times the shorter counts: %v", got)
	}
}

// FuzzLists: whatever a server lists, what is kept can be named, is bounded, and what is
// left out is said.
func FuzzLists(f *testing.F) {
	f.Add("greet", "who", "file:///a", "notes://{day}")
	f.Add("", "a\nb", "no scheme", "{")
	f.Add("a\x1b[31mb", strings.Repeat("x", 200), "x:\u202e", " ")
	f.Fuzz(func(t *testing.T, name, argument, uri, template string) {
		list := []*mcp.Prompt{nil, {Name: name, Description: argument, Arguments: []*mcp.PromptArgument{nil, {Name: argument}}}, {Name: name}}
		made, faults := prompts("srv", list)
		if len(made)+len(faults) != 2 {
			t.Errorf("%d prompts and %q", len(made), faults)
		}
		for _, p := range made {
			if len(p.Name) > maxName || plain(p.Name) != p.Name {
				t.Errorf("a name %q", p.Name)
			}
		}
		read, faults := resources([]*mcp.Resource{nil, {URI: uri, Name: name, Size: -1}}, []*mcp.ResourceTemplate{{URITemplate: template, Description: name}})
		if len(read)+len(faults) != 2 {
			t.Errorf("%d resources and %q", len(read), faults)
		}
		for _, r := range read {
			if r.URI == "" || len(r.URI) > maxURI || strings.ContainsAny(r.URI, " \n\x1b") || r.Size < 0 || strings.Contains(r.Name, "\n") {
				t.Errorf("%+v", r)
			}
		}
	})
}
