package headless

import (
	"encoding/json"
	"fmt"
	"io"
	"scorel/protocol"
)

// jsonPrinter prints the events (when streaming) and the result, one JSON object
// a line.
type jsonPrinter struct {
	out, errOut io.Writer
	stream      bool
	buf         []byte
}

func (p *jsonPrinter) Event(e protocol.Event) error {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		printProtected(p.errOut, b)
	}
	if _, ok := e.Body.(*protocol.Retry); ok && !p.stream {
		printRetry(p.errOut, e)
	}
	if !p.stream {
		return nil
	}
	var err error
	if p.buf, err = e.AppendLine(p.buf[:0]); err != nil {
		return err
	}
	_, err = p.out.Write(append(p.buf, '\n'))
	return err
}

// reply prints what became of a request.
func (p *jsonPrinter) reply(r protocol.Reply) error {
	line, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

func (p *jsonPrinter) Tick() {}

func (p *jsonPrinter) Finish(r *Result, err error) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	if werr := enc.Encode(r); werr != nil {
		return werr
	}
	for _, line := range []string{r.limitLine(), r.refusedLine()} {
		if err == nil && line != "" {
			fmt.Fprintln(p.errOut, line)
		}
	}
	return nil
}
