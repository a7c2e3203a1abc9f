// Package attachment makes the content of a message out of what a person typed: the
// text, and the files that it names with @, put at the host as payloads where they are
// large. Entries use it; a host never reads a client's files.
//
// It reads only files that the text names, and of those only what may be read without a
// question (see [Content]). Its functions may be called at once.
package attachment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"scorel/client"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
	"scorel/protocol/framed"
)

// Bounds of what a message takes in.
const (
	MaxFile       = 20 << 20  // bytes a file
	MaxFiles      = 32        // a message
	maxInlineText = 256 << 10 // bytes of text that are in the message itself
)

// ByRule is a [From.Means] for who can write a rule and choose no file by itself.
const ByRule = "; permissions.allow can let it be read, with a rule such as Read(~/notes/**)"

// ErrTooMany says that a text names too many files.
var ErrTooMany = fmt.Errorf("a prompt can attach at most %d files", MaxFiles)

// Content makes the content of a message: the text, and the files that its words
// beginning with @ name; a name with blanks stands in double quotes after the @. A word
// that names no file stays text, and notices say why, one sentence each. A text may have
// been pasted from elsewhere, and would send what it names to a provider: so a file is
// attached only when the Read tool would read it without a question, and never one of
// Scorel's own folder, whichever way leads there. It fails with [ErrTooMany], or when the
// host cannot take a payload.
func Content(ctx context.Context, c *client.Client, from From, text string) (blocks []protocol.Block, notices []string, err error) {
	blocks = []protocol.Block{protocol.Text(text)}
	if len(text) > maxInlineText {
		// A very long text is kept as a file, so that no message is overlong.
		ref, err := put(ctx, c, []byte(text))
		if err != nil {
			return nil, nil, err
		}
		blocks = []protocol.Block{protocol.Text("The prompt is long; it is in the attached text."),
			{Type: protocol.BlockFile, Name: "prompt.txt", MediaType: "text/plain", Blob: ref}}
	}
	var g *guard
	for i, name := range names(text) {
		if i == MaxFiles {
			return nil, nil, ErrTooMany
		}
		if g == nil {
			g = newGuard(from)
		}
		block, err := file(ctx, c, g, name)
		if err != nil && ofServer(name) {
			continue
		}
		if err != nil {
			notices = append(notices, fmt.Sprintf("@%s is sent as text: %v", name, err))
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks, notices, nil
}

// ofServer reports whether a name can be that of a resource of an MCP server, server:uri,
// which the host reads.
func ofServer(name string) bool {
	server, uri, ok := strings.Cut(name, ":")
	u, err := url.Parse(uri)
	return ok && err == nil && u.Scheme != "" && !strings.ContainsAny(server, "/\\. ")
}

// names returns what the words of a text name after an @, each once.
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
func file(ctx context.Context, c *client.Client, g *guard, name string) (protocol.Block, error) {
	path := g.path(name)
	data, media, err := read(path, func(abs string) error { return g.refuses(path, abs) })
	switch {
	case err != nil:
		return protocol.Block{}, err
	case media == "":
		return protocol.Block{}, ErrType
	case media != plain || len(data) > protocol.MaxInline:
		return Payload(ctx, c, name, media, data)
	}
	return protocol.Text(promptsafe.Text(framed.File, fmt.Sprintf(" path=%q", name), string(data))), nil
}

// ErrType says that a file has nothing that a model could be shown.
var ErrType = errors.New("it is neither text, an image, nor a PDF")

// File returns what is in a file that a person has chosen by itself, and its media type: of
// an image, a PDF, or text, and "" of what is none of them. One of scorel, the user's
// Scorel folder, is refused even so. The error ends a sentence.
func File(path, scorel string) (data []byte, mediaType string, err error) {
	return read(path, func(abs string) error {
		if within(abs, scorel) {
			return errClosed
		}
		return nil
	})
}

const plain = "text/plain"

// read returns what is in a file that refuses, given its path without links, does not
// refuse. It waits for nothing: the kernel has files without a size that never end.
func read(path string, refuses func(abs string) error) (data []byte, media string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case os.IsNotExist(err):
		return nil, "", fmt.Errorf("there is no such file")
	case err != nil:
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, "", err
	case !info.Mode().IsRegular():
		return nil, "", fmt.Errorf("it is not a file")
	}
	abs, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, "", err
	}
	if judged, err := os.Stat(abs); err != nil || !os.SameFile(judged, info) {
		return nil, "", fmt.Errorf("it was replaced just now")
	}
	if err := refuses(abs); err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, "", err
	case len(data) > MaxFile:
		return nil, "", fmt.Errorf("it has more than %d MiB", MaxFile>>20)
	}
	switch media = http.DetectContentType(data); media {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return data, media, nil
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return data, "", nil
	}
	return data, plain, nil
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
