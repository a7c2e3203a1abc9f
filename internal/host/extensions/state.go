package extensions

import (
	"cmp"
	"context"

	"scorel/internal/engine/model"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/settings"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// State implements [extension.Host].
func (x *Session) State() rpc.State {
	meta := x.lane.Meta()
	waiting, _ := x.lane.Waiting()
	mode, attended, leaf := x.lane.Mode(), x.lane.Questions().Attended(), x.lane.Log().Index().Leaf()
	tokens, prompt, current := x.contextTokens(), x.storedPrompt(), x.currentModel(meta)
	state := rpc.State{Name: meta.Name, Model: current, HasUI: attended, Idle: !x.lane.Conversing(), Pending: waiting > 0, LeafID: string(leaf), ContextTokens: tokens}
	for _, c := range x.set.Commands() {
		state.Commands, state.AllCommands = append(state.Commands, c.Name), append(state.AllCommands, namedCommand(c.CommandInfo))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	state.AllCommands = append(state.AllCommands, x.turn.others...)
	state.ThinkingLevel, state.PermMode = cmp.Or(meta.ThinkingLevel, x.turn.thinking), cmp.Or(string(mode), x.turn.mode)
	state.ActiveTools, state.AllTools, state.SystemPrompt, state.Trusted = x.turn.names, x.turn.tools, cmp.Or(prompt, x.turn.draft), x.turn.trusted
	return state
}

// modelOf returns a model as extensions see it.
func modelOf(i model.Info) *rpc.Model {
	m := &rpc.Model{ID: i.ID, Name: i.ID, Provider: i.Provider, API: string(i.API), Reasoning: len(i.Thinking) > 0, Input: []string{"text"},
		ContextWindow: i.ContextWindow, MaxTokens: i.MaxTokens}
	if i.Images {
		m.Input = append(m.Input, "image")
	}
	return m
}

// otherCommands returns the templates and skills, which extensions see beside the commands
// of extensions.
func (x *Session) otherCommands(ctx context.Context) (out []rpc.NamedCommand) {
	for _, k := range x.exts.upper.TextCommands(ctx, x.lane) {
		if len(out) == maxListedCommands {
			break
		}
		out = append(out, namedCommand(k))
	}
	return out
}

// maxListedCommands bounds the templates and skills that extensions see.
const maxListedCommands = 200

func namedCommand(k protocol.CommandInfo) rpc.NamedCommand {
	return rpc.NamedCommand{Name: k.Name, Description: k.Description, Source: string(k.Source), Origin: k.Origin}
}

// modelNamed returns a model by its reference as extensions see it, nil for one that cannot
// be used.
func (x *Session) modelNamed(ref string) *rpc.Model {
	meta := x.lane.Meta()
	root, _ := workspace.Root(meta.WorkDir, x.exts.settings.UserHome)
	cfg, err := x.exts.settings.Load(root)
	if err != nil {
		return nil
	}
	meta.Model = ref
	m, _, err := x.exts.settings.Models(cfg, meta, settings.Overrides{})
	if err != nil {
		return nil
	}
	return modelOf(m.Info())
}

// currentModel returns the model of the session: that of the newest turn, unless another
// was chosen since.
func (x *Session) currentModel(meta protocol.Meta) *rpc.Model {
	x.mu.Lock()
	current, same := x.turn.model, x.turn.modelRef == meta.Model || x.exts.settings.Overrides.Model != ""
	x.mu.Unlock()
	if same {
		return current
	}
	m := x.modelNamed(meta.Model)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn.model, x.turn.modelRef = m, meta.Model
	return m
}

// storedPrompt returns the system prompt that the session has, "" before its first turn.
func (x *Session) storedPrompt() string {
	x.mu.Lock()
	prompt := x.turn.prompt
	x.mu.Unlock()
	if prompt != "" {
		return prompt
	}
	index := x.lane.Log().Index()
	for e, err := range index.OfType(x.queue.ctx, protocol.TypeInstructionSnapshot) {
		if b, ok := e.Body.(*protocol.InstructionSnapshot); ok && err == nil && !index.Imported(e.Seq) {
			prompt = b.Snapshot.Text
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn.prompt = cmp.Or(x.turn.prompt, prompt)
	return x.turn.prompt
}

// contextTokens is how many tokens of the window the active path fills.
func (x *Session) contextTokens() int {
	x.seen.mu.Lock()
	tokens, stale := x.seen.tokens, x.seen.stale
	x.seen.stale = false
	x.seen.mu.Unlock()
	if !stale {
		return tokens
	}
	index := x.lane.Log().Index()
	tokens = protocol.ContextTokens(func(yield func(protocol.Event) bool) {
		for e, err := range index.Back(x.queue.ctx, index.Leaf()) {
			if err != nil || !yield(e) {
				return
			}
		}
	})
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	if !x.seen.stale {
		x.seen.tokens = tokens
	}
	return tokens
}
