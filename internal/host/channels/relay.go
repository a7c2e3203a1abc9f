package channels

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"scorel/internal/engine/mcp/pool"
	"scorel/internal/engine/permission"
	"scorel/internal/host/lane"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

const (
	// maxAsked is how many questions are open at channels at once; a further one is asked at
	// the terminal alone.
	maxAsked = 256
	// maxPreview is how much a channel is sent of the input of a call, in characters.
	maxPreview = 200
	// maxDescription is how much of the reason, in characters.
	maxDescription = 1000
)

// relayed is a question that channels were sent. It does not change.
type relayed struct {
	session *session
	id      protocol.PermissionID
	tool    string
	choice  int // the suggestion that allows this call alone
	to      []pool.Key
}

// verdict is the answer that came for one.
type verdict struct {
	*relayed
	from  *channel
	allow bool
}

// question is what a channel is sent of a question.
type question struct {
	ID          string `json:"request_id"`
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	Preview     string `json:"input_preview"`
}

// watch takes the questions of a session, and how they end. It does not wait.
func (x *listener) watch(e protocol.Event) {
	switch e.Body.(type) {
	case *protocol.PermissionRequest, *protocol.PermissionResolved:
	default:
		return
	}
	select {
	case x.s.told <- e.Body:
	default:
		x.c.cfg.Log.Report(x.s.id, "more questions at once than channels are sent", nil)
	}
}

// relay sends a question to the channels that pass permissions on, or forgets one that is
// closed.
func (x *listener) relay(ctx context.Context, b protocol.Body) {
	switch b := b.(type) {
	case *protocol.PermissionResolved:
		x.c.forget(x.s, b.PermissionID)
	case *protocol.PermissionRequest:
		choice := slices.IndexFunc(b.Suggestions, func(s protocol.Suggestion) bool { return s.Scope == "once" })
		if choice >= 0 && x.s.lane.Mode() != permission.Bypass {
			x.ask(ctx, b, choice)
		}
	}
}

func (x *listener) ask(ctx context.Context, b *protocol.PermissionRequest, choice int) {
	_, _, listens := x.c.state(x.s)
	r := &relayed{session: x.s, id: b.PermissionID, tool: promptsafe.Clean(b.ToolName), choice: choice}
	for key, ch := range listens {
		if ch.relays {
			r.to = append(r.to, key)
		}
	}
	id, err := x.c.remember(r)
	if id == "" {
		if err != nil {
			x.c.cfg.Log.Report(x.s.id, "ask channels: "+err.Error(), nil)
		}
		return
	}
	q := question{ID: id, Tool: r.tool, Description: beginning(promptsafe.Clean(b.Reason), maxDescription),
		Preview: beginning(promptsafe.Clean(string(b.Args)), maxPreview)}
	for _, key := range r.to {
		send, cancel := context.WithTimeout(ctx, sendTime)
		if err := listens[key].lease.Notify(send, askMethod, q); err != nil && ctx.Err() == nil {
			x.notify("warning", "The channel %s was not asked for the permission: %v.", listens[key].name, err)
		}
		cancel()
	}
}

// errAsked reports that no further question can be open.
var errAsked = errors.New("too many questions are open at channels")

// remember returns a question the id that it has at channels; "" with no error where it is open
// there already, or nobody is to be sent it.
func (c *Channels) remember(r *relayed) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(r.to) == 0:
		return "", nil
	case len(c.asked) >= maxAsked:
		return "", errAsked
	}
	for _, o := range c.asked {
		if o.session == r.session && o.id == r.id { // shown again
			return "", nil
		}
	}
	for {
		id, err := askID(c.cfg.Rand)
		if err != nil {
			return "", err
		}
		if c.asked[id] == nil {
			c.asked[id] = r
			return id, nil
		}
	}
}

// forget closes a question at channels.
func (c *Channels) forget(s *session, id protocol.PermissionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for asked, r := range c.asked {
		if r.session == s && r.id == id {
			delete(c.asked, asked)
		}
	}
}

// askLetters are those of ids, which people type: l looks like 1.
const askLetters = "abcdefghijkmnopqrstuvwxyz"

// rude are runs of letters that no id has.
var rude = []string{"anus", "ass", "cock", "coon", "cum", "cunt", "damn", "dyke", "fag", "fuck", "kike", "nazi", "nig", "porn", "rape", "sex", "shit", "spic", "tit", "twat", "wank", "whore"}

// askID returns an id of five letters.
func askID(rand io.Reader) (string, error) {
	for {
		id := make([]byte, 0, 5)
		for len(id) < cap(id) {
			var b [1]byte
			if _, err := io.ReadFull(rand, b[:]); err != nil {
				return "", err
			}
			if n := int(b[0]); n < 256/len(askLetters)*len(askLetters) { // each letter is as likely
				id = append(id, askLetters[n%len(askLetters)])
			}
		}
		if !slices.ContainsFunc(rude, func(w string) bool { return strings.Contains(string(id), w) }) {
			return string(id), nil
		}
	}
}

// verdict takes the answer of a server. One for a question that the server was not sent, or
// that is closed, is nobody's.
func (c *Channels) verdict(key pool.Key, params json.RawMessage) {
	var in struct {
		ID       string `json:"request_id"`
		Behavior string `json:"behavior"`
	}
	if json.Unmarshal(params, &in) != nil || in.Behavior != "allow" && in.Behavior != "deny" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.asked[strings.ToLower(in.ID)]
	if r == nil || !slices.Contains(r.to, key) || r.session.listens[key] == nil {
		return
	}
	select {
	case r.session.said <- verdict{r, r.session.listens[key], in.Behavior == "allow"}:
		delete(c.asked, strings.ToLower(in.ID)) // the first counts
	default: // the question stays open
	}
}

// answer gives the answer of a channel, for this call alone. It counts when nobody has
// answered before.
func (x *listener) answer(ctx context.Context, v verdict) {
	choice, did := -1, "denied"
	if v.allow {
		choice, did = v.choice, "allowed once"
	}
	err := x.s.lane.Questions().AnswerPermission(ctx, lane.Caller{Client: protocol.HostClient, OnceOnly: true}, v.id, choice, "answered through the channel "+v.from.name.String())
	var pe *protocol.Error
	switch {
	case err == nil:
		x.notify("info", "%s was %s through the channel %s.", v.tool, did, v.from.name)
	case errors.As(err, &pe) && pe.Code == protocol.CodeConflict: // the terminal was first
	case ctx.Err() == nil:
		x.c.cfg.Log.Report(x.s.id, "the answer of a channel: "+err.Error(), nil)
	}
}
