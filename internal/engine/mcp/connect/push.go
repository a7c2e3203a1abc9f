package connect

import (
	"context"
	"encoding/json"
	"errors"
)

// ChannelPushed begins the methods of the notifications with which a channel pushes.
const ChannelPushed = "notifications/claude/channel"

// ErrNoPush reports that a server takes no notifications of a channel, because it is reached by
// an address: what the library has no name for cannot be sent there.
var ErrNoPush = errors.New("it has an address, and a channel has to be a command")

// Declares reports whether the server has an experimental capability.
func (s *Server) Declares(capability string) bool {
	caps := s.session.InitializeResult().Capabilities
	if caps == nil {
		return false
	}
	_, ok := caps.Experimental[capability]
	return ok
}

// Notify sends a command a notification that the library does not know. It returns when it is
// written, or ctx has ended.
func (s *Server) Notify(ctx context.Context, method string, params any) error {
	if s.process == nil {
		return ErrNoPush
	}
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	if err != nil {
		return err
	}
	_, err = await(ctx, s.fuse, func() (int, error) { return s.process.in.Write(append(line, '\n')) })
	return err
}
