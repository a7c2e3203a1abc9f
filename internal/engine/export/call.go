package export

import (
	"encoding/json"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

// call is a call of a tool with what came of it. It is held until the next event
// of the conversation, so that all of it stands together.
type call struct {
	block     protocol.Block
	decisions []*protocol.PermissionDecision
	snapshots []*protocol.FileSnapshot
	result    *protocol.Message
}

func (p *page) call(id string) *call {
	for _, c := range p.calls {
		if c.block.ID == id {
			return c
		}
	}
	return nil
}

// result takes a result in. One without its call is written by itself.
func (p *page) result(e protocol.Event, m protocol.Message) {
	if c := p.call(m.ToolCallID); c != nil && c.result == nil {
		c.result = &m
		return
	}
	p.finish()
	p.write(&call{block: protocol.Block{ID: m.ToolCallID, Name: m.ToolName}, result: &m})
}

// finish writes the calls that are held.
func (p *page) finish() {
	if len(p.calls) == 0 {
		return
	}
	for _, c := range p.calls {
		p.write(c)
	}
	p.calls = nil
	p.branchesFrom(p.last)
}

// state says in a word how a call ended.
func (c *call) state() (class, word string) {
	for _, d := range c.decisions {
		if d.Decision == protocol.DecisionDeny {
			return "bad", "denied"
		}
	}
	switch r := c.result; {
	case r == nil:
		return "none", "no result"
	case !r.IsError:
		return "", "✓"
	case r.Outcome() == protocol.OutcomeNotRun:
		return "bad", "not run"
	case r.Outcome() == protocol.OutcomeCancelled:
		return "bad", "cancelled"
	}
	return "bad", "failed"
}

func (p *page) write(c *call) {
	class, word := c.state()
	box := "call"
	if class == "bad" {
		box = "call failed"
	}
	label := ""
	if word == "✓" {
		label = ` role="img" aria-label="succeeded"`
	}
	open := ""
	if word == "denied" || word == "not run" { // a refusal is not to be overlooked
		open = " open"
	}
	p.put(`<details class="`, box, `"`, open, `><summary><span class="tool">`, escape(display.Line(c.block.Name)), `</span><span class="what mono">`,
		escape(display.Summary(c.block.Name, c.block.Input)), `</span><span class="state `, class, `"`, label, ">", word, "</span></summary>\n<div class=\"inside\">\n")
	diff := ""
	if c.result != nil {
		diff = diffOf(c.result)
	}
	if diff == "" {
		p.put(input(c))
	}
	for _, d := range c.decisions {
		p.put(decision(d))
	}
	for _, s := range c.snapshots {
		if !s.Restorable {
			p.put(`<p class="note">`, escape(display.Line(s.Path)), " was not kept for undo.</p>\n")
		}
	}
	if r := c.result; r != nil {
		if diff != "" {
			p.put("<h3>Change</h3>\n", diff)
		}
		p.output(r)
	}
	if diff != "" {
		p.fold("Input", input(c))
	}
	p.put("</div></details>\n")
}

// input returns what a call was given: a command as a shell would see it, else the
// input itself.
func input(c *call) string {
	if len(c.block.Input) == 0 {
		return ""
	}
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.block.Input, &in) == nil && in.Command != "" {
		return "<h3>Command</h3>\n<pre class=\"wrap\"><code>" + escape(text(in.Command)) + "</code></pre>\n"
	}
	item := display.Of(protocol.Event{Body: &protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{c.block}}}})
	for _, part := range item.Parts {
		if part.Input != "" && part.Input != "{}" {
			return "<h3>Input</h3>\n<pre class=\"wrap\"><code>" + escape(text(part.Input)) + "</code></pre>\n"
		}
	}
	return ""
}

func (p *page) output(m *protocol.Message) {
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			if t := strings.TrimRight(text(b.Text), "\n"); t != "" {
				class := ""
				if m.IsError {
					class = ` class="wrap"`
				}
				p.put("<h3>Result</h3>\n<pre", class, "><code>", escape(t), "</code></pre>\n")
			}
		case protocol.BlockImage, protocol.BlockFile:
			p.payload(b)
		}
	}
}

// diffOf returns what a call changed, line by line.
func diffOf(m *protocol.Message) string {
	var details struct {
		Diff string `json:"diff"`
	}
	if len(m.Details) == 0 || json.Unmarshal(m.Details, &details) != nil || details.Diff == "" {
		return ""
	}
	var s strings.Builder
	s.WriteString(`<pre class="diff"><code>`)
	for line := range strings.Lines(text(details.Diff)) {
		line = strings.TrimSuffix(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
			class = ` class="h"`
		case strings.HasPrefix(line, "+"):
			class = ` class="a"`
		case strings.HasPrefix(line, "-"):
			class = ` class="d"`
		}
		s.WriteString("<span" + class + ">" + escape(line) + "\n</span>")
	}
	s.WriteString("</code></pre>\n")
	return s.String()
}

// decision writes who allowed or denied a call.
func decision(d *protocol.PermissionDecision) string {
	it := display.Of(protocol.Event{Body: d})
	class := "audit"
	if it.Status == display.Denied {
		class = "audit deny"
	}
	s := `<p class="` + class + `" dir="auto">` + escape(it.Title)
	if it.Text != "" {
		s += " — " + escape(it.Text)
	}
	return s + "</p>\n"
}
