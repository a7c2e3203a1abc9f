package claude

import (
	"encoding/json"
	"math"
	"path/filepath"
)

// members are the members of the input of a tool of ours that are called otherwise there.
func members(tool string) map[string]string {
	switch tool {
	case "Read", "Write", "Edit":
		return map[string]string{"path": "file_path"}
	case "NotebookEdit":
		return map[string]string{"path": "notebook_path"}
	case "Task":
		return map[string]string{"agent": "subagent_type", "background": "run_in_background"}
	case "Skill":
		return map[string]string{"name": "skill"}
	}
	return nil
}

// Call returns the tool and the input of a call as Claude Code's hooks know them. dir is
// what relative paths are below. An input that is not an object stays as it is.
func Call(tool string, input json.RawMessage, dir string) (name string, there json.RawMessage) {
	name = ToolsThere(tool)[0]
	var m map[string]json.RawMessage
	if json.Unmarshal(input, &m) != nil || m == nil {
		return name, input
	}
	for ours, theirs := range members(tool) {
		if v, ok := m[ours]; ok {
			delete(m, ours)
			m[theirs] = v
		}
	}
	for _, key := range []string{"file_path", "notebook_path"} {
		var path string
		if raw, ok := m[key]; ok && json.Unmarshal(raw, &path) == nil && path != "" && path[0] != '~' && !filepath.IsAbs(path) {
			m[key], _ = json.Marshal(dir + "/" + path)
		}
	}
	switch tool {
	case "Bash":
		var seconds float64
		if raw, ok := m["timeout_seconds"]; ok && json.Unmarshal(raw, &seconds) == nil {
			delete(m, "timeout_seconds")
			m["timeout"], _ = json.Marshal(seconds * 1000)
		}
	case "Edit":
		var edits []map[string]json.RawMessage
		if json.Unmarshal(m["edits"], &edits) != nil {
			break
		}
		if len(edits) != 1 {
			name = "MultiEdit"
			break
		}
		delete(m, "edits")
		for k, v := range edits[0] {
			m[k] = v
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return name, input
	}
	return name, out
}

// Input returns the input of a tool of ours that a hook of Claude Code gave in the place
// of another. What is not an object stays as it is, for the tool to refuse.
func Input(tool string, there json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(there, &m) != nil || m == nil {
		return there
	}
	for ours, theirs := range members(tool) {
		if v, ok := m[theirs]; ok {
			delete(m, theirs)
			m[ours] = v
		}
	}
	switch tool {
	case "Bash":
		var ms float64
		if raw, ok := m["timeout"]; ok && json.Unmarshal(raw, &ms) == nil {
			delete(m, "timeout")
			m["timeout_seconds"], _ = json.Marshal(int(math.Ceil(ms / 1000)))
		}
		delete(m, "description")
	case "Edit":
		if _, ok := m["edits"]; ok {
			break
		}
		edit := map[string]json.RawMessage{}
		for _, k := range []string{"old_string", "new_string", "replace_all"} {
			if v, ok := m[k]; ok {
				edit[k] = v
				delete(m, k)
			}
		}
		m["edits"], _ = json.Marshal([]any{edit})
	}
	out, err := json.Marshal(m)
	if err != nil {
		return there
	}
	return out
}
