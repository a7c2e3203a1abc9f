package status

import "encoding/json"

// Input is what a command that makes the status line is told, as one JSON object on its
// standard input. Fields that are not known are null or left out, as their types say;
// numbers of tokens are sums of the session unless they say something else. The names
// are those of scripts that exist for other agents; what Scorel never knows is not among
// them.
type Input struct {
	SessionID   string       `json:"session_id"`
	SessionName string       `json:"session_name,omitempty"`
	Model       InputModel   `json:"model"`
	Workspace   InputFolders `json:"workspace"`
	Version     string       `json:"version"`
	OutputStyle InputStyle   `json:"output_style"`
	Cost        InputCost    `json:"cost"`
	Context     InputContext `json:"context_window"`
	Exceeds200k bool         `json:"exceeds_200k_tokens"` // the newest answer's context
	Vim         *InputVim    `json:"vim,omitempty"`       // only with vim keys
	Remote      *InputRemote `json:"remote,omitempty"`    // only at a host that is not this device's
}

// The parts of an [Input].
type (
	// InputModel is the model in use.
	InputModel struct {
		ID          string `json:"id"`
		DisplayName string `json:"display_name"`
	}
	// InputFolders are absolute paths.
	InputFolders struct {
		CurrentDir string   `json:"current_dir"`
		ProjectDir string   `json:"project_dir"`
		AddedDirs  []string `json:"added_dirs"`
	}
	// InputStyle is always "default".
	InputStyle struct {
		Name string `json:"name"`
	}
	// InputCost is what the session has cost so far, and how long ago it was made, in
	// milliseconds.
	InputCost struct {
		TotalUSD   float64 `json:"total_cost_usd"`
		DurationMS int64   `json:"total_duration_ms"`
	}
	// InputContext is the context window. Usage is that of the newest answer, null before
	// the first one, and then the percentages are null too.
	InputContext struct {
		TotalInput  int         `json:"total_input_tokens"`
		TotalOutput int         `json:"total_output_tokens"`
		Size        *int        `json:"context_window_size"` // null when it is not known
		Usage       *InputUsage `json:"current_usage"`
		Used        *float64    `json:"used_percentage"` // 0 to 100
		Remaining   *float64    `json:"remaining_percentage"`
	}
	// InputUsage is the tokens of one answer.
	InputUsage struct {
		Input         int `json:"input_tokens"`
		Output        int `json:"output_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
	}
	// InputVim is the mode of the editor: INSERT or NORMAL.
	InputVim struct {
		Mode string `json:"mode"`
	}
	// InputRemote is the session at another host.
	InputRemote struct {
		SessionID string `json:"session_id"`
	}
)

// JSON returns the object on one line. A list that is empty is written as one.
func (in Input) JSON() ([]byte, error) {
	if in.Workspace.AddedDirs == nil {
		in.Workspace.AddedDirs = []string{}
	}
	if in.OutputStyle.Name == "" {
		in.OutputStyle.Name = "default"
	}
	return json.Marshal(in)
}

// manyTokens is from where a context counts as very long.
const manyTokens = 200_000

// SetContext fills in what follows from the usage of the newest answer (nil before the
// first) and the size of the window, 0 when it is not known.
func (in *Input) SetContext(newest *InputUsage, size int) {
	c := &in.Context
	c.Size, c.Usage, c.Used, c.Remaining = nil, newest, nil, nil
	if size > 0 {
		c.Size = &size
	}
	if newest == nil {
		in.Exceeds200k = false
		return
	}
	tokens := newest.Input + newest.Output + newest.CacheCreation + newest.CacheRead
	in.Exceeds200k = tokens > manyTokens
	if size > 0 {
		used := min(100, float64(tokens)*100/float64(size))
		rest := 100 - used
		c.Used, c.Remaining = &used, &rest
	}
}
