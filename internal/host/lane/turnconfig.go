package lane

import (
	"context"
	"time"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// TurnConfig is what one turn runs with.
type TurnConfig struct {
	Models  Models
	Tools   []tool.Tool
	Setting tool.Setting // of the tools
	Policy  *permission.Policy
	Limits  runtime.Limits
	// WorkDir is where Bash starts, absolute.
	WorkDir string
	Prompt  Prompt
	// Items are what the model must have been told before each call, at most one of a
	// kind; each is told once on a path, and again where it has changed.
	Items []protocol.Item
	// Compaction switches automatic compaction off when false.
	Compaction bool
	// Wake says what begins another turn after this one by itself.
	Wake Wake
	// AskTimeout is how long a question waits for its answer; 0: no limit.
	AskTimeout time.Duration
	// Hooks are asked in the turn; nil asks nobody. Subagent reports that they are asked
	// about the end of a sub-agent.
	Hooks    *hook.Chain
	Subagent bool
	// Skills are those that count, sorted by name; the log's index follows them.
	Skills []protocol.Skill
	Agents Agents
	// Above ties the turn of a sub-agent to the session that it works for; nil for
	// any other turn.
	Above *Above
	// Day is the budget above that of an automated turn, nil for none; what it limits comes
	// beside Limits. A sub-agent's turn has that of the session above.
	Day *runtime.Budget
	// Observe is called with everything that happens in the turn, by its goroutine, before
	// it is stored. It may be nil, and does not block.
	Observe func(protocol.Body)
	Close   func()
}

// Models are the models of a turn.
type Models struct {
	Main     model.Model
	Fallback model.Model // nil for none
	Thinking model.ThinkingLevel
	// Summary is [runtime.Run.Summary].
	Summary func(ctx context.Context, req model.Request, priced bool) (protocol.Message, error)
}

// named returns the description of the model of that name, the main one where none has it.
func (m Models) named(ref string) model.Info {
	info := m.Main.Info()
	if f := m.Fallback; f != nil && info.Ref != ref && f.Info().Ref == ref {
		return f.Info()
	}
	return info
}

// Agents are the sub-agents that a turn may start.
type Agents struct {
	Set *agent.Set
	Max int // of a session, at once
}

// Prompt is what a model is told before anybody says anything.
type Prompt interface {
	// Instructions makes the system prompt of a session that has none. Sentences for
	// people say what of it was cut or could not be read.
	Instructions() (in protocol.Instructions, sentences []string, err error)
	// Items returns what else the model must be told before a call, by what it has been
	// told on the path, and by what the messages of the turn say.
	Items(told history.Told, said string) []protocol.Item
	// NotTold says that what Items returned last was not stored.
	NotTold()
	// Touched returns what it must be told of the folders that calls have touched.
	Touched(t Touched, told history.Told) []protocol.Item
}
