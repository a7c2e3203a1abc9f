package history

import (
	"errors"
	"testing"

	"scorel/protocol"
)

func (s *talk) details(tool, details string) protocol.EventID {
	m := resultOf("x", "out")
	m.ToolName, m.Details = tool, []byte(details)
	return s.message(m)
}

func (s *talk) fold(t *testing.T) *State {
	t.Helper()
	st, err := stateOf(t, s.log, s.leaf)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestFoldReadsTodosDirAndFilesOfThePath(t *testing.T) {
	s := newTalk()
	root := s.user("go")
	s.details("TodoWrite", `{"todos":[{"content":"old","status":"pending"}]}`)
	s.details("Bash", `{"dir":"/old"}`)
	at := s.details("Read", `{"files":[{"path":"/a","sha256":"1","whole":true},{"path":"/b","sha256":"1"}]}`)
	s.details("TodoWrite", `{"todos":[{"content":"new","status":"in_progress"}]}`)
	s.details("Bash", `{"dir":"/new"}`)
	s.details("Bash", `{"exitCode":1}`)
	s.details("Read", `{"files":[{"path":"/a","sha256":"1"},{"path":"/b","sha256":"2","whole":true}]}`)
	s.details("Edit", `{"files":[{"path":"/c","sha256":"3","whole":true}]}`)
	s.details("WebFetch", `{"files":[{"path":"/d","sha256":"4"}],"dir":"/no"}`)
	s.details("Read", `not json`)
	st := s.fold(t)
	if st.Dir != "/new" || asJSON(t, st.Todos) != `[{"content":"new","status":"in_progress"}]` {
		t.Errorf("dir %q, todos %v", st.Dir, st.Todos)
	}
	for path, want := range map[string]protocol.FileState{
		"/a": {Path: "/a", SHA256: "1", Whole: true}, "/b": {Path: "/b", SHA256: "2", Whole: true}, "/c": {Path: "/c", SHA256: "3", Whole: true}, "/d": {},
	} {
		if got, _ := seenOf(st, path); got != want {
			t.Errorf("%s was seen as %+v, want %+v", path, got, want)
		}
	}
	s.leaf = at
	if st := s.fold(t); st.Dir != "/old" || st.Todos[0].Content != "old" {
		t.Errorf("after a rewind: dir %q, todos %v", st.Dir, st.Todos)
	}
	s.leaf = root
	if st := s.fold(t); st.Dir != "" || st.Todos != nil {
		t.Errorf("at the root: dir %q, todos %v", st.Dir, st.Todos)
	}
}

func TestWhatCameFromAFileSaysNothingOfFoldersAndFilesHere(t *testing.T) {
	for _, later := range []string{"", `{"dir":"/new"}`} {
		s := newTalk()
		s.user("go")
		s.details("TodoWrite", `{"todos":[{"content":"kept","status":"pending"}]}`)
		s.details("Read", `{"files":[{"path":"/a","sha256":"1","whole":true}]}`)
		s.details("Bash", `{"dir":"/foreign"}`)
		imported := s.last.Seq
		if later != "" {
			s.details("Bash", later)
		}
		b, err := New(Config{Log: s.log, Imported: imported})
		if err != nil {
			t.Fatal(err)
		}
		st, err := b.State(t.Context(), s.leaf)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if later != "" {
			want = "/new"
		}
		if st.Dir != want || len(st.Files) > 0 || len(st.Todos) != 1 {
			t.Errorf("after %q: dir %q, files %v, todos %v", later, st.Dir, st.Files, st.Todos)
		}
	}
}

func TestTodosAreClearedWhenAllAreDone(t *testing.T) {
	s := newTalk()
	s.details("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`)
	s.details("TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`)
	if st := s.fold(t); st.Todos != nil {
		t.Errorf("todos: %v", st.Todos)
	}
}

func TestFailedTodoWriteChangesNothing(t *testing.T) {
	s := newTalk()
	s.details("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`)
	m := protocol.ToolError("y", "TodoWrite", "invalid")
	m.Details = []byte(`{}`)
	s.message(m)
	if st := s.fold(t); len(st.Todos) != 1 {
		t.Errorf("todos: %v", st.Todos)
	}
}

func TestSeenFilesEndWhereTheCompactionBegins(t *testing.T) {
	s := newTalk()
	s.user("go")
	s.details("Bash", `{"dir":"/kept"}`)
	through := s.details("Read", `{"files":[{"path":"/gone","sha256":"1"}]}`)
	s.details("Read", `{"files":[{"path":"/tail","sha256":"1"}]}`)
	s.compact("evt_0000000000000002", "", "an older one")
	s.compact(through, "", "S")
	st := s.fold(t)
	if _, ok := seenOf(st, "/gone"); ok {
		t.Error("a file of the summarised part counts as seen")
	}
	if _, ok := seenOf(st, "/tail"); !ok || st.Dir != "/kept" {
		t.Errorf("the tail's file is seen: %v; dir %q", ok, st.Dir)
	}
}

func TestApplyGivesWhatFoldGives(t *testing.T) {
	s := newTalk()
	kept := s.fold(t)
	for _, d := range [][2]string{
		{"Read", `{"files":[{"path":"/a","sha256":"1","whole":true}]}`},
		{"TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`},
		{"Read", `{"files":[{"path":"/a","sha256":"1"}]}`},
		{"Bash", `{"dir":"/x"}`},
		{"Edit", `{"files":[{"path":"/a","sha256":"2"}]}`},
		{"TodoWrite", `{}`},
		{"Grep", `{}`},
	} {
		s.details(d[0], d[1])
		kept.Apply(s.last)
		fresh := s.fold(t)
		a, _ := seenOf(kept, "/a")
		b, _ := seenOf(fresh, "/a")
		if a != b || kept.Dir != fresh.Dir || asJSON(t, kept.Todos) != asJSON(t, fresh.Todos) {
			t.Errorf("after %v: kept %+v %+v, anew %+v %+v", d, kept, a, fresh, b)
		}
	}
	if fresh := s.fold(t); asJSON(t, kept.Files) != asJSON(t, fresh.Files) {
		t.Errorf("kept %v, anew %v", kept.Files, fresh.Files)
	}
}

func TestFindResultLooksBehindTheCompaction(t *testing.T) {
	s := newTalk()
	s.user("go")
	s.say("", "a")
	s.result("a", "first")
	s.say("", "a")
	through := s.result("a", "second")
	s.compact(through, "", "S")
	m, err := FindResult(t.Context(), s.log, s.leaf, "a")
	if err != nil || m.PlainText() != "second" {
		t.Errorf("found %q, %v", m.PlainText(), err)
	}
	if _, err := FindResult(t.Context(), s.log, s.leaf, "b"); !errors.Is(err, ErrNoResult) {
		t.Errorf("a call that never was: %v", err)
	}
	s.leaf = "evt_missing"
	if _, err := FindResult(t.Context(), s.log, s.leaf, "a"); err == nil || errors.Is(err, ErrNoResult) {
		t.Errorf("a damaged log: %v", err)
	}
}

func TestErrorsOfTheLogAreReturned(t *testing.T) {
	s := newTalk()
	s.leaf = "evt_missing"
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), s.leaf, window); err == nil {
		t.Error("Build gave no error")
	}
	if _, err := b.Told(t.Context(), s.leaf); err == nil {
		t.Error("Told gave no error")
	}
	if _, err := stateOf(t, s.log, s.leaf); err == nil {
		t.Error("Fold gave no error")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a builder without a log was made")
	}
}

func TestEmptyLeafIsAnEmptyConversation(t *testing.T) {
	if c := newTalk().build(t, nil); len(c.Messages) != 0 || c.Tokens != window.System+window.Tools {
		t.Errorf("%d messages, %d tokens", len(c.Messages), c.Tokens)
	}
}

// stateOf returns the state that a new builder finds.
func stateOf(t *testing.T, log Log, leaf protocol.EventID) (*State, error) {
	t.Helper()
	b, err := New(Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return b.State(t.Context(), leaf)
}

func TestStateFollowsWhatTheBuilderIsToldOf(t *testing.T) {
	s := newTalk()
	s.user("go")
	s.details("Read", `{"files":[{"path":"/a","sha256":"1"}]}`)
	b, err := New(Config{Log: s.log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(t.Context(), s.leaf, Window{Size: 100_000}); err != nil {
		t.Fatal(err)
	}
	for _, d := range [][2]string{
		{"TodoWrite", `{"todos":[{"content":"new","status":"pending"}]}`},
		{"Bash", `{"dir":"/new"}`},
		{"Edit", `{"files":[{"path":"/a","sha256":"2","whole":true}]}`},
	} {
		b.Extend(s.log.events[s.details(d[0], d[1])])
	}
	got, err := b.State(t.Context(), s.leaf)
	if err != nil {
		t.Fatal(err)
	}
	want := s.fold(t)
	if asJSON(t, got.Todos) != asJSON(t, want.Todos) || got.Dir != want.Dir || len(got.Todos) != 1 {
		t.Errorf("extended: %v %q, anew: %v %q", got.Todos, got.Dir, want.Todos, want.Dir)
	}
	if a, _ := seenOf(got, "/a"); a.SHA256 != "2" || !a.Whole {
		t.Errorf("/a was seen as %+v", a)
	}
	got.Todos = nil
	if again, _ := b.State(t.Context(), s.leaf); len(again.Todos) != 1 {
		t.Error("a state is shared with the builder")
	}
}

func TestTodosAndDirOfBeforeACompactionAreFound(t *testing.T) {
	s := newTalk()
	s.user("go")
	s.details("TodoWrite", `{"todos":[{"content":"kept","status":"pending"}]}`)
	s.details("Bash", `{"dir":"/kept"}`)
	through := s.details("Read", `{"files":[{"path":"/gone","sha256":"1"}]}`)
	s.user("more")
	s.compact(through, "", "summary")
	st := s.fold(t)
	if st.Dir != "/kept" || len(st.Todos) != 1 {
		t.Errorf("dir %q, todos %v", st.Dir, st.Todos)
	}
	if _, ok := seenOf(st, "/gone"); ok {
		t.Error("a file is still seen that only the summary knows")
	}
}

// seenOf puts together what a state says of one file.
func seenOf(s *State, path string) (f protocol.FileState, ok bool) {
	for _, next := range s.Files {
		if next.Path == path {
			next.Whole = next.Whole || (f.Whole && f.SHA256 == next.SHA256)
			f, ok = next, true
		}
	}
	return f, ok
}
