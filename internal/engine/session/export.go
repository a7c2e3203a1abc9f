package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// ExportJSONL writes the header and every event of a view, each exactly as it
// stands in the log and ended by a newline. Damaged bytes are left out. A
// damaged header is replaced by one with the id and the time of creation.
func ExportJSONL(ctx context.Context, w io.Writer, v *View) error {
	ix := v.ix
	if err := ix.writeHeader(w); err != nil {
		return fmt.Errorf("export %s: %w", ix.id, err)
	}
	s := ix.snapshot()
	for n := 0; n < len(s.entries); {
		if err := ctx.Err(); err != nil {
			return err
		}
		count, buf, err := s.readRun(ix.src, n)
		if err != nil {
			return fmt.Errorf("export %s: %w", ix.id, err)
		}
		var out bytes.Buffer
		base := s.entries[s.at(n)].off
		for ; count > 0; count, n = count-1, n+1 {
			e := &s.entries[s.at(n)]
			out.Write(buf[e.off-base:][:e.size])
			out.WriteByte('\n')
		}
		if _, err := w.Write(out.Bytes()); err != nil {
			return fmt.Errorf("export %s: %w", ix.id, err)
		}
	}
	return nil
}

// writeHeader writes line 0 as it stands in the log, or a bare one.
func (ix *Index) writeHeader(w io.Writer) error {
	line, err := ix.headerLine()
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func (ix *Index) headerLine() ([]byte, error) {
	if ix.headerAt[1] > 0 {
		return ix.src.read(int64(ix.headerAt[0]), ix.headerAt[1])
	}
	return ix.Header().AppendLine(nil)
}
