package extension

import (
	"slices"
	"strings"

	"scorel/internal/text/spelling"
	"scorel/protocol"
)

// hookNames are the hooks that an extension may have; see docs/extensions.md.
var hookNames = []string{"session_start", "tool_call", "tool_result", "input", "before_agent_start", "stop", "session_before_compact", "session_before_tree", "session_before_fork", "session_before_switch",
	"before_provider_request", "user_bash", "resources_discover", "context", "transformContext", "convertToLlm"}

// eventNames are the events of the extension API, which a [teller] makes of those of the log
// and the wire.
var eventNames = []string{"session_start", "session_info_changed", "session_compact", "session_tree", "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end",
	"message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update", "tool_execution_end", "after_provider_response",
	"model_select", "thinking_level_select", "ui_prompt_start", "ui_prompt_end"}

// happenings are what is no event of the log, for every API; see [hook.Happening].
var happenings = []string{"prompt_submit", "turn_finish", "turn_error", "notification"}

// eventsOf returns the events that an extension may ask for. One of the API scorel gets those
// of the log and the wire as they are.
func eventsOf(api string) []string {
	if api != "scorel" {
		return append(slices.Clip(eventNames), happenings...)
	}
	names := append([]string{"session_start", "session_end", "model_select", "thinking_level_select", "ui_prompt_start", "ui_prompt_end"}, happenings...)
	for _, spec := range protocol.EventSpecs() {
		names = append(names, string(spec.Type))
	}
	return names
}

// maxNear is how many names an error offers for one that does not exist.
const maxNear = 3

// meant offers the names most like one that does not exist, as the end of a sentence: "." for
// none.
func meant(name string, names []string) string {
	name = clip(name, maxName)
	away := func(n string) int {
		if strings.HasPrefix(n, name) || strings.HasPrefix(name, n) {
			return 1
		}
		return spelling.Distance(strings.ToLower(name), n)
	}
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return name == "" || away(n) > max(2, len(n)/3) })
	slices.SortStableFunc(near, func(a, b string) int { return away(a) - away(b) })
	if len(near) == 0 {
		return "."
	}
	return "; perhaps " + strings.Join(near[:min(len(near), maxNear)], " or ") + " is meant."
}
