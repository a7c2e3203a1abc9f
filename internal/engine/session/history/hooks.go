package history

import (
	"context"
	"fmt"

	"scorel/protocol"
)

// Hooks change what a model is sent. Each method gets a list and gives back the
// one to go on with; it may drop, reorder and add elements. Lists are copies, the
// messages in them are shared: a method must not write to a message but replaces
// it ([Element.With]). An element whose message was
// replaced, and the second of two equal ones, counts as a new message without an
// event. An error skips that layer and becomes a diagnostic.
type Hooks interface {
	// Context runs the context handlers.
	Context(ctx context.Context, list []Element) ([]Element, error)
	// TransformContext runs after them.
	TransformContext(ctx context.Context, list []Element) ([]Element, error)
	// ConvertToLLM filters the messages that are about to be sent.
	ConvertToLLM(ctx context.Context, messages []protocol.Message) ([]protocol.Message, error)
}

// runHooks is pass 2.
func runHooks(ctx context.Context, hooks Hooks, list []Element) ([]Element, []string, error) {
	var diagnostics []string
	layers := [...]struct {
		name string
		run  func(context.Context, []Element) ([]Element, error)
	}{{"context", hooks.Context}, {"transformContext", hooks.TransformContext}}
	for _, layer := range layers {
		got, err := Pass(ctx, list, layer.run)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			diagnostics = append(diagnostics, fmt.Sprintf("the %s hooks failed and were skipped: %v", layer.name, err))
			continue
		}
		list = got
	}
	return list, diagnostics, nil
}

// Pass returns what one layer makes of a list: only elements that it left untouched keep
// their event. A layer may consist of passes itself.
func Pass(ctx context.Context, list []Element, layer func(context.Context, []Element) ([]Element, error)) ([]Element, error) {
	given := make([]Element, len(list))
	for i, e := range list {
		e.origin = int32(i + 1)
		given[i] = e
	}
	got, err := layer(ctx, given)
	if err != nil {
		return nil, err
	}
	return adopt(list, got), nil
}

// untouched reports whether a list is the given one, element by element.
func untouched(given, got []Element) bool {
	if len(given) != len(got) {
		return false
	}
	for i := range got {
		if got[i].Event != given[i].Event || got[i].Message != given[i].Message || int(got[i].origin) != i+1 {
			return false
		}
	}
	return true
}

// adopt returns what a layer returned, in which only untouched elements keep their
// event.
func adopt(given, got []Element) []Element {
	if untouched(given, got) {
		return given
	}
	used := make([]bool, len(given))
	out := make([]Element, 0, len(got))
	for _, e := range got {
		if e.Message == nil {
			continue
		}
		i := int(e.origin) - 1
		if i < 0 || i >= len(given) || used[i] || e.Event != given[i].Event || e.Message != given[i].Message {
			out = append(out, Element{Message: e.Message})
			continue
		}
		used[i] = true
		out = append(out, given[i])
	}
	return out
}
