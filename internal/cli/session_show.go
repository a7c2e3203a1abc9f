package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) showCommand() *cobra.Command {
	var limit int
	var tree bool
	cmd := a.sessionCommand("show SESSION", "Show a conversation, or with --tree all its branches", 1,
		func(ctx context.Context, l *link, id protocol.SessionID, _ []string, f sessionFlags) error {
			if tree {
				return a.showTree(ctx, l, id, f)
			}
			page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetPath{Limit: limit})
			if err != nil {
				return err
			}
			events := page.Events
			for i, k := 0, len(events)-1; i < k; i, k = i+1, k-1 {
				events[i], events[k] = events[k], events[i]
			}
			if f.json {
				return a.printJSON(page)
			}
			a.tellFindings(page.Findings)
			if page.More {
				fmt.Fprintln(a.stderr, "Older messages are left out; --limit shows more.")
			}
			for _, e := range events {
				if err := a.showEvent(e); err != nil {
					return err
				}
			}
			return nil
		})
	cmd.Flags().IntVar(&limit, "limit", 200, "at most so many messages, the newest")
	cmd.Flags().BoolVar(&tree, "tree", false, "all events in the order of the log, the active path marked")
	return cmd
}

// tellFindings says what is damaged in a log.
func (a *app) tellFindings(findings []string) {
	for _, f := range findings {
		fmt.Fprintln(a.stderr, "scorel: the session log: "+display.Line(f))
	}
}

// showEvent prints one event as people see it.
func (a *app) showEvent(e protocol.Event) error {
	it := display.Of(e)
	if it.Kind == display.Hidden {
		return nil
	}
	var s strings.Builder
	fmt.Fprintf(&s, "── %s  %s\n", headline(it), e.ID)
	for _, part := range append([]display.Item{it}, it.Parts...) {
		switch {
		case part.Kind == display.Tool && part.Input != "" && part.Role == "":
			fmt.Fprintf(&s, "%s %s\n", part.ToolName, display.Summary([]byte(part.Input)))
		case part.Kind == display.Thinking:
			s.WriteString(indent(part.Text))
		case part.Kind == display.Tool:
			s.WriteString(indent(part.Text))
		case part.Text != "":
			s.WriteString(strings.TrimRight(part.Text, "\n") + "\n")
		}
	}
	_, err := io.WriteString(a.stdout, s.String())
	return err
}

// headline says in one line what an item is.
func headline(it display.Item) string {
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

// indent indents every line of a text by two spaces and ends it with a newline.
func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
}

// tree gives all events of a session in the order of the log.
func (l *link) tree(ctx context.Context, id protocol.SessionID) (events []protocol.Event, leaf protocol.EventID, findings []string, err error) {
	for after := protocol.Seq(0); ; {
		page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetTree{AfterSeq: after, Limit: 1000})
		if err != nil {
			return nil, "", nil, err
		}
		events, leaf, findings = append(events, page.Events...), page.LeafID, append(findings, page.Findings...)
		if !page.More || len(page.Events) == 0 {
			return events, leaf, findings, nil
		}
		after = page.Events[len(page.Events)-1].Seq
	}
}

// treeLines gives a line for each event, with a mark at those of the active path.
func treeLines(events []protocol.Event, leaf protocol.EventID) []string {
	parent := map[protocol.EventID]protocol.EventID{}
	for _, e := range events {
		parent[e.ID] = e.ParentID
	}
	active := map[protocol.EventID]bool{}
	for id := leaf; id != "" && !active[id]; id = parent[id] {
		active[id] = true
	}
	var lines []string
	for _, e := range events {
		mark := " "
		if active[e.ID] {
			mark = "*"
		}
		it := display.Of(e)
		text := it.Text
		for _, p := range it.Parts {
			if text == "" {
				text = cmp.Or(p.Text, p.ToolName)
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s  %-28s %s", mark, e.ID, headline(it), firstLine(text, 80)))
	}
	return lines
}

func (a *app) showTree(ctx context.Context, l *link, id protocol.SessionID, f sessionFlags) error {
	events, leaf, findings, err := l.tree(ctx, id)
	if err != nil {
		return err
	}
	if f.json {
		return a.printJSON(&protocol.Events{Events: events, LeafID: leaf, Findings: findings})
	}
	a.tellFindings(findings)
	for _, line := range treeLines(events, leaf) {
		if _, err := fmt.Fprintln(a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}
