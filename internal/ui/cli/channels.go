package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	crand "crypto/rand"

	"github.com/spf13/cobra"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host"
	"scorel/internal/host/channels/senders"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) channelsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "channels", Short: "Manage who may write through channels", Args: args(cobra.NoArgs),
		Long: `A channel is an MCP server that pushes events from outside into a session: messages of a
chat, mails, results of builds. A sender that you have not paired gets a code, and nothing
of it reaches the session until you enter the code here.

    scorel channels list
    scorel channels pair 123456
    scorel channels revoke chat 42`,
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("say what: scorel channels list, or see scorel channels --help")
		}}
	cmd.AddCommand(a.channelsListCommand(), a.channelsPairCommand(), a.channelsRevokeCommand())
	return cmd
}

// senders is the file of those who may write through channels.
func (a *app) senders() (senders.Store, error) {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return senders.Store{}, err
	}
	return senders.Store{FS: disk.OS(), File: senders.File(filepath.Join(home, ".scorel")), Now: time.Now, Rand: crand.Reader}, nil
}

// channelSender is a sender as scorel channels prints it.
type channelSender struct {
	Channel string `json:"channel"`
	Sender  string `json:"sender"`
	Since   int64  `json:"since"`             // when it was paired, or has asked; Unix milliseconds
	Expires int64  `json:"expires,omitempty"` // when its code does
}

func shownSenders(list []senders.Sender) []channelSender {
	out := []channelSender{}
	for _, s := range list {
		out = append(out, channelSender{Channel: s.Channel, Sender: s.ID, Since: s.Since})
	}
	return out
}

func (a *app) channelsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List who may write through channels, and who has asked to", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			store, err := a.senders()
			if err != nil {
				return err
			}
			paired, open, err := store.List()
			if err != nil {
				return err
			}
			asked := []channelSender{}
			for _, o := range open { // a code is for who was sent it
				asked = append(asked, channelSender{o.Channel, o.ID, o.Since, o.Expires})
			}
			if asJSON {
				return a.printJSON(struct {
					Paired []channelSender `json:"paired"`
					Asked  []channelSender `json:"asked"`
				}{shownSenders(paired), asked})
			}
			if len(paired)+len(asked) == 0 {
				fmt.Fprintln(a.stdout, "Nobody is paired, and nobody has asked.")
				return nil
			}
			rows := [][]string{{"CHANNEL", "SENDER", "STATE", "SINCE"}}
			for _, s := range shownSenders(paired) {
				rows = append(rows, []string{display.Line(s.Channel), display.Line(s.Sender), "paired", time.UnixMilli(s.Since).Format("2006-01-02 15:04")})
			}
			for _, s := range asked {
				rows = append(rows, []string{display.Line(s.Channel), display.Line(s.Sender), "has asked", time.UnixMilli(s.Since).Format("2006-01-02 15:04")})
			}
			return plain.Table(a.stdout, rows)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) channelsPairCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "pair CODE", Short: "Let the sender who has this code write through its channel", Args: args(cobra.ExactArgs(1)),
		Long: `Pairs the sender who was sent this code of six digits. Codes count for an hour. Do not pair
anybody because a message asks for it; ask the person in another way.`,
		RunE: func(_ *cobra.Command, args []string) error {
			code := args[0]
			if len(code) != 6 || strings.ContainsFunc(code, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsDigit(r) }) {
				return exit.Usagef("a code has six digits")
			}
			store, err := a.senders()
			if err != nil {
				return err
			}
			who, err := store.Pair(code)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Paired channelSender `json:"paired"`
				}{channelSender{Channel: who.Channel, Sender: who.ID, Since: who.Since}})
			}
			fmt.Fprintf(a.stdout, "%s may write through the channel %s\n", display.Line(who.ID), display.Line(who.Channel))
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) channelsRevokeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "revoke CHANNEL [SENDER]", Short: "Stop listening to a sender of a channel, or to all of them", Args: args(cobra.RangeArgs(1, 2)),
		Long: `Forgets a sender of a channel, which is the name of an MCP server; without SENDER all of
them. Their codes are no longer valid.`,
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.senders()
			if err != nil {
				return err
			}
			id := ""
			if len(args) > 1 {
				if id = args[1]; id == "" {
					return exit.Usagef("SENDER is empty; leave it out for all senders of the channel")
				}
			}
			gone, err := store.Revoke(strings.TrimPrefix(args[0], "server:"), id)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Revoked []channelSender `json:"revoked"`
				}{shownSenders(gone)})
			}
			for _, s := range gone {
				fmt.Fprintf(a.stdout, "%s may no longer write through the channel %s\n", display.Line(s.ID), display.Line(s.Channel))
			}
			if len(gone) == 0 {
				fmt.Fprintln(a.stdout, "Forgot a code that nobody had entered.")
			}
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// channelNames splits the values of --channels and checks them.
func channelNames(given []string) (names []string, err error) {
	for _, g := range given {
		for _, name := range strings.FieldsFunc(g, func(r rune) bool { return r == ',' || r == ' ' }) {
			if _, err := mcp.ParseChannel(name); err != nil || len(name) > protocol.MaxChannel {
				return nil, exit.Usagef("--channels is %.60q; it can be server:NAME or plugin:ID", name)
			}
			names = append(names, name)
		}
	}
	if len(names) > protocol.MaxChannels {
		return nil, exit.Usagef("--channels names %d channels; at most %d can be named", len(names), protocol.MaxChannels)
	}
	return names, nil
}
