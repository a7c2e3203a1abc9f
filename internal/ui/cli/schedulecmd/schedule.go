package schedulecmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/engine/schedule/order"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Config is what the commands need of the program.
type Config struct {
	Stdout, Stderr io.Writer
	// Notify says a sentence on stderr, once.
	Notify func(text string)
	// Args checks the words of a command.
	Args func(cobra.PositionalArgs) cobra.PositionalArgs
	// Reach connects to the host, and with start starts one when none runs; name is what the
	// client is called. done ends the connection.
	Reach func(ctx context.Context, start bool, name string) (c *client.Client, done func(), err error)
	// Find returns the session that a word means.
	Find func(ctx context.Context, c *client.Client, word string) (protocol.SessionID, error)
}

// commands are those of one program.
type commands struct{ Config }

// New returns the commands about schedules and about what a host does by itself.
func New(cfg Config) []*cobra.Command {
	c := &commands{cfg}
	return []*cobra.Command{c.schedule(), c.autonomy()}
}

func (c *commands) schedule() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "Have the host send a prompt at certain times", Args: c.Args(cobra.NoArgs),
		Long: `Has the host of this machine send a prompt at certain times, while nobody watches.

    scorel schedule add "every 1h" "look at the build and say what has broken"
    scorel schedule add "0 9 * * 1-5" --name morning "sum up yesterday's commits"
    scorel schedule list

The host has to run when a schedule is due; scorel host install keeps it running.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listSchedules(cmd.Context(), false) }}
	cmd.AddCommand(c.scheduleAddCommand(), c.scheduleListCommand(), c.scheduleShowCommand(),
		c.scheduleChange("pause", "Make no runs of a schedule until it is resumed", "paused", func(ctx context.Context, l *client.Client, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Schedule](ctx, l, "", &protocol.SetSchedule{ScheduleID: id, Paused: true})
			return err
		}),
		c.scheduleChange("resume", "Resume a paused schedule from now", "armed", func(ctx context.Context, l *client.Client, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Schedule](ctx, l, "", &protocol.SetSchedule{ScheduleID: id})
			return err
		}),
		c.scheduleChange("delete", "End a schedule; a run that has begun continues", "deleted", func(ctx context.Context, l *client.Client, id protocol.ScheduleID) error {
			_, err := client.Call[*protocol.Done](ctx, l, "", &protocol.DeleteSchedule{ScheduleID: id})
			return err
		}),
		c.scheduleRunCommand())
	return cmd
}

func (c *commands) scheduleAddCommand() *cobra.Command {
	var o order.Order
	var asJSON bool
	cmd := &cobra.Command{Use: "add WHEN PROMPT", Aliases: []string{"create"}, Short: "Add a schedule", Args: c.Args(cobra.ArbitraryArgs),
		Long: "Adds a schedule: " + order.Usage + `. Without --session
it works in a new session each time, in the folder where it is added. It may do what needs no
question: its mode is dontAsk unless --permission-mode says another, and never
bypassPermissions.`,
		RunE: func(cmd *cobra.Command, words []string) error { return c.addSchedule(cmd.Context(), &o, words, asJSON) }}
	f := cmd.Flags()
	f.SortFlags = false
	o.Register(f)
	f.StringVar(&o.Session, "session", "", "work in this session")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *commands) addSchedule(ctx context.Context, o *order.Order, words []string, asJSON bool) error {
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
	l, done, err := c.Reach(ctx, true, "scorel schedule")
	if err != nil {
		return err
	}
	defer done()
	var in protocol.SessionID
	if o.Session != "" {
		if in, err = c.Find(ctx, l, o.Session); err != nil {
			return err
		}
	}
	s, err := client.Call[*protocol.Schedule](ctx, l, in, r)
	switch {
	case err != nil:
		if strings.HasPrefix(protocol.AboutOf(err).Field, "options.") {
			return exit.AsUsage(err)
		}
		return asUsage(err, "when")
	case asJSON:
		return plain.JSON(c.Stdout, s)
	}
	return plain.Table(c.Stdout, [][]string{display.ScheduleRow(s, time.Now())})
}

// asUsage makes an error about a field that somebody typed one of usage.
func asUsage(err error, field string) error {
	if protocol.AboutOf(err).Field == field {
		return exit.AsUsage(err)
	}
	return err
}

func (c *commands) scheduleListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "Show the schedules", Args: c.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listSchedules(cmd.Context(), asJSON) }}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withSchedules calls do with the host and its schedules.
func (c *commands) withSchedules(ctx context.Context, do func(l *client.Client, list []protocol.Schedule) error) error {
	l, done, err := c.Reach(ctx, true, "scorel schedule")
	if err != nil {
		return err
	}
	defer done()
	list, err := client.Call[*protocol.ScheduleList](ctx, l, "", &protocol.ListSchedules{})
	if err != nil {
		return err
	}
	return do(l, list.Schedules)
}

func (c *commands) listSchedules(ctx context.Context, asJSON bool) error {
	return c.withSchedules(ctx, func(l *client.Client, list []protocol.Schedule) error {
		st, err := client.Call[*protocol.AutomationStatus](ctx, l, "", &protocol.GetAutomation{})
		if err != nil {
			return err
		}
		if st.Problem != "" {
			fmt.Fprintln(c.Stderr, "scorel: "+display.Line(st.Problem))
		}
		for _, n := range st.Notices {
			c.Notify(n)
		}
		if asJSON {
			return plain.JSON(c.Stdout, list)
		}
		if len(list) == 0 {
			fmt.Fprintln(c.Stderr, `There are no schedules. scorel schedule add "every 1h" "…" makes one.`)
			return nil
		}
		var rows [][]string
		for i := range list {
			rows = append(rows, display.ScheduleRow(&list[i], time.Now()))
		}
		return plain.Table(c.Stdout, rows)
	})
}

func (c *commands) scheduleShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show SCHEDULE", Short: "Show a schedule, when it is due next, and its runs", Args: c.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return c.withSchedules(cmd.Context(), func(l *client.Client, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				d, err := client.Call[*protocol.ScheduleDetails](cmd.Context(), l, "", &protocol.GetSchedule{ScheduleID: s.ScheduleID})
				switch {
				case err != nil:
					return err
				case asJSON:
					return plain.JSON(c.Stdout, d)
				}
				for _, line := range display.ScheduleText(d, time.Now()) {
					fmt.Fprintln(c.Stdout, line)
				}
				if len(d.Runs) > 0 {
					fmt.Fprintln(c.Stdout, "runs:")
				}
				return c.printRuns(d.Runs)
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// scheduleChange is a command that changes one schedule.
func (c *commands) scheduleChange(name, short, did string, ask func(context.Context, *client.Client, protocol.ScheduleID) error) *cobra.Command {
	return &cobra.Command{Use: name + " SCHEDULE", Short: short, Args: c.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return c.withSchedules(cmd.Context(), func(l *client.Client, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				if err := ask(cmd.Context(), l, s.ScheduleID); err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.Stdout, "%s  %s: %s.\n", s.ScheduleID, display.ScheduleName(s), did)
				return err
			})
		}}
}

func (c *commands) scheduleRunCommand() *cobra.Command {
	return &cobra.Command{Use: "run SCHEDULE", Short: "Make a run now", Args: c.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return c.withSchedules(cmd.Context(), func(l *client.Client, list []protocol.Schedule) error {
				s, err := order.Find(list, words[0])
				if err != nil {
					return err
				}
				r, err := client.Call[*protocol.ScheduleRun](cmd.Context(), l, "", &protocol.RunSchedule{ScheduleID: s.ScheduleID})
				if err != nil {
					return err
				}
				return c.printRuns([]protocol.ScheduleRun{*r})
			})
		}}
}

func (c *commands) printRuns(runs []protocol.ScheduleRun) error {
	var rows [][]string
	for i := range runs {
		rows = append(rows, display.RunRow(&runs[i], time.Now()))
	}
	return plain.Table(c.Stdout, rows)
}

// autonomyCommand has what the host does by itself.
func (c *commands) autonomy() *cobra.Command {
	var asJSON bool
	status := func(cmd *cobra.Command, _ []string) error { return c.automationStatus(cmd.Context(), asJSON) }
	cmd := &cobra.Command{Use: "autonomy", Short: "Show what the host does by itself, and its limits", Args: c.Args(cobra.NoArgs), RunE: status}
	st := &cobra.Command{Use: "status", Short: "Show what the host does by itself, and its limits", Args: c.Args(cobra.NoArgs), RunE: status}
	for _, each := range []*cobra.Command{cmd, st} {
		each.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	var runsJSON bool
	var limit int
	runs := &cobra.Command{Use: "runs", Short: "Show the newest runs of schedules", Args: c.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listRuns(cmd.Context(), limit, runsJSON) }}
	runs.Flags().IntVarP(&limit, "lines", "n", 20, "how many, at most 200")
	runs.Flags().BoolVar(&runsJSON, "json", false, "print JSON")
	run := &cobra.Command{Use: "run", Short: "Change a run", Args: c.Args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	run.AddCommand(&cobra.Command{Use: "cancel RUN", Short: "End a run", Args: c.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error { return c.cancelRun(cmd.Context(), words[0]) }})
	cmd.AddCommand(st, runs, run)
	return cmd
}

func (c *commands) automationStatus(ctx context.Context, asJSON bool) error {
	l, done, err := c.Reach(ctx, true, "scorel autonomy")
	if err != nil {
		return err
	}
	defer done()
	st, err := client.Call[*protocol.AutomationStatus](ctx, l, "", &protocol.GetAutomation{})
	switch {
	case err != nil:
		return err
	case asJSON:
		return plain.JSON(c.Stdout, st)
	}
	for _, line := range display.AutomationText(st, time.Now()) {
		fmt.Fprintln(c.Stdout, line)
	}
	return nil
}

// runsOf returns the newest runs.
func runsOf(ctx context.Context, l *client.Client, limit int) ([]protocol.ScheduleRun, error) {
	list, err := client.Call[*protocol.RunList](ctx, l, "", &protocol.ListRuns{Limit: limit})
	if err != nil {
		return nil, err
	}
	return list.Runs, nil
}

func (c *commands) listRuns(ctx context.Context, limit int, asJSON bool) error {
	if limit < 1 || limit > protocol.MaxListedRuns {
		return exit.Usagef("-n is %d; it can be 1 to %d", limit, protocol.MaxListedRuns)
	}
	l, done, err := c.Reach(ctx, true, "scorel autonomy")
	if err != nil {
		return err
	}
	defer done()
	runs, err := runsOf(ctx, l, limit)
	switch {
	case err != nil:
		return err
	case asJSON:
		return plain.JSON(c.Stdout, runs)
	case len(runs) == 0:
		fmt.Fprintln(c.Stderr, "There are no runs yet.")
		return nil
	}
	return c.printRuns(runs)
}

func (c *commands) cancelRun(ctx context.Context, word string) error {
	l, done, err := c.Reach(ctx, false, "scorel autonomy")
	if err != nil {
		return err
	}
	defer done()
	runs, err := runsOf(ctx, l, protocol.MaxListedRuns)
	if err != nil {
		return err
	}
	r, err := order.FindRun(runs, word)
	if err != nil {
		return err
	}
	r, err = client.Call[*protocol.ScheduleRun](ctx, l, "", &protocol.CancelRun{RunID: r.RunID})
	if err != nil {
		return err
	}
	return c.printRuns([]protocol.ScheduleRun{*r})
}
