package mcpservers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/host/hosttest"
)

// line is the server's end of a WebSocket.
type line struct{ *websocket.Conn }

func (l line) Connect(context.Context) (mcp.Connection, error) { return l, nil }
func (l line) SessionID() string                               { return "" }
func (l line) Close() error                                    { return l.CloseNow() }

func (l line) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, data, err := l.Conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(data)
}

func (l line) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return l.Conn.Write(ctx, websocket.MessageText, data)
}

func TestAToolOfAWebSocketIsCalledInASession(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			return
		}
		s := mcp.NewServer(&mcp.Implementation{Name: "bus", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the bus says " + in.Text + r.Header.Get("X-Key")}}}, nil, nil
		})
		_ = s.Run(context.Background(), line{c}) // ends with the connection
	}))
	defer srv.Close()
	w := hosttest.New(t, allowed("mcp__bus"), calls("mcp__bus__echo", `{"text":"hi "}`), done)
	configure(w, fmt.Sprintf(`"bus":{"url":"ws%s","type":"ws","alwaysLoad":true,"headers":{"X-Key":"there"}}`, strings.TrimPrefix(srv.URL, "http")))
	e := w.Begin(false)
	e.Say("go")
	if got := e.LastResult().PlainText(); got != "the bus says hi there" {
		t.Errorf("the result is %q", got)
	}
}
