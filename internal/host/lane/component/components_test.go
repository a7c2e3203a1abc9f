package component

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"scorel/protocol"
)

// viewing is a connection of a client.
type viewing struct{ info protocol.ClientInfo }

func (v *viewing) Info() protocol.ClientInfo { return v.info }
func (*viewing) Notify(protocol.Frame)       {}

// shown takes dialogs and closes them at once.
type shown struct{ owner *protocol.UIOwner }

func (s *shown) Component(_ context.Context, _ string, d protocol.Dialog, _ time.Duration, opened func()) bool {
	s.owner = d.Owner
	opened()
	return true
}

func (*shown) SetOwner(string, func() *protocol.UIOwner) {}

func TestAComponentIsTheConnectionsOfWhoAskedElseTheFirst(t *testing.T) {
	turn := protocol.ClientID("")
	people := &shown{}
	cs := New(Config{Session: "ses_1", Questions: people, Requester: func() protocol.ClientID { return turn }, Rand: rand.Reader})
	connection := func(client protocol.ClientID, name string) *viewing {
		v := &viewing{protocol.ClientInfo{ClientID: client, ClientName: name}}
		cs.Attach(v)
		return v
	}
	connection("cli_1", "first")
	connection("cli_2", "left")
	right := connection("cli_2", "right")
	want := func(ctx context.Context, name string) {
		t.Helper()
		if _, err := cs.Show(ctx, protocol.Dialog{Source: "x"}, "c", 0, func(Input) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if people.owner == nil || people.owner.ClientName != name {
			t.Errorf("it is %+v's, not %s's", people.owner, name)
		}
	}
	want(t.Context(), "first")
	turn = "cli_2"
	want(t.Context(), "left")
	cs.Acted(right) // of two terminals of one person, the one that was used last is meant
	want(t.Context(), "right")
	want(WithRequester(t.Context(), "cli_1"), "first") // a command, in a turn of somebody else
	want(WithRequester(t.Context(), "cli_9"), "first") // a script, which shows nothing
}
