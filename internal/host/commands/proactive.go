package commands

import (
	"context"
	"strings"
	"time"

	"scorel/internal/engine/command"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
	"scorel/protocol/display"
)

// proactive switches proactive mode of the session, or shows how it stands.
func (c builtins) proactive(ctx context.Context, args string) (*protocol.CommandResult, error) {
	words := command.Words(args)
	set, off := lane.Proactive{Options: c.options}, false
	for i, w := range words {
		d, err := time.ParseDuration(w)
		switch {
		case w == "on" && i == 0:
		case w == "off" && len(words) == 1:
			off = true
		case w == "files" && !set.Files:
			set.Files = true
		case err == nil && d > 0 && set.Every == 0:
			set.Every = d
		default:
			return nil, wrong("/proactive does not know %.40q; it is /proactive [on|off] [TIME] [files], such as /proactive on 2m.", w)
		}
	}
	switch {
	case c.l == nil:
		return nil, wrong("There is no session in which proactive mode could be on.")
	case off:
		return &protocol.CommandResult{Status: "proactive mode is off"}, c.l.SetProactive(ctx, nil)
	case len(words) > 0:
		if err := c.cs.setProactive(ctx, c.l, set); err != nil {
			return nil, err
		}
	}
	return &protocol.CommandResult{Status: strings.Join(display.ProactiveText(c.l.Proactive(), c.cs.settings.Now()), "; ")}, nil
}

// setProactive switches proactive mode on, with the time of the configuration where none is said.
func (cs *Commands) setProactive(ctx context.Context, l *lane.Lane, set lane.Proactive) error {
	if set.Every == 0 {
		cfg, err := cs.settings.User()
		if err != nil {
			return err
		}
		set.Every = time.Duration(cfg.Automation.ProactiveTickSeconds) * time.Second
	}
	return l.SetProactive(ctx, &set)
}

// handleProactive enters the handlers of this file's requests.
func (cs *Commands) handleProactive(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.SetProactive) (protocol.Response, error) {
		if r.EverySeconds != 0 && r.EverySeconds < protocol.MinProactiveSeconds {
			return nil, protocol.About("everySeconds", "", protocol.CodeInvalidRequest, "Proactive mode begins a turn after %d seconds at the earliest; use %d to %d, or 0 for the default.",
				protocol.MinProactiveSeconds, protocol.MinProactiveSeconds, protocol.MaxProactiveSeconds)
		}
		if !r.On {
			return &protocol.Done{}, at.Lane.SetProactive(ctx, nil)
		}
		return &protocol.Done{}, cs.setProactive(ctx, at.Lane, lane.Proactive{Every: time.Duration(r.EverySeconds) * time.Second, Files: r.Files, Options: r.Options})
	})
}
