package protocol

import (
	"reflect"
	"slices"
	"testing"
)

// TestARequestNeedsControlUnlessItIsNamedHere: whoever adds one decides here what it
// needs.
func TestARequestNeedsControlUnlessItIsNamedHere(t *testing.T) {
	looks := []string{"ping", "get_status", "list_models", "list_projects", "list_sessions", "search_sessions", "open_session", "close_session",
		"get_path", "get_tree", "get_context", "get_blob", "list_tasks", "get_task_output", "list_commands", "list_extensions", "render_entry", "list_skills", "list_agents", "list_schedules", "get_schedule", "list_runs", "get_automation", "list_tools", "list_mcp_servers", "get_process_log", "get_usage", "get_project_state", "verify_session", "export_session", "get_push", "note_pushed", "delete_push"}
	answers := []string{"cancel", "stop_shell", "answer_permission", "answer_ui", "take_ui", "ui_input", "set_push"}
	own := "delete_push" // ends what is the client's own, and nothing else
	seen := 0
	for _, spec := range Specs() {
		name, want := spec.Name, GrantControl
		seen++
		switch {
		case slices.Contains(looks, name):
			want = GrantView
			if spec.Mutates && name != own {
				t.Errorf("%s acts, and an entry that only looks may make it", name)
			}
		case slices.Contains(answers, name):
			want = GrantAnswer
		}
		if spec.Grant != want {
			t.Errorf("%s needs %s, not %s", name, spec.Grant, want)
		}
		if _, has := reflect.TypeOf(spec.New()).Elem().FieldByName("WorkDir"); has && want != GrantControl {
			if _, ok := spec.New().(NamesFolder); !ok {
				t.Errorf("%s names a folder, and who only looks may name any: it has to be a NamesFolder", name)
			}
		}
		for _, grant := range []Grant{GrantView, GrantAnswer, GrantControl, GrantPending, "", "Control", "all"} {
			allowed := grant == GrantControl || grant == GrantAnswer && want != GrantControl || grant == GrantView && want == GrantView
			if grant.Allows(spec.Grant) != allowed {
				t.Errorf("the grant %q allows %s: %v", grant, name, !allowed)
			}
		}
	}
	if seen < len(looks)+len(answers)+20 {
		t.Errorf("only %d requests were found", seen)
	}
}
