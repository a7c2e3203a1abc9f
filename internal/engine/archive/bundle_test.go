package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

// archive makes a compressed tar of headers, each with as many zeros as it says.
func archive(t testing.TB, heads ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	out := tar.NewWriter(zip)
	for _, h := range heads {
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(out, zeros{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// readAll reads a bundle of at most so many bytes.
func readAll(data []byte, most int64) error {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.unpacked.left = most
	for {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, e); err != nil {
			return err
		}
	}
}

func TestBundleGivesBackWhatWasPutIn(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf)
	sha := strings.Repeat("ab", 32)
	if err := errors.Join(w.Session(strings.NewReader("lines\n"), 6), w.Blob(sha, strings.NewReader("data"), 4), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ sha, text string }{{"", "lines\n"}, {sha, "data"}} {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(e); err != nil || string(text) != want.text || e.SHA256 != want.sha || e.Size != int64(len(text)) {
			t.Errorf("%+v holds %q, %v", e, text, err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
}

func TestReaderTakesNoOtherNamesLinksOrFolders(t *testing.T) {
	session := tar.Header{Typeflag: tar.TypeReg, Name: "session.jsonl", Size: 3}
	sha := "blobs/" + strings.Repeat("ab", 32)
	for name, heads := range map[string][]tar.Header{
		"nothing":           {},
		"no session first":  {{Typeflag: tar.TypeReg, Name: sha}},
		"session twice":     {session, session},
		"path upwards":      {session, {Typeflag: tar.TypeReg, Name: "blobs/../../.bashrc"}},
		"absolute path":     {session, {Typeflag: tar.TypeReg, Name: "/etc/passwd"}},
		"other name":        {session, {Typeflag: tar.TypeReg, Name: "notes.txt"}},
		"name of 63 digits": {session, {Typeflag: tar.TypeReg, Name: sha[:len(sha)-1]}},
		"capital digits":    {session, {Typeflag: tar.TypeReg, Name: "blobs/" + strings.Repeat("AB", 32)}},
		"symbolic link":     {session, {Typeflag: tar.TypeSymlink, Name: sha, Linkname: "/etc/passwd"}},
		"hard link":         {session, {Typeflag: tar.TypeLink, Name: sha, Linkname: "session.jsonl"}},
		"folder":            {session, {Typeflag: tar.TypeDir, Name: "blobs/"}},
		"device":            {session, {Typeflag: tar.TypeChar, Name: sha}},
		"link as session":   {{Typeflag: tar.TypeSymlink, Name: "session.jsonl", Linkname: "/etc/passwd"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readAll(archive(t, heads...), MaxUnpacked); !errors.Is(err, ErrFormat) {
				t.Errorf("it gives %v", err)
			}
		})
	}
}

func TestReaderEndsAtItsBounds(t *testing.T) {
	sha := "blobs/" + strings.Repeat("ab", 32)
	bomb := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "session.jsonl", Size: 4 << 20})
	if len(bomb) > 16<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	if err := readAll(bomb, 1<<20); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("a bomb gives %v", err)
	}
	var large bytes.Buffer // its head alone: what the payload holds is never asked for
	zip := gzip.NewWriter(&large)
	out := tar.NewWriter(zip)
	if err := errors.Join(out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "session.jsonl"}),
		out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: sha, Size: MaxBlob + 1}), zip.Close()); err != nil {
		t.Fatal(err)
	}
	if err := readAll(large.Bytes(), MaxUnpacked); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a large payload gives %v", err)
	}
	r, err := NewReader(bytes.NewReader(archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "session.jsonl"}, tar.Header{Typeflag: tar.TypeReg, Name: sha},
		tar.Header{Typeflag: tar.TypeReg, Name: sha})))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.entries = MaxEntries - 1
	if _, err := r.Next(); err != nil {
		t.Errorf("the last part that may be gives %v", err)
	}
	if _, err := r.Next(); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "parts") {
		t.Errorf("one more part gives %v", err)
	}
}

func FuzzReaderEndsWithoutPanic(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "session.jsonl", Size: 10}))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := readAll(data, 1<<20); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("it gives %v", err)
		}
	})
}
