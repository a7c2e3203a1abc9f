package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/ui/mcpserve"
)

// mcpClient is an MCP client of scorel mcp serve.
type mcpClient struct {
	*mcp.ClientSession
	t        *testing.T
	progress chan string   // messages of progress notifications
	updated  chan string   // addresses of resources that have changed
	stderr   *bytes.Buffer // of the process, when it has ended
}

// serveStdio starts scorel mcp serve with flags, and connects with it over stdio.
func (s *station) serveStdio(flags ...string) *mcpClient {
	s.t.Helper()
	c := &mcpClient{t: s.t, stderr: &bytes.Buffer{}}
	cmd := s.command(append([]string{"mcp", "serve"}, flags...)...)
	cmd.Stderr = c.stderr
	c.connect(&mcp.CommandTransport{Command: cmd})
	return c
}

// connect makes the client of a transport.
func (c *mcpClient) connect(t mcp.Transport) {
	c.t.Helper()
	c.progress, c.updated = make(chan string, 1000), make(chan string, 1000)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { c.progress <- r.Params.Message },
		ResourceUpdatedHandler:      func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	session, err := client.Connect(ctx, t, nil)
	if err != nil {
		c.t.Fatalf("connect: %v\n%s", err, c.stderr)
	}
	c.ClientSession = session
	c.t.Cleanup(func() { _ = session.Close() })
}

// call calls a tool; into, unless it is nil, takes the structure.
func (c *mcpClient) call(name string, args map[string]any, into any) *mcp.CallToolResult {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken("p")
	r, err := c.CallTool(ctx, params)
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	if into != nil {
		if r.IsError {
			c.t.Fatalf("%s: %s", name, textOf(r))
		}
		data, err := json.Marshal(r.StructuredContent)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			c.t.Fatalf("%s: %v", name, err)
		}
	}
	return r
}

// textOf returns the text of a result.
func textOf(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// begin starts a session with a message.
func (c *mcpClient) begin(message string) string {
	c.t.Helper()
	var out mcpserve.Started
	c.call("session_start", map[string]any{"message": message}, &out)
	return out.SessionID
}

// wait waits for a session.
func (c *mcpClient) wait(id string) mcpserve.Status {
	c.t.Helper()
	var out mcpserve.Status
	c.call("session_wait", map[string]any{"sessionId": id, "timeoutSeconds": 120}, &out)
	return out
}

// mcpScript is a model that works, asks and waits.
var mcpScript = []string{
	`{"if":{"user":"greet"},"do":[{"text":"Hello \u001b[31mthere\u202e."}]}`,
	`{"if":{"user":"make"},"do":[{"call":"Bash","input":{"command":"touch made"}}]}`,
	`{"if":{"user":"dialog"},"do":[{"call":"AskUser","input":{"questions":[{"question":"Which colour?","options":[{"label":"red"},{"label":"blue"}]}]}}]}`,
	`{"if":{"user":"long"},"do":[{"text":"I begin."},{"hang":true}]}`,
	`{"if":{"result":"."},"again":true,"do":[{"text":"Done."}]}`,
}

func TestMCPServeAnswersWithTheWholeOfAnAnswerThatWasContinued(t *testing.T) {
	s := newStation(t, `{"do":[{"text":"withdrawn"}],"stop":"max_tokens"}`, `{"do":[{"text":"The wo"}],"stop":"max_tokens"}`, `{"do":[{"text":"rd."}]}`)
	c := s.serveStdio()
	if st := c.wait(c.begin("say it")); st.Outcome != "completed" || st.Answer != "The word." {
		t.Errorf("the end: %+v", st)
	}
}

func TestMCPServeRunsASessionToItsEnd(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	tools, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema == nil {
			t.Errorf("%s has no output schema", tool.Name)
		}
	}
	if got := strings.Join(names, " "); got != "session_answer session_cancel session_list session_read session_send session_start session_wait" {
		t.Errorf("the tools are %s", got)
	}
	id := c.begin("greet me")
	st := c.wait(id)
	if st.Status != "idle" || st.Outcome != "completed" || st.Answer != "Hello there[U+202E]." {
		t.Errorf("%+v", st)
	}
	var list mcpserve.Listed
	c.call("session_list", map[string]any{"limit": 1}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != id || list.Sessions[0].Title != "greet me" || list.Sessions[0].WorkDir != s.project {
		t.Errorf("%+v", list)
	}
	if out, errOut, code := s.run("sessions", "list"); code != 0 || !strings.Contains(out, id) {
		t.Errorf("the project does not have it: %s%s", out, errOut)
	}
	var page mcpserve.Page
	c.call("session_read", map[string]any{"sessionId": id, "limit": 1}, &page)
	if len(page.Messages) != 1 || page.Messages[0].Role != "assistant" || page.NextCursor == "" {
		t.Errorf("%+v", page)
	}
	c.call("session_read", map[string]any{"sessionId": id, "cursor": page.NextCursor}, &page)
	if n := len(page.Messages); n == 0 || page.Messages[n-1].Text != "greet me" {
		t.Errorf("%+v", page)
	}
	res, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "scorel://session/" + id})
	if err != nil || len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, "greet me") || strings.Contains(res.Contents[0].Text, "\x1b") {
		t.Errorf("%v %+v", err, res)
	}
	words, err := c.Complete(context.Background(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: "scorel://session/{id}"}, Argument: mcp.CompleteParamsArgument{Name: "id", Value: id[:8]}})
	if err != nil || len(words.Completion.Values) != 1 || words.Completion.Values[0] != id {
		t.Errorf("%v %+v", err, words)
	}
	if _, err := c.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "scorel://session/ses_none"}); err == nil {
		t.Error("a conversation that is not there was read")
	}
}

func TestMCPServeHasQuestionsAnswered(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	id := c.begin("make it")
	st := c.wait(id)
	if st.Status != "asking" || len(st.Questions) != 1 || st.Questions[0].Kind != "permission" || !strings.Contains(st.Questions[0].Text, "touch made") {
		t.Fatalf("%+v", st)
	}
	for _, wrong := range []any{"always", true, nil} {
		if r := c.call("session_answer", map[string]any{"sessionId": id, "questionId": st.Questions[0].ID, "answer": wrong}, nil); !r.IsError {
			t.Errorf("the answer %v was taken", wrong)
		}
	}
	c.call("session_answer", map[string]any{"sessionId": id, "questionId": st.Questions[0].ID, "answer": "allow"}, &mcpserve.Status{})
	if st := c.wait(id); st.Status != "idle" || st.Answer != "Done." || !s.exists("project/made") {
		t.Errorf("%+v", st)
	}
	if r := c.call("session_answer", map[string]any{"sessionId": id, "questionId": st.Questions[0].ID, "answer": "allow"}, nil); !r.IsError || !strings.Contains(textOf(r), "waits for no answer") {
		t.Errorf("answered twice: %s", textOf(r))
	}
	if s.exists(".scorel/permissions.toml") {
		t.Error("an answer has written a rule")
	}

	c.call("session_send", map[string]any{"sessionId": id, "message": "now a dialog"}, &mcpserve.Started{})
	st = c.wait(id)
	if st.Status != "asking" || st.Questions[0].Kind != "question" || !strings.Contains(st.Questions[0].Text, "Which colour?") {
		t.Fatalf("%+v", st)
	}
	c.call("session_answer", map[string]any{"sessionId": id, "questionId": st.Questions[0].ID, "answer": []string{"blue"}}, &mcpserve.Status{})
	if st := c.wait(id); st.Status != "idle" {
		t.Errorf("%+v", st)
	}
	if r := c.call("session_read", map[string]any{"sessionId": id}, nil); !strings.Contains(textOf(r), "blue") {
		t.Errorf("the agent was not told: %s", textOf(r))
	}
}

func TestMCPServeTellsProgressAndCancels(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	id := c.begin("a long one")
	var st mcpserve.Status
	for end := time.Now().Add(patience); st.Step == ""; { // the first step may take longer than a wait
		c.call("session_wait", map[string]any{"sessionId": id, "timeoutSeconds": 1}, &st)
		if st.Status != "running" || time.Now().After(end) {
			t.Fatalf("after its time: %+v", st)
		}
	}
	select {
	case message := <-c.progress:
		if message == "" {
			t.Error("a progress without a word")
		}
	case <-time.After(patience):
		t.Fatal("nothing told of progress")
	}
	// To cancel a wait ends the waiting alone.
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "session_wait", Arguments: map[string]any{"sessionId": id, "timeoutSeconds": 600}})
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled wait returned")
	}
	c.call("session_wait", map[string]any{"sessionId": id, "timeoutSeconds": 1}, &st)
	if st.Status != "running" {
		t.Errorf("the turn ended with the wait: %+v", st)
	}
	c.call("session_send", map[string]any{"sessionId": id, "message": "and then\nthis"}, &mcpserve.Started{})
	queued := func(list []string) bool { return len(list) == 1 && list[0] == "and then this" }
	for end := time.Now().Add(patience); ; {
		st = mcpserve.Status{}
		c.call("session_wait", map[string]any{"sessionId": id, "timeoutSeconds": 1}, &st)
		if queued(st.Queued) && !st.Paused {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the queue is not told: %+v", st)
		}
	}
	var did mcpserve.Cancelled
	c.call("session_cancel", map[string]any{"sessionId": id}, &did)
	if !did.Cancelled || !queued(did.Queued) {
		t.Errorf("%+v", did)
	}
	st = mcpserve.Status{}
	if st = c.wait(id); st.Status != "idle" || st.Outcome != "cancelled" || !queued(st.Queued) || !st.Paused {
		t.Errorf("%+v %+v", did, st)
	}
	c.call("session_cancel", map[string]any{"sessionId": id}, &did)
	if did.Cancelled {
		t.Error("nothing was cancelled")
	}
}

func TestMCPServeTellsOfChangesOfAConversation(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	var started mcpserve.Started
	c.call("session_start", map[string]any{}, &started)
	if err := c.Subscribe(context.Background(), &mcp.SubscribeParams{URI: started.URI}); err != nil {
		t.Fatal(err)
	}
	c.call("session_send", map[string]any{"sessionId": started.SessionID, "message": "greet me"}, &mcpserve.Started{})
	select {
	case uri := <-c.updated:
		if uri != started.URI {
			t.Errorf("%s has changed", uri)
		}
	case <-time.After(patience):
		t.Fatal("nobody was told")
	}
}

func TestMCPServeOffersTemplatesAsPrompts(t *testing.T) {
	s := newStation(t)
	s.file(".scorel/commands/review.md", "---\ndescription: Reviews a file\n---\nReview $1.")
	c := s.serveStdio()
	list, err := c.ListPrompts(context.Background(), nil)
	if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "review" || list.Prompts[0].Description != "Reviews a file" {
		t.Fatalf("%v %+v", err, list)
	}
	got, err := c.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: "review", Arguments: map[string]string{"arguments": "a.go"}})
	if err != nil || len(got.Messages) != 1 || got.Messages[0].Content.(*mcp.TextContent).Text != "Review a.go." {
		t.Errorf("%v %+v", err, got)
	}
}

func TestMCPServeRunsBuiltinToolsByTheRules(t *testing.T) {
	s := newStation(t)
	s.file(".scorel/config.toml", s.read(".scorel/config.toml")+"[permissions]\nallow = [\"Bash(echo:*)\"]\n")
	c := s.serveStdio("--tools", "coding")
	tools, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, tool := range tools.Tools {
		names += tool.Name + " "
	}
	if !strings.Contains(names, "Bash ") || !strings.Contains(names, "Read ") || !strings.Contains(names, "session_start ") || strings.Contains(names, "AskUser") {
		t.Errorf("the tools are %s", names)
	}
	if r := c.call("Read", map[string]any{"path": "a.txt"}, nil); r.IsError || !strings.Contains(textOf(r), "hello") {
		t.Errorf("Read: %s", textOf(r))
	}
	if r := c.call("Bash", map[string]any{"command": "echo one"}, nil); r.IsError || !strings.Contains(textOf(r), "one") {
		t.Errorf("allowed: %s", textOf(r))
	}
	if r := c.call("Bash", map[string]any{"command": "touch made"}, nil); !r.IsError || !strings.Contains(textOf(r), "permissions.allow") || s.exists("project/made") {
		t.Errorf("not allowed: %s", textOf(r))
	}
	var wg sync.WaitGroup
	for i := range 8 { // they wait for each other
		wg.Go(func() {
			r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": fmt.Sprintf("echo call-%d", i)}})
			if err != nil || r.IsError || !strings.Contains(textOf(r), fmt.Sprintf("call-%d", i)) {
				t.Errorf("call %d: %v %+v", i, err, r)
			}
		})
	}
	wg.Wait()
	var list mcpserve.Listed
	c.call("session_list", map[string]any{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Title != "Tools of scorel mcp serve" {
		t.Fatalf("%+v", list)
	}
	log := s.read(".scorel/sessions/" + list.Sessions[0].SessionID + ".jsonl")
	for _, want := range []string{"echo one", "touch made", "call-7", `"scorel.tool"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %s", want)
		}
	}
}

func TestMCPServeEndsWithItsInputAndWithASignal(t *testing.T) {
	s := newStation(t, mcpScript...)
	for _, signal := range []bool{false, true} {
		cmd := s.command("mcp", "serve")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "junk\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		line, err := r.ReadString('\n')
		if err != nil || !strings.Contains(line, `"serverInfo"`) {
			t.Errorf("%v: %s", err, line)
		}
		if signal {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		} else {
			_ = in.Close()
		}
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("more on stdout: %s", rest)
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(errOut.String(), "not JSON") {
			t.Errorf("with signal %v: %v: %s", signal, err, errOut.String())
		}
	}
}

// bearer adds the token of a header file to requests.
type bearer struct{ header string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	name, value, _ := strings.Cut(strings.TrimSpace(b.header), ": ")
	r = r.Clone(r.Context())
	r.Header.Set(name, value)
	return http.DefaultTransport.RoundTrip(r)
}

// serveHTTP starts scorel mcp serve --http, and returns its address and its process.
func (s *station) serveHTTP(flags ...string) (string, *exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	cmd := s.command(append([]string{"mcp", "serve", "--http", "127.0.0.1:0"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	errOut := &bytes.Buffer{}
	cmd.Stderr = errOut
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		s.t.Fatalf("%v: %s", err, errOut)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return strings.TrimSpace(line), cmd, errOut
}

// over connects a client over HTTP.
func (s *station) over(url string) *mcpClient {
	c := &mcpClient{t: s.t, stderr: &bytes.Buffer{}}
	c.connect(&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{s.read(".scorel/mcp-serve.header")}}})
	return c
}

func TestMCPServeOverHTTPServesTwoClientsAtOnce(t *testing.T) {
	s := newStation(t, mcpScript...)
	url, cmd, errOut := s.serveHTTP()
	a, b := s.over(url), s.over(url)
	id := a.begin("make it")
	st := b.wait(id)
	if st.Status != "asking" {
		t.Fatalf("%+v", st)
	}
	other := b.begin("greet me")
	a.call("session_answer", map[string]any{"sessionId": id, "questionId": st.Questions[0].ID, "answer": "allow"}, &mcpserve.Status{})
	if st := b.wait(id); st.Status != "idle" || !s.exists("project/made") {
		t.Errorf("%+v", st)
	}
	if st := a.wait(other); st.Status != "idle" || !strings.HasPrefix(st.Answer, "Hello") {
		t.Errorf("%+v", st)
	}
	// A client that is gone takes nothing with it.
	long := a.begin("a long one")
	ctx, cancel := context.WithCancel(context.Background())
	params := &mcp.CallToolParams{Name: "session_wait", Arguments: map[string]any{"sessionId": long, "timeoutSeconds": 600}}
	params.SetProgressToken("w")
	go func() {
		<-a.progress
		cancel()
	}()
	if _, err := a.CallTool(ctx, params); err == nil {
		t.Error("the wait of a client that is gone returned")
	}
	var st2 mcpserve.Status
	b.call("session_wait", map[string]any{"sessionId": long, "timeoutSeconds": 1}, &st2)
	if st2.Status != "running" {
		t.Errorf("%+v", st2)
	}
	_ = a.Close()
	_ = b.Close()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, errOut)
	}
	token := strings.TrimSpace(strings.TrimPrefix(s.read(".scorel/mcp-serve.header"), "Authorization: Bearer "))
	if info, err := os.Stat(filepath.Join(s.home, ".scorel", "mcp-serve.header")); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(errOut.String(), token) || !strings.Contains(errOut.String(), "mcp-serve.header") {
		t.Errorf("%v %v: %s", err, info, errOut)
	}
}

func TestMCPServeOverHTTPRefusesWhoMayNotComeIn(t *testing.T) {
	s := newStation(t, mcpScript...)
	url, _, _ := s.serveHTTP()
	_, token, _ := strings.Cut(strings.TrimSpace(s.read(".scorel/mcp-serve.header")), ": ")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct {
		name, token, origin, host, body string
		status                          int
	}{
		{name: "with the token", token: token, status: 200},
		{name: "of a page of this machine", token: token, origin: "http://localhost:6274", status: 200},
		{name: "without a token", status: 401},
		{name: "with a wrong one", token: token[:len(token)-1] + "!", status: 401},
		{name: "with the token alone", token: strings.TrimPrefix(token, "Bearer "), status: 401},
		{name: "of a foreign page", token: token, origin: "https://evil.example", status: 403},
		{name: "of a page without an origin", token: token, origin: "null", status: 403},
		{name: "for another name", token: token, host: "evil.example", status: 403},
		{name: "with too large a body", token: token, body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`, status: 413},
	} {
		body := c.body
		if body == "" {
			body = ping
		}
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if c.token != "" {
			r.Header.Set("Authorization", c.token)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.host != "" {
			r.Host = c.host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != c.status || strings.Contains(string(text), strings.TrimPrefix(token, "Bearer ")) {
			t.Errorf("%s: %d %.200s", c.name, answer.StatusCode, text)
		}
	}
}

func TestMCPServeListensForOtherMachinesOnlyWhenThatIsSaid(t *testing.T) {
	s := newStation(t)
	for _, args := range [][]string{{"--http", "0.0.0.0:0"}, {"--http", "[::]:0"}, {"--http", ":0", "--listen"}, {"--http", "8765"}, {"--listen"}, {"--tools", "some"}, {"--http", "desk.example:80"}} {
		if out, errOut, code := s.run(append([]string{"mcp", "serve"}, args...)...); code != 2 || out != "" || errOut == "" {
			t.Errorf("%v: %d %s%s", args, code, out, errOut)
		}
	}
}

func TestMCPServeCancelsACallWhoseCallerCancelsIt(t *testing.T) {
	s := newStation(t)
	s.file(".scorel/config.toml", s.read(".scorel/config.toml")+"[permissions]\nallow = [\"Bash\"]\n")
	c := s.serveStdio("--tools", "coding")
	ctx, cancel := context.WithCancel(context.Background())
	params := &mcp.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "sleep 600; touch made"}}
	params.SetProgressToken("b")
	go func() {
		<-c.progress
		cancel()
	}()
	if _, err := c.CallTool(ctx, params); err == nil {
		t.Error("the call returned")
	}
	// The next call waits for the end of that one.
	if r := c.call("Bash", map[string]any{"command": "echo next"}, nil); r.IsError || !strings.Contains(textOf(r), "next") || s.exists("project/made") {
		t.Errorf("%s", textOf(r))
	}
}

func TestMCPServeGoesOnWithAnotherHost(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	id := c.begin("greet me")
	c.wait(id)
	s.endHost()
	c.call("session_send", map[string]any{"sessionId": id, "message": "greet me again"}, &mcpserve.Started{})
	if st := c.wait(id); st.Status != "idle" || !strings.HasPrefix(st.Answer, "Hello") {
		t.Errorf("%+v", st)
	}
}

func TestMCPServeRefusesInputsInASentence(t *testing.T) {
	s := newStation(t, mcpScript...)
	c := s.serveStdio()
	id := c.begin("greet me")
	for _, x := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"session_start", map[string]any{"workDir": "/nowhere"}, "/nowhere"},
		{"session_start", map[string]any{"workDir": "/"}, "/"},
		{"session_start", map[string]any{"message": "hello", "mode": "bypass"}, "mode"},
		{"session_start", map[string]any{"model": "nobody/none"}, "none"},
		{"session_send", map[string]any{"sessionId": id, "message": " "}, "the message is empty"},
		{"session_send", map[string]any{"sessionId": id, "message": "x", "whenBusy": "now"}, "followUp, steer or reject"},
		{"session_send", map[string]any{"sessionId": "ses_0000000000000000000000000", "message": "x"}, "session"},
		{"session_wait", map[string]any{"sessionId": "x\x1b[2J"}, "not an id of a session"},
		{"session_wait", map[string]any{"sessionId": id, "timeoutSeconds": 601}, "1 to 600"},
		{"session_cancel", map[string]any{}, "sessionId"},
		{"session_answer", map[string]any{"sessionId": id, "questionId": "prm_x", "answer": "allow"}, "waits for no answer"},
		{"session_list", map[string]any{"limit": 101}, "1 to 100"},
		{"session_list", map[string]any{"cursor": "x"}, "the cursor is not one"},
		{"session_read", map[string]any{"sessionId": id, "limit": 51}, "1 to 50"},
		{"session_read", map[string]any{"sessionId": id, "cursor": "evt_x"}, "evt_x"},
	} {
		if r := c.call(x.tool, x.args, nil); !r.IsError || !strings.Contains(textOf(r), x.want) || strings.Contains(textOf(r), "\x1b") || len(textOf(r)) > 1000 {
			t.Errorf("%s %v: %v %s", x.tool, x.args, r.IsError, textOf(r))
		}
	}
}
