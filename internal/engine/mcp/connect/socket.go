package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

// subprotocol is what client and server of MCP agree on in the handshake of a WebSocket.
const subprotocol = "mcp"

// closeTime is how long a server has to answer the close of a WebSocket.
const closeTime = 300 * time.Millisecond

// socketSchemes are the schemes of WebSocket addresses, with those of their handshake.
var socketSchemes = map[string]string{"ws": "http", "wss": "https"}

// isSocket reports whether an address is one of a WebSocket.
func isSocket(at string) bool {
	scheme, _, _ := strings.Cut(at, "://")
	return socketSchemes[strings.ToLower(scheme)] != ""
}

// openSocket connects over WebSocket. Like a process, a server of an older version may never
// answer the first question of the newest one.
func openSocket(ctx context.Context, t Target, o Options) (*Server, error) {
	asked := t
	var err error
	if t.Headers, err = t.help(ctx); err != nil {
		return nil, err
	}
	at, err := url.Parse(t.URL)
	if err != nil || at.Host == "" {
		return nil, errors.New("its url must begin with wss:// or ws:// and name a host")
	}
	at.Scheme = socketSchemes[strings.ToLower(at.Scheme)]
	t.URL, asked.URL = at.String(), at.String()
	if !t.Older {
		s, again, err := greetSocket(ctx, t, asked, o, "", min(probeTime, o.ConnectTime/2))
		if !again || ctx.Err() != nil {
			return s, err
		}
	}
	s, _, err := greetSocket(ctx, t, asked, o, olderVersion, o.ConnectTime)
	return s, err
}

// greetSocket makes one connection and greets the server in a version, "" for the newest,
// within limit after the handshake. again says that an older version may help.
func greetSocket(ctx context.Context, t, asked Target, o Options, version string, limit time.Duration) (s *Server, again bool, err error) {
	a, err := newAddress(t)
	if err != nil {
		return nil, false, err
	}
	if asked.Helper != "" {
		a.again = asked.help
	}
	s = newServer(t, o)
	s.address, s.older, a.fuse = a, version != "", s.fuse
	x, err := a.dial(ctx)
	if err != nil {
		a.close()
		return nil, false, s.socketRefused(err, ctx.Err())
	}
	x.filter.pushed = o.Pushed
	s.socket = x
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(own, s.careful(x.drop)) // the library waits for some answers without a context
	s.session, err = s.client().Connect(own, s.socket, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil {
		err = own.Err()
	}
	if err != nil {
		over := own.Err()
		s.socket.drop()
		a.close()
		if s.session != nil { // connected, and too late: its streams end with it
			_ = s.session.Close()
		}
		var answered *jsonrpc.Error
		return nil, version == "" && !errors.As(err, &answered), s.notConnected(err, over, false, o.ConnectTime)
	}
	s.watch()
	return s, false, nil
}

// socketRefused says why the handshake has failed. Nobody signs in to a WebSocket.
func (s *Server) socketRefused(err, over error) error {
	if status := s.address.refused.Load(); status != 0 {
		return fmt.Errorf("it refuses the connection (status %d); its entry needs other headers, or another headersHelper", status)
	}
	return s.notConnected(err, over, false, s.options.ConnectTime)
}

// dial makes the handshake of a WebSocket.
func (a *address) dial(ctx context.Context) (*socket, error) {
	c, _, err := websocket.Dial(ctx, a.at.String(), &websocket.DialOptions{HTTPClient: a.client(), Subprotocols: []string{subprotocol}})
	if err != nil {
		return nil, fmt.Errorf("the WebSocket is not opened: %w", handshakeFault(err))
	}
	if c.Subprotocol() != subprotocol {
		_ = c.CloseNow() // nothing was sent
		return nil, fmt.Errorf("it does not speak the sub-protocol %q of WebSocket", subprotocol)
	}
	c.SetReadLimit(maxMessage)
	x := &socket{conn: c, fuse: a.fuse, closed: make(chan struct{})}
	x.filter = filter{now: time.Now}
	x.ctx, x.cancel = context.WithCancel(context.Background()) // ends with close or drop
	return x, nil
}

// handshakeFault drops the words that the library of WebSocket puts before an error.
func handshakeFault(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		var of *url.Error
		if errors.As(inner, &of) {
			return of
		}
		err = inner
	}
	return err
}

// socket is a connection over WebSocket, one JSON-RPC message in each text message. It
// implements [mcp.Transport] and [mcp.Connection].
type socket struct {
	conn   *websocket.Conn
	fuse   *fault.Fuse // of the connection
	filter filter      // belongs to the reader
	ctx    context.Context
	cancel context.CancelFunc

	once   sync.Once
	closed chan struct{} // closed when nothing is sent any more
}

// Connect implements [mcp.Transport].
func (x *socket) Connect(context.Context) (mcp.Connection, error) { return x, nil }

// SessionID implements [mcp.Connection].
func (x *socket) SessionID() string { return "" }

// Read implements [mcp.Connection]. The context of the library has to be without effect: one
// that ends in the middle of a message would end the connection.
func (x *socket) Read(context.Context) (m jsonrpc.Message, err error) {
	defer x.fuse.CatchError(&err)
	for {
		kind, data, err := x.conn.Read(x.ctx)
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			return nil, errTooLong
		case websocket.CloseStatus(err) >= 0 || x.ctx.Err() != nil:
			return nil, io.EOF
		case err != nil:
			return nil, err
		case kind != websocket.MessageText:
			return nil, errors.New("it sent a binary message over WebSocket, which MCP has not")
		}
		switch x.filter.judge(data) {
		case passes:
			return jsonrpc.DecodeMessage(data)
		case noMessage:
			return nil, errors.New("it sent a text over WebSocket that is not a message of MCP")
		}
	}
}

// Write implements [mcp.Connection]. Whoever gives up a request does not tear a message that
// is being written.
func (x *socket) Write(ctx context.Context, m jsonrpc.Message) (err error) {
	defer x.fuse.CatchError(&err)
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	own, cancel := context.WithTimeout(x.ctx, writeTime)
	defer cancel()
	err = x.conn.Write(own, websocket.MessageText, data)
	if errors.Is(own.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it has not read a message for %v", writeTime)
	}
	return err
}

// Close implements [mcp.Connection]: the server is told, and has closeTime to agree.
func (x *socket) Close() (err error) {
	defer x.fuse.CatchError(&err)
	x.once.Do(func() {
		defer close(x.closed)
		late := time.AfterFunc(closeTime, x.drop)
		defer late.Stop()
		_ = x.conn.Close(websocket.StatusNormalClosure, "") // the server may be gone
		x.cancel()
	})
	<-x.closed
	return nil
}

// drop ends the connection at once.
func (x *socket) drop() {
	x.cancel()
	_ = x.conn.CloseNow() // it may have ended
}
