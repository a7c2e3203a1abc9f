package extension

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/session/history"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// view is what a process has of a mirror.
type view struct {
	t    *testing.T
	m    mirror
	list []rpc.Entry
}

// sync takes what the mirror has to tell, and returns how much of the old list it kept;
// -1 when there was nothing.
func (v *view) sync() int {
	v.t.Helper()
	e, changed, err := v.m.sync(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	if !changed {
		return -1
	}
	if e.Keep > len(v.list) {
		v.t.Fatalf("it keeps %d of %d", e.Keep, len(v.list))
	}
	v.list = v.list[:e.Keep:e.Keep]
	for _, raw := range e.Add {
		var x rpc.Entry
		if err := json.Unmarshal(raw, &x); err != nil {
			v.t.Fatal(err)
		}
		v.list = append(v.list, x)
	}
	return e.Keep
}

func (v *view) ids() string {
	var ids []string
	for _, e := range v.list {
		ids = append(ids, string(e.ID))
	}
	return strings.Join(ids, " ")
}

func say(text string) protocol.Body {
	return &protocol.MessageBody{Message: protocol.UserText(text)}
}

func pin(kind string) protocol.Body {
	return &protocol.Custom{Kind: kind, Data: json.RawMessage(`{"n":1}`)}
}

func TestMirrorFollowsTheActivePath(t *testing.T) {
	log := &fakeLog{}
	v := &view{t: t, m: mirror{log: log}}
	expect := func(keep int, ids string) {
		t.Helper()
		if got := v.sync(); got != keep || v.ids() != ids {
			t.Errorf("kept %d: %s; want %d: %s", got, v.ids(), keep, ids)
		}
	}
	expect(-1, "")
	log.add("a", "", say("one"))
	log.add("m1", "a", pin("pin"))
	expect(0, "a m1")
	expect(-1, "a m1")
	log.add("b", "a", say("two"))
	log.add("h", "b", &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemMemory}})
	log.add("l", "h", &protocol.Label{TargetEventID: "a"})
	expect(2, "a m1 b")
	log.add("c", "h", say("three"))
	log.add("m2", "c", pin("pin"))
	expect(3, "a m1 b c m2")
	// Back to a: what was appended there before b counts, what came on the way does not.
	back := protocol.EventID("a")
	log.add("r", "c", &protocol.Rewind{TargetEventID: &back})
	expect(2, "a m1")
	log.add("m3", "a", pin("pin"))
	log.add("d", "a", say("four"))
	expect(2, "a m1 m3 d")
	// On the first branch m3 does not count: it came later than b.
	log.add("br", "d", &protocol.Branch{LeafEventID: "c"})
	log.leaf = "c"
	expect(2, "a m1 b c m2")
	if e := v.list[1]; e.Type != "pin" || !e.Custom || string(e.Data) != `{"n":1}` {
		t.Errorf("%+v", e)
	}
}

func TestWhatThisVersionCannotWriteIsNotToldAndStopsNothing(t *testing.T) {
	odd := protocol.Message{Role: "system", Content: []protocol.Block{protocol.Text("x")}}
	mixed := protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: "hologram"}, protocol.Text("kept")}}
	var m mirror
	list, err := m.add(t.Context(), nil, protocol.NewEvent(&protocol.MessageBody{Message: odd}))
	if err != nil || len(list) > 0 {
		t.Errorf("an unknown role gives %s, %v", list, err)
	}
	m.at = map[protocol.EventID]int{}
	if list, err = m.add(t.Context(), nil, protocol.NewEvent(&protocol.MessageBody{Message: mixed})); err != nil || len(list) != 1 || !strings.Contains(string(list[0]), "kept") || strings.Contains(string(list[0]), "hologram") {
		t.Errorf("an unknown block gives %s, %v", list, err)
	}
}

func TestCompactionNamesTheFirstEntryThatItKept(t *testing.T) {
	log := &fakeLog{}
	log.add("a", "", say("one"))
	log.add("b", "a", say("the turn's question"))
	log.add("m", "b", pin("pin"))
	log.add("c", "b", say("three"))
	log.add("d", "c", say("four"))
	log.add("k", "d", &protocol.Compact{Summary: "S", CompactedThrough: "c", TurnMessageID: "b", TokensBefore: 9})
	log.add("e", "k", say("five"))
	log.add("k2", "e", &protocol.Compact{Summary: "T", CompactedThrough: "e"})
	v := &view{t: t, m: mirror{log: log}}
	v.sync()
	if v.ids() != "a b m c d k e k2" {
		t.Fatalf("%s", v.ids())
	}
	k := v.list[5]
	if k.Type != "compaction" || k.FirstKeptEntryIndex == nil || *k.FirstKeptEntryIndex != 4 || k.Summary != "S\n\nthe turn's question" || k.TokensBefore != 9 {
		t.Errorf("%+v", k)
	}
	if k2 := v.list[7]; *k2.FirstKeptEntryIndex != 7 {
		t.Errorf("with nothing kept it names %d", *k2.FirstKeptEntryIndex)
	}
}

func TestMirrorThatFailedIsToldWhole(t *testing.T) {
	log := &fakeLog{}
	log.add("a", "", say("one"))
	log.add("b", "a", say("two"))
	v := &view{t: t, m: mirror{log: log}}
	v.sync()
	v.m.reset()
	if keep := v.sync(); keep != 0 || v.ids() != "a b" {
		t.Errorf("kept %d: %s", keep, v.ids())
	}
}

func elements(log *fakeLog, ids ...protocol.EventID) []history.Element {
	var out []history.Element
	for _, id := range ids {
		for _, e := range log.all() {
			if b, ok := e.Body.(*protocol.MessageBody); ok && e.ID == id {
				out = append(out, history.Element{Event: id, Message: &b.Message})
			}
		}
	}
	return out
}

func TestListsCrossAsIndexesAndComeBackAsTheElementsThatWereGiven(t *testing.T) {
	log := &fakeLog{}
	log.add("a", "", say("one"))
	log.add("b", "a", say("two"))
	log.add("m", "b", pin("pin"))
	log.add("c", "b", say("three"))
	v := &view{t: t, m: mirror{log: log}}
	v.sync()
	given := append(elements(log, "b", "c"), history.Element{Event: "k", Message: &protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("summary")}}})
	parts, l, err := v.m.parts(given)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(rpc.ContextData{List: parts})
	if err != nil || string(data) != `{"list":[[1,1],[3,3],{"role":"user","content":"summary"}]}` {
		t.Errorf("%s, %v", data, err)
	}
	back := func(list string) ([]history.Element, error) {
		var a rpc.ContextData
		if err := json.Unmarshal([]byte(`{"list":`+list+`}`), &a); err != nil {
			return nil, err
		}
		return l.list(t.Context(), nil, a.List)
	}
	// Over a custom event, with one that was not in the list, and one of its own.
	got, err := back(`[[0,3],{"role":"user","content":"mine"}]`)
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got[0].Event != "" || got[0].Message.PlainText() != "one" || got[1].Message != given[0].Message || got[1].Event != "b" || got[2].Event != "c" || got[3].Message.PlainText() != "mine" {
		t.Errorf("%+v", got)
	}
	// The mirror goes on while the process thinks.
	back2 := protocol.EventID("a")
	log.add("r", "c", &protocol.Rewind{TargetEventID: &back2})
	v.sync()
	if got, err := back(`[[3,3]]`); err != nil || len(got) != 1 || got[0].Event != "c" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{`[[0,4]]`, `[[-1,0]]`, `[[2,1]]`, `[{"role":"system","content":"x"}]`, `["x"]`} {
		if got, err := back(bad); err == nil {
			t.Errorf("%s gives %+v", bad, got)
		}
	}
}

func TestPeerAnswersEachCallWhateverTheOrder(t *testing.T) {
	w := newWorld(t)
	w.js("one", script{hooks("tool_call", "tool_result"), map[string]string{"hook tool_call": "hang", "hook tool_result": `answer {"isError":true}`}})
	w.load()
	slow := make(chan error, 1)
	go func() {
		_, err := w.find("one").ask(t.Context(), rpc.MethodHook, 0, nil, func(*child) (any, error) {
			return rpc.HookCall{Ext: "one", Hook: "tool_call"}, nil
		})
		slow <- err
	}()
	answer, err := w.find("one").ask(t.Context(), rpc.MethodHook, 0, nil, func(*child) (any, error) {
		return rpc.HookCall{Ext: "one", Hook: "tool_result"}, nil
	})
	if err != nil || string(answer) != `{"isError":true}` {
		t.Errorf("%s, %v", answer, err)
	}
	w.set.Close() // ends what waits
	if err := <-slow; err == nil {
		t.Error("what never answers gave an answer")
	}
}

func TestFindSeesEveryFormAndNamesWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	put := func(name, text string) {
		t.Helper()
		w.put(name, text)
	}
	put("a.ts", "")
	put("b.mjs", "")
	put("types.d.ts", "")
	put("README.md", "")
	put(".hidden.ts", "")
	put("node_modules/x/index.js", "")
	put("folder/index.ts", "")
	put("empty/readme", "")
	put("pkg/package.json", `{"pi":{"extensions":["./src/one.ts"]}}`)
	put("pkg/src/one.ts", "")
	put("two/package.json", `{"scorel":{"extensions":["one.ts","sub/two.js"]},"pi":{"extensions":["no.ts"]}}`)
	put("two/one.ts", "")
	put("two/sub/two.js", "")
	put("out/package.json", `{"scorel":{"extensions":["../a.ts"]}}`)
	put("prog/scorel.extension.json", `{"id":"program","kind":"process","displayName":"A program","command":["./run"],"skills":["skills"],"mcp":{}}`)
	put("unknown/scorel.extension.json", `{"kind":"process","command":["x"],"color":"red"}`)
	put("wasm/scorel.extension.json", `{"kind":"wasm","command":["x"]}`)
	put("a/index.js", "")
	put("bad name.ts", "")
	put("disabled.ts", "")
	found := Find([]Source{{Dir: w.dir, Scope: User}}, func(id string) bool { return id == "b" })
	var got []string
	for _, e := range found.Extensions {
		got = append(got, e.ID+" "+string(e.Kind)+" "+string(e.State))
	}
	want := []string{"a javascript found", "a javascript failed", "b javascript disabled", "bad name javascript failed", "disabled javascript failed",
		"folder javascript found", "out javascript failed", "pkg javascript found", "program process found", "two-one javascript found", "two-two javascript found",
		"unknown process failed", "wasm process failed"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
	if len(found.Problems) != 0 {
		t.Errorf("%q", found.Problems)
	}
	for _, e := range found.Extensions {
		if (e.Servers != nil) != (e.ID == "program") {
			t.Errorf("%s has the servers %s", e.ID, e.Servers)
		}
		if (e.State == protocol.ExtensionFailed) != (e.Problem != "" && e.State != protocol.ExtensionDisabled) {
			t.Errorf("%s: %s %q", e.ID, e.State, e.Problem)
		}
	}
}

func TestProjectTakesTheNameOfTheUsersExtensionOnlyWhenItIsTrusted(t *testing.T) {
	w := newWorld(t)
	project := t.TempDir()
	w.put("same.ts", "")
	write := func(name string) {
		t.Helper()
		w.putAt(project, name, "")
	}
	write(".scorel/extensions/same.ts")
	for _, trusted := range []bool{false, true} {
		files := map[string]string(nil)
		if trusted {
			files = map[string]string{".scorel/extensions/same.ts": "x"}
		}
		found := Find([]Source{{Dir: w.dir, Scope: User}, {Dir: project + "/.scorel/extensions", Base: project, Scope: Project,
			Trusted: func() (map[string]string, string) { return files, "not trusted" }}}, nil)
		if len(found.Extensions) != 2 {
			t.Fatalf("%+v", found)
		}
		user, own := found.Extensions[0], found.Extensions[1]
		if trusted != (user.State == protocol.ExtensionShadowed) || trusted != (own.State == protocol.ExtensionFound) || trusted != (own.Files != nil) {
			t.Errorf("trusted %v: user %+v, project %+v", trusted, user, own)
		}
	}
}
