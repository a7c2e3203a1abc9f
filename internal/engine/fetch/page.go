package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"scorel/internal/text/promptsafe"
)

const (
	maxBody   = 10 << 20 // bytes of a page, decompressed
	maxImage  = 5 << 20  // bytes of an image
	maxShown  = 12 << 20 // bytes of text that a page becomes
	sniffHead = 1024     // bytes that say which charset a page has
)

// Page is what a URL gave.
type Page struct {
	URL       string // where it was in the end
	Host      string // of URL, as [Target.Host]
	Status    int
	MediaType string // without parameters, lower case
	// Data is an image (PNG, JPEG, GIF, WebP) or a PDF as it came, nil for text
	// and for errors.
	Data       []byte
	RetryAfter time.Duration // that the server asked for, 0 for none

	base   *url.URL
	source string // of text: valid UTF-8
}

// Format is how a page is shown.
type Format string

// The formats. Raw is the source as it came, cleaned of control characters.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	Raw      Format = "raw"
)

// unusableError is an answer that cannot be shown.
type unusableError struct{ text string }

func (e *unusableError) Error() string { return e.text }

func unusable(format string, args ...any) error { return &unusableError{fmt.Sprintf(format, args...)} }

// read reads the body of an answer.
func read(ctx context.Context, t Target, resp *http.Response) (*Page, error) {
	p := &Page{URL: t.String(), Host: t.Host(), Status: resp.StatusCode, base: t.u, RetryAfter: retryAfter(resp.Header)}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, unusable("%s sent an answer in an encoding that was not asked for", p.Host)
	}
	declared := resp.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(declared)
	if err != nil {
		media, _, _ = strings.Cut(declared, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	limit := maxBody
	body := io.Reader(resp.Body)
	if media == "" { // nothing was declared: look
		head, err := io.ReadAll(io.LimitReader(resp.Body, 512))
		if err != nil {
			return nil, err
		}
		media, _, _ = strings.Cut(http.DetectContentType(head), ";")
		body = io.MultiReader(bytes.NewReader(head), body)
	}
	p.MediaType = media
	kind := kindOf(media)
	if p.Status >= 400 && kind != kindText {
		return p, ctx.Err() // the status says enough
	}
	switch kind {
	case kindNone:
		return nil, unusable("%s sent %s, which cannot be shown; text, HTML, JSON, XML, images (PNG, JPEG, GIF, WebP) and PDF can", p.Host, typeName(media))
	case kindImage:
		limit = maxImage
	}
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, unusable("%s sent more than %d MiB, which is too much to show", p.Host, limit>>20)
	}
	if kind == kindImage || kind == kindPDF {
		p.Data = data
		return p, ctx.Err()
	}
	if p.source, err = decode(data, media, params["charset"], declared); err != nil {
		return nil, unusable("%s sent %s that is not text: it holds NUL bytes", p.Host, typeName(media))
	}
	return p, ctx.Err()
}

type kind int

const (
	kindNone kind = iota
	kindText
	kindImage
	kindPDF
)

func kindOf(media string) kind {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kindImage
	case "application/pdf":
		return kindPDF
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ecmascript",
		"application/x-javascript", "application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson",
		"application/markdown", "application/x-sh", "application/sql", "application/graphql", "application/x-httpd-php", "image/svg+xml":
		return kindText
	}
	if strings.HasPrefix(media, "text/") || (strings.HasPrefix(media, "application/") && (strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml"))) {
		return kindText
	}
	return kindNone
}

// typeName returns a media type for a sentence: it comes from outside.
func typeName(media string) string {
	if media == "" || len(media) > 100 || strings.ContainsFunc(media, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "a type without a valid name"
	}
	return media
}

func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// decode returns text as UTF-8: by its byte order mark, the declared charset, what
// HTML says of itself, else UTF-8 where it is valid and windows-1252 where not.
func decode(data []byte, media, declared, contentType string) (string, error) {
	enc, name, certain := charset.DetermineEncoding(data[:min(len(data), sniffHead)], "text/plain")
	if isHTML(media) {
		enc, name, certain = charset.DetermineEncoding(data[:min(len(data), sniffHead)], contentType)
	} else if e, n := charset.Lookup(declared); declared != "" && e != nil && !certain {
		enc, name, certain = e, n, true
	}
	if !certain && utf8.Valid(data) {
		name = "utf-8"
	}
	if name != "utf-8" {
		if out, err := enc.NewDecoder().Bytes(data); err == nil {
			data = out
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := strings.ToValidUTF8(string(data), "\ufffd")
	if strings.IndexByte(text, 0) >= 0 {
		return "", fmt.Errorf("it holds NUL bytes")
	}
	return text, nil
}

// Show returns the title of a page ("" for none) and its text, at most about 12
// MiB of it. Only HTML has several formats. The context ends a long conversion:
// then the text ends early.
func (p *Page) Show(ctx context.Context, f Format) (title, text string) {
	if !isHTML(p.MediaType) {
		return "", promptsafe.Clean(cutBytes(p.source, maxShown))
	}
	if f == Raw {
		return headOf(p.source, p.base).title, promptsafe.Clean(cutBytes(p.source, maxShown))
	}
	return convert(ctx, p.source, p.base, f)
}

// cutBytes cuts a text at a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
