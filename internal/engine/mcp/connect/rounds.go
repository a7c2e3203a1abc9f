//lint:file-ignore SA1019 servers of all versions may ask for these

package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

const (
	// maxRounds is how often a request is sent at most whose answer is a question of the server.
	maxRounds = 10
	// maxBusy is how many of those answers may ask nothing: the server has no time.
	maxBusy = 3
)

// rounds is a middleware for requests. A server of the newest version answers with what it
// wants to know first; it is asked again, with the answers. The library could do that, in
// goroutines whose panics nobody can catch.
func (s *Server) rounds(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		for round, busy := 1, 0; ; round++ {
			res, err := next(ctx, method, r)
			if err != nil {
				return res, err
			}
			wanted, state := wants(res)
			if wanted == nil {
				return res, nil
			}
			if len(wanted) == 0 {
				busy++
			}
			session, ok := r.GetSession().(*mcp.ClientSession)
			switch {
			case busy >= maxBusy:
				return nil, fmt.Errorf("it was busy %d times", maxBusy)
			case round >= maxRounds:
				return nil, fmt.Errorf("it asked something %d times", maxRounds)
			case !ok:
				return res, nil
			}
			answers, err := s.answers(ctx, session, wanted)
			if err != nil {
				return nil, err
			}
			if r, err = answered(session, r.GetParams(), answers, state); err != nil {
				return nil, err
			}
		}
	}
}

// wants returns what a server asks in an answer, nil if it is a whole one.
func wants(res mcp.Result) (wanted mcp.InputRequestMap, state string) {
	switch r := res.(type) {
	case *mcp.CallToolResult:
		return r.InputRequests, r.RequestState
	case *mcp.GetPromptResult:
		return r.InputRequests, r.RequestState
	case *mcp.ReadResourceResult:
		return r.InputRequests, r.RequestState
	}
	return nil, ""
}

// answers answers all questions of a server, at the same time.
func (s *Server) answers(ctx context.Context, session *mcp.ClientSession, wanted mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	answers := make(mcp.InputResponseMap, len(wanted))
	var all fault.Group
	for id, question := range wanted {
		all.Go(func() { // ends with the answer, or ctx
			got, err := s.answer(ctx, session, question)
			if err != nil {
				cancel(fmt.Errorf("answering %q: %w", id, err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[id] = got
		})
	}
	all.Wait()
	return answers, context.Cause(ctx)
}

// answer answers a question as if it had come as a request of its own.
func (s *Server) answer(ctx context.Context, session *mcp.ClientSession, question mcp.InputRequest) (mcp.InputResponse, error) {
	var res mcp.Result
	var err error
	switch p := question.(type) {
	case *mcp.ElicitParams:
		res, err = s.receive(ctx, "elicitation/create", &mcp.ElicitRequest{Session: session, Params: p})
	case *mcp.CreateMessageWithToolsParams:
		res, err = s.receive(ctx, "sampling/createMessage", &mcp.CreateMessageWithToolsRequest{Session: session, Params: p})
	case *mcp.ListRootsParams:
		res, err = s.receive(ctx, "roots/list", &mcp.ListRootsRequest{Session: session, Params: p})
	}
	if err != nil {
		return nil, err
	}
	answer, ok := res.(mcp.InputResponse)
	if !ok {
		return nil, errors.New("it asked something unknown")
	}
	return answer, nil
}

// answered returns the request that is sent again with answers. The params of the first are not
// changed.
func answered(session *mcp.ClientSession, params mcp.Params, answers mcp.InputResponseMap, state string) (mcp.Request, error) {
	switch p := params.(type) {
	case *mcp.CallToolParams:
		again := *p
		again.InputResponses, again.RequestState = answers, state
		return &mcp.ClientRequest[*mcp.CallToolParams]{Session: session, Params: &again}, nil
	case *mcp.GetPromptParams:
		again := *p
		again.InputResponses, again.RequestState = answers, state
		return &mcp.ClientRequest[*mcp.GetPromptParams]{Session: session, Params: &again}, nil
	case *mcp.ReadResourceParams:
		again := *p
		again.InputResponses, again.RequestState = answers, state
		return &mcp.ClientRequest[*mcp.ReadResourceParams]{Session: session, Params: &again}, nil
	}
	return nil, errors.New("it asked something in the answer to a request that has no room for answers")
}
