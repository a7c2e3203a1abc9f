package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// jobFlags are the flags of a prompt that a job has too.
var jobFlags = []string{"model", "thinking", "permission-mode", "allowed-tools", "disallowed-tools", "max-turns", "max-budget-usd", "cwd"}

// maxJobs bounds the jobs that are looked through.
const maxJobs = 1000

func (a *app) jobCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return a.listJobs(cmd.Context(), false, false) }
	cmd := &cobra.Command{Use: "job", Short: "Start sessions from templates, and see how far they are", Args: args(cobra.NoArgs), RunE: list,
		Long: `Starts sessions from templates: Markdown files in ~/.scorel/templates, or in
.scorel/templates of a trusted project. A job works in the background on the host of this
machine, is working, waiting, done or failed, and can be attached to as any session.

    scorel job new fix the parser
    scorel job list
    scorel job reply "fix: the parser" "the one in lang"`}
	cmd.AddCommand(a.jobListCommand(), a.jobNewCommand(), a.jobReplyCommand(), a.jobStatusCommand())
	return cmd
}

// listedJobs is what scorel job list --json prints.
type listedJobs struct {
	Templates []protocol.JobTemplate    `json:"templates"`
	Problems  []string                  `json:"problems,omitempty"`
	Jobs      []protocol.SessionSummary `json:"jobs"`
}

func (a *app) jobListCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "Show the templates, and the jobs that work or wait", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listJobs(cmd.Context(), all, asJSON) }}
	cmd.Flags().BoolVar(&all, "all", false, "also jobs that are done or have failed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) listJobs(ctx context.Context, all, asJSON bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel job"})
	if err != nil {
		return err
	}
	defer l.Close()
	templates, err := client.Call[*protocol.JobTemplateList](ctx, l.Client, "", &protocol.ListJobTemplates{WorkDir: dir})
	if err != nil {
		return err
	}
	jobs, err := l.jobs(ctx)
	if err != nil {
		return err
	}
	out := listedJobs{Templates: templates.Templates, Problems: templates.Problems, Jobs: []protocol.SessionSummary{}}
	for _, s := range jobs {
		if all || display.JobActive(&s) {
			out.Jobs = append(out.Jobs, s)
		}
	}
	if asJSON {
		return a.printJSON(out)
	}
	for _, p := range out.Problems {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(p))
	}
	var rows [][]string
	for i := range out.Templates {
		rows = append(rows, display.JobTemplateRow(&out.Templates[i]))
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.stderr, "There are no job templates; write one to ~/.scorel/templates/NAME.md.")
	} else {
		fmt.Fprintln(a.stdout, "templates:")
	}
	if err := plain.Table(a.stdout, rows); err != nil {
		return err
	}
	if len(out.Jobs) == 0 {
		text := "No job works or waits; --all shows those that are done or have failed."
		if all {
			text = "There are no jobs."
		}
		fmt.Fprintln(a.stderr, text)
		return nil
	}
	fmt.Fprintln(a.stdout, "jobs:")
	rows = nil
	for i := range out.Jobs {
		rows = append(rows, display.JobRow(&out.Jobs[i], time.Now()))
	}
	return plain.Table(a.stdout, rows)
}

// jobs returns the newest jobs of the host.
func (l *link) jobs(ctx context.Context) ([]protocol.SessionSummary, error) {
	var out []protocol.SessionSummary
	r := &protocol.ListSessions{Jobs: true}
	for {
		page, err := client.Call[*protocol.SessionList](ctx, l.Client, "", r)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Sessions...)
		if !page.More || len(out) >= maxJobs {
			return out[:min(len(out), maxJobs)], nil
		}
		last := page.Sessions[len(page.Sessions)-1]
		r.Before, r.BeforeTime = last.SessionID, last.UpdatedAt
	}
}

func (a *app) jobNewCommand() *cobra.Command {
	var o backgroundOptions
	cmd := &cobra.Command{Use: "new [flags] TEMPLATE [argument…]", Short: "Start a job from a template", Args: args(cobra.MinimumNArgs(1)),
		Long: `Starts a session on the host of this machine, sends it the text of the template with the
arguments in the place of $ARGUMENTS, and prints its ID. The host is started when none
runs. What it asks waits for somebody who attaches. The flags count for its first turn; its
model stays.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.newJob(cmd.Context(), &o, words[0], strings.Join(words[1:], " "))
		}}
	all := &cobra.Command{}
	o.register(all)
	f := cmd.Flags()
	f.SortFlags = false
	f.SetInterspersed(false) // what comes after the template is for it
	for _, name := range jobFlags {
		f.AddFlag(all.Flags().Lookup(name))
	}
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) newJob(ctx context.Context, o *backgroundOptions, template, arguments string) error {
	o.background = true
	dir, err := o.prepare()
	if err != nil {
		return err
	}
	if len(arguments) > protocol.MaxJobArgs {
		return exit.Usagef("the arguments have %d bytes, at most %d are taken; put what is long into a file and name it", len(arguments), protocol.MaxJobArgs)
	}
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel job"})
	if err != nil {
		return err
	}
	defer l.Close()
	project, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
	if protocol.AboutOf(err).Reason == protocol.ReasonWide {
		return exit.Usagef("%s would be the workspace, which holds your whole home folder; --cwd names a smaller one, and scorel, started there, asks once whether it may be", dir)
	}
	if err != nil {
		return err
	}
	if project.Wide == protocol.WidthRoot {
		return exit.Usagef("%s would be the workspace, which is the whole file system; --cwd names a smaller one", project.Root)
	}
	for _, n := range append(project.Notices, trustLines(project)...) {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	options := o.turnOptions()
	options.Unattended = false // who attaches can answer
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	s, err := client.Call[*protocol.SessionSummary](ctx, l.Client, id, &protocol.CreateJob{Template: template, Args: arguments, ProjectID: project.ProjectID, WorkDir: dir, Options: options})
	switch {
	case protocol.AboutOf(err).Field == "template": // what is named is not there, as with a job
		return errors.New(strings.TrimSuffix(protocol.AsError(err).Message, "."))
	case err != nil:
		return err
	}
	for _, n := range s.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	if o.json {
		return a.printJSON(s)
	}
	_, err = fmt.Fprintf(a.stdout, "%s  %s\n", s.SessionID, display.Line(s.Title()))
	return err
}

// withJob calls do with the host and the job that somebody names.
func (a *app) withJob(ctx context.Context, name string, do func(l *link, s *protocol.SessionSummary) error) error {
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel job"})
	if err != nil {
		return err
	}
	defer l.Close()
	list, err := l.jobs(ctx)
	if err != nil {
		return err
	}
	s, err := display.FindJob(list, name)
	if err != nil {
		return err
	}
	return do(l, s)
}

func (a *app) jobReplyCommand() *cobra.Command {
	return &cobra.Command{Use: "reply JOB TEXT", Short: "Send a message to a job", Args: args(cobra.MinimumNArgs(2)),
		Long: `Sends a message to a job: at once, or, while its turn runs, after that. JOB is the ID of its
session, its name, or at least six characters with which the ID begins or ends.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			text := strings.Join(words[1:], " ")
			if strings.TrimSpace(text) == "" {
				return exit.Usagef("there is nothing to send; add the text of the message")
			}
			return a.withJob(cmd.Context(), words[0], func(l *link, s *protocol.SessionSummary) error {
				sent, err := client.Call[*protocol.Sent](cmd.Context(), l.Client, s.SessionID, &protocol.FollowUp{Content: []protocol.Block{protocol.Text(text)}})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.stdout, "%s  %s\n", s.SessionID, display.JobReplied(sent))
				return err
			})
		}}
}

func (a *app) jobStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "status JOB", Short: "Show how far a job is", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.withJob(cmd.Context(), words[0], func(_ *link, s *protocol.SessionSummary) error {
				if asJSON {
					return a.printJSON(struct {
						JobState protocol.JobState `json:"jobState"` // with what is asked now
						*protocol.SessionSummary
					}{s.JobState(), s})
				}
				for _, line := range display.JobText(s, time.Now()) {
					fmt.Fprintln(a.stdout, line)
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
