package subagent_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const lookSkill = "---\ndescription: Looks around\ncontext: fork\nagent: explore\n---\nLOOK-TEXT at $ARGUMENTS"

func TestASkillWithAContextOfItsOwnIsTheWorkOfAnAgent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"user":"^start"},"do":[{"call":"Skill","id":"s1","input":{"name":"look","args":"a.txt"}}]}`,
		`{"if":{"user":"LOOK-TEXT at a.txt"},"do":[{"call":"Skill","id":"s2","input":{"name":"look","args":"b.txt"}}]}`,
		`{"if":{"result":"LOOK-TEXT at b.txt|no tool"},"do":[{"text":"CHILD-RESULT"}]}`,
		`{"if":{"result":"CHILD-RESULT"},"do":[{"text":"done"}]}`)
	w.User("skills/look/SKILL.md", lookSkill)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	r, child := e.LastResult(), e.Child(0)
	if r.IsError || !strings.HasPrefix(r.PlainText(), "CHILD-RESULT\n[agent explore, session "+string(child)+"]") {
		t.Errorf("the result: %q", r.PlainText())
	}
	for i, body := range w.Asked(0) {
		if of := i == 1 || i == 2; of != strings.Contains(body, "LOOK-TEXT") {
			t.Errorf("request %d: the text of the skill is sent: %v", i, !of)
		}
	}
	list := hosttest.Call[*protocol.SkillList](t, e.C, "", &protocol.ListSkills{WorkDir: w.Project})
	if s := list.Skills[0]; !s.Fork || s.Agent != "explore" {
		t.Errorf("listed as %+v", s)
	}
}

func TestASkillWithAContextOfItsOwnAsACommandIsCalledByTheModel(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"if":{"user":"^Call the tool Skill with the name \"look\" and these args: a.txt"},"do":[{"call":"Skill","id":"s1","input":{"name":"look","args":"a.txt"}}]}`,
		`{"if":{"user":"LOOK-TEXT"},"do":[{"text":"CHILD-RESULT"}]}`, `{"if":{"result":"CHILD-RESULT"},"do":[{"text":"done"}]}`)
	w.User("skills/look/SKILL.md", lookSkill)
	e := w.Begin(false)
	e.Command("look", "a.txt")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
}

func TestWithoutAgentsASkillWithAContextOfItsOwnGivesItsText(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Tables: "[tools]\npreset = \"readonly\"\n"}, `{"if":{"user":"^start"},"do":[{"call":"Skill","id":"s1","input":{"name":"look","args":"a.txt"}}]}`,
		`{"if":{"result":"LOOK-TEXT at a.txt"},"do":[{"text":"done"}]}`)
	w.User("skills/look/SKILL.md", lookSkill)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
}
