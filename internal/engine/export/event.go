package export

import (
	"fmt"
	"strings"
	"time"

	"scorel/protocol"
	"scorel/protocol/display"
)

// event writes one event of the page.
func (p *page) event(e protocol.Event) {
	defer p.changed(e)
	if !e.Control {
		if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleToolResult {
			p.result(e, b.Message)
			p.last = e.ID
			return
		}
		p.finish()
		p.last = e.ID
	}
	switch b := e.Body.(type) {
	case *protocol.MessageBody:
		p.message(e, b.Message)
	case *protocol.CustomMessage:
		p.begin("user", display.Line(b.Kind), e)
		p.blocks(b.Message.Content)
		p.put("</article>\n")
	case *protocol.PermissionDecision:
		if c := p.call(b.ToolCallID); c != nil {
			c.decisions = append(c.decisions, b)
			return
		}
		p.put(decision(b))
	case *protocol.FileSnapshot:
		if c := p.call(b.ToolCallID); c != nil {
			c.snapshots = append(c.snapshots, b)
		}
	default:
		if e.Body != nil && display.InConversation(e.Body) {
			p.other(display.Of(e))
		}
	}
}

// changed marks an event whose line is not as it was written.
func (p *page) changed(e protocol.Event) {
	if text := display.Changed(e); text != "" {
		p.put(`<p class="note" dir="auto">`, escape(text), "</p>\n")
	}
}

// other writes what needs no form of its own.
func (p *page) other(it display.Item) {
	switch it.Kind {
	case display.Folded:
		p.fold(it.Title, markdownHTML(text(it.Text)))
	case display.Notice:
		p.put(`<p class="note" dir="auto">`, escape(strings.TrimSpace(it.Title+" "+text(it.Text))), "</p>\n")
	case display.Marker:
		p.put(`<p class="marker">`, escape(it.Title), "</p>\n")
	case display.Badge:
		p.put(`<p class="marker">Through `, escape(it.Title), "</p>\n")
	case display.Shell:
		title := "$ " + it.Title
		if it.Role == protocol.RoleInternal {
			title += " (not told to the model)"
		}
		p.fold(title, "<pre class=\"wrap\"><code>"+escape(text(it.Text))+"</code></pre>\n")
	case display.Custom:
		if it.Text != "" {
			p.fold(it.Title, markdownHTML(text(it.Text)))
		}
	}
}

// begin opens an article with its head.
func (p *page) begin(class, by string, e protocol.Event) {
	id := escape(string(e.ID))
	p.put(`<article class="msg `, class, `" id="`, id, `"><div class="by"><b>`, escape(by), "</b>")
	if l := p.survey.labels[e.ID]; l != "" {
		p.put(`<span class="label" dir="auto">`, escape(l), "</span>")
	}
	t := time.UnixMilli(e.TS).UTC()
	p.put(`<a href="#`, id, `"><time datetime="`, t.Format(time.RFC3339), `" title="`, t.Format("2 January 2006"), `">`, t.Format("15:04"), "</time></a></div>\n")
}

func (p *page) message(e protocol.Event, m protocol.Message) {
	switch m.Role {
	case protocol.RoleUser:
		by := "You"
		if m.Meta != nil {
			switch {
			case m.Meta.Channel != "":
				by = display.Line(m.Meta.Channel)
			case m.Meta.Source == protocol.SourceSteer:
				by = "You, while the assistant worked"
			case m.Meta.Source == protocol.SourceSchedule, m.Meta.Source == protocol.SourceProactive, m.Meta.Source == protocol.SourceExtension:
				by = display.Line(string(m.Meta.Source))
			}
		}
		p.begin("user", by, e)
		p.blocks(m.Content)
		p.put("</article>\n")
		p.branchesFrom(e.ID)
	case protocol.RoleAssistant:
		p.assistant(e, m)
	default:
		p.put(`<p class="note" dir="auto">`, escape(text(m.PlainText())), "</p>\n")
	}
}

// blocks writes what a person sent, as it was written.
func (p *page) blocks(blocks []protocol.Block) {
	p.put(`<div class="text" dir="auto">`)
	for _, b := range blocks {
		switch b.Type {
		case protocol.BlockText:
			p.put(`<p class="plain">`, escape(strings.TrimRight(text(b.Text), "\n")), "</p>\n")
		case protocol.BlockImage, protocol.BlockFile:
			p.payload(b)
		default:
			p.put(`<p class="note">[`, escape(display.Line(string(b.Type))), "]</p>\n")
		}
	}
	p.put("</div>\n")
}

func (p *page) assistant(e protocol.Event, m protocol.Message) {
	by := "Assistant"
	if m.Model != "" && !strings.HasSuffix(p.src.Header.Meta.Model, m.Model) {
		by += " · " + display.Line(m.Model)
	}
	p.begin("assistant", by, e)
	if p.src.Whole != nil && m.IsCut() {
		m, _ = m.Whole(p.src.Whole) // what is lost stays cut and says so
	}
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			if t := text(b.Text); strings.TrimSpace(t) != "" {
				p.put(`<div class="text" dir="auto">`, markdownHTML(t), "</div>\n")
			}
		case protocol.BlockThinking:
			t := "[redacted by the provider]"
			if !b.Redacted {
				t = text(b.Thinking)
			}
			if strings.TrimSpace(t) != "" {
				p.fold("Thinking", markdownHTML(t))
			}
		case protocol.BlockToolUse:
			p.calls = append(p.calls, &call{block: b.WithTarget()})
		case protocol.BlockImage, protocol.BlockFile:
			p.payload(b)
		default:
			p.put(`<p class="note">[`, escape(display.Line(string(b.Type))), "]</p>\n")
		}
	}
	if end := display.Ending(&m); end != "" {
		class := "end"
		if m.StopReason == protocol.StopError || m.StopReason == protocol.StopRefusal {
			class = "end bad"
		}
		p.put(`<p class="`, class, `" dir="auto">`, escape(text(end)), "</p>\n")
	}
	if u := m.Usage; u != nil && u.CostUSD > 0 && len(m.Calls()) == 0 {
		p.put(`<p class="note">`, fmt.Sprintf("%s tokens, $%.4f", thousands(u.ContextTokens()), u.CostUSD), "</p>\n")
	}
	p.put("</article>\n")
	if len(p.calls) == 0 {
		p.branchesFrom(e.ID)
	}
}
