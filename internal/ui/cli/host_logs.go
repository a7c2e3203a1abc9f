package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"scorel/internal/host/daemon"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
)

// logInterval is how often a log that is followed is looked at.
const logInterval = 200 * time.Millisecond

func (a *app) hostLogsCommand() *cobra.Command {
	var stay bool
	var lines int
	cmd := &cobra.Command{Use: "logs", Short: "Print the log of the host: starts, ends, and refused clients", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hostLogs(cmd.Context(), lines, stay) }}
	cmd.Flags().BoolVarP(&stay, "follow", "f", false, "keep printing new lines")
	cmd.Flags().IntVarP(&lines, "lines", "n", 200, "print the last N lines")
	return cmd
}

func (a *app) hostLogs(ctx context.Context, lines int, stay bool) error {
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	if lines < 0 {
		return exit.Usagef("-n takes a number of lines, 0 or more")
	}
	name := daemon.Log(dir)
	f, err := os.Open(name)
	if os.IsNotExist(err) && !stay {
		return exit.Usagef("there is no log yet: no host has run here")
	}
	var at int64
	if err == nil {
		at, err = f.Seek(0, io.SeekEnd)
		_ = f.Close()
	}
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	tail, err := daemon.Tail(name, lines, at)
	if err != nil {
		return err
	}
	if _, err := a.stdout.Write(tail); err != nil || !stay {
		return err
	}
	signals, stop := follow.Interrupts()
	defer stop()
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if at, err = a.logAfter(name, at); err != nil {
				return err
			}
		case <-signals:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// logAfter prints what is in the log after a place. One that is shorter has
// been started again.
func (a *app) logAfter(name string, at int64) (int64, error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return at, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return at, err
	}
	if info.Size() < at {
		at = 0
	}
	n, err := io.Copy(a.stdout, io.NewSectionReader(f, at, info.Size()-at))
	return at + n, err
}
