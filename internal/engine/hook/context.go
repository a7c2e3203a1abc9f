package hook

import (
	"context"

	"scorel/internal/engine/session/history"
	"scorel/protocol"
)

// Context runs the context handlers; see [history.Hooks]. Who fails is skipped.
func (c *Chain) Context(ctx context.Context, list []history.Element) ([]history.Element, error) {
	return c.layer(ctx, "context", list, func(s *Subscriber) func(context.Context, []history.Element) ([]history.Element, error) {
		return s.Context
	})
}

// TransformContext runs after Context.
func (c *Chain) TransformContext(ctx context.Context, list []history.Element) ([]history.Element, error) {
	return c.layer(ctx, "transformContext", list, func(s *Subscriber) func(context.Context, []history.Element) ([]history.Element, error) {
		return s.TransformContext
	})
}

func (c *Chain) layer(ctx context.Context, what string, list []history.Element,
	handler func(*Subscriber) func(context.Context, []history.Element) ([]history.Element, error)) ([]history.Element, error) {
	err := c.each(ctx, what, func(s *Subscriber) bool { return handler(s) != nil }, func(s *Subscriber) (bool, error) {
		got, err := history.Pass(ctx, list, handler(s))
		if err != nil {
			return true, err
		}
		list = got
		return true, nil
	})
	return list, err
}

// ConvertToLLM filters the messages that are about to be sent.
func (c *Chain) ConvertToLLM(ctx context.Context, messages []protocol.Message) ([]protocol.Message, error) {
	err := c.each(ctx, "convertToLlm", func(s *Subscriber) bool { return s.ConvertToLLM != nil }, func(s *Subscriber) (bool, error) {
		got, err := s.ConvertToLLM(ctx, append([]protocol.Message(nil), messages...))
		if err != nil {
			return true, err
		}
		messages = got
		return true, nil
	})
	return messages, err
}
