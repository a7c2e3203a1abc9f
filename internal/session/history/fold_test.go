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
	st, err := Fold(t.Context(), s.log, s.leaf)
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
	for path, want := range map[string]FileState{
		"/a": {"/a", "1", true}, "/b": {"/b", "2", true}, "/c": {"/c", "3", true}, "/d": {},
	} {
		if got, _ := st.Seen(path); got != want {
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
	if _, ok := st.Seen("/gone"); ok {
		t.Error("a file of the summarised part counts as seen")
	}
	if _, ok := st.Seen("/tail"); !ok || st.Dir != "/kept" {
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
		a, _ := kept.Seen("/a")
		b, _ := fresh.Seen("/a")
		if a != b || kept.Dir != fresh.Dir || asJSON(t, kept.Todos) != asJSON(t, fresh.Todos) {
			t.Errorf("after %v: kept %+v %+v, anew %+v %+v", d, kept, a, fresh, b)
		}
	}
	n := 0
	for range kept.SeenFiles {
		n++
	}
	if n != 1 {
		t.Errorf("%d files", n)
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
	if _, err := Fold(t.Context(), s.log, s.leaf); err == nil {
		t.Error("Fold gave no error")
	}
	if _, err := BranchRange(t.Context(), s.log, s.leaf, ""); err == nil {
		t.Error("BranchRange gave no error")
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

func TestBranchRangeGoesBackToTheCommonAncestor(t *testing.T) {
	s := newTalk()
	s.user("shared")
	fork := s.say("shared answer")
	s.user("left")
	s.item(protocol.ItemAttachment, "attached")
	s.item(protocol.ItemMemory, "memory")
	old := s.say("left answer")
	s.leaf = fork
	now := s.user("here")
	for _, c := range []struct {
		name     string
		old, now protocol.EventID
		want     string
	}{
		{"to a sibling", old, now, "user: left\nuser: " + note1("attached") + "\nassistant: left answer\n"},
		{"to the fork", old, fork, "user: left\nuser: " + note1("attached") + "\nassistant: left answer\n"},
		{"forward", fork, old, ""},
		{"to the empty conversation", fork, "", "user: shared\nassistant: shared answer\n"},
	} {
		got, err := BranchRange(t.Context(), s.log, c.old, c.now)
		if err != nil || brief(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, brief(got), err)
		}
	}
	s.leaf = old
	s.compact(s.leaf, "", "an older one")
	s.compact(old, "", "S of the branch")
	s.user("on")
	got, err := BranchRange(t.Context(), s.log, s.leaf, now)
	if err != nil || brief(got) != summaryLine("S of the branch")+"\nuser: on\n" {
		t.Errorf("behind a compact: %q, %v", brief(got), err)
	}
	req := BranchSummaryRequest(got, "short", small)
	if text := req.Messages[0].PlainText(); req.MaxTokens != 3000 || req.System == "" {
		t.Errorf("the request is %+v %s", req, text)
	}
}
