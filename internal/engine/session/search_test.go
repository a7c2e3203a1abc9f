package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"scorel/internal/dev/harness"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
	"scorel/protocol"
)

// search collects what a search gives.
func (w *world) search(t testing.TB, q Search) []protocol.FoundSession {
	t.Helper()
	var out []protocol.FoundSession
	for f, err := range w.store.Search(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// said makes a session of user messages and closes it.
func (w *world) said(t testing.TB, texts ...string) protocol.SessionID {
	t.Helper()
	log, err := w.store.Create(t.Context(), w.header())
	if err != nil {
		t.Fatal(err)
	}
	w.id = log.ID()
	leaf := protocol.EventID("")
	for _, text := range texts {
		ev := w.user(leaf, text)
		if err := log.Commit(t.Context(), []protocol.Event{ev}); err != nil {
			t.Fatal(err)
		}
		leaf = ev.ID
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return w.id
}

// text joins a snippet, with matches in brackets.
func text(parts []protocol.SnippetPart) string {
	var s strings.Builder
	for _, p := range parts {
		if p.Match {
			s.WriteString("[" + p.Text + "]")
		} else {
			s.WriteString(p.Text)
		}
	}
	return s.String()
}

func TestSearchFindsWhatPeopleReadAndNothingElse(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	name, label := "walnut names", "walnut label"
	said := w.user("", "the walnut question")
	m := protocol.Message{Role: protocol.RoleAssistant, Provider: "secretprovider", Model: "m", StopReason: protocol.StopToolUse, Content: []protocol.Block{
		{Type: protocol.BlockThinking, Thinking: "a hazelnut thought", Signature: "c2lnbmF0dXJl"},
		protocol.ToolUse("call_almond", "Bash", []byte(`{"keyword":"x","nested":{"list":["say \"pecan\"\n",7]}}`))}}
	called := w.event(said.ID, &protocol.MessageBody{Message: m})
	result := w.result(called.ID, "call_almond")
	events := []protocol.Event{said, called, result,
		w.event(result.ID, &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: &name}}),
		w.event(result.ID, &protocol.Label{TargetEventID: said.ID, Label: &label}),
		w.event(result.ID, &protocol.InstructionSnapshot{Snapshot: protocol.Instructions{Version: 1, Text: "brazilnut prompt"}}),
		w.event(result.ID, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemMemory, Origin: protocol.OriginSystem, Content: "cashew memory", Visibility: protocol.VisibilityHidden}}),
	}
	if err := log.Commit(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int{
		"walnut": 3, "hazelnut": 1, `"pecan"`: 1, "the file": 1, "walnut label": 1,
		"call_almond": 0, "keyword": 0, "nested": 0, "c2lnbmF0dXJl": 0, "brazilnut": 0, "cashew": 0,
		"secretprovider": 0, string(said.ID): 0, "thinking": 0, "first": 1, // the name in the header
	} {
		got := 0
		for _, f := range w.search(t, Search{Words: []string{word}}) {
			got += len(f.Hits) + f.More
		}
		if got != want {
			t.Errorf("%q is found %d times, want %d", word, got, want)
		}
	}
	found := w.search(t, Search{Words: []string{"pecan"}})
	if len(found) != 1 || found[0].Meta.Name != name || found[0].FirstPrompt != "the walnut question" {
		t.Fatalf("found %+v", found)
	}
	hit := found[0].Hits[0]
	if hit.EventID != called.ID || hit.Seq != called.Seq || hit.Role != protocol.RoleAssistant || hit.TS != called.TS || !hit.Active {
		t.Errorf("the hit is %+v, the event %+v", hit, called.Envelope)
	}
	if got := text(hit.Snippet); got != `say "[pecan]" ` {
		t.Errorf("the snippet is %q", got)
	}
}

func TestSearchFoldsCaseUnlessTheWordHasCapitals(t *testing.T) {
	w := newWorld(t)
	w.said(t, `Größe of C:\New "quoted" ПРИВЕТ Kilo`)
	for word, want := range map[string]bool{
		"größe": true, "GRÖSSE": false, "gröSSe": false, "привет": true, "Привет": false, "ПРИВЕТ": true, `c:\new`: true, `C:\New`: true, `C:\new`: false,
		`"quoted"`: true, "kilo": true, "KILO": false, "größe of": true, "größe  of": false,
	} {
		if got := len(w.search(t, Search{Words: []string{word}})) == 1; got != want {
			t.Errorf("%q is found: %v, want %v", word, got, want)
		}
	}
	if len(w.search(t, Search{Words: []string{"kilo"}, MatchCase: true})) != 0 {
		t.Error("MatchCase finds another case")
	}
}

func TestSearchWantsAllWordsInOneEvent(t *testing.T) {
	w := newWorld(t)
	w.said(t, "apples and pears", "pears and plums")
	if got := w.search(t, Search{Words: []string{"apples", "plums"}}); len(got) != 0 {
		t.Errorf("words of two events are found: %+v", got)
	}
	got := w.search(t, Search{Words: []string{"plums", "pears"}})
	if len(got) != 1 || text(got[0].Hits[0].Snippet) != "[pears] and [plums]" {
		t.Errorf("got %+v", got)
	}
}

func TestSearchGivesNewestSessionsFirstAndCountsTheRest(t *testing.T) {
	w := newWorld(t)
	var ids []protocol.SessionID
	for i := range 4 {
		w.mem.Now = func() time.Time { return w.now().Add(time.Duration(i) * time.Hour) }
		ids = append(ids, w.said(t, "quince 1", "quince 2", "quince 3", "quince 4", "quince 5"))
	}
	got := w.search(t, Search{Words: []string{"quince"}, Limit: 7})
	if len(got) != 3 {
		t.Fatalf("%d sessions, want 3", len(got))
	}
	for i, f := range got {
		if f.SessionID != ids[3-i] {
			t.Errorf("place %d is %s, want %s", i, f.SessionID, ids[3-i])
		}
		want, more := []string{"[quince] 5", "[quince] 4", "[quince] 3"}, 2
		if i == 2 {
			want, more = want[:1], 4
		}
		var texts []string
		for _, h := range f.Hits {
			texts = append(texts, text(h.Snippet))
		}
		if !slices.Equal(texts, want) || f.More != more {
			t.Errorf("session %d: %q and %d more, want %q and %d", i, texts, f.More, want, more)
		}
	}
}

func TestSearchCountsNoFurtherThanItsBoundAndStillGivesTheNewest(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	var batch []protocol.Event
	leaf := protocol.EventID("")
	for i := range maxCounted + 50 {
		ev := w.user(leaf, fmt.Sprintf("medlar %d", i))
		batch, leaf = append(batch, ev), ev.ID
	}
	if err := log.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	got := w.search(t, Search{Words: []string{"medlar"}})
	if len(got) != 1 || got[0].More != maxCounted || got[0].Hits[0].EventID != leaf {
		t.Errorf("got %+v", got)
	}
}

func TestSearchSaysWhatIsOnTheActivePath(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "sorrel one")
	b := w.assistant(a.ID, "sorrel two")
	back := a.ID
	if err := log.Commit(t.Context(), []protocol.Event{a, b, w.rewind(b.ID, &back)}); err != nil {
		t.Fatal(err)
	}
	// The session is open here, as in another process.
	got := w.search(t, Search{Words: []string{"sorrel"}})
	if len(got) != 1 || len(got[0].Hits) != 2 || got[0].Hits[0].Active || !got[0].Hits[1].Active {
		t.Errorf("got %+v", got)
	}
}

func TestSearchOfAProjectLeavesOthersOut(t *testing.T) {
	w := newWorld(t)
	w.said(t, "tansy")
	h := w.header()
	h.Meta.ProjectID = protocol.NewProjectID(w.rand)
	log, err := w.store.Create(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.id = log.ID()
	if err := log.Commit(t.Context(), []protocol.Event{w.user("", "tansy")}); err != nil {
		t.Fatal(err)
	}
	got := w.search(t, Search{Words: []string{"tansy"}, ProjectID: h.Meta.ProjectID})
	if len(got) != 1 || got[0].SessionID != log.ID() {
		t.Errorf("got %+v", got)
	}
}

func TestSearchLeavesOutWhatNobodyWasTold(t *testing.T) {
	w := newWorld(t)
	w.said(t, "told rhubarb")
	line, err := w.user("", "untold rhubarb").AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.mem.Put(w.logName(), append(w.mem.Bytes(w.logName()), line[:len(line)-1]...)) // torn
	if got := w.search(t, Search{Words: []string{"rhubarb"}}); len(got) != 1 || len(got[0].Hits) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestSearchGoesOnBehindASessionThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.said(t, "chervil")
	bad := w.said(t, "chervil")
	good := w.said(t, "chervil")
	w.fs = &failOpen{w.mem, string(bad)}
	w.restart(t)
	var found, failed []protocol.SessionID
	for f, err := range w.store.Search(t.Context(), Search{Words: []string{"chervil"}}) {
		if err != nil {
			failed = append(failed, f.SessionID)
			continue
		}
		found = append(found, f.SessionID)
	}
	if len(found) != 2 || !slices.Contains(found, good) || !slices.Equal(failed, []protocol.SessionID{bad}) {
		t.Errorf("found %v, failed %v", found, failed)
	}
}

func TestSearchEndsWithItsContextAndWithItsConsumer(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.said(t, "dill")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range w.store.Search(ctx, Search{Words: []string{"dill"}}) {
		n, last = n+1, err
		cancel() // what was under way may still come
	}
	if !errors.Is(last, context.Canceled) || n > 2 {
		t.Errorf("%d results, the last with %v", n, last)
	}
	for range w.store.Search(t.Context(), Search{Words: []string{"dill"}}) {
		break
	}
}

func TestSearchForNothingIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, q := range []Search{{}, {Words: []string{" "}}, {Words: []string{strings.Repeat("x", 300)}}, {Words: make([]string, 1), Limit: 1}, {Words: []string{"a"}, Limit: 1000}} {
		for _, err := range w.store.Search(t.Context(), q) {
			if !errors.Is(err, ErrQuery) {
				t.Errorf("%+v gives %v", q, err)
			}
		}
	}
}

// TestSearchFindsWhatAReaderFinds compares with reading every text letter by
// letter, over random texts of an alphabet that holds what JSON escapes.
func TestSearchFindsWhatAReaderFinds(t *testing.T) {
	harness.Computed(t)
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aAbBeE01\"\\\n\t é É σ ς Σ К к  日")
	random := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		return s.String()
	}
	w := newWorld(t)
	var texts []string
	for range 200 {
		texts = append(texts, random(r.IntN(60)))
	}
	for _, x := range texts {
		w.said(t, x)
	}
	for range 300 {
		word := random(1 + r.IntN(4))
		if strings.TrimSpace(word) == "" {
			continue
		}
		want := 0
		for _, x := range texts {
			if slowlyContains(x, word, strings.ToLower(word) == word) {
				want++
			}
		}
		if got := len(w.search(t, Search{Words: []string{word}, Limit: maxHits})); got != want {
			t.Fatalf("%q is found in %d texts, a reader finds it in %d", word, got, want)
		}
	}
}

func slowlyContains(text, word string, anyCase bool) bool {
	a, b := []rune(text), []rune(word)
	same := func(x, y rune) bool {
		if x == y || !anyCase {
			return x == y
		}
		for o := unicode.SimpleFold(x); o != x; o = unicode.SimpleFold(o) {
			if o == y {
				return true
			}
		}
		return false
	}
	for i := 0; i+len(b) <= len(a); i++ {
		if slices.EqualFunc(a[i:i+len(b)], b, same) {
			return true
		}
	}
	return false
}

// failOpen refuses to open files of one session.
type failOpen struct {
	*disktest.Mem
	id string
}

func (f *failOpen) Open(name string, flag disk.OpenFlag) (disk.File, error) {
	if strings.Contains(name, f.id) {
		return nil, syscall.EIO
	}
	return f.Mem.Open(name, flag)
}
