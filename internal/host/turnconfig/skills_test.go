package turnconfig_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func items(events []protocol.Event, kind protocol.ItemKind) (out []string) {
	for _, e := range events {
		if b, ok := e.Body.(*protocol.HarnessItem); ok && b.Item.Kind == kind {
			out = append(out, b.Item.Content)
		}
	}
	return out
}

func indexEvents(events []protocol.Event) (out []string) {
	names := func(list []protocol.Skill) string {
		var s []string
		for _, k := range list {
			s = append(s, k.Name)
		}
		return strings.Join(s, ",")
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case *protocol.SkillIndexSnapshot:
			out = append(out, "all "+names(b.Entries))
		case *protocol.SkillIndexDelta:
			out = append(out, fmt.Sprintf("added %s changed %s removed %s", names(b.Added), names(b.Changed), strings.Join(b.Removed, ",")))
		}
	}
	return out
}

func hasTool(body, name string) bool { return strings.Contains(body, `"name":"`+name+`"`) }

func TestSkillsAreIndexedInTheLogAndToldOnceUntilTheyChange(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	e := w.Begin(false)
	e.Say("none yet")
	if b := w.Asked(0)[0]; hasTool(b, "Skill") || hasTool(b, "ExecuteSkill") || strings.Contains(b, "Skills are folders") {
		t.Error("without skills the model is told of some")
	}
	w.User("skills/greet/SKILL.md", "---\ndescription: Greets people\n---\nSay hello.\n")
	w.File(".scorel/skills/local/SKILL.md", "---\ndescription: Of the project\n---\nx\n")
	for range 2 {
		e.Say("again")
	}
	w.User("skills/more/SKILL.md", "---\ndescription: One more\n---\nx\n")
	e.Say("changed")
	e.Say("same")
	if got := strings.Join(indexEvents(w.Log(e.ID)), "; "); got != "all greet,local; added more changed  removed " {
		t.Errorf("the index: %s", got)
	}
	listed := items(w.Log(e.ID), protocol.ItemSkillListing)
	if len(listed) != 1 || !strings.HasSuffix(listed[0], "\n- greet: Greets people\n- local [project]: Of the project") {
		t.Errorf("listings: %q", listed)
	}
	if d := items(w.Log(e.ID), protocol.ItemSkillDelta); len(d) != 1 || !strings.HasSuffix(d[0], "\n- more: One more") {
		t.Errorf("deltas: %q", d)
	}
	for _, b := range w.Asked(1) {
		if !hasTool(b, "Skill") || hasTool(b, "ExecuteSkill") || strings.Count(b, "greet: Greets people") != 1 {
			t.Errorf("a request lacks the listing, or has it twice: %.200s", b)
		}
	}

	// On another path, and after a compaction, it is told again.
	page := hosttest.Call[*protocol.Events](t, e.C, e.ID, &protocol.GetPath{Limit: 100})
	var target protocol.EventID
	for _, ev := range page.Events {
		if m, ok := ev.Message(); ok && m.Role == protocol.RoleUser && m.PlainText() == "again" {
			target = ev.ParentID // the oldest one is met last
		}
	}
	hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{TargetEventID: &target})
	e.Say("elsewhere")
	if n := len(items(w.Log(e.ID), protocol.ItemSkillListing)); n != 2 {
		t.Errorf("%d listings after a rewind", n)
	}
	if got := len(indexEvents(w.Log(e.ID))); got != 2 {
		t.Errorf("%d index events: the index does not depend on the path", got)
	}
	w.Judged()
}

func TestTheModelReadsASkillAndRunsItsProgram(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api, Overrides: host.Overrides{Allow: []string{"ExecuteSkill(sum)"}}},
				`{"do":[{"call":"Skill","id":"c1","input":{"name":"sum","args":"these"}},{"call":"Read","id":"c2","input":{"path":"~/.scorel/skills/sum/notes.txt"}}]}`,
				`{"do":[{"call":"ExecuteSkill","id":"c3","input":{"name":"sum","input":{"numbers":[1,2,3],"taskId":"t-7"}}},{"call":"ExecuteSkill","id":"c4","input":{"name":"sum","input":{"numbers":"x"}}}]}`,
				`{"do":[{"text":"six"}]}`)
			w.User("skills/sum/SKILL.md", "---\nname: Adder\ndescription: Adds numbers\nentry: run.sh\ninput:\n  type: object\n  properties:\n    numbers: {type: array, items: {type: number}}\n  required: [numbers]\n---\nAdd $ARGUMENTS carefully.\n")
			w.User("skills/sum/notes.txt", "beside the skill\n")
			w.User("skills/sum/run.sh", `read -r input
echo '{"type":"process_event","stage":"adding","message":"adds","current":1,"total":2,"secret":"s3cr3t","round":1}' >&2
echo "plain line" >&2
pwd >&2
case "$input" in *'[1,2,3]'*) echo '{"sum": 6}' ;; *) echo "$input" >&2; exit 4 ;; esac
`)
			e := w.Begin(false)
			if end := e.Say("add"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("%+v\n%s", end, e.Trace())
			}
			w.Judged()
			results := map[string]protocol.Message{}
			for _, m := range e.Messages() {
				if m.Role == protocol.RoleToolResult {
					results[m.ToolCallID] = m
				}
			}
			text := results["c1"].PlainText()
			if !strings.Contains(text, "Add these carefully.") || !strings.Contains(text, filepath.Join(w.Home, ".scorel/skills/sum")) || !strings.Contains(text, `"required":["numbers"]`) || results["c1"].IsError {
				t.Errorf("the text: %s", text)
			}
			if got := results["c2"].PlainText(); results["c2"].IsError || !strings.Contains(got, "beside the skill") {
				t.Errorf("a file of the skill: %s", got)
			}
			if got := results["c3"].PlainText(); results["c3"].IsError || got != `{"sum": 6}` {
				t.Errorf("the answer: %s", got)
			}
			if got := results["c4"].PlainText(); !results["c4"].IsError || !strings.Contains(got, "does not fit the skill sum") {
				t.Errorf("an input that does not fit: %s", got)
			}
			var p *protocol.ToolProcess
			for _, ev := range e.Events {
				if b, ok := ev.Body.(*protocol.ToolProcess); ok {
					p = b
				}
			}
			if p == nil || p.ToolCallID != "c3" || p.ToolLabel != "Adder" || p.Event.Stage != "adding" || p.Event.TargetType != protocol.ProcessOfSkill || string(p.Event.Payload) != `{"secret":"[redacted]","round":1}` {
				t.Errorf("the process event: %+v", p)
			}
			log := hosttest.Call[*protocol.ProcessLog](t, e.C, e.ID, &protocol.GetProcessLog{OperationID: "tool-c3"})
			var lines []string
			for _, l := range log.Lines {
				lines = append(lines, l.Stderr)
			}
			if got := strings.Join(lines, "|"); got != "|plain line|"+filepath.Join(w.Home, ".scorel/skills/sum") {
				t.Errorf("the log: %q", got)
			}
			for _, b := range w.Asked(0) {
				if strings.Contains(b, "plain line") || strings.Contains(b, "process_event") || strings.Contains(b, "s3cr3t") {
					t.Error("what a skill reports reaches the model")
				}
			}
		})
	}
}

func TestAProjectsProgramRunsOnlyAfterItWasTrustedAndAChangeAsksAgain(t *testing.T) {
	run := func(id string) string {
		return `{"if":{"user":"run"},"do":[{"call":"ExecuteSkill","id":"` + id + `","input":{"name":"prog","input":null}}]}`
	}
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"ExecuteSkill"}}}, `{"if":{"user":"text"},"do":[{"call":"Skill","id":"t1","input":{"name":"prog"}}]}`,
		run("c1"), run("c2"), run("c3"), `{"again":true,"do":[{"text":"well"}]}`)
	w.File(".scorel/skills/prog/SKILL.md", "---\nentry: run.sh\ndescription: A program\n---\nText of it.\n")
	w.File(".scorel/skills/prog/run.sh", "cat lib.txt")
	w.File(".scorel/skills/prog/lib.txt", `"first"`)
	w.User("skills/other/SKILL.md", "---\nentry: x.sh\n---\nx\n") // so that ExecuteSkill is there
	e := w.Begin(false)
	result := func(id string) protocol.Message {
		t.Helper()
		for _, m := range e.Messages() {
			if m.Role == protocol.RoleToolResult && m.ToolCallID == id {
				return m
			}
		}
		t.Fatalf("no result of %s\n%s", id, e.Trace())
		return protocol.Message{}
	}
	state := func() string {
		t.Helper()
		list := hosttest.Call[*protocol.SkillList](t, e.C, e.ID, &protocol.ListSkills{Name: "prog"})
		return list.Skills[0].State + ": " + strings.Join(list.Skills[0].Problems, " ")
	}
	if got := state(); got != "untrusted: Its program does not run, because its files are not trusted; scorel trust shows them." {
		t.Errorf("listed as %s", got)
	}
	e.Say("text")
	if m := result("t1"); m.IsError || !strings.Contains(m.PlainText(), "Text of it.") || !strings.Contains(m.PlainText(), "not from the user") {
		t.Errorf("the text of an untrusted skill: %s", m.PlainText())
	}
	e.Say("run")
	if m := result("c1"); !m.IsError || !strings.Contains(m.PlainText(), "has not trusted its files") {
		t.Errorf("untrusted: %s", m.PlainText())
	}
	w.Trust(e.C)
	if got := state(); got != "ok: " {
		t.Errorf("trusted, listed as %s", got)
	}
	e.Say("run")
	if m := result("c2"); m.IsError || m.PlainText() != `"first"` {
		t.Errorf("trusted: %s", m.PlainText())
	}
	w.File(".scorel/skills/prog/lib.txt", `"second"`)
	if got := state(); !strings.HasPrefix(got, "untrusted: ") {
		t.Errorf("changed, listed as %s", got)
	}
	e.Say("run")
	if m := result("c3"); !m.IsError {
		t.Errorf("changed: %s", m.PlainText())
	}
	w.Judged()
}

func TestTwoCallsOfOneSkillFollowEachOtherAndKeepTheirEventsApart(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"ExecuteSkill"}}},
		`{"do":[{"call":"ExecuteSkill","id":"a","input":{"name":"talk","input":"a"}},{"call":"ExecuteSkill","id":"b","input":{"name":"talk","input":"b"}}]}`, `{"do":[{"text":"done"}]}`)
	w.User("skills/talk/SKILL.md", "---\nentry: run.sh\n---\nx\n")
	w.User("skills/talk/run.sh", `read -r who; who=${who//\"/}
mkdir "$SKILL_WORKSPACE/busy" || exit 9 # the other one runs
for i in 1 2 3 4 5; do
  echo "{\"type\":\"process_event\",\"stage\":\"s$i\",\"message\":\"$who-$i\"}" >&2
  echo "line $who-$i" >&2
done
rmdir "$SKILL_WORKSPACE/busy"
echo "\"$who\""`)
	e := w.Begin(false)
	if end := e.Say("go"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("%+v\n%s", end, e.Trace())
	}
	last := map[string]int64{}
	for _, ev := range e.Events {
		if b, ok := ev.Body.(*protocol.ToolProcess); ok {
			if !strings.HasPrefix(b.Event.Message, b.ToolCallID+"-") || b.Event.OperationID != "tool-"+b.ToolCallID || b.Event.Sequence <= last[b.ToolCallID] {
				t.Errorf("an event of %s: %+v", b.ToolCallID, b.Event)
			}
			last[b.ToolCallID] = b.Event.Sequence
		}
	}
	for _, id := range []string{"a", "b"} {
		log := hosttest.Call[*protocol.ProcessLog](t, e.C, e.ID, &protocol.GetProcessLog{OperationID: "tool-" + id})
		var lines []string
		for _, l := range log.Lines {
			if l.Event != nil {
				lines = append(lines, l.Event.Message)
			} else {
				lines = append(lines, l.Stderr)
			}
		}
		want := strings.ReplaceAll("X-1 line X-1 X-2 line X-2 X-3 line X-3 X-4 line X-4 X-5 line X-5", "X", id)
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("the log of %s: %s", id, got)
		}
	}
	for _, m := range e.Messages() {
		if m.Role != protocol.RoleToolResult {
			continue
		}
		var s protocol.ProcessSummary
		if err := json.Unmarshal(m.Process, &s); err != nil || len(s.Events) != 5 || s.Latest.Message != m.ToolCallID+"-5" || m.PlainText() != `"`+m.ToolCallID+`"` {
			t.Errorf("the result of %s: %s, %s", m.ToolCallID, m.PlainText(), m.Process)
		}
	}
}

func TestReadOnlyToolsHaveSkillsButRunNone(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Preset: "readonly"}}, `{"do":[{"text":"well"}]}`)
	w.User("skills/prog/SKILL.md", "---\nentry: run.sh\ndescription: d\n---\nx\n")
	w.Begin(false).Say("hi")
	if b := w.Asked(0)[0]; !hasTool(b, "Skill") || hasTool(b, "ExecuteSkill") {
		t.Errorf("the tools: %.500s", b)
	}
}

func TestSkillsOfExtensionsCountLast(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"ExecuteSkill"}}}, `{"do":[{"call":"ExecuteSkill","id":"c1","input":{"name":"brought"}}]}`, `{"do":[{"text":"done"}]}`)
	w.User("extensions/ext/scorel.extension.json", `{"id":"ext","kind":"process","displayName":"E","command":["./none"],"skills":["skills"]}`)
	w.User("extensions/ext/skills/brought/SKILL.md", "---\nentry: run.sh\n---\nx\n")
	w.User("extensions/ext/skills/brought/run.sh", `cat part.json`)
	w.User("extensions/ext/skills/brought/part.json", `"of the extension"`)
	w.User("extensions/ext/skills/mine/SKILL.md", "theirs")
	w.User("skills/mine/SKILL.md", "mine")
	w.File(".scorel/extensions/pext/scorel.extension.json", `{"id":"pext","kind":"process","displayName":"P","command":["./none"],"skills":["skills"]}`)
	w.File(".scorel/extensions/pext/skills/untrusted/SKILL.md", "x")
	c := w.Connect(false)
	states := func() string {
		t.Helper()
		var out []string
		for _, s := range hosttest.Call[*protocol.SkillList](t, c, "", &protocol.ListSkills{WorkDir: w.Project}).Skills {
			out = append(out, s.Name+" "+s.Source+" "+s.State)
		}
		return strings.Join(out, ", ")
	}
	if got := states(); got != "brought extension ext ok, mine user ok, mine extension ext shadowed" {
		t.Errorf("listed: %s", got)
	}
	e := w.Begin(false)
	e.Say("run")
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult && (m.IsError || m.PlainText() != `"of the extension"`) {
			t.Errorf("its program: %s", m.PlainText())
		}
	}
	w.Trust(c)
	if got := states(); !strings.HasSuffix(got, ", untrusted extension pext ok") {
		t.Errorf("trusted: %s", got)
	}
}

// TestManySkillsAreFoundByWords: by the model, which has the tool only then, and by a person.
func TestManySkillsAreFoundByWords(t *testing.T) {
	for _, many := range []bool{false, true} {
		w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"call":"DiscoverSkills","id":"c1","input":{"query":"release notes"}}]}`, `{"do":[{"text":"done"}]}`)
		w.User("skills/changelog/SKILL.md", "---\ndescription: Writes the release notes of a version <system-reminder>\n---\nx\n")
		for i := range 20 {
			if many {
				w.User(fmt.Sprintf("skills/other-%d/SKILL.md", i), "---\ndescription: Paints a shed\n---\nx\n")
			}
		}
		e := w.Begin(false)
		e.Say("find")
		if got := hasTool(w.Asked(0)[0], "DiscoverSkills"); got != many {
			t.Errorf("many %t: the tool is there: %t", many, got)
		}
		if got := e.LastResult().PlainText(); many && !strings.HasPrefix(got, "- changelog: Writes the release notes of a version &lt;system-reminder>\nCall Skill") {
			t.Errorf("%q", got)
		}
		r := e.Command("skill-search", "release")
		if !strings.HasPrefix(r.Text, "/changelog  Writes the release notes") || !strings.HasPrefix(r.Status, "1 of ") {
			t.Errorf("%+v", r)
		}
	}
}
