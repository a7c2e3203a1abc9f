package connect

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
)

const (
	// completeTime is how long a server may take to complete an argument.
	completeTime = 2 * time.Second
	// maxCompletions and maxCompletion bound what it returns: values, and the bytes of each.
	maxCompletions = 100
	maxCompletion  = 1 << 10
)

// Partial is the argument of a prompt that somebody is typing.
type Partial struct {
	Prompt   string // its own name at the server
	Argument string
	Typed    string
	Before   map[string]string // the arguments that were typed before it
}

// Complete returns values that an argument may have, in the server's order: none where the
// server does not complete, fails, or takes longer than 2 s. Values that cannot be typed in
// a line are left out.
func (s *Server) Complete(ctx context.Context, p Partial) []string {
	if caps := s.session.InitializeResult().Capabilities; caps == nil || caps.Completions == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	params := &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: p.Prompt}, Argument: mcp.CompleteParamsArgument{Name: p.Argument, Value: p.Typed}}
	if len(p.Before) > 0 {
		params.Context = &mcp.CompleteContext{Arguments: p.Before}
	}
	got, err := await(ctx, s.fuse, func() (*mcp.CompleteResult, error) { return s.session.Complete(ctx, params) })
	if err != nil {
		return nil
	}
	values := got.Completion.Values[:min(len(got.Completion.Values), maxCompletions)]
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		return v == "" || len(v) > maxCompletion || strings.ContainsAny(v, "\n\t") || promptsafe.Clean(v) != v
	})
}
