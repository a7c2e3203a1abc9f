package mcpserve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxPrompts bounds the prompts that are served, the first by name.
const maxPrompts = 200

// promptsAge is for how long the list of templates counts.
const promptsAge = 2 * time.Second

// prompts are the templates that are served.
type prompts struct {
	mu    sync.Mutex // guards what follows; held while the host is asked, so that one asks
	at    time.Time
	names []string
}

// freshPrompts looks for the templates again before prompts are listed or one is read.
func (s *Server) freshPrompts(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "prompts/list" || method == "prompts/get" {
			if err := s.readPrompts(ctx); err != nil {
				return nil, failed(err)
			}
		}
		return next(ctx, method, req)
	}
}

// readPrompts makes the templates of the server's folder, and those of its owner, the
// prompts.
func (s *Server) readPrompts(ctx context.Context) error {
	p := &s.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() && time.Since(p.at) < promptsAge {
		return nil
	}
	list, err := client.Call[*protocol.CommandList](ctx, s.cfg.Client, "", &protocol.ListCommands{WorkDir: s.cfg.WorkDir})
	if err != nil {
		return err
	}
	var names []string
	for _, c := range list.Commands {
		if c.Source != protocol.CommandTemplate || c.Scope == "builtin" || c.Refused != "" || len(names) >= maxPrompts {
			continue
		}
		names = append(names, c.Name)
		s.mcp.AddPrompt(&mcp.Prompt{Name: c.Name, Description: clean(c.Description, maxStep), Arguments: []*mcp.PromptArgument{
			{Name: "arguments", Description: display.Line(clip("What would be typed after /"+c.Name+" "+c.ArgumentHint, maxStep))}}}, s.getPrompt)
	}
	gone := slices.DeleteFunc(p.names, func(name string) bool { return slices.Contains(names, name) })
	if len(gone) > 0 {
		s.mcp.RemovePrompts(gone...)
	}
	p.names, p.at = names, time.Now()
	return nil
}

func (s *Server) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	got, err := client.Call[*protocol.ExpandedCommand](ctx, s.cfg.Client, "", &protocol.ExpandCommand{WorkDir: s.cfg.WorkDir, Name: req.Params.Name, Args: req.Params.Arguments["arguments"]})
	if err != nil {
		return nil, failed(err)
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: display.Text(got.Text)}}}}, nil
}
