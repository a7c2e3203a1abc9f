package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) hostCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "host", Short: "The host of this machine: it runs sessions for any number of clients", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("use one of: serve, install, uninstall, status, stop, token, logs or reset")
		}}
	cmd.AddCommand(a.hostServeCommand(), a.hostInstallCommand(), a.hostUninstallCommand(), a.hostStatusCommand(), a.hostStopCommand(), a.hostTokenCommand(), a.hostLogsCommand(), a.hostResetCommand())
	return cmd
}

// hostStatus is what scorel host status --json prints.
type hostStatus struct {
	Running bool `json:"running"`
	*daemon.Info
	Stopping bool                    `json:"stopping,omitempty"`
	Clients  []protocol.ClientInfo   `json:"clients,omitempty"`
	Sessions []protocol.SessionState `json:"sessions,omitempty"`
	Problem  string                  `json:"problem,omitempty"` // why it does not answer
}

func (a *app) hostStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "status", Short: "Show whether a host runs, where, and what it does (exit code 1: none runs)", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.hostStatus(cmd.Context())
			if err != nil {
				return err
			}
			if !s.Running || s.Problem != "" {
				a.code = exit.Failed
			}
			if asJSON {
				return a.printJSON(s)
			}
			return a.showStatus(s)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// statusTimeout is how long a host has to say how it is.
const statusTimeout = 10 * time.Second

func (a *app) hostStatus(ctx context.Context) (hostStatus, error) {
	dir, err := a.scorelDir()
	if err != nil {
		return hostStatus{}, err
	}
	info, live, err := daemon.Find(dir)
	if err != nil || !live {
		return hostStatus{}, err
	}
	s := hostStatus{Running: true, Info: &info}
	ctx, stop := context.WithTimeout(ctx, statusTimeout)
	defer stop()
	const self = "scorel host status"
	l, err := a.reach(ctx, reachOptions{name: self, onOther: func(string) {}})
	if err != nil {
		s.Problem = err.Error()
		return s, nil
	}
	defer l.Close()
	st, err := client.Call[*protocol.Status](ctx, l.Client, "", &protocol.GetStatus{})
	if err != nil {
		s.Problem = err.Error()
		return s, nil
	}
	s.Stopping, s.Clients, s.Sessions = st.Stopping, st.Clients, st.Sessions
	if i := slices.IndexFunc(s.Clients, func(c protocol.ClientInfo) bool { return c.ClientID == l.id && c.ClientName == self }); i >= 0 {
		s.Clients = slices.Delete(s.Clients, i, i+1) // who asks is not asked about
	}
	return s, nil
}

func (a *app) showStatus(s hostStatus) error {
	if !s.Running {
		fmt.Fprintln(a.stdout, "No host runs.")
		return nil
	}
	var rows [][]string
	line := func(name, text string) { rows = append(rows, []string{name, text}) }
	state := "runs"
	switch {
	case s.Problem != "":
		state = "holds the lock and does not answer: " + display.Line(s.Problem)
	case s.Stopping:
		state = "is stopping"
	}
	line("host", state)
	line("pid", fmt.Sprint(s.PID))
	if s.StartedAt > 0 {
		line("since", time.UnixMilli(s.StartedAt).Format("2006-01-02 15:04:05"))
	}
	if s.Version != "" {
		line("version", display.Line(s.Version))
		line("device", string(s.DeviceID))
	}
	for _, at := range s.Addresses {
		line("listens on", display.Line(at))
	}
	if s.Fingerprint != "" {
		line("fingerprint", display.Line(s.Fingerprint))
	}
	for _, c := range s.Clients {
		line("client", display.Line(c.ClientName)+" ("+string(c.ClientID)+", "+string(c.Grant)+")")
	}
	for _, ss := range s.Sessions {
		line("session", sessionState(ss))
	}
	return plain.Table(a.stdout, rows)
}

// sessionState says in one line what goes on in a session.
func sessionState(s protocol.SessionState) string {
	what := "idle"
	switch {
	case s.Asking:
		what = "waits for an answer"
	case s.Running:
		what = "at work"
	case s.Failed != "":
		what = "failed"
	}
	for _, n := range []struct {
		n    int
		what string
	}{{s.Queued, "waiting message"}, {s.Tasks, "background command"}, {s.Clients, "client"}} {
		if n.n > 0 {
			what += ", " + plain.Count(n.n, n.what)
		}
	}
	line := string(s.SessionID) + "  " + what
	if s.Title != "" {
		line += "  " + display.Line(plain.FirstLine(s.Title, 60))
	}
	return line
}

// running returns the host that holds the lock.
func (a *app) running() (dir string, info daemon.Info, err error) {
	if dir, err = a.scorelDir(); err != nil {
		return "", info, err
	}
	info, live, err := daemon.Find(dir)
	if err == nil && !live {
		err = follow.ErrNoHost
	}
	return dir, info, err
}

// noHost reports whether the error says that none runs.
func noHost(err error) bool { return errors.Is(err, follow.ErrNoHost) }
