package protocol

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestARequestNeedsControlUnlessItIsNamedHere reads the names of all requests where
// they are made: whoever adds one decides here what it needs.
func TestARequestNeedsControlUnlessItIsNamedHere(t *testing.T) {
	looks := []string{"ping", "get_status", "list_models", "list_projects", "list_sessions", "search_sessions", "open_session", "close_session",
		"get_path", "get_tree", "get_context", "get_blob", "list_tasks", "list_commands", "list_extensions", "list_skills", "list_agents", "get_process_log", "get_usage", "get_project_state", "verify_session", "export_session"}
	answers := []string{"cancel", "stop_shell", "answer_permission", "answer_ui"}
	source, err := os.ReadFile("request.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range regexp.MustCompile(`(?m)^\tcase "(\w+)":$`).FindAllSubmatch(source, -1) {
		name, want := string(m[1]), GrantControl
		r, _ := newRequest(name)
		if r == nil {
			t.Fatalf("%q is no request", name)
		}
		seen++
		switch {
		case slices.Contains(looks, name):
			want = GrantView
			if Acts(r) {
				t.Errorf("%s acts, and an entry that only looks may make it", name)
			}
		case slices.Contains(answers, name):
			want = GrantAnswer
		}
		if got := Needs(r); got != want {
			t.Errorf("%s needs %s, not %s", name, got, want)
		}
		for _, grant := range []Grant{GrantView, GrantAnswer, GrantControl, "", "Control", "all"} {
			allowed := grant == GrantControl || grant == GrantAnswer && want != GrantControl || grant == GrantView && want == GrantView
			if grant.Allows(Needs(r)) != allowed {
				t.Errorf("the grant %q allows %s: %v", grant, name, !allowed)
			}
		}
	}
	if seen < len(looks)+len(answers)+20 {
		t.Errorf("only %d requests were found", seen)
	}
}
