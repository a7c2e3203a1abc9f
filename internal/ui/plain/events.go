package plain

import (
	"cmp"
	"context"
	"strings"

	"scorel/client"
	"scorel/internal/text/cell"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	treePage    = 2000 // events that are asked for at once
	maxTreeText = 80   // characters of an event in a tree
)

// Headline says in one line what an item of a session is.
func Headline(it display.Item) string {
	words := []string{string(it.Kind)}
	switch {
	case it.Role != "" && it.Kind == display.Bubble:
		words[0] = string(it.Role)
	case it.ToolName != "":
		words[0] = it.ToolName
	}
	if it.Title != "" && it.Title != words[0] {
		words = append(words, it.Title)
	}
	if it.Status != "" && it.Status != display.OK {
		words = append(words, "("+string(it.Status)+")")
	}
	return strings.Join(words, " ")
}

// Tree returns a line for each event of a page of the tree, with a star at those of the
// active path.
func Tree(page *protocol.Events) []string {
	rows := make([][]string, len(page.Events))
	active := page.Active
	for i, e := range page.Events {
		mark := " "
		if len(active) > 0 && active[0] == i {
			mark, active = "*", active[1:]
		}
		it := display.Of(e)
		text := it.Text
		for _, p := range it.Parts {
			if text == "" {
				text = cmp.Or(p.Text, p.ToolName)
			}
		}
		rows[i] = []string{mark + " " + string(e.ID), Headline(it), FirstLine(text, maxTreeText)}
	}
	return cell.Columns(rows)
}

// TreePages calls each with all events of a session in the order of the log, a page at a
// time: a session may be far larger than what is shown of it.
func TreePages(ctx context.Context, c *client.Client, id protocol.SessionID, each func(page *protocol.Events) error) error {
	for after := protocol.Seq(0); ; {
		page, err := client.Call[*protocol.Events](ctx, c, id, &protocol.GetTree{AfterSeq: after, Limit: treePage})
		if err != nil {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		if !page.More || len(page.Events) == 0 {
			return nil
		}
		after = page.Events[len(page.Events)-1].Seq
	}
}

// Findings returns what is damaged in a log, a line for each.
func Findings(findings []string) []string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = "the session log: " + display.Line(f)
	}
	return lines
}
