package connect

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ChannelPushed begins the methods of the notifications with which a channel pushes.
const ChannelPushed = "notifications/claude/channel"

// Declares reports whether the server has an experimental capability.
func (s *Server) Declares(capability string) bool {
	caps := s.session.InitializeResult().Capabilities
	if caps == nil {
		return false
	}
	_, ok := caps.Experimental[capability]
	return ok
}

// Notify sends a notification that the library does not know. It returns when it is written,
// and an address has taken it, or ctx has ended.
func (s *Server) Notify(ctx context.Context, method string, params any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	message := &jsonrpc.Request{Method: method, Params: data}
	_, err = await(ctx, s.fuse, func() (struct{}, error) {
		switch {
		case s.socket != nil:
			return struct{}{}, s.socket.Write(ctx, message)
		case s.process == nil:
			return struct{}{}, s.address.way.conn.Write(ctx, message)
		}
		line, err := jsonrpc.EncodeMessage(message)
		if err == nil {
			_, err = s.process.in.Write(append(line, '\n'))
		}
		return struct{}{}, err
	})
	return s.target.hiding(err)
}
