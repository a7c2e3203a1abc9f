package archive

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
)

const (
	sessionName = "session.jsonl"
	blobPrefix  = "blobs/"
)

// Writer makes a bundle: the session first, then payloads, then Close.
type Writer struct {
	zip *gzip.Writer
	tar *tar.Writer
}

// NewWriter makes a writer of a bundle into w. Equal sessions give equal bytes.
func NewWriter(w io.Writer) *Writer {
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // fails for unknown levels alone
	return &Writer{zip: zip, tar: tar.NewWriter(zip)}
}

// Session writes the log, which must have size bytes.
func (w *Writer) Session(r io.Reader, size int64) error { return w.entry(sessionName, r, size) }

// Blob writes a payload, which must have size bytes.
func (w *Writer) Blob(sha string, r io.Reader, size int64) error {
	return w.entry(blobPrefix+sha, r, size)
}

func (w *Writer) entry(name string, r io.Reader, size int64) error {
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatPAX}); err != nil {
		return err
	}
	n, err := io.Copy(w.tar, io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("write %s into the bundle: %w", name, err)
	}
	return nil
}

// Close ends the bundle; it does not close what it was written into.
func (w *Writer) Close() error {
	if err := w.tar.Close(); err != nil {
		return err
	}
	return w.zip.Close()
}
