package automation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"scorel/internal/engine/heartbeat"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// maxProjectNotices is how many sentences about one project's heartbeats are kept, and
// maxNotices how many of all projects a list has; the others are counted.
const (
	maxProjectNotices = 3
	maxNotices        = 30
)

// untrusted is why a heartbeat is paused whose files are not those that were trusted.
const untrusted = "its files are not trusted as they are now; look at them with scorel trust"

// beats are the heartbeats of a project as its files are now. Nothing of files that are not
// trusted is in it.
type beats struct {
	none     bool // there is no file
	fault    string
	tasks    []heartbeat.Task
	standing string
	sum      string // names the two files
	notices  []string
}

// readBeats reads the heartbeats of the project at root.
func (a *Automation) readBeats(root string) (b beats) {
	name := filepath.Join(root, heartbeat.File)
	tasks, standing, trusted, warning, err := a.cfg.Settings.Trust.ReadHeartbeat(root)
	registered := true
	if tasks != nil {
		registered, err = a.registered(root)
	}
	switch {
	case err != nil:
		b.fault = failure.Sentence(err)
		b.notices = []string{fmt.Sprintf("The heartbeats of %s do not run: %s.", root, b.fault)}
		return b
	case tasks == nil, !registered:
		b.none = true
		return b
	case !trusted:
		b.fault = untrusted
		b.notices = []string{fmt.Sprintf("%s is not trusted as it is now, so its heartbeats do not run; look at it with scorel trust.", name)}
		if warning != "" {
			b.notices = append(b.notices, warning)
		}
		return b
	}
	list := heartbeat.Parse(tasks)
	b.tasks, b.standing = list.Tasks, string(standing)
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s%s", len(tasks), tasks, standing)
	b.sum = hex.EncodeToString(sum.Sum(nil))
	for i, p := range list.Problems {
		if i == maxProjectNotices {
			b.notices = append(b.notices, fmt.Sprintf("%s: and %d more; scorel trust shows them.", name, len(list.Problems)-i))
			break
		}
		b.notices = append(b.notices, name+": "+p)
	}
	return b
}

// registered reports whether the project at root is. Another process may have removed it.
func (a *Automation) registered(root string) (bool, error) {
	f, err := a.cfg.Settings.Projects()
	return slices.ContainsFunc(f.Projects, func(p settings.ProjectRecord) bool { return p.Root == root }), err
}

// task returns the task of a name, nil for none.
func (b *beats) task(name string) *heartbeat.Task {
	if i := slices.IndexFunc(b.tasks, func(t heartbeat.Task) bool { return t.Name == name }); i >= 0 {
		return &b.tasks[i]
	}
	return nil
}

// AlignHeartbeats brings the heartbeats of the project at root in line with its files: trusted
// tasks are armed, those that are gone are deleted, and while the files are not trusted all of
// them are paused. One that a person has paused stays so.
func (a *Automation) AlignHeartbeats(ctx context.Context, root string) {
	if a.usable() == nil {
		a.align(ctx, root)
	}
}

// ForgetHeartbeats deletes the heartbeats of a project that is no longer registered.
func (a *Automation) ForgetHeartbeats(root string) {
	if a.usable() != nil {
		return
	}
	a.files.Lock()
	defer a.files.Unlock()
	a.apply(root, &beats{none: true}, nil)
}

// alignAll aligns the heartbeats of all registered projects, and deletes those of others.
func (a *Automation) alignAll(ctx context.Context) {
	f, err := a.cfg.Settings.Projects()
	if err != nil {
		a.report("align the heartbeats of projects", err)
		return
	}
	roots := map[string]bool{}
	for _, p := range f.Projects {
		if ctx.Err() != nil {
			return
		}
		roots[p.Root] = true
		a.align(ctx, p.Root)
	}
	for _, x := range a.store.State().Schedules {
		if x.Source == protocol.ScheduleHeartbeat && !roots[x.Root] {
			a.ForgetHeartbeats(x.Root)
		}
	}
}

// lookAtHeld is how often the files of a project are read again whose heartbeats are held, so
// that they go on when the files are again as they were trusted.
const lookAtHeld = 30 * time.Second

// alignHeld aligns the projects whose heartbeats are held, when it is time for that, and returns
// when it is the next time: zero when none is held. It belongs to the loop.
func (a *Automation) alignHeld(ctx context.Context, now time.Time) (next time.Time) {
	held := map[string]bool{}
	for _, x := range a.store.State().Schedules {
		if x.Held {
			held[x.Root] = true
		}
	}
	switch {
	case len(held) == 0:
		return time.Time{}
	case now.Before(a.heldNext) && a.heldNext.Sub(now) <= lookAtHeld: // a clock that was set back is no reason to wait
		return a.heldNext
	}
	for root := range held {
		if ctx.Err() == nil {
			a.align(ctx, root)
		}
	}
	a.heldNext = now.Add(lookAtHeld)
	return a.heldNext
}

// align reads the files of a project and applies them, and returns what they are.
func (a *Automation) align(ctx context.Context, root string) *beats {
	a.files.Lock()
	defer a.files.Unlock()
	b := a.readBeats(root)
	a.apply(root, &b, func(x *store.Schedule) error { return a.checkLimits(ctx, protocol.Meta{WorkDir: root}, x) })
	return &b
}

// apply brings the schedules of a project in line with its heartbeats. Priced refuses one whose
// cost would have a limit that nobody can count. files is held.
func (a *Automation) apply(root string, b *beats, priced func(*store.Schedule) error) {
	var changes []func(*store.State) error
	var paused []*store.Schedule
	change := func(id protocol.ScheduleID, do func(*store.Schedule)) {
		changes = append(changes, func(st *store.State) error {
			if x := st.Change(id); x != nil {
				do(x)
			}
			return nil
		})
	}
	had := map[string]bool{}
	for _, x := range a.store.State().Schedules {
		if x.Source != protocol.ScheduleHeartbeat || x.Root != root {
			continue
		}
		had[x.Task] = true
		t := b.task(x.Task)
		switch held := x.Held; {
		case b.none || b.fault == "" && t == nil:
			changes = append(changes, func(st *store.State) error { st.Remove(x.ScheduleID, a.cfg.Now().UnixMilli()); return nil })
		case b.fault != "" && (x.State == protocol.ScheduleArmed || x.PausedUntil > 0 || held && x.Why != b.fault):
			change(x.ScheduleID, func(x *store.Schedule) { x.Hold(b.fault) })
			paused = append(paused, x)
		case b.fault == "" && (x.Sum != b.sum || held):
			why := ""
			if held {
				why = problemOf(priced(x))
			}
			if x.Sum != b.sum || x.Why != why {
				change(x.ScheduleID, func(x *store.Schedule) { a.renew(x, t, b.sum, why) })
			}
		}
	}
	for _, t := range b.tasks {
		if had[t.Name] {
			continue
		}
		x := a.heartbeat(root, &t, b.sum)
		if why := problemOf(priced(x)); why != "" {
			x.Hold(why)
		}
		changes = append(changes, func(st *store.State) error { return st.Add(x) })
	}
	if len(changes) > 0 {
		err := a.update(func(st *store.State) error {
			for _, change := range changes {
				if err := change(st); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			a.report("align the heartbeats of "+root, err)
			b.notices = append(b.notices, fmt.Sprintf("The heartbeats of %s cannot be stored: %s", root, protocol.AsError(err).Message))
			paused = nil
		}
	}
	a.mu.Lock()
	if a.notices[root] = b.notices; len(b.notices) == 0 {
		delete(a.notices, root)
	}
	a.mu.Unlock()
	for _, x := range paused {
		a.tell(x.SessionID, fmt.Sprintf("The heartbeat %s is paused: %s.", x.Name, b.fault))
	}
	if len(changes) > 0 {
		a.poke()
	}
}

// problemOf returns an error as the reason of a pause, "" for none.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return protocol.AsError(err).Message
}

// heartbeat makes the schedule of a task.
func (a *Automation) heartbeat(root string, t *heartbeat.Task, sum string) *store.Schedule {
	now := a.cfg.Clock.Now().UnixMilli()
	return &store.Schedule{Schedule: protocol.Schedule{ScheduleID: protocol.HeartbeatIDOf(root, t.Name), Name: t.Name, When: whenOf(t), Prompt: t.Prompt,
		Target: protocol.TargetKept, WorkDir: root, Options: &protocol.TurnOptions{Mode: "dontAsk"}, OnQuestion: "deny", Source: protocol.ScheduleHeartbeat,
		CreatedAt: now, State: protocol.ScheduleArmed}, Anchor: now, Settled: now, Root: root, Task: t.Name, Sum: sum}
}

func whenOf(t *heartbeat.Task) protocol.When {
	return protocol.When{EverySeconds: int(t.Every / time.Second)}
}

// renew has a schedule be as its task is now. A new interval counts from now; one that was held
// goes on, unless why says why not.
func (a *Automation) renew(x *store.Schedule, t *heartbeat.Task, sum, why string) {
	x.Prompt, x.Sum = t.Prompt, sum
	if when := whenOf(t); when != x.When {
		now := a.cfg.Clock.Now().UnixMilli()
		x.When, x.Anchor, x.Settled = when, now, max(x.Settled, now)
	}
	switch {
	case x.Held && why == "":
		a.rearm(x)
	case x.Held:
		x.Why = why
	}
}

// ready aligns the project of a heartbeat and returns what a run of it sends, or why there is
// none. x is as it is after that, nil when its task is gone.
func (a *Automation) ready(ctx context.Context, was *store.Schedule) (x *store.Schedule, prompt, why string) {
	b := a.align(ctx, was.Root)
	x = a.store.State().Schedule(was.ScheduleID)
	t := b.task(was.Task)
	switch {
	case b.fault != "":
		return x, "", b.fault
	case x == nil || t == nil:
		return nil, "", "its task is no longer in " + heartbeat.File
	case x.Held:
		return x, "", x.Why
	}
	return x, heartbeat.Prompt(*t, b.standing), ""
}

// unchanged aligns the project of a heartbeat, and reports whether that has changed nothing and
// it may run. Otherwise the loop looks at it again. It is true for all other schedules.
func (a *Automation) unchanged(ctx context.Context, was *store.Schedule) bool {
	if was.Source != protocol.ScheduleHeartbeat {
		return true
	}
	x, _, why := a.ready(ctx, was)
	return why == "" && x.State == protocol.ScheduleArmed && x.Sum == was.Sum
}

// refuse returns why a heartbeat cannot be resumed or run now, nil when it can, and for all
// other schedules.
func (a *Automation) refuse(ctx context.Context, id protocol.ScheduleID) error {
	x := a.store.State().Schedule(id)
	if x == nil || x.Source != protocol.ScheduleHeartbeat {
		return nil
	}
	if _, _, why := a.ready(ctx, x); why != "" {
		return protocol.About("scheduleId", "", protocol.CodeInvalidRequest, "The heartbeat %.80q of %s cannot run: %s.", x.Name, x.Root, why)
	}
	return nil
}

// errOfFile is why a person cannot delete a heartbeat.
func errOfFile(x *store.Schedule) error {
	return protocol.About("scheduleId", "", protocol.CodeInvalidRequest, "%s is the heartbeat %.80q of %s; take it out of %s, or pause it.", x.ScheduleID, x.Name, x.Root, heartbeat.File)
}

// Notices are sentences about what does not count of the heartbeats of registered projects.
func (a *Automation) Notices() (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, root := range slices.Sorted(maps.Keys(a.notices)) {
		out = append(out, a.notices[root]...)
	}
	if over := len(out) - maxNotices; over > 0 {
		out = append(out[:maxNotices], fmt.Sprintf("There are %d more notices about heartbeats; scorel trust in a project shows its own.", over))
	}
	return out
}
