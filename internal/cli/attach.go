package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"scorel/internal/frame"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what a prompt takes in.
const (
	maxStdin      = 10 << 20  // bytes
	maxAttachment = 20 << 20  // bytes a file
	maxAttached   = 32        // files a prompt
	maxInlineText = 256 << 10 // bytes of text that stand in the message itself
)

// stdinPatience is how long nothing is said while what is piped in has no end: a
// script that left its pipe open would hang without a word.
const stdinPatience = 3 * time.Second

// withStdin appends what is piped in, at most 10 MiB, behind the prompt.
func (a *app) withStdin(text string) (string, error) {
	f, ok := a.stdin.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) {
		return text, nil
	}
	if ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return text, nil // /dev/null and the like
		}
	}
	if a.stdin == nil {
		return text, nil
	}
	slow := time.AfterFunc(stdinPatience, func() {
		fmt.Fprintln(a.stderr, "scorel: waiting for the end of what is piped in; without anything to pipe give it </dev/null")
	})
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxStdin+1))
	slow.Stop()
	switch {
	case err != nil:
		return "", fmt.Errorf("read stdin: %w", err)
	case len(data) > maxStdin:
		return "", usagef("stdin has more than %d MiB; put it in a file and name it in the prompt", maxStdin>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return text, nil
	case !utf8.Valid(data):
		return "", usagef("stdin is not text; put it in a file and attach it with @file")
	case text == "":
		return string(data), nil
	}
	return text + "\n\n" + string(data), nil
}

// attach makes the content of a message: the text, and the files that its words
// beginning with @ name. A word that names no file stays text.
func (a *app) attach(ctx context.Context, l *link, dir, text string) ([]protocol.Block, error) {
	blocks := []protocol.Block{protocol.Text(text)}
	if len(text) > maxInlineText {
		// A very long text is kept as a file, so that no message is overlong.
		ref, err := l.put(ctx, []byte(text))
		if err != nil {
			return nil, err
		}
		blocks = []protocol.Block{protocol.Text("The prompt is long and stands in the attached text."),
			{Type: protocol.BlockFile, Name: "prompt.txt", MediaType: "text/plain", Blob: ref}}
	}
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		name, ok := strings.CutPrefix(strings.TrimRight(word, ".,;:!?)"), "@")
		if !ok || name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if len(seen) > maxAttached {
			return nil, usagef("a prompt can attach at most %d files", maxAttached)
		}
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		block, err := l.file(ctx, path, name)
		if err != nil {
			fmt.Fprintln(a.stderr, display.Line(fmt.Sprintf("scorel: @%s is sent as text: %v", name, err)))
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// file makes the block of an attached file.
func (l *link) file(ctx context.Context, path, name string) (protocol.Block, error) {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return protocol.Block{}, fmt.Errorf("there is no such file")
	case err != nil:
		return protocol.Block{}, err
	case !info.Mode().IsRegular():
		return protocol.Block{}, fmt.Errorf("it is not a file")
	case info.Size() > maxAttachment:
		return protocol.Block{}, fmt.Errorf("it has more than %d MiB", maxAttachment>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return protocol.Block{}, err
	}
	media := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(media, "image/png"), strings.HasPrefix(media, "image/jpeg"), strings.HasPrefix(media, "image/gif"), strings.HasPrefix(media, "image/webp"):
		ref, err := l.put(ctx, data)
		return protocol.Block{Type: protocol.BlockImage, MediaType: media, Blob: ref}, err
	case media == "application/pdf":
		ref, err := l.put(ctx, data)
		return protocol.Block{Type: protocol.BlockFile, Name: name, MediaType: media, Blob: ref}, err
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return protocol.Block{}, fmt.Errorf("it is neither text, an image, nor a PDF")
	case len(data) > protocol.MaxInline:
		ref, err := l.put(ctx, data)
		return protocol.Block{Type: protocol.BlockFile, Name: name, MediaType: "text/plain", Blob: ref}, err
	}
	return protocol.Text(frame.Text("file", fmt.Sprintf(" path=%q", name), string(data))), nil
}

// put stores a payload at the host.
func (l *link) put(ctx context.Context, data []byte) (string, error) {
	ref, err := l.Put(ctx, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	return ref.SHA256, nil
}
