package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxResidents bounds the sessions that scorel assistant offers.
const maxResidents = 50

// maxAnswer bounds what is typed to choose one, in bytes.
const maxAnswer = 1 << 10

func (a *app) assistantCommand() *cobra.Command {
	var o attachOptions
	cmd := &cobra.Command{Use: "assistant [SESSION]", Short: "Open the session that works by itself", Args: args(cobra.MaximumNArgs(1)),
		Long: `Opens the session that works by itself: one with /proactive, or one in which a schedule
runs. Where there are several, it asks which; the newest is the first. With SESSION it
is scorel attach SESSION.

    scorel assistant
    scorel assistant --remote wss://desk.example:4444 --token-env SCOREL_DESK --fingerprint AB:CD:…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			lines := a.wantsLines(o.plain)
			if name == "" {
				id, err := a.resident(cmd.Context(), o.remote)
				if err != nil {
					return err
				}
				name = string(id)
			}
			if lines {
				return a.attachLines(cmd.Context(), o.remote, name)
			}
			return a.showUI(cmd.Context(), o.remote, false, "", tui.Start{Session: name})
		}}
	cmd.Flags().BoolVar(&o.plain, "plain", false, "line mode: print lines, and move no cursor")
	o.remote.register(cmd)
	return cmd
}

// residentSession is a session that works by itself.
type residentSession struct {
	id         protocol.SessionID
	title, why string
}

// resident returns the session that works by itself, and asks where there are several.
func (a *app) resident(ctx context.Context, o remoteOptions) (protocol.SessionID, error) {
	l, err := a.reach(ctx, reachOptions{remote: o, name: "scorel assistant", interactive: true})
	if noHost(err) {
		return "", exit.Usagef("no host runs, so no session works by itself; %s", residentAdvice)
	}
	if err != nil {
		return "", err
	}
	defer l.Close()
	found, err := residents(ctx, l)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", exit.Usagef("no session works by itself; %s", residentAdvice)
	case len(found) == 1:
		return found[0].id, nil
	}
	return a.chooseResident(found)
}

const residentAdvice = "/proactive on in a session has it do so, or scorel schedule add --session SESSION"

// residents returns the sessions that work by themselves, newest first.
func residents(ctx context.Context, l *link) ([]residentSession, error) {
	st, err := client.Call[*protocol.Status](ctx, l.Client, "", &protocol.GetStatus{})
	if err != nil {
		return nil, err
	}
	list, err := client.Call[*protocol.ScheduleList](ctx, l.Client, "", &protocol.ListSchedules{})
	if err != nil {
		return nil, err
	}
	titles := map[protocol.SessionID]string{}
	var found []residentSession
	for _, s := range st.Sessions {
		titles[s.SessionID] = s.Title
		if s.Automation != nil {
			found = append(found, residentSession{s.SessionID, s.Title, "proactive, " + string(s.Automation.State)})
		}
	}
	for _, s := range list.Schedules {
		if s.State != protocol.ScheduleArmed || s.SessionID == "" || slices.ContainsFunc(found, func(r residentSession) bool { return r.id == s.SessionID }) {
			continue
		}
		found = append(found, residentSession{s.SessionID, titles[s.SessionID], "schedule " + cmp.Or(s.Name, string(s.ScheduleID))})
	}
	slices.SortFunc(found, func(x, y residentSession) int { return cmp.Compare(y.id, x.id) })
	return found, nil
}

// chooseResident shows the sessions, and reads the number of one.
func (a *app) chooseResident(found []residentSession) (protocol.SessionID, error) {
	shown := found[:min(len(found), maxResidents)]
	rows := make([][]string, 0, len(shown))
	for i, r := range shown {
		rows = append(rows, []string{fmt.Sprintf("%d.", i+1), string(r.id), display.Line(r.why), plain.FirstLine(cmp.Or(r.title, "(not open)"), 50)})
	}
	if err := plain.Table(a.stderr, rows); err != nil {
		return "", err
	}
	if more := len(found) - len(shown); more > 0 {
		fmt.Fprintf(a.stderr, "There are %d more; name one of them: scorel assistant SESSION\n", more)
	}
	if !a.interactive() {
		return "", exit.Usagef("%d sessions work by themselves; name one of them: scorel assistant SESSION", len(found))
	}
	fmt.Fprintf(a.stderr, "Which one? [1] ")
	answer, err := readAnswer(a.stdin)
	if err != nil {
		return "", err
	}
	n := 1
	if answer != "" {
		if n, err = strconv.Atoi(strings.TrimSuffix(answer, ".")); err != nil || n < 1 || n > len(shown) {
			return "", exit.Usagef("%q is none of the numbers 1 to %d", display.Line(answer), len(shown))
		}
	}
	return shown[n-1].id, nil
}

// readAnswer reads a line byte by byte: what follows it is for the terminal UI.
func readAnswer(in io.Reader) (string, error) {
	var line strings.Builder
	for one := make([]byte, 1); line.Len() < maxAnswer; {
		n, err := in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return strings.TrimSpace(line.String()), nil
		case n == 1:
			line.WriteByte(one[0])
		case err == io.EOF:
			return "", exit.Usagef("no session was chosen")
		case err != nil:
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return "", exit.Usagef("the answer has more than %d bytes", maxAnswer)
}
