package webcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/qrcode"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	// maxCodes bounds the codes that one scorel web --lan shows, one after the other.
	maxCodes = 10
	// slowBrowser is how long nobody comes until the address is shown to a person.
	slowBrowser = 8 * time.Second
	// undoTime is what ending a code may take after Ctrl-C.
	undoTime = 2 * time.Second
)

// webOptions are the flags of scorel web.
type webOptions struct {
	lan, noOpen, json, off bool
	session                string // to open, by its ID or name
}

func (c *commands) webCommand() *cobra.Command {
	var o webOptions
	cmd := &cobra.Command{Use: "web", Short: "Open the page of this machine's host in the browser, or let a phone in with --lan", Args: c.Args(cobra.NoArgs),
		Long: `Starts a host when none runs, has it listen on 127.0.0.1, and opens the browser
with a code that lets this browser in, once, within a minute. From then on the
browser comes in with a key of its own: open the address again as you like.

With --lan it listens on the network with TLS, shows a QR code for a phone, and asks
you before the phone may do anything. scorel clients lists who may come in.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.web(cmd.Context(), o) }}
	f := cmd.Flags()
	f.BoolVar(&o.lan, "lan", false, "for a phone or machine in the same network: show a QR code, and ask before it is let in")
	f.BoolVar(&o.noOpen, "no-open", false, "open no browser; say what to open")
	f.BoolVar(&o.json, "json", false, "print JSON, one object per line, and ask nothing")
	f.BoolVar(&o.off, "off", false, "stop listening for browsers, here and on the network")
	return cmd
}

func (c *commands) remoteControlCommand() *cobra.Command {
	o := webOptions{lan: true}
	cmd := &cobra.Command{Use: "remote-control [SESSION]", Short: "Let a phone in to a session: scorel web --lan, which leads to it", Args: c.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.session = strings.Join(args, "")
			return c.web(cmd.Context(), o)
		}}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON, one object per line, and ask nothing")
	return cmd
}

// web lets a browser in.
func (c *commands) web(ctx context.Context, o webOptions) error {
	if o.lan && !o.json && !o.off && !c.Interactive() {
		return exit.Usagef("--lan shows a QR code and asks before it lets somebody in, so it needs a terminal; in a script use --json, and let in who comes with scorel clients confirm")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	l, done, err := c.Reach(ctx, !o.off, "scorel web")
	if err != nil {
		return err
	}
	defer done()
	if o.off {
		if _, err := client.Call[*protocol.Done](ctx, l, "", &protocol.CloseWeb{}); err != nil {
			return err
		}
		fmt.Fprintln(c.Stdout, "The host no longer listens for browsers. scorel clients revoke takes their keys off the list.")
		return nil
	}
	w := &entrance{cmds: c, o: o, l: l}
	if o.session != "" {
		if w.session, err = c.Find(ctx, l, o.session); err != nil {
			return err
		}
	}
	if w.opened, err = client.Call[*protocol.WebOpened](ctx, l, "", &protocol.OpenWeb{LAN: o.lan}); err != nil {
		return err
	}
	if w.opened.Notice != "" {
		fmt.Fprintln(c.Stderr, "scorel: "+display.Line(w.opened.Notice))
	}
	if len(w.opened.Addresses) == 0 {
		return errors.New("this machine has no address in a network, so nobody could come; connect it, or leave --lan out")
	}
	if o.lan {
		err = w.network(ctx)
	} else {
		err = w.local(ctx)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		c.Exit(exit.Cancelled)
		return nil
	}
	return err
}

// entrance is one way in that waits for a browser.
type entrance struct {
	cmds    *commands
	o       webOptions
	l       *client.Client
	opened  *protocol.WebOpened
	session protocol.SessionID // to lead to, "" for none
}

// pairing makes a code, and the address that a page redeems it at.
func (w *entrance) pairing(ctx context.Context) (*protocol.Pairing, string, error) {
	p, err := client.Call[*protocol.Pairing](ctx, w.l, "", &protocol.CreatePairing{LAN: w.o.lan})
	if err != nil {
		return nil, "", err
	}
	address := w.opened.Addresses[0] + "/#pair=" + p.Code
	if w.session != "" {
		address += "&session=" + string(w.session)
	}
	return p, address, nil
}

// await waits for the end of a code. The end of ctx cancels it.
func (w *entrance) await(ctx context.Context, p *protocol.Pairing) (*protocol.PairingEnd, error) {
	end, err := client.Call[*protocol.PairingEnd](ctx, w.l, "", &protocol.AwaitPairing{PairingID: p.PairingID})
	if ctx.Err() != nil {
		undo, stop := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer stop()
		_, _ = client.Call[*protocol.Done](undo, w.l, "", &protocol.CancelPairing{PairingID: p.PairingID}) // it ends by itself soon
		return nil, ctx.Err()
	}
	return end, err
}

// Line is what scorel web --json prints: at first where to go, in the end who has come.
type Line struct {
	Addresses      []string                `json:"addresses,omitempty"`
	Fingerprint    string                  `json:"fingerprint,omitempty"`
	OwnCertificate bool                    `json:"ownCertificate,omitempty"`
	File           string                  `json:"file,omitempty"` // leads a browser of this machine there
	URL            string                  `json:"url,omitempty"`  // with the code, for the network
	ExpiresAt      int64                   `json:"expiresAt,omitempty"`
	Outcome        protocol.PairingOutcome `json:"outcome,omitempty"`
	Entry          *protocol.Entry         `json:"entry,omitempty"`
}

func (w *entrance) print(line Line) error { return json.NewEncoder(w.cmds.Stdout).Encode(line) }

// local leads a browser of this machine in.
func (w *entrance) local(ctx context.Context) error {
	scorel, err := w.cmds.Dir()
	if err != nil {
		return err
	}
	p, address, err := w.pairing(ctx)
	if err != nil {
		return err
	}
	file, err := writeRedirect(scorel, address)
	if err != nil {
		return fmt.Errorf("write the file that leads the browser to the page: %w", err)
	}
	defer func() { _ = os.Remove(file) }() // the next command removes what is left
	if err := w.sayLocal(file, address, p); err != nil {
		return err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	known := make(chan string, 1)
	go func() { // ends with waiting
		if name := w.knownComes(waiting); name != "" {
			known <- name
			stop()
		}
	}()
	if !w.o.json && headless.IsTerminal(w.cmds.Stdout) && !w.o.noOpen {
		slow := time.AfterFunc(slowBrowser, func() {
			fmt.Fprintf(w.cmds.Stderr, "Nobody has come yet. If the browser shows an error, open this in it within the minute:\n  %s\n", address)
		})
		defer slow.Stop()
	}
	end, err := w.await(waiting, p)
	select {
	case name := <-known:
		if w.o.json {
			return w.print(Line{Outcome: protocol.PairingCancelled})
		}
		fmt.Fprintf(w.cmds.Stdout, "%s is in; the host knew it already.\n", display.Line(name))
		return nil
	default:
	}
	if err != nil {
		return err
	}
	if w.o.json {
		return w.print(Line{Outcome: end.Outcome, Entry: end.Entry})
	}
	switch end.Outcome {
	case protocol.PairingRedeemed:
		fmt.Fprintf(w.cmds.Stdout, "%s has come in, with the grant %s. From now on open %s there.\n", display.Line(end.Entry.Label), end.Entry.Grant, w.opened.Addresses[0])
		return nil
	case protocol.PairingExpired:
		fmt.Fprintf(w.cmds.Stdout, "The code was not needed, or nobody came within the minute. A browser that the host knows is in already, at %s.\n", w.opened.Addresses[0])
		return nil
	}
	return fmt.Errorf("the code is no longer valid (%s); try again with scorel web", end.Outcome)
}

// knownComes waits until a client comes that the host knows already: it needs no code. It
// returns its name, "" when ctx has ended.
func (w *entrance) knownComes(ctx context.Context) string {
	all, err := client.Call[*protocol.EntryList](ctx, w.l, "", &protocol.ListEntries{})
	if err != nil {
		return ""
	}
	for {
		d, err := w.l.NextDevice(ctx)
		if err != nil {
			return ""
		}
		for _, c := range d.Clients {
			for _, e := range all.Entries {
				if !c.Left && !e.Pending && c.ClientID == e.ClientID {
					return e.Label
				}
			}
		}
	}
}

// sayLocal opens the browser, or says what to open.
func (w *entrance) sayLocal(file, address string, p *protocol.Pairing) error {
	c := w.cmds
	if w.o.json {
		if err := w.print(Line{Addresses: w.opened.Addresses, File: file, ExpiresAt: p.ExpiresAt}); err != nil || w.o.noOpen {
			return err
		}
	}
	why := error(nil)
	if !w.o.noOpen {
		if why = c.openBrowser(file); why == nil {
			if !w.o.json {
				fmt.Fprintf(c.Stdout, "Opened the browser at %s.\n", w.opened.Addresses[0])
			}
			return nil
		}
		fmt.Fprintf(c.Stderr, "scorel: %s.\n", display.Line(why.Error()))
	}
	switch {
	case w.o.json:
	case headless.IsTerminal(c.Stdout): // what is piped may be kept
		fmt.Fprintf(c.Stdout, "Open this in a browser of this machine within the minute; it works once:\n  %s\n", address)
	default:
		fmt.Fprintf(c.Stdout, "Open this file in a browser of this machine within the minute; it works once:\n  %s\n", file)
	}
	return nil
}

// network lets a phone in when a person says so.
func (w *entrance) network(ctx context.Context) error {
	for n := range maxCodes {
		p, address, err := w.pairing(ctx)
		if err != nil {
			return err
		}
		if err := w.sayNetwork(p, address, n == 0); err != nil {
			return err
		}
		end, err := w.await(ctx, p)
		switch {
		case err != nil:
			return err
		case w.o.json:
			return w.print(Line{Outcome: end.Outcome, Entry: end.Entry})
		case end.Outcome == protocol.PairingRedeemed:
			return w.confirm(ctx, end.Entry)
		case end.Outcome != protocol.PairingExpired:
			return fmt.Errorf("the code is no longer valid (%s); try again with scorel web --lan", end.Outcome)
		}
		fmt.Fprintln(w.cmds.Stdout, "\nThe minute is over. Here is another code:")
	}
	return fmt.Errorf("nobody came with any of %d codes; try again with scorel web --lan", maxCodes)
}

func (w *entrance) sayNetwork(p *protocol.Pairing, address string, first bool) error {
	c := w.cmds
	if w.o.json {
		return w.print(Line{Addresses: w.opened.Addresses, Fingerprint: w.opened.Fingerprint, OwnCertificate: w.opened.OwnCertificate, URL: address, ExpiresAt: p.ExpiresAt})
	}
	lines, _, err := qrcode.Lines(address, !c.Dumb())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "\n%s\n\n%s\n", strings.Join(lines, "\n"), address)
	if !first {
		return nil
	}
	for _, other := range w.opened.Addresses[1:] {
		fmt.Fprintf(c.Stdout, "This machine is also at %s, with the same rest.\n", other)
	}
	if w.opened.OwnCertificate {
		fmt.Fprintf(c.Stdout, "\nThe certificate is the host's own: the browser warns of it. Compare its SHA-256 fingerprint:\n%s\nWith it the page can be neither installed nor send notifications; a certificate of your own\n(scorel host serve --tls-cert) allows both.\n", w.opened.Fingerprint)
	}
	fmt.Fprint(c.Stdout, "\nScan the code within a minute. You are asked here before it is let in. Ctrl-C ends this.\n")
	return nil
}

// confirm asks whether a client may come in.
func (w *entrance) confirm(ctx context.Context, e *protocol.Entry) error {
	c := w.cmds
	if !e.Pending {
		fmt.Fprintf(c.Stdout, "%s is known already, with the grant %s.\n", display.Line(e.Label), e.Grant)
		return nil
	}
	fmt.Fprintf(c.Stdout, "\n%s at %s wants to come in. It could look, answer questions and cancel. Let it in? [y/N] ", display.Line(e.Label), display.Line(e.Address))
	answer := make(chan string, 1)
	go func() { // ends with the line, or the program
		line, _ := bufio.NewReader(io.LimitReader(c.Stdin, 4<<10)).ReadString('\n') // no answer is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case line := <-answer:
		if line == "y" || line == "yes" {
			if _, err := client.Call[*protocol.Done](ctx, w.l, "", &protocol.ConfirmEntry{ClientID: e.ClientID}); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "It is in. scorel clients grant %s control lets it do more, scorel clients revoke %s sends it away.\n", e.ClientID, e.ClientID)
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(c.Stdout)
	}
	undo, stop := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer stop()
	if _, err := client.Call[*protocol.Done](undo, w.l, "", &protocol.RevokeEntry{ClientID: e.ClientID}); err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, "It was sent away.")
	c.Exit(exit.Failed)
	return nil
}
