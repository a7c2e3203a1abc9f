package mcpservers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/engine/mcp/config"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
)

// browser is a server with the name and the kind of tools that the extension of Chrome has.
func browser(t *testing.T) string {
	s := mcp.NewServer(&mcp.Implementation{Name: "ChromeMcpServer", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "chrome_navigate", Description: "opens an address"}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "opened " + in.Text}}}, nil, nil
	})
	at := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(at.Close)
	return at.URL
}

func TestASessionSwitchesChromeOnAndEachCallIsAskedFor(t *testing.T) {
	at := browser(t)
	for rule, want := range map[string]string{"": "needs permission", "mcp__mcp-chrome": "opened about:blank"} {
		for _, on := range []bool{true, false} {
			over := host.Overrides{}
			if rule != "" {
				over.Allow = []string{rule}
			}
			if on {
				over.MCPConfig = []string{config.SwitchedOn(config.Chrome)}
			}
			w := hosttest.New(t, hosttest.Setting{Overrides: over}, through("mcp__mcp-chrome__chrome_navigate", `{"text":"about:blank"}`), done)
			configure(w, fmt.Sprintf(`"mcp-chrome":{"type":"http","url":%q,"disabled":true}`, at))
			e := w.Begin(false)
			e.Say("go")
			got := strings.Join(results(w, e.ID), "\n")
			if !on {
				want = "ExecuteExtraTool" // it is not there without a server
			}
			if !strings.Contains(got, want) {
				t.Errorf("with the rule %q, switched on %t: %s", rule, on, got)
			}
		}
	}
}
