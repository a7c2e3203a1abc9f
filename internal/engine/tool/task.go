package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed task.md
var taskText string

// TaskName is the name of the tool that starts sub-agents.
const TaskName = "Task"

// Bounds of what the description of Task says of agents.
const (
	maxOffered     = 50  // agents; further ones are named alone
	offeredSummary = 300 // characters of each
)

// AgentChoice is an agent that Task offers.
type AgentChoice struct{ Name, Description, Color string }

// AgentCall is what a call of Task asks for. With Resume the agent of that session
// goes on.
type AgentCall struct {
	CallID      string
	Agent       string // "" is general, or the one that is resumed
	Description string
	Prompt      string
	Background  bool
	Resume      protocol.SessionID
	Process     func(protocol.ProcessUpdate) // as in [Call]; may be nil
}

type taskTool struct {
	text   string            // the description; "" is that without agents
	colors map[string]string // of the agents that have one, by their names
	agents Agents
}

// With implements [Needy].
func (t taskTool) With(_ Setting, s Session) Tool {
	t.agents = s.Agents
	return t
}

type taskInput struct {
	Agent       string `json:"agent"`
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Background  bool   `json:"background"`
	Resume      string `json:"resume"`
}

// WithAgents returns tools in which Task, if it is there, offers the agents; without
// agents it is left out.
func WithAgents(tools []Tool, agents []AgentChoice) []Tool {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Spec().Name == TaskName })
	if i < 0 {
		return tools
	}
	tools = slices.Clone(tools)
	if len(agents) == 0 {
		return slices.Delete(tools, i, i+1)
	}
	colors := map[string]string{}
	for _, a := range agents {
		if a.Color != "" {
			colors[a.Name] = a.Color
		}
	}
	tools[i] = taskTool{text: describeAgents(agents), colors: colors}
	return tools
}

// taskInfo is what the tool means to others.
var taskInfo = protocol.ToolInfo{Name: TaskName, Kind: protocol.ToolOwn, View: protocol.ViewAgent, TitleField: "description"}

// taskSchema is the JSON Schema of its input.
var taskSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"agent":{"type":"string","maxLength":64,"description":"Which agent works; general when it is left out."},` +
		`"description":{"type":"string","minLength":1,"maxLength":200,"description":"The work in three to eight words, for people."},` +
		`"prompt":{"type":"string","minLength":1,"maxLength":100000,"description":"All that the agent needs to know."},` +
		`"background":{"type":"boolean","description":"Go on without waiting for the agent."},` +
		`"resume":{"type":"string","maxLength":64,"description":"The session of an agent of this conversation that is to go on."}},` +
		`"required":["description","prompt"],"additionalProperties":false}`)

// Spec implements [Tool].
func (t taskTool) Spec() Spec {
	return Spec{ToolInfo: taskInfo, Description: cmp.Or(t.text, taskText), Parallel: true, Schema: taskSchema}
}

// describeAgents is made once: a description is asked for several times in each step.
func describeAgents(agents []AgentChoice) string {
	var s strings.Builder
	s.WriteString(strings.TrimRight(taskText, "\n") + "\n\nThe agents are:\n")
	for i, a := range agents {
		about := ": " + shortText(a.Description, offeredSummary)
		if i >= maxOffered {
			about = ""
		}
		fmt.Fprintf(&s, "- %s%s\n", a.Name, about)
	}
	return s.String()
}

func shortText(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Prepare implements [Tool].
func (t taskTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[taskInput](call)
	if err != nil {
		return nil, err
	}
	if t.agents == nil {
		return nil, errors.New("there are no sub-agents here; do the work yourself")
	}
	id := protocol.SessionID(in.Resume)
	if id != "" && id.Check() != nil {
		return nil, fmt.Errorf("resume is %.80q; it takes the session that an earlier result of Task names, as in ses_…", in.Resume)
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("the prompt is empty; say what the agent is to do")
	}
	return taskCall{agents: t.agents, color: t.colors[in.Agent], call: AgentCall{CallID: call.ID, Agent: in.Agent, Description: strings.Join(strings.Fields(in.Description), " "),
		Prompt: in.Prompt, Background: in.Background, Resume: id, Process: call.Process}}, nil
}

type taskCall struct {
	leavesFiles
	agents Agents
	call   AgentCall
	color  string
}

// Color implements [Colored].
func (c taskCall) Color() string { return c.color }

// Action implements [Prepared]. What the agent does is judged call by call.
func (taskCall) Action() permission.Action {
	return permission.Action{Tool: taskInfo.Name, Kind: taskInfo.Kind}
}

// Label implements [Labelled].
func (c taskCall) Label() string { return c.call.Description }

// Run implements [Prepared].
func (c taskCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	return c.agents.RunAgent(ctx, c.call)
}
