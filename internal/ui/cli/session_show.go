package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
			fmt.Fprintf(&s, "%s %s\n", part.ToolName, display.Summary(part.ToolName, []byte(part.Input)))
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

// treePages calls each with all events of a session in the order of the log, a page at a
// time: a session may be far larger than what is shown of it.
func (l *link) treePages(ctx context.Context, id protocol.SessionID, each func(page *protocol.Events) error) error {
	for after := protocol.Seq(0); ; {
		page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetTree{AfterSeq: after, Limit: 2000})
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

// treeLines gives a line for each event of a page, with a mark at those of the active path.
func treeLines(page *protocol.Events) []string {
	lines := make([]string, len(page.Events))
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
		lines[i] = fmt.Sprintf("%s %s  %-28s %s", mark, e.ID, headline(it), firstLine(text, 80))
	}
	return lines
}

func (a *app) showTree(ctx context.Context, l *link, id protocol.SessionID, f sessionFlags) error {
	if f.json {
		return a.treeJSON(ctx, l, id)
	}
	return l.treePages(ctx, id, func(page *protocol.Events) error {
		a.tellFindings(page.Findings)
		for _, line := range treeLines(page) {
			if _, err := fmt.Fprintln(a.stdout, line); err != nil {
				return err
			}
		}
		return nil
	})
}

// treeJSON prints all events as one [protocol.Events], page by page.
func (a *app) treeJSON(ctx context.Context, l *link, id protocol.SessionID) error {
	var leaf protocol.EventID
	var findings []string
	out := bufio.NewWriter(a.stdout)
	before := `{"events":[`
	err := l.treePages(ctx, id, func(page *protocol.Events) error {
		leaf, findings = page.LeafID, append(findings, page.Findings...)
		for _, e := range page.Events {
			line, err := e.AppendLine([]byte(before))
			if err != nil {
				return err
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
			before = ","
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, out.Flush())
	}
	if before != "," {
		_, _ = out.WriteString(before) // Flush has the error
	}
	_, _ = out.WriteString("]")
	if leaf != "" {
		_, _ = fmt.Fprintf(out, `,"leafId":%q`, string(leaf))
	}
	if len(findings) > 0 {
		list, err := json.Marshal(findings)
		if err != nil {
			return err
		}
		_, _ = out.WriteString(`,"findings":`)
		_, _ = out.Write(list)
	}
	_, _ = out.WriteString("}\n")
	return out.Flush()
}
