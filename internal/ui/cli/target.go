package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/protocol"
	"scorel/protocol/display"
	"strings"
	"time"
)

// target returns the session to talk to, making one when none is named. With an error that
// came after that it returns the session, too.
func (a *app) target(ctx context.Context, l *link, o promptOptions, dir string) (protocol.SessionID, error) {
	project, err := client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir})
	if err != nil {
		return "", err
	}
	for _, n := range project.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
	}
	for _, line := range trustLines(project) {
		fmt.Fprintln(a.stderr, "scorel: "+line)
	}
	if project.Wide == protocol.WidthRoot && o.workspace == "" && (o.session == "" || o.cwd != "") {
		confirm := "--workspace " + project.Root + " confirms that (in a container), "
		if o.background {
			confirm = ""
		}
		return "", exit.Usagef("%s would be the workspace, which is the whole file system; %s--cwd names a smaller one", project.Root, confirm)
	}
	var id protocol.SessionID
	switch {
	case o.session != "":
		id, err = l.find(ctx, o.session)
	case o.cont:
		id, err = a.newest(ctx, l, project)
	default:
		return l.create(ctx, project.ProjectID, protocol.Meta{WorkDir: dir, Model: o.model, ThinkingLevel: o.thinking})
	}
	if err != nil {
		return "", err
	}
	if o.fork {
		s, err := a.copyOf(ctx, l, id, o.at, "")
		if err != nil {
			return "", err
		}
		id = s.SessionID
	}
	return id, l.change(ctx, id, o, dir)
}

// newest returns the newest session of a project.
func (a *app) newest(ctx context.Context, l *link, p *protocol.Project) (protocol.SessionID, error) {
	list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{ProjectID: p.ProjectID, Limit: display.NewestLook})
	if err != nil {
		return "", err
	}
	newest, damaged := display.Newest(list.Sessions)
	switch {
	case damaged != nil: // a model would act on a prompt that is meant for another conversation
		also := ", also that one with --cwd DIR, and scorel sessions delete removes it"
		if strings.HasPrefix(damaged.Damaged, protocol.UnreadLog) { // it can be neither used nor deleted
			also = ""
		}
		return "", fmt.Errorf("--continue does not know which session is the newest of this project: %s; --session ID continues one%s", display.DamagedSession(damaged), also)
	case newest == nil:
		return "", a.noneToContinue(ctx, l, p)
	}
	return newest.SessionID, nil
}

// copyOf copies a session up to an event, all of it for "", and says what the copy lacks.
func (a *app) copyOf(ctx context.Context, l *link, from protocol.SessionID, at, name string) (*protocol.SessionSummary, error) {
	id := protocol.NewSessionID(time.Now(), rand.Reader)
	s, err := settled[*protocol.SessionSummary](ctx, l, id, &protocol.CloneSession{FromSessionID: from, FromEventID: protocol.EventID(at), Name: name}, a.waits)
	if err = l.takeBack(ctx, err, id); err != nil {
		return nil, err
	}
	for _, n := range s.Notices {
		fmt.Fprintln(a.stderr, "scorel: "+n)
	}
	return s, nil
}

// settled makes a request and returns its reply, also when ctx ends meanwhile: the host goes on
// with what it has begun, and what has come of it is to be known. stop is called then.
func settled[T protocol.Response](ctx context.Context, l *link, id protocol.SessionID, r protocol.Request, stop func(context.Context)) (T, error) {
	whole, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	defer context.AfterFunc(ctx, func() { stop(whole) })() // it ends with the reply
	return client.Call[T](whole, l.Client, id, r)
}

// waits says that an interrupted command waits for its reply.
func (a *app) waits(context.Context) {
	a.notify("interrupted; what the host is making is removed as soon as it is there")
}

// takeBackTimeout is how long a host has to delete what an interrupted command has made.
const takeBackTimeout = 10 * time.Second

// takeBack deletes the session that a command was to make when it was interrupted: the host
// may have been done already. It says what is there then.
func (l *link) takeBack(ctx context.Context, err error, id protocol.SessionID) error {
	if ctx.Err() == nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), takeBackTimeout)
	defer stop()
	_, err = client.Call[*protocol.Deleted](ctx, l.Client, id, &protocol.DeleteSession{})
	var pe *protocol.Error
	if err == nil || errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound {
		return exit.Interruptedf("no session was made")
	}
	return exit.Interruptedf("the session %s may be there; scorel sessions delete --yes %s removes it", id, id)
}

// change sets in a session what the flags say.
func (l *link) change(ctx context.Context, id protocol.SessionID, o promptOptions, dir string) error {
	var changes protocol.MetaChanges
	if o.model != "" {
		changes.Model = &o.model
	}
	if o.thinking != "" {
		changes.ThinkingLevel = &o.thinking
	}
	if o.cwd != "" {
		changes.WorkDir = &dir
	}
	if changes == (protocol.MetaChanges{}) {
		return nil
	}
	_, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.UpdateInfo{Changes: changes})
	return err
}

// noneToContinue says that a project has no session, and where the next one is.
func (a *app) noneToContinue(ctx context.Context, l *link, p *protocol.Project) error {
	all, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{})
	if err == nil {
		if below := display.Below(all.Sessions, p.WorkDir); below != "" {
			return exit.Usagef("this project has no session to continue, and the newest below it is of %s: --cwd names that folder; leave --continue out to start one", below)
		}
	}
	return exit.Usagef("this project has no session to continue; leave --continue out to start one")
}

// notifyLost says what the log of a session has lost, which may be why something failed; no
// id is no session.
func (a *app) notifyLost(ctx context.Context, l *link, id protocol.SessionID) {
	if id == "" {
		return
	}
	if page, err := client.Call[*protocol.Events](ctx, l.Client, id, &protocol.GetPath{Limit: 1}); err == nil { // else the failure is all there is to say
		a.notifyFindings(page.Findings)
	}
}

// find returns the session that a person names: by its id, by its name, or by what the id
// begins or ends with. It fails when several are meant.
func (l *link) find(ctx context.Context, name string) (protocol.SessionID, error) {
	return findSession(ctx, l.Client, name)
}

// findSession is [link.find] with a client.
func findSession(ctx context.Context, c *client.Client, name string) (protocol.SessionID, error) {
	if id := protocol.SessionID(name); id.Check() == nil {
		return id, nil
	}
	list, err := client.Call[*protocol.SessionList](ctx, c, "", &protocol.ListSessions{Subagents: true})
	if err != nil {
		return "", err
	}
	found, err := display.FindSession(list.Sessions, name)
	switch {
	case err != nil:
		return "", exit.AsUsage(err)
	case found == nil:
		return "", exit.Usagef("there is no session %q; scorel sessions list shows them", name)
	}
	return found.SessionID, nil
}

// workDir returns the absolute path of the folder that a flag, or an argument for "", names; for
// no name that in which the program was started.
func workDir(flag, name string) (string, error) {
	if name == "" {
		dir, err := os.Getwd()
		if err != nil {
			err = exit.Usagef("the working directory is gone; change to another folder: %w", err)
		}
		return dir, err
	}
	dir, err := filepath.Abs(name)
	if info, missing := os.Stat(dir); err != nil || missing != nil || !info.IsDir() {
		return "", exit.Usagef("%s is not a folder", display.Line(strings.TrimSpace(flag+" "+name)))
	}
	return dir, nil
}
