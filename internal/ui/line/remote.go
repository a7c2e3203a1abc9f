package line

import (
	"context"
	"errors"

	"scorel/client"
	"scorel/internal/ui/qrcode"
	"scorel/protocol"
	"scorel/protocol/display"
)

// errRemote says what /remote-control takes.
var errRemote = errors.New("it is /remote-control, /remote-control yes for who waits, or /remote-control off")

// wayIn lets a phone in to the session.
type wayIn struct {
	opened  *protocol.WebOpened
	code    *protocol.Pairing // that counts, nil for none
	address string            // with the code
	came    *protocol.Entry   // who has come by it, nil while nobody has
	in      bool              // and was let in
}

// remoteControl shows a way in for a phone, lets in who has come by it, or ends it.
func (v *Session) remoteControl(args string) {
	r := v.way
	switch {
	case v.term == nil:
		v.fail(errors.New("/remote-control shows a code and asks who may come in, so it needs a terminal; in a script use scorel web --lan --json"))
	case args == "" && r != nil && r.code != nil:
		v.showCode(r)
	case args == "" && r.waits():
		v.askWhoCame(r)
	case args == "":
		v.openWay()
	case args == "yes" && r.waits():
		v.letIn(r)
	case args == "yes":
		v.notify("nobody waits; /remote-control shows a code for a phone")
	case args == "off" || args == "no":
		v.endWay(r)
	default:
		v.fail(errRemote)
	}
}

// waits reports whether somebody has come and waits to be let in.
func (r *wayIn) waits() bool { return r != nil && r.came != nil && !r.in }

// openWay has the host listen on the network, and makes a code.
func (v *Session) openWay() {
	v.enqueue(func(ctx context.Context) func() {
		r := &wayIn{}
		var err error
		if r.opened, err = client.Call[*protocol.WebOpened](ctx, v.cfg.Client, "", &protocol.OpenWeb{LAN: true}); err == nil && len(r.opened.Addresses) > 0 {
			r.code, err = client.Call[*protocol.Pairing](ctx, v.cfg.Client, "", &protocol.CreatePairing{LAN: true})
		}
		return func() {
			switch {
			case err != nil:
				v.outcome(err, "")
				return
			case len(r.opened.Addresses) == 0:
				v.fail(errors.New("this machine has no address in a network, so nobody could come"))
				return
			}
			if r.opened.Notice != "" {
				v.notify(display.Line(r.opened.Notice))
			}
			r.address = r.opened.Addresses[0] + "/#pair=" + r.code.Code + "&session=" + string(v.id)
			v.way = r
			v.showCode(r)
			go v.awaitPhone(r, r.code.PairingID)
		}
	})
}

// showCode shows the code and the address.
func (v *Session) showCode(r *wayIn) {
	v.screen.endStream()
	rows, width, err := qrcode.Modules(r.address, v.term.plain)
	switch {
	case err != nil:
		v.fail(err)
	case width >= v.term.columns:
		v.notify("the QR code needs a wider window; the address is the same")
	default:
		for _, row := range rows {
			v.screen.line(codeStyle, row)
		}
	}
	v.screen.line(plainStyle, r.address)
	if r.opened.OwnCertificate {
		v.notify("the browser warns of the host's own certificate: compare " + r.opened.Fingerprint + ". It allows neither installing the page nor notifications")
	}
	v.notify("scan the code with the phone within a minute; you are asked before it is let in. /remote-control off ends this")
}

// awaitPhone waits for what becomes of a code.
func (v *Session) awaitPhone(r *wayIn, id protocol.PairingID) {
	end, err := client.Call[*protocol.PairingEnd](v.ctx, v.cfg.Client, "", &protocol.AwaitPairing{PairingID: id})
	v.post(func() {
		if v.way != r || r.code == nil {
			return // it was ended
		}
		r.code, r.address = nil, ""
		switch {
		case err != nil:
			v.way = nil
			v.fail(err)
		case end.Outcome == protocol.PairingRedeemed && end.Entry != nil:
			r.came, r.in = end.Entry, !end.Entry.Pending
			if r.in {
				v.notify(display.Line(r.came.Label) + " was known already, and is in with the grant " + string(r.came.Grant))
				return
			}
			v.askWhoCame(r)
		case end.Outcome == protocol.PairingExpired:
			v.way = nil
			v.notify("nobody came within the minute; /remote-control shows another code")
		default:
			v.way = nil
			v.notify("the code is no longer valid (" + string(end.Outcome) + "); /remote-control shows another one")
		}
	})
}

// askWhoCame says who waits.
func (v *Session) askWhoCame(r *wayIn) {
	v.screen.endStream()
	v.screen.line(alertStyle, "── "+display.Line(r.came.Label)+" at "+display.Line(r.came.Address)+" wants to come in. It could look, answer questions and cancel. /remote-control yes lets it in, /remote-control no sends it away")
}

func (v *Session) letIn(r *wayIn) {
	v.enqueue(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Done](ctx, v.cfg.Client, "", &protocol.ConfirmEntry{ClientID: r.came.ClientID})
		return func() {
			r.in = err == nil
			v.outcome(err, display.Line(r.came.Label)+" is in; scorel clients grants it more, and /remote-control off sends it away")
		}
	})
}

// endWay ends the code, and sends away who came by it.
func (v *Session) endWay(r *wayIn) {
	var req protocol.Request
	var done string
	switch {
	case r != nil && r.code != nil:
		req, done = &protocol.CancelPairing{PairingID: r.code.PairingID}, "nobody can connect with the code any more"
	case r != nil && r.came != nil:
		req, done = &protocol.RevokeEntry{ClientID: r.came.ClientID}, display.Line(r.came.Label)+" was sent away, and may not come in any more"
	default:
		v.notify("no code is valid, and nobody has used one")
		return
	}
	v.enqueue(func(ctx context.Context) func() {
		_, err := client.Call[*protocol.Done](ctx, v.cfg.Client, "", req)
		return func() {
			if err == nil && v.way == r {
				v.way = nil
			}
			v.outcome(err, done)
		}
	})
}
