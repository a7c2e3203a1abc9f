package mcpserve

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAPanicInARequestIsItsAnswer(t *testing.T) {
	told := ""
	s := &Server{cfg: Config{Notify: func(text string) { told = text }}}
	res, err := s.guarded(func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("half read") })(t.Context(), "tools/call", nil)
	if res != nil || !errors.Is(err, errInside) {
		t.Errorf("the answer is %v, %v", res, err)
	}
	if !strings.Contains(told, "half read, while answering tools/call") || !strings.Contains(told, "guard_test.go") {
		t.Errorf("people are told %q", told)
	}
}
