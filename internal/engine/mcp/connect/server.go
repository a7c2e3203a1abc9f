package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
	"scorel/internal/platform/sandbox"
	"scorel/internal/text/promptsafe"
)

const (
	// probeTime is how long a server on stdin has to answer the first question of the
	// newest version, which older servers do not know: some never answer it, some end.
	probeTime = 3 * time.Second
	// olderVersion is the version that they are asked for then.
	olderVersion = "2025-11-25"
	// endTime is how long a process that has closed its output has to end.
	endTime = 2 * time.Second
	// listTime is how long a list may take.
	listTime = time.Minute
	// maxInstructions is how much of a server's instructions counts, in bytes.
	maxInstructions = 2048
	// settle is how long lists have to be unchanged before they are read again.
	settle = 500 * time.Millisecond
	// maxSettle is after which time they are read although they go on changing.
	maxSettle = 5 * time.Second
	// maxMessages is how much is kept of what a server logs by messages, and maxLogged of one,
	// in bytes.
	maxMessages = 64 << 10
	maxLogged   = 2 << 10
	// longest is how many times its time-out a call may take that goes on telling of itself.
	longest = 6
)

// DefaultConnectTime and DefaultCallTime are how long a connection and a call may take,
// where nothing else is said.
const (
	DefaultConnectTime = 30 * time.Second
	DefaultCallTime    = 10 * time.Minute
)

// Target says how a server is reached: by a command or by an address.
type Target struct {
	Name string // of the entry

	Command string // a path or a name to look up; "": it has an address
	Args    []string
	Env     []string // the whole environment
	Dir     string
	Record  string // where its process group is recorded, see [sandbox.Helper]
	// Profile confines the command, and Helper; nil: they can do what the user can. Its
	// TempDir is made for each start.
	Profile *sandbox.Profile

	URL     string // of the scheme ws or wss: a WebSocket
	SSE     bool   // as of 2024-11-05; else streamable HTTP
	Headers http.Header
	// Helper is a shell command that prints more headers as a JSON object, in Dir and with
	// Env; "" for none. It runs each time that the server is connected with.
	Helper string
	Auth   Auth // nil for none

	Advice string // what a person can do when it cannot be reached, a clause; "" for nothing
	Older  bool   // it is known not to speak the newest version
	// Hide takes out of a text what may be secret: the values of variables and answers in the
	// entry; nil takes out nothing.
	Hide func(string) string
}

// hidden is an error whose text has nothing secret.
type hidden struct {
	error
	text string
}

func (h hidden) Error() string { return h.text }
func (h hidden) Unwrap() error { return h.error }

// hiding returns err without what may be secret.
func (t Target) hiding(err error) error {
	if err == nil || t.Hide == nil {
		return err
	}
	if text := t.Hide(err.Error()); text != err.Error() {
		return hidden{err, text}
	}
	return err
}

// hidden returns a text without what may be secret.
func (t Target) hidden(text string) string {
	if t.Hide == nil {
		return text
	}
	return t.Hide(text)
}

// Options are what a connection needs besides.
type Options struct {
	Version     string        // of this program
	ConnectTime time.Duration // 0: DefaultConnectTime
	CallTime    time.Duration // 0: DefaultCallTime
	Root        string        // the folder of the workspace, "" for none
	Asks        bool          // the server may ask people, see [Call]
	Samples     bool          // the server may ask for completions of a model, see [Call]
	// ToolsChanged and ListsChanged are told that the list of tools, or one of the others, has
	// changed and then not again for 500 ms; from goroutines of their own. They may be nil.
	ToolsChanged, ListsChanged func()
	// Updated is told the address of a resource that is subscribed to and has changed, at most
	// once in 500 ms; it may be nil.
	Updated func(uri string)
	// Crowded is told that a question was declined because calls of several sessions were
	// open; it may be nil.
	Crowded func()
	// Caught is told of the panic that has ended the connection, from a goroutine of its own;
	// it may be nil.
	Caught func(what string, p *fault.Panic)
	// Pushed takes the notifications of a channel ([ChannelPushed]), in the order of each stream.
	// It must not wait, and an address calls it from several goroutines; nil takes none.
	Pushed func(method string, params json.RawMessage)
	// Lost is told that something of what a channel has pushed did not arrive, and why, as a clause;
	// as Pushed is. It may be nil.
	Lost func(why string)
}

// Server is an open connection. It may be used concurrently.
type Server struct {
	target  Target
	options Options
	process *process // of a command
	address *address // else
	socket  *socket  // of an address that is a WebSocket
	session *mcp.ClientSession
	receive mcp.MethodHandler // what the library does of a request of the server
	older   bool

	closed   atomic.Bool
	sampling atomic.Bool // a completion that the server has asked for goes on
	once     sync.Once
	ended    chan struct{} // closed when the connection has ended
	fuse     *fault.Fuse   // the first panic of its goroutines ends it

	mu       sync.Mutex
	watched  bool // there is a connection, which Close ends
	calls    calls
	settling [2]settling // while changed lists settle: of tools, and the others
	messages ring        // that the server has logged

	subscribed subscriptions
	schemas    schemas
}

// calls are those of a connection. The lock of the server guards them.
type calls struct {
	made     int
	asking   []*asking            // those that are open
	progress map[string]*follower // by token
}

// The lists that change and are read together.
const (
	ofTools = iota
	ofOthers
)

// Progress is what a server tells of a call that runs.
type Progress struct {
	Done, Total float64 // Total is 0 where it is not known
	Message     string
}

// Open connects to a server. The error says in a sentence without a subject why that was
// not possible, such as "it does not answer"; it is [ErrNeedsAuth] where somebody has to
// sign in.
func Open(ctx context.Context, t Target, o Options) (*Server, error) {
	s, err := connectTo(ctx, t, o)
	if err != nil && t.Advice != "" && ctx.Err() == nil && !errors.Is(err, ErrNeedsAuth) {
		err = fmt.Errorf("%w; %s", err, t.Advice)
	}
	return s, t.hiding(err)
}

func connectTo(ctx context.Context, t Target, o Options) (*Server, error) {
	if o.ConnectTime <= 0 {
		o.ConnectTime = DefaultConnectTime
	}
	if o.CallTime <= 0 {
		o.CallTime = DefaultCallTime
	}
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTime)
	defer cancel()
	switch {
	case t.Command == "" && isSocket(t.URL):
		return openSocket(ctx, t, o)
	case t.Command == "":
		return openAddress(ctx, t, o)
	}
	if !t.Older {
		s, again, err := openProcess(ctx, t, o, "", min(probeTime, o.ConnectTime/2))
		if !again || ctx.Err() != nil {
			return s, err
		}
	}
	s, _, err := openProcess(ctx, t, o, olderVersion, o.ConnectTime)
	return s, err
}

// openProcess starts a server and greets it in a version, "" for the newest. again says
// that an older version may help.
func openProcess(ctx context.Context, t Target, o Options, version string, limit time.Duration) (s *Server, again bool, err error) {
	s = newServer(t, o)
	p, err := start(t, s.fuse)
	if err != nil {
		return nil, false, err
	}
	s.process, s.older = p, version != ""
	p.out.pushed = o.Pushed
	p.follow(s.fuse)
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(own, s.careful(func() { // a greeting that is not read waits for no context
		p.leave()
		p.child.Kill()
	}))
	s.session, err = s.client().Connect(own, s.transport(p), &mcp.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil {
		err = own.Err()
	}
	if err != nil {
		over := own.Err()
		var answered *jsonrpc.Error
		if over == nil && !p.left.Load() && !errors.As(err, &answered) { // its end may say more than the end of its output
			select {
			case <-p.ended:
			case <-time.After(endTime):
			}
		}
		dead := !p.alive() && !p.left.Load()
		p.leave()
		p.stop()
		if s.session != nil { // connected, and too late: its streams end with it
			_ = s.session.Close()
		}
		return nil, version == "" && (over != nil || dead), s.notConnected(err, over, dead, o.ConnectTime)
	}
	s.watch()
	return s, false, nil
}

// openAddress connects over HTTP. A channel that speaks the newest version is connected with in
// the one before it, where that is possible: in the newest a server has no stream of its own.
func openAddress(ctx context.Context, t Target, o Options) (*Server, error) {
	s, err := greetAddress(ctx, t, o)
	if err != nil || o.Pushed == nil || s.older || s.ProtocolVersion() < newestVersion || !s.Declares(channelCapability) {
		return s, err
	}
	t.Older = true
	older, err := greetAddress(ctx, t, o)
	if err == nil && older.CanPush() == nil {
		s.Close()
		return older, nil
	}
	if err == nil {
		older.Close()
	}
	return s, nil // [Server.CanPush] says why it is not a channel
}

func greetAddress(ctx context.Context, t Target, o Options) (*Server, error) {
	var err error
	asked := t
	if t.Headers, err = t.help(ctx); err != nil {
		return nil, err
	}
	a, err := newAddress(t)
	if err != nil {
		return nil, err
	}
	if asked.Helper != "" {
		a.again = asked.help
	}
	s := newServer(t, o)
	s.address, a.schemas, a.fuse = a, &s.schemas, s.fuse
	if o.Pushed != nil {
		a.pushing = &pushing{filter: &filter{now: time.Now, pushed: o.Pushed}, lost: o.Lost}
	}
	a.way = &keeping{Transport: a.transport(t.SSE)}
	var version string
	if t.SSE || t.Older {
		version, s.older = olderVersion, true
	}
	// The streams of a session end with the context of its beginning.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	s.session, err = s.client().Connect(own, a.way, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil {
		_ = s.session.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		a.close()
		return nil, s.notConnected(err, ctx.Err(), false, o.ConnectTime)
	}
	s.watch()
	go func() { <-s.ended; cancel() }() // ends with the connection
	return s, nil
}

func newServer(t Target, o Options) *Server {
	s := &Server{target: t, options: o, ended: make(chan struct{}), calls: calls{progress: map[string]*follower{}}, messages: ring{most: maxMessages}}
	s.fuse = fault.NewFuse(s.broke)
	return s
}

// client makes what the library speaks with.
func (s *Server) client() *mcp.Client {
	options := &mcp.ClientOptions{
		Logger:                      slog.New(slog.DiscardHandler),
		Capabilities:                &mcp.ClientCapabilities{},
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: s.progressed,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.changed(ofTools, s.options.ToolsChanged) },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { s.changed(ofOthers, s.options.ListsChanged) },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { s.changed(ofOthers, s.options.ListsChanged) },
		//lint:ignore SA1019 the newest version has no such messages; servers of the older ones send them
		LoggingMessageHandler: s.logged,
	}
	if s.options.Updated != nil {
		options.ResourceUpdatedHandler = s.updated
	}
	if s.options.Root != "" {
		//lint:ignore SA1019 the newest version has no roots; servers of the older ones ask for them
		options.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
	if s.options.Asks {
		options.ElicitationHandler = s.elicit
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	}
	if s.options.Samples {
		//lint:ignore SA1019 servers of all versions ask with it
		options.CreateMessageHandler = s.sample
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "scorel", Title: "Scorel", Version: s.options.Version}, options)
	c.AddReceivingMiddleware(s.guarded)
	c.AddSendingMiddleware(s.rounds)
	if s.options.Root != "" {
		//lint:ignore SA1019 as above
		c.AddRoots(&mcp.Root{URI: fileURI(s.options.Root), Name: "workspace"})
	}
	return c
}

// watch notices the end of the connection.
func (s *Server) watch() {
	go func() { // ends with the connection
		defer close(s.ended)
		defer s.fuse.Catch()
		_ = s.session.Wait() // Why says it
		s.release()
	}()
	s.mu.Lock()
	s.watched = true
	s.mu.Unlock()
	if s.fuse.Panic() != nil { // before broke could know of the connection
		go s.careful(s.Close)() // ends with the connection
	}
}

// release ends what belongs to the connection.
func (s *Server) release() {
	s.once.Do(func() {
		s.mu.Lock()
		for _, t := range []*time.Timer{s.settling[ofTools].timer, s.settling[ofOthers].timer, s.subscribed.settle} {
			if t != nil {
				t.Stop()
			}
		}
		s.mu.Unlock()
		if s.process != nil {
			s.process.stop()
			return
		}
		if s.socket != nil {
			_ = s.socket.Close() // it returns none
		}
		s.address.close()
	})
}

// Close ends the connection and, of a command, its process, in about half a second at
// most. It may be called more than once.
func (s *Server) Close() {
	s.closed.Store(true)
	s.release() // a server that does not read would hold up the library's goodbye
	_ = s.session.Close()
	<-s.ended
}

// Done is closed when the connection has ended, by whoever.
func (s *Server) Done() <-chan struct{} { return s.ended }

// Older reports whether the server had to be asked for an older version.
func (s *Server) Older() bool { return s.older }

// ProtocolVersion returns the version that was agreed on.
func (s *Server) ProtocolVersion() string { return s.session.InitializeResult().ProtocolVersion }

// Title returns what the server calls itself, with its version.
func (s *Server) Title() string {
	info := s.session.InitializeResult().ServerInfo
	if info == nil {
		return ""
	}
	return oneLine(info.Name + " " + info.Version)
}

// Instructions returns what the server says of its use, cleaned and cut.
func (s *Server) Instructions() string {
	return cut(promptsafe.Clean(s.session.InitializeResult().Instructions), maxInstructions)
}

// Log returns the last of what a command wrote to stderr, then the last messages that the
// server has logged, cleaned.
func (s *Server) Log() string {
	return s.target.hidden(s.written())
}

// written is Log with what may be secret.
func (s *Server) written() string {
	log := ""
	if s.process != nil {
		log = s.process.log()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.messages.kept) == 0 {
		return log
	}
	if log != "" && !strings.HasSuffix(log, "\n") {
		log += "\n"
	}
	return log + promptsafe.Clean(string(s.messages.kept))
}

// logged keeps a message of the server.
func (s *Server) logged(_ context.Context, r *mcp.LoggingMessageRequest) {
	text, ok := r.Params.Data.(string)
	if !ok {
		raw, err := json.Marshal(r.Params.Data)
		if err != nil {
			return // it was JSON
		}
		text = string(raw)
	}
	line := strings.Join(strings.Fields(cut(text, maxLogged)), " ")
	if name := oneLine(r.Params.Logger); name != "" {
		line = name + ": " + line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages.add([]byte(oneLine(string(r.Params.Level)) + " " + line + "\n"))
}

// Nonsense says what else than messages a command wrote to stdout, "" for nothing.
func (s *Server) Nonsense() string {
	if s.process == nil {
		return ""
	}
	return s.target.hidden(s.process.nonsense())
}

// Tools reads the list of tools. The faults are sentences without a subject about what is
// left out.
func (s *Server) Tools(ctx context.Context) (tools []Tool, faults []string, err error) {
	if caps := s.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	list, faults, err := pages(ctx, s, "tools", func(cursor string) ([]*mcp.Tool, string, error) {
		got, err := s.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		s.lasts(ofTools, got.TTLMs, cursor == "")
		return got.Tools, got.NextCursor, nil
	})
	if err != nil {
		return nil, nil, err
	}
	tools, left := Tools(s.target.Name, list)
	return tools, append(append(s.malformed("tools"), faults...), left...), nil
}

// Call calls a tool. An error is that there is no answer; with [ErrUnknownEffect] nobody
// knows whether the call took effect. A server's own failure is an answer.
func (s *Server) Call(ctx context.Context, c Call) (*Answer, error) {
	if s.gone() {
		return nil, ErrNotSent
	}
	limit := cmp.Or(c.Time, s.options.CallTime)
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	left := allow(limit, longest*limit, over)
	defer left.end()
	token := s.follow(func(p Progress) {
		left.heard()
		if c.Tell != nil {
			c.Tell(p)
		}
	})
	defer s.forget(token)
	ctx, end := s.begin(ctx, c, left)
	defer end()
	params := &mcp.CallToolParams{Name: c.Tool, Arguments: c.Input}
	if len(c.Input) == 0 {
		params.Arguments = json.RawMessage("{}")
	}
	params.SetProgressToken(token)
	got, err := asked(ctx, func() (*mcp.CallToolResult, error) {
		return await(ctx, s.fuse, func() (*mcp.CallToolResult, error) { return s.session.CallTool(ctx, params) })
	})
	switch why := context.Cause(ctx); {
	case err == nil:
		return answerOf(got), nil
	case errors.Is(why, errQuiet):
		return nil, fmt.Errorf("it has told nothing for %v; %w", limit, ErrUnknownEffect)
	case errors.Is(why, errLong):
		return nil, fmt.Errorf("it has not come to an end within %v; %w", longest*limit, ErrUnknownEffect)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, s.failed(ctx, err, limit)
}

// ErrNotSent is that a connection had ended before a call, which was not sent.
var ErrNotSent = errors.New("the connection had ended before, and the call was not sent")

// ErrUnknownEffect is that a call was sent and nobody knows what became of it.
var ErrUnknownEffect = errors.New("whether the call took effect is not known, and it is not sent again")

// await returns when do has, or ctx has ended: what is written to a server that does not
// read waits for no context. do ends with the connection at the latest.
func await[T any](ctx context.Context, f *fault.Fuse, do func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	got := make(chan answer, 1)
	go func() { // ends with do
		var a answer
		defer func() { got <- a }()
		defer f.CatchError(&a.err)
		a.v, a.err = do()
	}()
	select {
	case a := <-got:
		return a.v, a.err
	case <-ctx.Done():
		select { // which cancels the request, and tells the server
		case a := <-got:
			return a.v, a.err
		case <-time.After(afterInterrupt):
		}
		var none T
		return none, ctx.Err()
	}
}

// notConnected says why a connection was not made. over is why there was no more time, if
// so, and dead that the process has ended by itself.
func (s *Server) notConnected(err, over error, dead bool, limit time.Duration) error {
	var why string
	var answered *jsonrpc.Error
	version, unknown := strings.CutPrefix(s.reason(err), "unsupported protocol version: ") // the library has no type for it
	switch {
	case s.fuse.Panic() != nil:
		return s.Fault()
	case unknown && over == nil:
		why = "it speaks the version " + version + " of the protocol, which Scorel does not know"
	case s.process != nil && errors.As(err, &answered):
		why = "it answers with an error: " + s.reason(answered)
	case s.address != nil && s.address.refused.Load() != 0:
		return ErrNeedsAuth
	case errors.Is(err, errTooLong):
		return errTooLong
	case errors.Is(over, context.Canceled):
		return over
	case over != nil:
		why = fmt.Sprintf("it has not answered within %v", limit)
	case dead:
		exit := s.process.child.Exit()
		why = fmt.Sprintf("its process ended with status %d before it answered", exit.Code)
		if exit.Signal != "" {
			why = fmt.Sprintf("its process was ended by %s before it answered", exit.Signal)
		}
	case s.address != nil && s.address.unrenewed.Load():
		why = s.reason(err)
	case s.address != nil && s.address.unreached.Load():
		why = "it cannot be reached: " + s.reason(err)
	default:
		why = "it does not answer as an MCP server does: " + s.reason(err)
	}
	if s.process != nil {
		if said := s.process.said(); said != "" {
			why += "; the last that it wrote to stderr is " + strconv.Quote(said)
		}
		if nonsense := s.process.nonsense(); nonsense != "" {
			why += "; " + nonsense
		}
	}
	return errors.New(why)
}

// failed says why a request on an open connection has no answer.
func (s *Server) failed(ctx context.Context, err error, limit time.Duration) error {
	return s.target.hiding(s.why(ctx, err, limit))
}

func (s *Server) why(ctx context.Context, err error, limit time.Duration) error {
	var unasked unsampledError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it has not answered within %v", limit)
	case ctx.Err() != nil:
		return ctx.Err()
	case s.fuse.Panic() != nil:
		return fmt.Errorf("%w; %w", s.Fault(), ErrUnknownEffect)
	case errors.As(err, &unasked):
		return fmt.Errorf("it needs the answer of a model, and %s", unasked.sent.Message)
	case s.address != nil && s.address.refused.Swap(0) != 0:
		return ErrNeedsAuth
	case errors.Is(err, mcp.ErrSessionMissing): // 404: the request was not carried out
		return ErrNotSent
	case silent(ctx) > 0:
		return fmt.Errorf("it has not begun to answer within %v; %w", silent(ctx), ErrUnknownEffect)
	case errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errTooLong) || s.gone():
		return fmt.Errorf("the connection has ended (%s); %w", s.reason(err), ErrUnknownEffect)
	}
	if malformed.MatchString(err.Error()) {
		return errors.New(s.reason(err))
	}
	return fmt.Errorf("it answers with an error: %s", s.reason(err))
}

// gone reports whether the connection has ended.
func (s *Server) gone() bool {
	select {
	case <-s.ended:
		return true
	default:
		return s.process != nil && (!s.process.alive() || s.process.out.over.Load())
	}
}

// reason makes an error of the library fit for a line, without the names of its calls and
// without what an address may keep secret.
func (s *Server) reason(err error) string {
	text := err.Error()
	if s.address != nil {
		text = s.address.hide(text)
	}
	return plainly(oneLine(text))
}

// fileURI writes a folder as a URI.
func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
