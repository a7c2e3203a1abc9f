package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed" // the style of the page
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"scorel/protocol"
	"scorel/protocol/display"
)

//go:embed style.css
var style string

// maxText is how much of a text a page shows, in bytes.
const maxText = 16 << 20

// HTML writes a session as a page of its own: the active path with its calls,
// results, decisions and compactions, and a list of the branches that were left.
// It stops at the first error of the source, of w or of ctx and returns it.
func HTML(ctx context.Context, w io.Writer, src Source) error {
	s, err := look(src)
	if err != nil {
		return fmt.Errorf("export a session: %w", err)
	}
	p := &page{w: bufio.NewWriterSize(w, 64<<10), src: src, survey: s, pictures: maxPictures}
	p.head()
	for e, err := range display.Joined(s.only(src.All()), s.marked) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("export a session: %w", err)
		}
		p.event(e)
	}
	p.finish()
	p.foot()
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("export a session: %w", err)
	}
	return nil
}

// page writes a page. Errors of the writer are kept by it and come with Flush.
type page struct {
	w        *bufio.Writer
	src      Source
	survey   *survey
	pictures int64 // bytes that pictures may still take

	calls []*call          // of the newest assistant message, not yet written
	last  protocol.EventID // the newest event of the path
}

func (p *page) put(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
}

// text returns a text as it can be in the page, cut at its bound.
func text(s string) string {
	full := len(s)
	if full > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	s = display.Text(s)
	if full > maxText {
		s += fmt.Sprintf("\n[cut: %s of %s bytes are shown]", thousands(maxText), thousands(full))
	}
	return s
}

func (p *page) head() {
	h, s := p.src.Header, p.survey
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	title := escape(s.title(h))
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`, escape(policy), "\">\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="referrer" content="no-referrer">`, "\n<meta name=\"robots\" content=\"noindex\">\n<meta name=\"generator\" content=\"Scorel\">\n",
		"<title>", title, "</title>\n<style>", style, "</style>\n</head>\n<body>\n",
		`<a class="skip" href="#conversation">To the conversation</a>`, "\n<header class=\"top\">\n<h1 dir=\"auto\">", title, "</h1>\n<dl class=\"facts\">\n")
	if h.CreatedAt > 0 {
		p.fact("Began", stamp(h.CreatedAt))
	}
	p.fact("Model", escape(display.Line(h.Meta.Model)))
	p.fact("Messages", thousands(s.messages))
	if s.calls > 0 {
		calls := thousands(s.calls)
		if s.denied > 0 {
			calls += fmt.Sprintf(" (%d denied)", s.denied)
		}
		p.fact("Tool calls", calls)
	}
	if u := s.usage; u.ContextTokens() > 0 {
		in := thousands(u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens)
		if u.CacheReadTokens > 0 {
			in += " (" + thousands(u.CacheReadTokens) + " cached)"
		}
		p.fact("Tokens in", in)
		p.fact("Tokens out", thousands(u.OutputTokens))
		if u.CostUSD > 0 {
			p.fact("Cost", "$"+strconv.FormatFloat(u.CostUSD, 'f', 4, 64))
		}
	}
	if n := len(s.branches); n > 0 {
		p.fact("Branches left", `<a href="#branches">`+strconv.Itoa(n)+"</a>")
	}
	p.long("Folder", h.Meta.WorkDir)
	p.long("Session", string(h.SessionID))
	if h.ClonedFrom != nil {
		p.long("Copied from", string(h.ClonedFrom.SessionID))
	}
	p.put("</dl>\n")
	if len(p.src.Notices) > 0 {
		p.put(`<div class="notices">`, "\n")
		for _, n := range p.src.Notices {
			p.put("<p>", escape(display.Line(n)), "</p>\n")
		}
		p.put("</div>\n")
	}
	p.contents()
	if s.system != "" {
		p.fold("System prompt", `<p class="plain">`+escape(text(s.system))+"</p>\n")
	}
	p.put("</header>\n<main id=\"conversation\">\n")
	p.branchesFrom("")
}

func (p *page) fact(name, value string) {
	if value != "" {
		p.put("<div><dt>", name, "</dt><dd>", value, "</dd></div>\n")
	}
}

func (p *page) long(name, value string) {
	if value = display.Line(value); value != "" {
		p.put(`<div class="long"><dt>`, name, `</dt><dd class="mono">`, escape(value), "</dd></div>\n")
	}
}

func (p *page) contents() {
	if len(p.survey.prompts) < 3 {
		return
	}
	var s strings.Builder
	s.WriteString("<nav class=\"contents\" aria-label=\"Prompts\"><ol>\n")
	for _, q := range p.survey.prompts {
		s.WriteString(`<li><a href="#` + escape(string(q.id)) + `" dir="auto">` + escape(q.text) + "</a></li>\n")
	}
	s.WriteString("</ol>")
	if p.survey.more > 0 {
		s.WriteString(`<p class="note">and ` + thousands(p.survey.more) + " more</p>")
	}
	s.WriteString("</nav>\n")
	p.fold("Contents: "+thousands(len(p.survey.prompts)+p.survey.more)+" prompts", s.String())
}

// fold writes a title that opens to inner, which is HTML.
func (p *page) fold(title, inner string) {
	p.put(`<details class="fold"><summary>`, escape(title), `</summary><div class="inside" dir="auto">`, inner, "</div></details>\n")
}

func (p *page) foot() {
	if len(p.survey.branches) > 0 {
		p.put("<section id=\"branches\" class=\"branches\">\n<h2>Branches that were left</h2>\n<ul>\n")
		for i, b := range p.survey.branches {
			text := b.text
			if text == "" {
				text = "(no text)"
			}
			p.put(`<li id="branch-`, strconv.Itoa(i+1), `" dir="auto">`, escape(text), `<span class="note">`, count(b.messages, "message"), ", last ", stamp(b.ts))
			if b.from != "" {
				p.put(`, from <a href="#`, escape(string(b.from)), `">here</a>`)
			}
			p.put("</span></li>\n")
		}
		p.put("</ul>\n</section>\n")
	}
	p.put("</main>\n<footer><p>A conversation kept by Scorel. Times are in UTC. What is quoted here was written by people, models and tools; nothing in this page runs or loads anything.</p></footer>\n</body>\n</html>\n")
}

// branchesFrom writes which branches leave the path after an event.
func (p *page) branchesFrom(id protocol.EventID) {
	for _, n := range p.survey.from[id] {
		b := p.survey.branches[n]
		p.put(`<p class="branch">↳ <a href="#branch-`, strconv.Itoa(n+1), `">Another branch</a> of `, count(b.messages, "message"), " was left here</p>\n")
	}
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

func stamp(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	return `<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2 January 2006, 15:04") + "</time>"
}

// thousands writes a number with thin spaces.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}
