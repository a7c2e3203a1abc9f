package js

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"scorel/internal/extension/rpc"
)

// Bounds of what waits to be written. Logs and notes are dropped first.
const (
	maxOut   = 64 << 20 // bytes; who sends waits
	maxNotes = 8 << 20  // bytes; a note is dropped and counted
)

// message is one line.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// peer is this side of the connection. All methods may be called concurrently.
type peer struct {
	w io.Writer

	mu      sync.Mutex
	more    sync.Cond // something to write
	less    sync.Cond // room
	out     [][]byte
	size    int
	dropped int
	closed  bool
	next    int64
	pending map[int64]func(json.RawMessage, *rpcError)
	flushed sync.Cond
	writing bool
}

func newPeer(w io.Writer) *peer {
	p := &peer{w: w, pending: map[int64]func(json.RawMessage, *rpcError){}}
	p.more.L, p.less.L, p.flushed.L = &p.mu, &p.mu, &p.mu
	go p.write() // ends with the process, or when nobody reads
	return p
}

func (p *peer) write() {
	w := bufio.NewWriterSize(p.w, 64<<10)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.out) == 0 {
			p.writing = false
			p.flushed.Broadcast()
			p.more.Wait()
		}
		out := p.out
		p.out, p.size, p.writing = nil, 0, true
		if p.dropped > 0 {
			out = append(out, note(rpc.NoteLog, fmt.Appendf(nil, `{"level":"warning","message":"%d lines of extensions were left out: they come faster than they are read"}`, p.dropped)))
			p.dropped = 0
		}
		p.less.Broadcast()
		p.mu.Unlock()
		var err error
		for _, line := range out {
			if _, err = w.Write(line); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Flush()
		}
		p.mu.Lock()
		if err != nil {
			p.closed, p.out, p.writing = true, nil, false
			p.less.Broadcast()
			p.flushed.Broadcast()
			return
		}
	}
}

// flush waits until everything is written.
func (p *peer) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && (len(p.out) > 0 || p.writing) {
		p.flushed.Wait()
	}
}

func (p *peer) send(line []byte, droppable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if droppable && p.size > maxNotes {
		p.dropped++
		return
	}
	for p.size > maxOut && !p.closed {
		p.less.Wait()
	}
	if p.closed {
		return
	}
	p.out = append(p.out, line)
	p.size += len(line)
	p.more.Signal()
}

func note(method string, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)
}

// notify sends a notification; droppable ones are left out when nobody reads.
func (p *peer) notify(method string, params []byte, droppable bool) {
	p.send(note(method, params), droppable)
}

// call sends a request; done is called once, on the goroutine that reads.
func (p *peer) call(method string, params []byte, done func(json.RawMessage, *rpcError)) (id int64) {
	p.mu.Lock()
	p.next++
	id = p.next
	p.pending[id] = done
	p.mu.Unlock()
	p.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params), false)
	return id
}

// answer answers a request.
func (p *peer) answer(id json.RawMessage, result []byte, err *rpcError) {
	if err != nil {
		data, _ := json.Marshal(err)
		p.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, data), false)
		return
	}
	if len(result) == 0 {
		result = []byte("null")
	}
	p.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result), false)
}

// answered hands an answer of the host to who waits for it.
func (p *peer) answered(m *message) {
	var id int64
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	p.mu.Lock()
	done := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	if done != nil {
		done(m.Result, m.Error)
	}
}

var errTooLong = errors.New("a message is longer than 64 MiB and was skipped")

// readLine returns the next line without its end. A line that is too long is skipped
// and returns errTooLong.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > rpc.MaxMessage; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}
