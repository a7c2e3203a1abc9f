package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"scorel/internal/engine/fetch"
	"scorel/internal/engine/permission"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

//go:embed webfetch.md
var webFetchText string

const (
	webChars   = 30_000 // shown without max_characters
	webFailure = 2_000  // characters of an error page
)

type webFetchTool struct {
	web   *fetch.Client
	pages *fetch.Cache
	blobs Blobs
}

// With implements [Needy].
func (t webFetchTool) With(g Setting, s Session) Tool {
	t.web, t.pages, t.blobs = g.Web, g.Pages, s.Blobs
	return t
}

type webFetchInput struct {
	URL    string       `json:"url"`
	Offset int          `json:"offset"`
	Max    int          `json:"max_characters"`
	Format fetch.Format `json:"format"`
}

// webFetchInfo is what the tool means to others.
var webFetchInfo = protocol.ToolInfo{Name: "WebFetch", Kind: protocol.ToolSends, View: protocol.ViewPage, TitleField: "url", Rule: protocol.RuleHost}

// webFetchSchema is the JSON Schema of its input.
var webFetchSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"url":{"type":"string","minLength":1,"maxLength":4096,"description":"The page."},` +
		`"offset":{"type":"integer","minimum":0,"description":"How many characters of the page to pass over."},` +
		`"max_characters":{"type":"integer","minimum":100,"maximum":100000,"description":"How many characters to show at most; 30,000 without it."},` +
		`"format":{"type":"string","enum":["markdown","text","raw"],"description":"How HTML is shown."}},` +
		`"required":["url"],"additionalProperties":false}`)

// Spec implements [Tool].
func (webFetchTool) Spec() Spec {
	return Spec{ToolInfo: webFetchInfo, Description: webFetchText, Parallel: true, Schema: webFetchSchema}
}

// Prepare implements [Tool].
func (t webFetchTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[webFetchInput](call)
	if err != nil {
		return nil, err
	}
	if t.web == nil {
		return nil, errors.New("pages cannot be fetched here")
	}
	if in.Max == 0 {
		in.Max = webChars
	}
	if in.Format == "" {
		in.Format = fetch.Markdown
	}
	target, err := fetch.ParseTarget(in.URL)
	if err != nil {
		return nil, err
	}
	return &webFetchCall{t, in, target}, nil
}

type webFetchCall struct {
	tool   webFetchTool
	in     webFetchInput
	target fetch.Target
}

// Action implements [Prepared].
func (c *webFetchCall) Action() permission.Action {
	return permission.Action{Tool: webFetchInfo.Name, Kind: webFetchInfo.Kind, Host: c.target.Host(), Exact: c.target.Exact()}
}

// Snapshots implements [Prepared].
func (*webFetchCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (*webFetchCall) Close() {}

// Run implements [Prepared].
func (c *webFetchCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	if c.in.Offset > 0 && c.tool.pages != nil {
		if page, ok := c.tool.pages.Get(c.target, c.in.Format); ok {
			return c.show(page)
		}
	}
	page, err := c.tool.web.Fetch(ctx, c.target)
	var moved *fetch.RedirectError
	switch {
	case errors.As(err, &moved):
		return textResult(fmt.Sprintf("%s redirects to another host, which needs a call of its own. To go on, call WebFetch with the url %s", moved.From.Host(), moved.To)), nil
	case err != nil:
		return Result{}, err
	case page.Status >= 400:
		return c.failed(ctx, page), nil
	case page.Data != nil:
		return c.media(ctx, page)
	}
	title, text := page.Show(ctx, c.in.Format)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	shown := fetch.Shown{URL: page.URL, Title: title, MediaType: page.MediaType, Text: text}
	if c.tool.pages != nil {
		c.tool.pages.Put(c.target, c.in.Format, shown)
	}
	return c.show(shown)
}

// show returns the part of a page that is asked for.
func (c *webFetchCall) show(page fetch.Shown) (Result, error) {
	part, next, total := window(page.Text, c.in.Offset, c.in.Max)
	if c.in.Offset > 0 && part == "" {
		return Result{}, fmt.Errorf("the page has %d characters; there is nothing behind offset %d", total, c.in.Offset)
	}
	if total == 0 {
		part = "(The page holds no text.)"
		if page.MediaType == "text/html" {
			part = "(The page holds no text: a script may make it in a browser. The format raw shows the source.)"
		}
	}
	head, text, tail := promptsafe.Parts("web_page", attributes(page.URL, page.MediaType, page.Title), part)
	if c.in.Offset > 0 || next < total {
		tail += fmt.Sprintf("\n[Characters %d to %d of %d.", c.in.Offset+1, next, total)
		if next < total {
			tail += fmt.Sprintf(" Go on with offset %d.", next)
		}
		tail += "]"
	}
	return shownResult(protocol.ToolDetails{}, head, text, tail+"\n"+notInstructions), nil
}

func attributes(url, media, title string) string {
	quote := strings.NewReplacer(`"`, "'", "<", "(", ">", ")")
	text := fmt.Sprintf(` url="%s" type="%s"`, quote.Replace(url), quote.Replace(media))
	if title != "" {
		text += fmt.Sprintf(` title="%s"`, quote.Replace(title))
	}
	return text
}

// failed is the result for an answer with an error status.
func (c *webFetchCall) failed(ctx context.Context, page *fetch.Page) Result {
	text := fmt.Sprintf("%s answers with the status %d", page.Host, page.Status)
	if name := http.StatusText(page.Status); name != "" {
		text += " (" + name + ")"
	}
	switch page.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; WebFetch sends no login"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if page.RetryAfter > 0 {
			text += fmt.Sprintf("; it asks to wait %d seconds", int(page.RetryAfter.Seconds()))
		}
	}
	text += "."
	title, body := page.Show(ctx, fetch.Text)
	if part, _, _ := window(body, 0, webFailure); part != "" {
		text += "\n" + promptsafe.Text("web_page", attributes(page.URL, page.MediaType, title), part) + "\n" + notInstructions
	}
	r := textResult(text)
	r.IsError = true
	return r
}

// media shows an image or a PDF.
func (c *webFetchCall) media(ctx context.Context, page *fetch.Page) (Result, error) {
	if c.tool.blobs == nil {
		return Result{}, fmt.Errorf("%s sent %s, which cannot be shown here", page.Host, page.MediaType)
	}
	if is := mediaType(page.Data[:min(len(page.Data), 32)]); is != page.MediaType {
		return Result{}, fmt.Errorf("%s says that it sent %s, and sent something else", page.Host, page.MediaType)
	}
	data, media, err := fit(page.Data, page.MediaType)
	if err != nil {
		return Result{}, fmt.Errorf("what %s sent (%s) cannot be shown: %w", page.Host, page.MediaType, err)
	}
	blob, err := c.tool.blobs.PutBlob(ctx, bytes.NewReader(data))
	if err != nil {
		return Result{}, fmt.Errorf("store what %s sent: %w", page.Host, err)
	}
	b := protocol.Block{Type: protocol.BlockImage, MediaType: media, Blob: blob}
	if media == "application/pdf" {
		b.Type, b.Name = protocol.BlockFile, fileName(page.URL)
	}
	note := fmt.Sprintf("From %s: %s, %d bytes.\n%s", page.Host, page.MediaType, len(page.Data), notInstructions)
	return Result{Content: []protocol.Block{protocol.Text(note), b}}, nil
}

// fileName returns a harmless name for a PDF.
func fileName(url string) string {
	name, _, _ := strings.Cut(path.Base(url), "?")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"<>/\%`, r) {
			return '_'
		}
		return r
	}, name)
	if len(name) > 100 || !strings.HasSuffix(strings.ToLower(name), ".pdf") {
		return "page.pdf"
	}
	return name
}
