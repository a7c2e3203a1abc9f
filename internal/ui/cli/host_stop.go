package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/host/daemon"
	"scorel/internal/ui/plain"
	"scorel/protocol"
)

// stopPatience is how long a host may take to end: what a turn gets to come to a
// border, and the end of what does not.
const stopPatience = 60 * time.Second

func (a *app) hostStopCommand() *cobra.Command {
	var now bool
	cmd := &cobra.Command{Use: "stop", Short: "Stop the host; each turn may finish its step first", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stopHost(cmd.Context(), now) }}
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for what runs")
	return cmd
}

func (a *app) stopHost(ctx context.Context, now bool) error {
	dir, info, err := a.running()
	if noHost(err) {
		fmt.Fprintln(a.stdout, "No host runs.")
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, stopPatience)
	defer stop()
	var sessions []protocol.SessionState
	if now {
		err = endNow(info)
	} else {
		sessions, err = a.endInOrder(ctx)
	}
	if err != nil && !noHost(err) { // it may have ended meanwhile
		return fmt.Errorf("%v cannot be asked to end: %w; scorel host stop --now ends it", info, err)
	}
	atWork := 0
	for _, s := range sessions {
		if s.Running {
			atWork++
		}
	}
	if atWork > 0 {
		fmt.Fprintf(a.stderr, "scorel: waiting for %s to finish a step; scorel host stop --now does not wait\n", plain.Count(atWork, "turn"))
	}
	if err := daemon.AwaitEnd(ctx, dir); err != nil {
		hint := map[bool]string{false: "scorel host stop --now does not wait for what runs", true: fmt.Sprintf("kill -9 %d ends it, and what it has told anybody stays stored", info.PID)}
		return fmt.Errorf("%v did not end within %v; %s, and scorel host logs shows what it does", info, stopPatience, hint[now])
	}
	fmt.Fprintln(a.stdout, "Stopped "+info.String()+".")
	for _, s := range sessions {
		if s.Running {
			fmt.Fprintf(a.stdout, "%s was at work; scorel attach %s shows how far it came.\n", s.SessionID, s.SessionID)
		}
	}
	return nil
}

// endInOrder asks the host to end, and returns what it was doing.
func (a *app) endInOrder(ctx context.Context) ([]protocol.SessionState, error) {
	l, err := a.reach(ctx, reachOptions{name: "scorel host stop", onOther: func(string) {}})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var sessions []protocol.SessionState
	if st, err := client.Call[*protocol.Status](ctx, l.Client, "", &protocol.GetStatus{}); err == nil { // else nothing is told
		sessions = st.Sessions
	}
	_, err = client.Call[*protocol.Done](ctx, l.Client, "", &protocol.StopHost{})
	if ctx.Err() == nil && lost(err) {
		err = nil // it was so quick; who called waits for its end
	}
	return sessions, err
}

// lost says that a request left, and the connection ended before its answer.
func lost(err error) bool {
	refused := errors.As(err, new(*protocol.Error)) && !errors.Is(err, client.ErrClosed)
	return err != nil && !refused && !errors.Is(err, client.ErrNotSent)
}

// endNow ends the host at once: the first signal asks it to end in order, the second
// not to wait. The pid is that of who holds the lock.
func endNow(info daemon.Info) error {
	if info.PID <= 0 {
		return errors.New("the lock does not name the process that holds it")
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(info.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}
