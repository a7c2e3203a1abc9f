package panel

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/text/cell"
	"scorel/internal/ui/qrcode"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/overlay"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// maxCodes bounds the codes that are shown one after the other while nobody comes.
const maxCodes = 10

// Remote lets a phone in to the session: a QR code, who comes, and what becomes of them.
type Remote struct {
	Base
	shown *remoteView // nil before the first time
}

// NewRemote returns it; nothing listens yet.
func NewRemote(b Base) *Remote { return &Remote{Base: b} }

// Open shows the way in. One that is still open is shown again.
func (x *Remote) Open() tea.Cmd {
	if v := x.shown; v != nil && !v.over && v.session == x.Session.ID() {
		x.Overlays.Close(v)
		x.Overlays.Open(v)
		return nil
	}
	return askOf(x.Base, "", &protocol.OpenWeb{LAN: true}, func(o *protocol.WebOpened) tea.Cmd {
		if o.Notice != "" {
			x.Toasts.Warn(line(o.Notice))
		}
		if len(o.Addresses) == 0 {
			x.Toasts.Warn("this machine has no address in a network, so nobody could come")
			return nil
		}
		v := &remoteView{Remote: x, opened: o, session: x.Session.ID()}
		x.shown = v
		x.Overlays.Open(v)
		return v.another()
	})
}

// remoteView is one way in. It goes on while other things are shown.
type remoteView struct {
	*Remote
	opened  *protocol.WebOpened
	session protocol.SessionID // to lead to, "" for none

	code    *protocol.Pairing // that counts, nil for none
	address string            // with the code
	codes   int
	came    *protocol.Entry // who has come, nil while nobody has
	in      bool            // and was let in
	over    bool            // nothing more comes of it
	said    string          // how it stands, in a line
}

// another makes a code and waits for what becomes of it.
func (v *remoteView) another() tea.Cmd {
	v.codes++
	return link.Ask(v.Link, "", &protocol.CreatePairing{LAN: true}, func(p *protocol.Pairing, err error) tea.Cmd {
		if err != nil {
			v.end("There is no code: " + line(err.Error()))
			return nil
		}
		v.code, v.address = p, v.opened.Addresses[0]+"/#pair="+p.Code
		if v.session != "" {
			v.address += "&session=" + string(v.session)
		}
		if v.over { // it was closed meanwhile
			return v.cancel()
		}
		v.said = "Scan the code with the phone. It is valid for a minute; then another one is shown."
		return link.Ask(v.Link, "", &protocol.AwaitPairing{PairingID: p.PairingID}, v.ended)
	})
}

// ended takes what became of a code.
func (v *remoteView) ended(end *protocol.PairingEnd, err error) tea.Cmd {
	v.code, v.address = nil, ""
	switch {
	case v.over:
		return nil
	case err != nil:
		v.end("The code is lost: " + line(err.Error()))
		return nil
	case end.Outcome == protocol.PairingExpired && v.codes < maxCodes && v.Overlays.Top() == overlay.Overlay(v):
		return v.another()
	case end.Outcome == protocol.PairingRedeemed && end.Entry != nil:
		v.came, v.in = end.Entry, !end.Entry.Pending
		if v.in {
			v.said = line(v.came.Label) + " was known already, and is in with the grant " + string(v.came.Grant) + "."
		} else {
			v.said = line(v.came.Label) + " at " + line(v.came.Address) + " wants to come in. It could look, answer questions and cancel."
		}
		v.Toasts.Warn(line(v.came.Label) + " has come: /remote-control")
		return nil
	}
	v.end("The code is no longer valid (" + string(end.Outcome) + "). /remote-control makes another.")
	return nil
}

func (v *remoteView) end(said string) { v.over, v.said = true, said }

// cancel ends the code.
func (v *remoteView) cancel() tea.Cmd {
	if v.code == nil {
		return nil
	}
	return link.Ask(v.Link, "", &protocol.CancelPairing{PairingID: v.code.PairingID}, func(*protocol.Done, error) tea.Cmd { return nil }) // it ends by itself soon
}

// confirm lets in who has come.
func (v *remoteView) confirm() tea.Cmd {
	return askOf(v.Base, "", &protocol.ConfirmEntry{ClientID: v.came.ClientID}, func(*protocol.Done) tea.Cmd {
		v.in = true
		v.said = line(v.came.Label) + " is in. scorel clients grants it more."
		return nil
	})
}

// disconnect ends the code, and sends away who came by it.
func (v *remoteView) disconnect() tea.Cmd {
	v.Overlays.Close(v)
	v.over = true
	if v.came == nil {
		v.Toasts.Info("nobody can connect with the code any more")
		return v.cancel()
	}
	return askOf(v.Base, "", &protocol.RevokeEntry{ClientID: v.came.ClientID}, func(*protocol.Done) tea.Cmd {
		v.Toasts.Info(line(v.came.Label) + " was disconnected, and may not come in any more")
		return nil
	})
}

// Places are those of a list.
func (v *remoteView) Places() []keymap.Place { return []keymap.Place{keymap.List} }

// Do takes the view away: who has come stays, and the code counts until its end.
func (v *remoteView) Do(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.ListClose, keymap.ListPick, keymap.Leave:
		v.Overlays.Close(v)
	}
	return nil
}

// Insert takes a choice.
func (v *remoteView) Insert(text string) tea.Cmd {
	switch {
	case text == "y" && v.came != nil && !v.in:
		return v.confirm()
	case text == "d", text == "n" && v.came != nil && !v.in:
		return v.disconnect()
	case text == "c":
		v.Overlays.Close(v)
	}
	return nil
}

// Paste does nothing.
func (v *remoteView) Paste(string) tea.Cmd { return nil }

// Render draws the code where there is room for it, the address, and who has come.
func (v *remoteView) Render(th *theme.Theme, width, height int) ([]string, *overlay.Cursor) {
	var text []string
	say := func(s string) {
		for _, l := range cell.Wrap(s, max(1, width-2)) {
			text = append(text, "  "+l)
		}
	}
	say(v.said)
	if v.address != "" {
		say(v.address)
		if v.opened.OwnCertificate {
			say("The browser warns of the host's own certificate: compare " + v.opened.Fingerprint + ". It allows neither installing the page nor notifications.")
		}
	}
	closes := v.Overlays.Hint(keymap.ListClose)
	keys := "d disconnects · " + closes + " continues"
	if v.came != nil && !v.in {
		keys = "y lets it in · n sends it away · " + closes + " later"
	}
	out := []string{row.Rule(th, width, "Remote control", "")}
	if v.address != "" {
		code, wide, err := qrcode.Lines(v.address, !th.Plain)
		switch room := height - 2 - len(text); {
		case err != nil:
		case len(code) <= room && wide+2 <= width:
			for _, l := range code {
				out = append(out, "  "+l)
			}
		default:
			say("The QR code needs a window of " + counted(len(code)+len(text)+3, "line") + ".")
		}
	}
	out = append(out, text...)
	out = append(out[:min(len(out), max(1, height-1))], th.Dim.On(cell.Cut("  "+keys, width, "")))
	return out, nil
}
