package connect

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// asServer makes the test binary an MCP server on stdin: its value says of which kind.
const asServer = "CONNECT_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asServer); kind != "" {
		serve(kind)
		return
	}
	goleak.VerifyTestMain(m)
}

// serve is a server of a kind. Kinds with a colon misbehave at a method: hang:tools/list
// does not answer it, exit:tools/call ends.
func serve(kind string) {
	how, at, misbehaves := strings.Cut(kind, ":")
	switch {
	case kind == "good":
		run(good())
	case kind == "offering":
		run(offering())
	case kind == "logging":
		s := good()
		mcp.AddTool(s, &mcp.Tool{Name: "log"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			for i := range 100 {
				//lint:ignore SA1019 servers of older versions do this
				err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Logger: "db", Data: fmt.Sprintf("row %d is\x1b[31m odd %s", i, strings.Repeat("x", 1500))})
				if err != nil {
					return nil, nil, err
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "logged"}}}, nil, nil
		})
		run(s)
	case kind == "asking":
		s := good()
		mcp.AddTool(s, &mcp.Tool{Name: "ask"}, ask)
		run(s)
	case kind == "changing", kind == "changing early":
		s := good()
		if kind == "changing early" { // before it tells of changes
			s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
					for method == "subscriptions/listen" {
						if _, err := os.Stat("listen"); err == nil {
							break
						}
						time.Sleep(time.Millisecond)
					}
					return next(ctx, method, r)
				}
			})
		}
		go func() { // ends with the process
			for { // until the file is there
				if _, err := os.Stat("change"); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			for i := range 20 {
				add(s, fmt.Sprint("later", i))
			}
		}()
		run(s)
	case kind == "stubborn":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		run(good())
		select {}
	case kind == "forking":
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
		run(good())
	case kind == "deaf":
		fmt.Fprintln(os.Stderr, "I do not read")
		time.Sleep(time.Hour) // a select without a case would be the end, where Go sees that nothing can happen
	case kind == "missing":
		fmt.Fprintln(os.Stderr, "the variable DB_DSN is not set")
		os.Exit(3)
	case misbehaves:
		byHand(how, at)
	}
}

func run(s *mcp.Server) {
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // ends with the input
}

type words struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func good() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "good", Version: "1.2"}, &mcp.ServerOptions{Instructions: "Be kind.\x1b[31m"})
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("no such row")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "it waits")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for i := range 5 {
			time.Sleep(time.Second)
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 5, Message: "step"}); err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "all steps"}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "where"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: os.Getenv("GIVEN") + " " + r.Session.InitializeParams().ProtocolVersion}}}, nil, nil
	})
	return s
}

// ask asks for a color and then for an address to be opened, in the way of the version that
// was agreed on, and says what it was answered.
func ask(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	color := &mcp.ElicitParams{Mode: "form", Message: "Which color?\x1b[31m", RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"area":{"type":"string","description":"in \"m2\" }"}},"required":["color"]}`)}
	page := &mcp.ElicitParams{Mode: "url", Message: "Pay here", URL: "https://pay.example/x", ElicitationID: "1"}
	answers := mcp.InputResponseMap{}
	if r.Session.InitializeParams().ProtocolVersion >= "2026-07-28" {
		if r.Params.InputResponses == nil {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"color": color, "page": page}}, nil, nil
		}
		answers = r.Params.InputResponses
	} else {
		for name, p := range map[string]*mcp.ElicitParams{"color": color, "page": page} {
			a, err := r.Session.Elicit(ctx, p)
			if err != nil {
				return nil, nil, err
			}
			answers[name] = a
		}
	}
	said, err := json.Marshal(answers)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(said)}}}, nil, nil
}

// offering is a server with prompts and resources.
func offering() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "offering", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil }})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Title: "Greet\x1b[31m", Description: "says hello", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"] + ".\x1b[31m"}},
				{Role: "assistant", Content: &mcp.TextContent{Text: "How?"}},
				{Role: "user", Content: &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}}}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "odd", Arguments: []*mcp.PromptArgument{{Name: "a\nb"}}}, nil)
	s.AddPrompt(&mcp.Prompt{Name: "empty"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: r.Params.URI, Text: "the text of " + r.Params.URI + "\x1b[31m"}, {URI: r.Params.URI, MIMEType: "application/zip", Blob: []byte("PK")}}}, nil
	}
	s.AddResource(&mcp.Resource{Name: "notes", URI: "notes://all", Description: "all notes", Size: 12}, read)
	s.AddResource(&mcp.Resource{Name: "gone", URI: "notes://gone"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "one note", URITemplate: "notes://{day}"}, read)
	return s
}

func add(s *mcp.Server, name string) {
	mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
}

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor string `json:"cursor"`
	} `json:"params"`
}

// byHand is an older server without a library, which misbehaves at a method.
func byHand(how, at string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var c call
		if json.Unmarshal(in.Bytes(), &c) != nil || c.ID == nil {
			continue
		}
		if how == "junk" {
			fmt.Println("Server listening on port 3000\x1b[2J")
			fmt.Println(`{"half": `)
		}
		if c.Method == at {
			switch how {
			case "hang":
				continue
			case "exit":
				fmt.Fprintln(os.Stderr, "I leave at "+at)
				os.Exit(7)
			case "half":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, c.ID)
				os.Exit(0)
			case "large":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"x":"%s"}}`+"\n", c.ID, strings.Repeat("x", 17<<20))
				continue
			case "flood":
				for range 50_000 {
					fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
					fmt.Println(`{"jsonrpc":"2.0","method":"notifications/of/our/own","params":{"a":[1,2,3]}}`)
				}
			case "senseless":
				fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","oneOf":[null]}}}}}`)
			case "nothing":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"inputRequests":{"a":null}}}`+"\n", c.ID)
				continue
			case "pushing":
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/claude/channel","params":{}}`)
			case "bye":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`+"\n", c.ID)
				for in.Scan() {
				}
				fmt.Fprintln(os.Stderr, "Traceback: the input has ended")
				os.Exit(1)
			case "future":
				fmt.Fprintln(os.Stderr, "I start")
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"x","version":"0"}}}`+"\n", c.ID)
				for in.Scan() {
				}
				fmt.Fprintln(os.Stderr, "Traceback: the input has ended")
				os.Exit(1)
			case "error":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the disk\u001b[31m is full"}}`+"\n", c.ID)
				continue
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", c.ID, byHandAnswer(how, c))
	}
}

func byHandAnswer(how string, c call) string {
	switch c.Method {
	case "initialize":
		if how == "malformed" {
			return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"by hand","version":"0"}}`
		}
		return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"by hand","version":"0"}}`
	case "tools/list":
		if how == "malformed" {
			return `"result":{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","description":[1]}]}`
		}
		next := ""
		switch how {
		case "cycle":
			next = `,"nextCursor":"` + map[string]string{"": "a", "a": "b", "b": "a"}[c.Params.Cursor] + `"`
		case "endless":
			next = `,"nextCursor":"` + c.Params.Cursor + `x"`
		}
		return `"result":{"tools":[{"name":"tool` + c.Params.Cursor + `","inputSchema":{"type":"object"}}]` + next + `}`
	case "prompts/list":
		return `"result":{"prompts":[{"name":"good"},{"name":5},{"name":"odd","arguments":"none"},{"name":"well"}]}`
	case "tools/call":
		return `"result":{"content":[{"type":"text","text":"called"}]}`
	}
	return `"error":{"code":-32601,"message":"method not found"}`
}
