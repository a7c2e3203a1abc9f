package lane

import (
	"context"

	"scorel/internal/engine/tool"
	"scorel/internal/host/lane/notice"
	"scorel/protocol"
)

// nextConfig returns what the next turn would run with, if it began now. The caller closes
// it.
func (l *Lane) nextConfig(ctx context.Context) (*TurnConfig, error) {
	config, err := l.cfg.Turns.TurnConfig(ctx, l.Meta(), nil)
	if err != nil {
		return nil, err
	}
	if l.plans(&turn{config: config}) {
		config.Tools = tool.WithPlan(config.Tools)
	}
	if l.proactive(&turn{config: config}) {
		config.Tools = tool.WithSleep(config.Tools)
	}
	return config, nil
}

// Tools returns the tools of the next turn, as they would be if it began now.
func (l *Lane) Tools(ctx context.Context) (*protocol.ToolList, error) {
	config, err := l.nextConfig(ctx)
	if err != nil {
		return nil, err
	}
	defer config.Close()
	list := &protocol.ToolList{Tools: []protocol.ListedTool{}}
	for _, t := range config.Tools {
		list.Tools = append(list.Tools, listed(t))
	}
	extras := config.Setting.Extras.All()
	list.Omitted = max(0, len(extras)-maxListedExtras)
	for _, t := range extras[:len(extras)-list.Omitted] {
		row := listed(t)
		row.Deferred, row.Description = true, notice.Cut(row.Description, maxExtraDescription)
		list.Tools = append(list.Tools, row)
	}
	return list, nil
}

const (
	// maxListedExtras is how many tools are listed that the model can search for.
	maxListedExtras = 2000
	// maxExtraDescription is how much of the description of each is listed, in bytes.
	maxExtraDescription = 500
)

// listed describes a tool for people.
func listed(t tool.Tool) protocol.ListedTool {
	spec := t.Spec()
	row := protocol.ListedTool{ToolInfo: spec.ToolInfo, Description: spec.Description}
	if from, ok := t.(tool.Extended); ok {
		row.Extension = from.Extension()
	}
	if from, ok := t.(tool.Served); ok {
		row.Server = from.Server()
	}
	return row
}

// ContextView returns what the model would be sent now.
func (l *Lane) ContextView(ctx context.Context) (*protocol.ContextView, error) {
	config, err := l.nextConfig(ctx)
	if err != nil {
		return nil, err
	}
	defer config.Close()
	in, _, err := l.instructions(ctx)
	if err != nil {
		return nil, err
	}
	if in.Text == "" {
		if in, _, err = config.Prompt.Instructions(); err != nil {
			return nil, err
		}
	}
	w := window(config, in.Text)
	b, err := l.builder(config.Hooks, config.Models.Main.Info())
	if err != nil {
		return nil, err
	}
	c, err := b.Build(ctx, l.j.Index().Leaf(), w)
	if err != nil {
		return nil, err
	}
	return &protocol.ContextView{System: in.Text, Messages: c.Messages, OlderMessages: c.Older(), Tokens: c.Tokens, SystemTokens: w.System,
		ToolTokens: w.Tools, Window: w.Size, Parts: c.Parts(w, len(config.Tools)), Reserved: w.Size - w.Threshold(), Free: max(0, w.Threshold()-c.Tokens)}, nil
}
