// Package attachment makes the content of a message out of what a person typed: the
// text, and the files that it names with @, put at the host as payloads where they are
// large. Entries use it; a host never reads a client's files.
//
// It reads only files that the text names. Its functions may be called at once.
package attachment

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"scorel/client"
	"scorel/internal/frame"
	"scorel/protocol"
)

// Bounds of what a message takes in.
const (
	MaxFile       = 20 << 20  // bytes a file
	MaxFiles      = 32        // a message
	maxInlineText = 256 << 10 // bytes of text that stand in the message itself
)

// ErrTooMany says that a text names too many files.
var ErrTooMany = fmt.Errorf("a prompt can attach at most %d files", MaxFiles)

// Content makes the content of a message: the text, and the files that its words
// beginning with @ name, relative to dir; a name with blanks stands in double quotes
// behind the @. A word that names no file stays text, and notices say why, one sentence
// each. Nothing that lies in closed, the user's Scorel folder, is attached, whichever way
// leads there: its keys would go to a provider with a prompt that was pasted from
// elsewhere. It fails with [ErrTooMany], or when the host cannot take a payload.
func Content(ctx context.Context, c *client.Client, dir, closed, text string) (blocks []protocol.Block, notices []string, err error) {
	blocks = []protocol.Block{protocol.Text(text)}
	if len(text) > maxInlineText {
		// A very long text is kept as a file, so that no message is overlong.
		ref, err := put(ctx, c, []byte(text))
		if err != nil {
			return nil, nil, err
		}
		blocks = []protocol.Block{protocol.Text("The prompt is long and stands in the attached text."),
			{Type: protocol.BlockFile, Name: "prompt.txt", MediaType: "text/plain", Blob: ref}}
	}
	for i, name := range names(text) {
		if i == MaxFiles {
			return nil, nil, ErrTooMany
		}
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		block, err := file(ctx, c, path, closed, name)
		if err != nil {
			notices = append(notices, fmt.Sprintf("@%s is sent as text: %v", name, err))
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks, notices, nil
}

// names gives what the words of a text name behind an @, each once.
func names(text string) []string {
	var found []string
	add := func(name string) {
		if name != "" && !slices.Contains(found, name) && len(found) <= MaxFiles {
			found = append(found, name)
		}
	}
	begins := true
	for rest := text; ; {
		i := strings.IndexByte(rest, '@')
		if i < 0 {
			return found
		}
		begins = i == 0 && begins || i > 0 && strings.ContainsRune(" \t\r\n", rune(rest[i-1]))
		rest = rest[i+1:]
		if !begins {
			continue
		}
		begins = false // it is the end of a word now
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if name, after, closed := strings.Cut(quoted, `"`); closed && !strings.Contains(name, "\n") {
				add(name)
				rest = after
				continue
			}
		}
		word := rest
		if end := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }); end >= 0 {
			word = rest[:end]
		}
		add(strings.TrimRight(word, ".,;:!?)"))
	}
}

// file makes the block of an attached file.
func file(ctx context.Context, c *client.Client, path, closed, name string) (protocol.Block, error) {
	data, err := read(path, closed)
	if err != nil {
		return protocol.Block{}, err
	}
	media := http.DetectContentType(data)
	switch {
	case media == "image/png", media == "image/jpeg", media == "image/gif", media == "image/webp":
		return Payload(ctx, c, name, media, data)
	case media == "application/pdf":
		return Payload(ctx, c, name, media, data)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return protocol.Block{}, fmt.Errorf("it is neither text, an image, nor a PDF")
	case len(data) > protocol.MaxInline:
		return Payload(ctx, c, name, "text/plain", data)
	}
	return protocol.Text(frame.Text("file", fmt.Sprintf(" path=%q", name), string(data))), nil
}

// read gives what is in a file. It waits for nothing: the kernel has files without a size
// that never end.
func read(path, closed string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("there is no such file")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a file")
	case within(path, closed):
		return nil, fmt.Errorf("it lies in Scorel's own folder, where your keys are; attach a copy from elsewhere if you mean it")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > MaxFile:
		return nil, fmt.Errorf("it has more than %d MiB", MaxFile>>20)
	}
	return data, nil
}

// within says whether a file that is there lies in a folder, or might.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false // there is no such folder
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	for at := real; ; at = filepath.Dir(at) {
		if at == dir {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// Payload puts an image or a file at the host and makes its block.
func Payload(ctx context.Context, c *client.Client, name, mediaType string, data []byte) (protocol.Block, error) {
	ref, err := put(ctx, c, data)
	if strings.HasPrefix(mediaType, "image/") {
		return protocol.Block{Type: protocol.BlockImage, MediaType: mediaType, Blob: ref}, err
	}
	return protocol.Block{Type: protocol.BlockFile, Name: name, MediaType: mediaType, Blob: ref}, err
}

// put stores a payload at the host.
func put(ctx context.Context, c *client.Client, data []byte) (string, error) {
	ref, err := c.Put(ctx, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	return ref.SHA256, nil
}
