package lane

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/runtime"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

const (
	// defaultTick is how long after the end of a turn proactive mode begins the next, unless
	// somebody says otherwise.
	defaultTick = 30 * time.Second
	// maxTicks is how many turns in a row proactive mode begins before a person says something.
	maxTicks = 50
	// limitedTick is how soon a tick that limits have kept back is tried again, at the earliest.
	limitedTick = time.Minute
)

// tickText is what opens a turn that proactive mode begins.
const tickText = "Proactive mode is on, and nobody has typed this. Look at what there is to do in this session, and do it. " +
	"When there is nothing to do, call Sleep; after it, end your turn."

// Limits are those of what the host does by itself.
type Limits interface {
	// Allowed returns why no turn may begin by itself now, "" when one may. It may be called
	// by any number of goroutines at once.
	Allowed() (why string)
	// Bound holds the options of such a turn to the limits of a run, and returns the budget
	// that is above its own, nil for none.
	Bound(o *protocol.TurnOptions) *runtime.Budget
}

// Proactive is how proactive mode is switched on.
type Proactive struct {
	Every   time.Duration // from the end of a turn to the next; 0: 30 seconds
	Files   bool          // a turn also begins when a file has changed that the session has read
	Options *protocol.TurnOptions
}

// proactive is the proactive mode of a session. The journal's lock guards it, except keeps.
type proactive struct {
	keeps     atomic.Bool // the session open: on, and not paused until a person says something
	on        bool
	set       Proactive
	ceiling   permission.Mode // that of who switched it on
	gen       int             // of what is to come: what was armed before it does nothing
	timer     *time.Timer     // nil when no tick is to come
	at        time.Time       // when it comes
	preparing bool            // a tick has come, and its turn has not begun
	inARow    int             // turns since a person has said something
	why       string          // why no turn begins though the mode is on
	watch     watch
	sleep     *sleeping
}

// tick is a message of proactive mode on its way.
type tick struct {
	gen     int
	ceiling permission.Mode
}

// said notes that a person has said something.
func (p *proactive) said() {
	p.inARow = 0
	if p.on && !p.keeps.Load() {
		p.why = ""
		p.keeps.Store(true)
	}
}

// disarm has nothing come that was to come.
func (p *proactive) disarm() {
	p.gen++
	p.at = time.Time{}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.watch.disarm()
}

// state is what clients are told of it.
func (p *proactive) state() *protocol.Automation {
	if !p.on {
		return nil
	}
	a := &protocol.Automation{State: protocol.AutomationStandby, EverySeconds: int(p.set.Every / time.Second), Files: p.set.Files, Why: p.why}
	if !p.at.IsZero() {
		a.NextTickAt = p.at.UnixMilli()
	}
	if p.sleep != nil {
		a.State, a.Until = protocol.AutomationSleeping, p.sleep.until.UnixMilli()
	}
	return a
}

// tickMode is the permission mode of a turn that proactive mode begins, by what people have
// chosen for the session, "" for nothing: dontAsk without a choice, never one that asks nobody
// and allows all, and none under which more happens than under that of who switched it on.
func tickMode(chosen, ceiling permission.Mode) permission.Mode {
	if chosen == "" || chosen == permission.Bypass {
		chosen = permission.DontAsk
	}
	return permission.Tighter(chosen, ceiling)
}

// SetProactive switches proactive mode on, or off with nil. It holds until it is switched off, a
// turn does not complete, or the lane closes.
func (l *Lane) SetProactive(ctx context.Context, s *Proactive) error {
	if s == nil {
		l.j.Lock()
		was := l.course.proactive.on
		l.switchOff("")
		l.j.Unlock()
		if was {
			l.cfg.Owner.Idle()
		}
		return nil
	}
	set := *s
	if set.Every == 0 {
		set.Every = defaultTick
	}
	if least, most := protocol.MinProactiveSeconds*time.Second, protocol.MaxProactiveSeconds*time.Second; set.Every < least || set.Every > most {
		return protocol.About("everySeconds", "", protocol.CodeInvalidRequest, "Proactive mode begins a turn %v to %v after the one before; %v is none of these.", least, most, set.Every)
	}
	ceiling, err := l.modeOf(ctx, set.Options)
	if err != nil {
		return err
	}
	why := l.limited()
	l.j.Lock()
	defer l.j.Unlock()
	if err := l.mayBegin(); err != nil {
		return err
	}
	if l.j.Closed() {
		return errStopping()
	}
	p := &l.course.proactive
	p.on, p.set, p.ceiling, p.why = true, set, ceiling, ""
	p.said()
	p.keeps.Store(true)
	l.keptBack(why)
	p.watch.was = nil // as they are now
	l.armTick()
	return nil
}

// modeOf is the permission mode that a turn with such options would have now.
func (l *Lane) modeOf(ctx context.Context, options *protocol.TurnOptions) (permission.Mode, error) {
	config, err := l.cfg.Turns.TurnConfig(ctx, l.Meta(), options)
	if err != nil {
		return "", err
	}
	defer config.Close()
	if mode := l.Mode(); mode != "" && (options == nil || options.Mode == "") {
		return mode, nil
	}
	return config.Policy.Mode(), nil
}

// limited returns why limits let no turn begin by itself now. The journal is not locked.
func (l *Lane) limited() string {
	if l.cfg.Limits == nil {
		return ""
	}
	return l.cfg.Limits.Allowed()
}

// keptBack notes why limits let no turn begin, "" when they do; people are told once. The journal
// is locked.
func (l *Lane) keptBack(why string) {
	p := &l.course.proactive
	if why != "" && p.why == "" {
		l.notices.Put("", "warning", "Proactive mode begins no turn for now: "+why+".")
	}
	p.why = why
}

// switchOff switches proactive mode off, and tells people why where that is not what they did. The
// journal is locked.
func (l *Lane) switchOff(why string) {
	p := &l.course.proactive
	if !p.on {
		return
	}
	p.disarm()
	p.on, p.why, p.inARow = false, "", 0
	p.keeps.Store(false)
	if why != "" {
		l.notices.Put("", "warning", "Proactive mode is off, because "+why+"; /proactive on switches it on again.")
	}
	l.stir()
	l.notifyProactive()
}

// notifyProactive tells clients how proactive mode stands. The journal is locked.
func (l *Lane) notifyProactive() {
	if err := l.j.Notify(&protocol.AutomationUpdate{Automation: l.course.proactive.state()}); err != nil {
		l.j.Report("report the state of proactive mode: " + err.Error())
	}
}

// armTick has the next tick come, where the mode is on and nothing runs. The journal is locked.
func (l *Lane) armTick() {
	p := &l.course.proactive
	if !p.on || l.course.stopping || l.j.Closed() {
		return
	}
	if l.course.turn != nil || p.preparing { // the end of that arms it
		l.notifyProactive()
		return
	}
	p.disarm()
	if p.inARow >= maxTicks {
		if p.keeps.Swap(false) {
			p.why = fmt.Sprintf("%d turns in a row have begun by themselves", maxTicks)
			l.notices.Put("", "warning", "Proactive mode is paused until your next message, because "+p.why+".")
		}
		l.notifyProactive()
		return
	}
	gen, wait := p.gen, p.set.Every
	if p.why != "" {
		wait = max(wait, limitedTick)
	}
	p.at = l.cfg.Now().Add(wait)
	p.timer = time.AfterFunc(wait, func() { l.tick(gen, nil) })
	l.armWatch(gen)
	l.notifyProactive()
}

// tick begins a turn, unless something else has happened since it was armed. It runs in a
// goroutine of a timer.
func (l *Lane) tick(gen int, changed []string) {
	defer func() {
		if r := recover(); r != nil {
			l.Panicked(r)
		}
	}()
	why := l.limited()
	if !l.prepareTick(gen, why) {
		return
	}
	defer l.course.after.Done()
	ctx, cancel := l.life.bounded(context.Background())
	defer cancel()
	m := l.tickMessage(gen, changed)
	if l.cfg.Limits != nil {
		m.Day = l.cfg.Limits.Bound(m.Options)
	}
	_, err := l.Send(ctx, Caller{Client: protocol.HostClient}, m)
	l.j.Lock()
	defer l.j.Unlock()
	p := &l.course.proactive
	p.preparing = false
	switch {
	case err == nil, ctx.Err() != nil, l.course.stopping, l.j.Closed():
	case protocol.AsError(err).Code == protocol.CodeRuntimeBusy: // somebody was faster, or it was switched off
	default:
		l.j.Report("begin a turn for proactive mode: " + err.Error())
		l.switchOff("no turn can be begun: " + strings.TrimSuffix(protocol.AsError(err).Message, "."))
	}
	l.armTick() // where no turn runs: a hook has done all there was to do, or a message was faster
}

// prepareTick reports whether the turn of a tick is to be prepared; then the lane waits for
// course.after.
func (l *Lane) prepareTick(gen int, why string) bool {
	l.j.Lock()
	defer l.j.Unlock()
	p := &l.course.proactive
	if !p.on || p.gen != gen || p.preparing || l.course.stopping || l.j.Closed() || l.course.turn != nil {
		return false
	}
	l.keptBack(why)
	if why != "" || l.course.coming.Load() > 0 || l.queues.Ready() || l.inbox.Count() > 0 {
		l.armTick()
		return false
	}
	p.preparing = true
	l.course.after.Add(1)
	return true
}

// tickMessage is the message of a tick.
func (l *Lane) tickMessage(gen int, changed []string) Message {
	l.j.Lock()
	defer l.j.Unlock()
	p := &l.course.proactive
	var o protocol.TurnOptions
	if p.set.Options != nil {
		o = *p.set.Options
	}
	chosen := permission.Mode(o.Mode)
	if chosen == "" {
		chosen = l.rights.mode
	}
	o.Mode, o.Unattended = string(tickMode(chosen, p.ceiling)), true
	text := tickText
	if len(changed) > 0 {
		text += " Something else has changed files that you have read: " + promptsafe.Escape(strings.Join(changed, ", ")) + "."
	}
	return Message{Content: []protocol.Block{protocol.Text(text)}, Busy: BusyReject, Options: &o, Source: "schedule",
		Meta: &protocol.MessageMeta{Source: protocol.SourceProactive}, tick: &tick{gen: gen, ceiling: p.ceiling}}
}

// withdrawn reports whether the turn of a tick is not to begin after all: it was switched off or
// changed, or a person's message is on its way. The journal is locked.
func (l *Lane) withdrawn(t *tick) bool {
	p := &l.course.proactive
	return t != nil && (!p.on || p.gen != t.gen || l.course.coming.Load() > 0)
}

// began notes that the turn of a tick begins. The journal is locked.
func (p *proactive) began() { p.inARow++ }

// completed reports whether a turn has ended as it should.
func completed(end *protocol.RuntimeEnd) bool { return end.Reason == protocol.EndCompleted }

// afterTurn switches proactive mode off after a turn that has not completed. The journal is
// locked.
func (l *Lane) afterTurn(t *turn) {
	if t.command || t.foreign || t.summary != nil || completed(t.end) || l.course.stopping || l.j.Closed() {
		return
	}
	why := "the turn has ended with an error"
	switch t.end.Terminal {
	case protocol.TerminalCancelled:
		why = "the turn was cancelled"
	case protocol.TerminalBudget:
		why = "the turn has reached its budget"
	}
	l.switchOff(why)
}

// proactive reports whether a turn has the tool Sleep. The journal is not locked.
func (l *Lane) proactive(t *turn) bool {
	l.j.Lock()
	defer l.j.Unlock()
	return l.course.proactive.on && t.config.Above == nil && !t.config.Subagent
}

// Proactive returns how proactive mode stands, nil while it is off.
func (l *Lane) Proactive() *protocol.Automation {
	l.j.Lock()
	defer l.j.Unlock()
	return l.course.proactive.state()
}
