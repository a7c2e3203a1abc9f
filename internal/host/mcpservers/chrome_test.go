package mcpservers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/engine/mcp/config"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
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

func TestAMessageSwitchesChromeOnInASessionOfAServingHost(t *testing.T) {
	at := browser(t)
	on := protocol.TurnOptions{MCPConfig: []string{config.SwitchedOn(config.Chrome)}, Allow: []string{"mcp__mcp-chrome"}}
	for _, resumed := range []bool{false, true} {
		lines := []string{through("mcp__mcp-chrome__chrome_navigate", `{"text":"about:blank"}`), done}
		if resumed {
			lines = append([]string{done}, lines...)
		}
		w := hosttest.New(t, hosttest.Setting{}, lines...)
		configure(w, fmt.Sprintf(`"mcp-chrome":{"type":"http","url":%q,"disabled":true}`, at))
		e := w.Begin(false)
		if resumed {
			e.Say("before")
		}
		e.With("go", on)
		if got := strings.Join(results(w, e.ID), "\n"); !strings.Contains(got, "opened about:blank") {
			t.Errorf("resumed %t: %s", resumed, got)
		}
	}
}

func TestTheFailureOfAServerThatIsAlwaysLoadedIsToldInTheSession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, done)
	configure(w, entry("broken", `,"alwaysLoad":true`))
	e := w.Begin(false)
	if said := fmt.Sprint(w.Reports.List); strings.Contains(said, "broken") {
		t.Errorf("it is told before anybody can have opened the session: %s", said)
	}
	e.Say("hello")
	if said := fmt.Sprint(w.Reports.List); !strings.Contains(said, "The MCP server broken cannot be used") {
		t.Errorf("nobody is told: %s", said)
	}
}

func TestWhoHasEnabledChromeIsToldThatItDoesNotAnswerUnlessServersAreStrict(t *testing.T) {
	t.Setenv("MCP_CHROME_URL", "http://127.0.0.1:9/mcp")
	for _, strict := range []bool{false, true} {
		over := host.Overrides{StrictMCP: strict, MCPConfig: []string{`{}`}}
		w := hosttest.New(t, hosttest.Setting{Overrides: over}, done)
		w.Write(filepath.Join(w.Home, ".scorel", "mcp.json"), fmt.Sprintf(`{"projects":{%q:{"enabled":{"mcp-chrome":true}}}}`, w.Project))
		w.Begin(false).Say("hello")
		if told := strings.Contains(fmt.Sprint(w.Reports.List), "The MCP server mcp-chrome cannot be used"); told == strict {
			t.Errorf("strict %t: %v", strict, w.Reports.List)
		}
	}
}
