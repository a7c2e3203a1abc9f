package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/plain"
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
			a.notifyFindings(page.Findings)
			if page.More {
				fmt.Fprintln(a.stderr, "Older messages are left out; --limit shows more.")
			}
			var calls display.Unanswered
			for _, e := range events {
				if err := errors.Join(a.showUnanswered(calls.Add(e), display.NoResult), a.showEvent(e)); err != nil {
					return err
				}
			}
			return a.showUnanswered(calls.Open(), "no result yet, or it is lost")
		})
	cmd.Flags().IntVar(&limit, "limit", 200, "show the last N messages")
	cmd.Flags().BoolVar(&tree, "tree", false, "all events in the order of the log, the active path marked")
	return cmd
}

// notifyFindings says what is damaged in a log.
func (a *app) notifyFindings(findings []string) {
	for _, f := range plain.Findings(findings) {
		fmt.Fprintln(a.stderr, "scorel: "+f)
	}
}

// showUnanswered says of calls that they have no result.
func (a *app) showUnanswered(calls []protocol.Block, why string) (err error) {
	for _, c := range calls {
		_, werr := fmt.Fprintf(a.stdout, "── %s %s: %s\n", display.Line(c.Name), display.Summary(c.Name, c.Input), why)
		err = errors.Join(err, werr)
	}
	return err
}

// showEvent prints one event as people see it.
func (a *app) showEvent(e protocol.Event) error {
	it := display.Of(e)
	if it.Kind == display.Hidden {
		return nil
	}
	var s strings.Builder
	fmt.Fprintf(&s, "── %s  %s\n", plain.Headline(it), e.ID)
	for _, part := range append([]display.Item{it}, it.Parts...) {
		switch {
		case part.Kind == display.Tool && part.Input != "" && part.Role == "":
			fmt.Fprintf(&s, "%s %s\n", part.ToolName, display.Summary(part.ToolName, []byte(part.Input)))
		case part.Kind == display.Thinking:
			s.WriteString(plain.Indent(part.Text))
		case part.Kind == display.Tool:
			s.WriteString(plain.Indent(part.Text))
		case part.Text != "":
			s.WriteString(strings.TrimRight(part.Text, "\n") + "\n")
		}
	}
	_, err := io.WriteString(a.stdout, s.String())
	return err
}

func (a *app) showTree(ctx context.Context, l *link, id protocol.SessionID, f sessionFlags) error {
	if f.json {
		return a.treeJSON(ctx, l, id)
	}
	return plain.TreePages(ctx, l.Client, id, func(page *protocol.Events) error {
		a.notifyFindings(page.Findings)
		for _, line := range plain.Tree(page) {
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
	err := plain.TreePages(ctx, l.Client, id, func(page *protocol.Events) error {
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
