package connect

import (
	"context"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/platform/fault"
)

// The library of the protocol starts goroutines of its own, in which nobody can catch a panic
// from outside. What they call of this package returns the panic as an error, and the
// connection ends: the transports, and the handlers, with what the library itself does of them.

// guarded is a middleware for the requests and notifications of the server.
func (s *Server) guarded(next mcp.MethodHandler) mcp.MethodHandler {
	s.receive = next
	return func(ctx context.Context, method string, r mcp.Request) (_ mcp.Result, err error) {
		defer s.fuse.CatchError(&err)
		if method == acknowledged {
			s.watching()
		}
		return next(ctx, method, r)
	}
}

// transport returns how the messages of a process go.
func (s *Server) transport(p *process) mcp.Transport {
	in := &schemaReader{ReadCloser: p.out, to: &s.schemas}
	return &mcp.IOTransport{Reader: &guardedReader{in, s.fuse}, Writer: &guardedWriter{p.in, s.fuse}, MaxLineLength: -1}
}

// guardedReader returns a panic as an error.
type guardedReader struct {
	io.ReadCloser
	fuse *fault.Fuse
}

// Read implements [io.Reader].
func (g *guardedReader) Read(p []byte) (n int, err error) {
	defer g.fuse.CatchError(&err)
	return g.ReadCloser.Read(p)
}

// Close implements [io.Closer].
func (g *guardedReader) Close() (err error) {
	defer g.fuse.CatchError(&err)
	return g.ReadCloser.Close()
}

// guardedWriter returns a panic as an error.
type guardedWriter struct {
	io.WriteCloser
	fuse *fault.Fuse
}

// Write implements [io.Writer].
func (g *guardedWriter) Write(p []byte) (n int, err error) {
	defer g.fuse.CatchError(&err)
	return g.WriteCloser.Write(p)
}

// Close implements [io.Closer].
func (g *guardedWriter) Close() (err error) {
	defer g.fuse.CatchError(&err)
	return g.WriteCloser.Close()
}

// careful returns f for a goroutine of its own: a panic ends the connection.
func (s *Server) careful(f func()) func() {
	return func() {
		defer s.fuse.Catch()
		f()
	}
}

// broke ends the connection after a panic.
func (s *Server) broke(p *fault.Panic) {
	s.report(p)
	end := s.release
	s.mu.Lock()
	if s.watched {
		end = s.Close
	}
	s.mu.Unlock()
	if again := fault.Attempt(end); again != nil {
		s.report(again)
	}
}

func (s *Server) report(p *fault.Panic) {
	if s.options.Caught != nil {
		s.options.Caught("the connection to the MCP server "+s.target.Name+" is given up", p)
	}
}

// Fault returns the panic that has ended the connection, as a sentence without a subject; nil
// if there was none.
func (s *Server) Fault() error {
	p := s.fuse.Panic()
	if p == nil {
		return nil
	}
	return s.target.hiding(Broken(p))
}

// Broken says in a sentence without a subject that a panic has ended a connection.
func Broken(p *fault.Panic) error { return fmt.Errorf("its connection is given up after %w", p) }
