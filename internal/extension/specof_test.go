package extension

import (
	"strings"
	"testing"

	"scorel/internal/extension/rpc"
)

func TestAToolOfAnExtensionCannotLookLikeOneOfAServer(t *testing.T) {
	if _, err := specOf(rpc.Tool{Name: "mcp__git__log", Description: "x"}); err == nil || !strings.Contains(err.Error(), "as those of MCP servers do") {
		t.Errorf("taken: %v", err)
	}
	if _, err := specOf(rpc.Tool{Name: "mcp_git", Description: "x"}); err != nil {
		t.Error(err)
	}
}
