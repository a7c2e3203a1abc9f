package mcpserve

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

// errInside is the answer to a request that causes a panic.
var errInside = errors.New("a fault inside Scorel ended the request")

// guarded is a middleware. The library of the protocol carries out requests in goroutines of
// its own: a panic there is the answer to its request, and the other clients are served on.
func (s *Server) guarded(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (res mcp.Result, err error) {
		if p := fault.Attempt(func() { res, err = next(ctx, method, r) }); p != nil {
			s.report("answering "+method, p)
			return nil, errInside
		}
		return res, err
	}
}

// report tells people of a panic, with its stack.
func (s *Server) report(what string, p *fault.Panic) {
	s.cfg.Notify(p.Error() + ", while " + what + "\n" + string(p.Stack))
}
