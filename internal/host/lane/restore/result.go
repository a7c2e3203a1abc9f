package restore

import (
	"encoding/json"
	"slices"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

// writesFiles reports whether a built-in tool writes the file that a call of it names.
func writesFiles(name string) bool {
	info := protocol.FindTool(name)
	return info.Tells == protocol.TellsFiles && info.Kind == protocol.ToolWrites
}

// fileCall is a call that writes a file.
type fileCall struct{ id, path string }

// callsOf returns the calls that write files of an answer.
func callsOf(e protocol.Event) (calls []fileCall) {
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleAssistant {
		return nil
	}
	for _, b := range slices.Backward(m.Calls()) {
		var input struct {
			Path string `json:"path"`
		}
		if writesFiles(b.Name) && json.Unmarshal(b.Input, &input) == nil && input.Path != "" {
			calls = append(calls, fileCall{b.ID, input.Path})
		}
	}
	return calls
}

// fileResult is the result of a call that writes a file.
type fileResult struct {
	call   string
	seq    protocol.Seq
	failed bool
	files  []protocol.FileState
	noted  bool // its snapshot is there
}

// resultOf returns the result of a call that writes a file, nil for any other event.
func resultOf(e protocol.Event) *fileResult {
	m, ok := e.Message()
	if !ok || m.Role != protocol.RoleToolResult || !writesFiles(m.ToolName) {
		return nil
	}
	r := &fileResult{call: m.ToolCallID, seq: e.Seq, failed: m.IsError}
	var d protocol.ToolDetails
	if len(m.Details) > 0 && json.Unmarshal(m.Details, &d) == nil {
		r.files = d.Files
	}
	return r
}

// resultBehind returns the first result after seq of a list that begins with the newest.
func resultBehind(results []*fileResult, seq protocol.Seq) *fileResult {
	for _, r := range slices.Backward(results) {
		if r.seq > seq && !r.noted {
			return r
		}
	}
	return nil
}

// left returns how the write of a snapshot left its file, nil where that is not known.
func (r *fileResult) left(before *protocol.FileSnapshot) *files.LeftFile {
	if r.failed {
		return nil
	}
	for _, f := range r.files {
		if f.Path != before.Path {
			continue
		}
		mode := f.Mode
		if mode == 0 && before.Existed { // written before modes were noted; a write keeps it
			mode = before.Mode
		}
		return &files.LeftFile{SHA256: f.SHA256, Mode: mode}
	}
	return nil
}
