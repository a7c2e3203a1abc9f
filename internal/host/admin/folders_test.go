package admin_test

import (
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAgentsAndConfigurationOfASessionAreThoseOfItsFolder(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.File(".scorel/agents/mine.md", "---\ndescription: x\n---\nprompt")
	w.File(".scorel/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n")
	e := w.Begin(false)
	found := false
	for _, a := range hosttest.Call[*protocol.AgentList](t, e.C, e.ID, &protocol.ListAgents{}).Agents {
		found = found || a.Name == "mine" && a.Scope == "project"
	}
	if !found {
		t.Error("the agent of the project is not listed for the session")
	}
	of := hosttest.Call[*protocol.ConfigReport](t, e.C, "", &protocol.GetConfig{WorkDir: w.Project}).Trust
	if got := hosttest.Call[*protocol.ConfigReport](t, e.C, e.ID, &protocol.GetConfig{}).Trust; of == "" || got != of {
		t.Errorf("the project's file is %q for the session, and %q for its folder", got, of)
	}
}
