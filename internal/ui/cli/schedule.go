package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/engine/schedule/order"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "Have the host send a prompt at certain times", Args: args(cobra.NoArgs),
		Long: `Has the host of this machine send a prompt at certain times, while nobody watches.

    scorel schedule add "every 1h" "look at the build and say what has broken"
    scorel schedule add "0 9 * * 1-5" --name morning "sum up yesterday's commits"
    scorel schedule list

The host has to run when a schedule is due; scorel host install keeps it running.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listSchedules(cmd.Context(), false) }}
	cmd.AddCommand(a.scheduleAddCommand(), a.scheduleListCommand(), a.scheduleShowCommand(),
		a.scheduleChange("pause", "Make no runs of a schedule until it is resumed", "paused", func(ctx context.Context, l *link, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Schedule](ctx, l.Client, "", &protocol.SetSchedule{ScheduleID: id, Paused: true})
			return err
		}),
		a.scheduleChange("resume", "Let a paused schedule go on from now", "armed", func(ctx context.Context, l *link, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Schedule](ctx, l.Client, "", &protocol.SetSchedule{ScheduleID: id})
			return err
		}),
		a.scheduleChange("delete", "End a schedule; a run that has begun goes on", "deleted", func(ctx context.Context, l *link, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Done](ctx, l.Client, "", &protocol.DeleteSchedule{ScheduleID: id})
			return err
		}),
		a.scheduleRunCommand())
	return cmd
}

func (a *app) scheduleAddCommand() *cobra.Command {
	var o order.Order
	var asJSON bool
	cmd := &cobra.Command{Use: "add WHEN PROMPT", Aliases: []string{"create"}, Short: "Add a schedule", Args: args(cobra.ArbitraryArgs),
		Long: "Adds a schedule: " + order.Usage + `. Without --session
it works in a new session each time, in the folder where it is added. It may do what needs no
question: its mode is dontAsk unless --permission-mode says another, and never
bypassPermissions.`,
		RunE: func(cmd *cobra.Command, words []string) error { return a.addSchedule(cmd.Context(), &o, words, asJSON) }}
	f := cmd.Flags()
	f.SortFlags = false
	o.Register(f)
	f.StringVar(&o.Session, "session", "", "work in this session")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) addSchedule(ctx context.Context, o *order.Order, words []string, asJSON bool) error {
	r, err := o.Request(words)
	if err != nil {
		return exit.AsUsage(err)
	}
	if o.Session != "" && (o.Fresh || o.Kept) {
		return exit.Usagef("--session is where it works; leave out --fresh and --keep")
	}
	if o.Session == "" {
		if r.Target == "" {
			r.Target = string(protocol.TargetFresh)
		}
		if r.WorkDir == "" {
			if r.WorkDir, err = os.Getwd(); err != nil {
				return err
			}
		}
		if r.WorkDir, err = filepath.Abs(r.WorkDir); err != nil {
			return err
		}
	}
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel schedule"})
	if err != nil {
		return err
	}
	defer l.Close()
	var in protocol.SessionID
	if o.Session != "" {
		if in, err = l.find(ctx, o.Session); err != nil {
			return err
		}
	}
	s, err := client.Call[*protocol.Schedule](ctx, l.Client, in, r)
	switch {
	case err != nil:
		return asUsage(err, "when")
	case asJSON:
		return a.printJSON(s)
	}
	return plain.Table(a.stdout, [][]string{display.ScheduleRow(s, time.Now())})
}

// asUsage makes an error about a field that somebody typed one of usage.
func asUsage(err error, field string) error {
	if protocol.AboutOf(err).Field == field {
		return exit.AsUsage(err)
	}
	return err
}

func (a *app) scheduleListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "Show the schedules", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listSchedules(cmd.Context(), asJSON) }}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withSchedules calls do with the host and its schedules.
func (a *app) withSchedules(ctx context.Context, do func(l *link, list []protocol.Schedule) error) error {
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel schedule"})
	if err != nil {
		return err
	}
	defer l.Close()
	list, err := client.Call[*protocol.ScheduleList](ctx, l.Client, "", &protocol.ListSchedules{})
	if err != nil {
		return err
	}
	return do(l, list.Schedules)
}

func (a *app) listSchedules(ctx context.Context, asJSON bool) error {
	return a.withSchedules(ctx, func(l *link, list []protocol.Schedule) error {
		st, err := client.Call[*protocol.AutomationStatus](ctx, l.Client, "", &protocol.GetAutomation{})
		if err != nil {
			return err
		}
		if st.Problem != "" {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(st.Problem))
		}
		for _, n := range st.Notices {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
		}
		if asJSON {
			return a.printJSON(list)
		}
		if len(list) == 0 {
			fmt.Fprintln(a.stderr, `There are no schedules. scorel schedule add "every 1h" "…" makes one.`)
			return nil
		}
		var rows [][]string
		for i := range list {
			rows = append(rows, display.ScheduleRow(&list[i], time.Now()))
		}
		return plain.Table(a.stdout, rows)
	})
}

func (a *app) scheduleShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show SCHEDULE", Short: "Show a schedule, when it is due next, and its runs", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withSchedules(cmd.Context(), func(l *link, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				d, err := client.Call[*protocol.ScheduleDetails](cmd.Context(), l.Client, "", &protocol.GetSchedule{ScheduleID: s.ScheduleID})
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.printJSON(d)
				}
				for _, line := range display.ScheduleText(d, time.Now()) {
					fmt.Fprintln(a.stdout, line)
				}
				if len(d.Runs) > 0 {
					fmt.Fprintln(a.stdout, "runs:")
				}
				return a.printRuns(d.Runs)
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// scheduleChange is a command that changes one schedule.
func (a *app) scheduleChange(name, short, did string, ask func(context.Context, *link, protocol.ScheduleID) error) *cobra.Command {
	return &cobra.Command{Use: name + " SCHEDULE", Short: short, Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withSchedules(cmd.Context(), func(l *link, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				if err := ask(cmd.Context(), l, s.ScheduleID); err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.stdout, "%s  %s: %s.\n", s.ScheduleID, display.ScheduleName(s), did)
				return err
			})
		}}
}

func (a *app) scheduleRunCommand() *cobra.Command {
	return &cobra.Command{Use: "run SCHEDULE", Short: "Make a run now", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withSchedules(cmd.Context(), func(l *link, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				r, err := client.Call[*protocol.ScheduleRun](cmd.Context(), l.Client, "", &protocol.RunSchedule{ScheduleID: s.ScheduleID})
				if err != nil {
					return err
				}
				return a.printRuns([]protocol.ScheduleRun{*r})
			})
		}}
}

func (a *app) printRuns(runs []protocol.ScheduleRun) error {
	var rows [][]string
	for i := range runs {
		rows = append(rows, display.RunRow(&runs[i], time.Now()))
	}
	return plain.Table(a.stdout, rows)
}

// autonomyCommand has what the host does by itself.
func (a *app) autonomyCommand() *cobra.Command {
	var asJSON bool
	status := func(cmd *cobra.Command, _ []string) error { return a.automationStatus(cmd.Context(), asJSON) }
	cmd := &cobra.Command{Use: "autonomy", Short: "Show what the host does by itself, and its limits", Args: args(cobra.NoArgs), RunE: status}
	st := &cobra.Command{Use: "status", Short: "Show what the host does by itself, and its limits", Args: args(cobra.NoArgs), RunE: status}
	for _, c := range []*cobra.Command{cmd, st} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	var runsJSON bool
	var limit int
	runs := &cobra.Command{Use: "runs", Short: "Show the newest runs of schedules", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listRuns(cmd.Context(), limit, runsJSON) }}
	runs.Flags().IntVarP(&limit, "lines", "n", 20, "how many, at most 200")
	runs.Flags().BoolVar(&runsJSON, "json", false, "print JSON")
	run := &cobra.Command{Use: "run", Short: "Change a run", Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	run.AddCommand(&cobra.Command{Use: "cancel RUN", Short: "End a run", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error { return a.cancelRun(cmd.Context(), words[0]) }})
	cmd.AddCommand(st, runs, run)
	return cmd
}

func (a *app) automationStatus(ctx context.Context, asJSON bool) error {
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel autonomy"})
	if err != nil {
		return err
	}
	defer l.Close()
	st, err := client.Call[*protocol.AutomationStatus](ctx, l.Client, "", &protocol.GetAutomation{})
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(st)
	}
	for _, line := range display.AutomationText(st, time.Now()) {
		fmt.Fprintln(a.stdout, line)
	}
	return nil
}

// runsOf returns the newest runs.
func runsOf(ctx context.Context, l *link, limit int) ([]protocol.ScheduleRun, error) {
	list, err := client.Call[*protocol.RunList](ctx, l.Client, "", &protocol.ListRuns{Limit: limit})
	if err != nil {
		return nil, err
	}
	return list.Runs, nil
}

func (a *app) listRuns(ctx context.Context, limit int, asJSON bool) error {
	if limit < 1 || limit > protocol.MaxListedRuns {
		return exit.Usagef("-n is %d; it can be 1 to %d", limit, protocol.MaxListedRuns)
	}
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel autonomy"})
	if err != nil {
		return err
	}
	defer l.Close()
	runs, err := runsOf(ctx, l, limit)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(runs)
	case len(runs) == 0:
		fmt.Fprintln(a.stderr, "There are no runs yet.")
		return nil
	}
	return a.printRuns(runs)
}

func (a *app) cancelRun(ctx context.Context, word string) error {
	l, err := a.reach(ctx, reachOptions{name: "scorel autonomy"})
	if err != nil {
		return err
	}
	defer l.Close()
	runs, err := runsOf(ctx, l, protocol.MaxListedRuns)
	if err != nil {
		return err
	}
	r, err := order.FindRun(runs, word)
	if err != nil {
		return err
	}
	r, err = client.Call[*protocol.ScheduleRun](ctx, l.Client, "", &protocol.CancelRun{RunID: r.RunID})
	if err != nil {
		return err
	}
	return a.printRuns([]protocol.ScheduleRun{*r})
}
