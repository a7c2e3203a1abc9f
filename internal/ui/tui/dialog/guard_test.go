package dialog

import (
	"testing"
	"time"

	"scorel/protocol"
)

func TestAKeyIsForTheDialogOnlyWhenItWasSeenAndNobodyTypes(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	type key struct {
		at   int
		want bool
	}
	for name, tt := range map[string]struct {
		typed []int // keys before the dialog is drawn, at 0
		keys  []key
	}{
		"at rest":                          {nil, []key{{250, true}, {251, true}, {260, true}}},
		"too early":                        {nil, []key{{249, false}, {700, false}, {1199, false}, {1699, true}}},
		"in the middle of a word":          {[]int{-100}, []key{{50, false}, {300, false}, {799, false}, {1299, true}}},
		"after a word":                     {[]int{-100}, []key{{399, false}, {899, true}}},
		"a key before it, and then a look": {[]int{-1000}, []key{{250, true}}},
	} {
		var g Guard
		for _, ms := range tt.typed {
			if g.Key("", at(ms)) {
				t.Errorf("%s: a key without a dialog is for it", name)
			}
		}
		g.Drawn("prm_1", at(0))
		g.Drawn("prm_1", at(200)) // drawn again
		for _, k := range tt.keys {
			if got := g.Key("prm_1", at(k.at)); got != k.want {
				t.Errorf("%s: the key at %d is for the dialog: %v", name, k.at, got)
			}
		}
	}
}

func TestADialogThatWasNotDrawnTakesNoKey(t *testing.T) {
	var g Guard
	now := time.Unix(1000, 0)
	g.Drawn("prm_1", now)
	if g.Key("prm_2", now.Add(time.Minute)) || g.Key("", now.Add(2*time.Minute)) {
		t.Error("it takes one")
	}
}

func TestAKeyThatIsPressedTwiceDoesNotAnswerTwoQuestions(t *testing.T) {
	var g Guard
	now := time.Unix(1000, 0)
	g.Drawn("prm_1", now)
	now = now.Add(time.Second)
	if !g.Key("prm_1", now) {
		t.Fatal("the first is not answered")
	}
	g.Answered(now)
	g.Drawn("prm_2", now.Add(10*time.Millisecond))
	if g.Key("prm_2", now.Add(300*time.Millisecond)) {
		t.Error("the second is answered, too")
	}
	if got := g.Wait(now.Add(300 * time.Millisecond)); got != Pause {
		t.Errorf("it takes keys in %v", got)
	}
	if !g.Key("prm_2", now.Add(300*time.Millisecond+Pause)) {
		t.Error("it never takes a key")
	}
}

func TestAWordThatIsNoAnswerGoesToTheDraftWithAllThatFollowsIt(t *testing.T) {
	var g Guard
	now := time.Unix(0, 0)
	g.Drawn("perm", now)
	now = now.Add(time.Second)
	d := NewPermission(protocol.PermissionRequest{PermissionID: "perm", Suggestions: []protocol.Suggestion{{Label: "Allow once", Scope: "once"}}}, nil)
	if !g.Key("perm", now) {
		t.Fatal("the question takes no key")
	}
	if o := d.Insert("/"); !o.Draft || o.Request != nil {
		t.Fatalf("a slash is %+v", o)
	}
	g.Drafting(now)
	for range 5 { // the rest of the word, and Enter
		now = now.Add(100 * time.Millisecond)
		if g.Key("perm", now) {
			t.Fatal("the rest of the word reaches the question")
		}
	}
	if now = now.Add(Pause); !g.Armed("perm", now) {
		t.Error("the question takes no key after a pause")
	}
}
