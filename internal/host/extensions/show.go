package extensions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scorel/protocol"
)

// pace lets what extensions show through as fast as people may follow; who is faster
// waits.
func (x *Session) pace(ctx context.Context) error {
	x.mu.Lock()
	now := time.Now()
	if earliest := now.Add(-showBurst * showEvery); x.shownAt.Before(earliest) {
		x.shownAt = earliest
	}
	x.shownAt = x.shownAt.Add(showEvery)
	wait := x.shownAt.Sub(now)
	x.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// show shows something of an extension until it is replaced.
func (x *Session) show(u protocol.UIState) error {
	const most = 256
	same := func(o protocol.UIState) bool { return o.Source == u.Source && o.Key == u.Key && o.Place == u.Place }
	x.mu.Lock()
	x.shown = slices.DeleteFunc(x.shown, same)
	full := len(x.shown) >= most
	if len(u.Lines) > 0 && !full {
		x.shown = append(x.shown, protocol.UIState{Source: u.Source, Key: u.Key, Place: u.Place})
	}
	x.mu.Unlock()
	if full && len(u.Lines) > 0 {
		return fmt.Errorf("extensions show %d things already", most)
	}
	x.lane.Notices().SetUI(u)
	return nil
}

// hide takes away what extensions show, and returns that.
func (x *Session) hide() []protocol.UIState {
	x.mu.Lock()
	shown := x.shown
	x.shown = nil
	x.mu.Unlock()
	for _, u := range shown {
		x.lane.Notices().SetUI(u)
	}
	return shown
}

// tellClosed tells people of what a reload has closed and extensions do not open by themselves
// when they start: what a command had opened.
func (x *Session) tellClosed(before []protocol.UIState, now *protocol.ExtensionList) {
	names := map[string]string{protocol.PlaceEditorComponent: "editor", protocol.PlaceHeader: "header", protocol.PlaceFooter: "footer"}
	for _, u := range before {
		name, draws := names[u.Place]
		runs := slices.ContainsFunc(now.Extensions, func(e protocol.ExtensionInfo) bool {
			return e.ID == u.Source && e.State == protocol.ExtensionLoaded
		})
		x.mu.Lock()
		back := slices.ContainsFunc(x.shown, func(o protocol.UIState) bool { return o.Source == u.Source && o.Place == u.Place })
		x.mu.Unlock()
		if draws && runs && !back {
			x.Notify("info", fmt.Sprintf("The reload has closed the %s of the extension %s. Run the command that opened it to open it again.", name, u.Source))
		}
	}
}

// tellOnce tells people of a problem, once while the session is open.
func (x *Session) tellOnce(problem string) {
	const most = 64
	x.mu.Lock()
	fresh := !slices.Contains(x.told, problem) && len(x.told) < most
	if fresh {
		x.told = append(x.told, problem)
	}
	x.mu.Unlock()
	if fresh {
		x.Notify("warning", problem)
	}
}

// Notify implements [extension.Host].
func (x *Session) Notify(level, text string) { x.lane.Notices().Notify("", level, text) }
