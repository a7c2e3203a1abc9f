package audience

import (
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

func changed(id, name string) *protocol.SessionChanged {
	return &protocol.SessionChanged{Summary: protocol.SessionSummary{SessionID: protocol.SessionID(id), Meta: protocol.Meta{Name: name}}}
}

func joinedAs(name string) protocol.Frame {
	return &protocol.ClientJoined{ClientInfo: protocol.ClientInfo{ClientName: name}}
}

// drain returns what waits, in a word each.
func drain(o *Outbox) string {
	var out []string
	for f := o.Take(); f != nil; f = o.Take() {
		switch f := f.(type) {
		case *protocol.SessionChanged:
			out = append(out, string(f.Summary.SessionID)+"="+f.Summary.Meta.Name)
		case *protocol.ClientJoined:
			out = append(out, f.ClientName)
		default:
			out = append(out, f.FrameName())
		}
	}
	return strings.Join(out, " ")
}

func TestOfFramesOfAComponentTheNewestWaits(t *testing.T) {
	var o Outbox
	for n := range 10_000 {
		o.Put(&protocol.UIFrame{SessionID: "s", UIID: "a", Rev: int64(n)}, func() {})
	}
	o.Put(&protocol.UIFrame{SessionID: "s", UIID: "b"}, func() {})
	o.Put(&protocol.ProjectsChanged{}, func() {})
	if f := o.Take().(*protocol.UIFrame); f.UIID != "a" || f.Rev != 9999 {
		t.Errorf("the first is %+v", f)
	}
	if got := drain(&o); got != "ui_frame projects_changed" {
		t.Errorf("then %q", got)
	}
	for n := range 2 * maxNewsFrames {
		o.Put(&protocol.UIFrame{SessionID: "s", UIID: fmt.Sprint(n)}, func() {})
	}
	if n := strings.Count(drain(&o), "ui_frame"); n != maxNewsFrames {
		t.Errorf("%d frames wait", n)
	}
}

func TestNewsThatWaitAreTheNewestOfEachSession(t *testing.T) {
	var o Outbox
	started := 0
	put := func(f protocol.Frame) { o.Put(f, func() { started++ }) }
	put(changed("a", "1"))
	put(changed("b", "1"))
	put(&protocol.ProjectsChanged{})
	put(joinedAs("eve"))
	put(changed("a", "2"))
	put(&protocol.ProjectsChanged{})
	put(&protocol.HostStopping{GraceMS: 1})
	if got, want := drain(&o), "host_stopping eve projects_changed a=2 b=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if started != 1 {
		t.Errorf("%d goroutines were started for what one sends", started)
	}
	put(changed("a", "3"))
	if got := drain(&o); got != "a=3" || started != 2 {
		t.Errorf("then %q, %d goroutines", got, started)
	}
	o.Close()
	put(changed("a", "4"))
	if got := drain(&o); got != "" || started != 2 {
		t.Errorf("closed it gives %q, %d goroutines", got, started)
	}
}

func TestNewsThatWaitAreBoundedAndTheOldestGo(t *testing.T) {
	var o Outbox
	for n := range maxNewsSessions + 10 {
		o.Put(changed(fmt.Sprint("s", n), "x"), func() {})
	}
	for n := range maxNewsClients + 10 {
		o.Put(joinedAs(fmt.Sprint("c", n)), func() {})
	}
	if len(o.order) != maxNewsSessions || len(o.sessions) != maxNewsSessions || len(o.clients) != maxNewsClients {
		t.Errorf("%d sessions (%d), %d clients wait", len(o.order), len(o.sessions), len(o.clients))
	}
	if got := drain(&o); !strings.HasPrefix(got, "c10 ") || !strings.Contains(got, " s10=x ") || strings.Contains(got, " s9=x ") {
		t.Errorf("what is left begins with %.60q", got)
	}
}
