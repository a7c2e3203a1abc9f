package turnconfig

import (
	"scorel/internal/engine/prompt"
	"scorel/internal/engine/session/history"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// turnPrompt is what the model of a turn is told before anybody says anything. It
// implements [lane.Prompt].
type turnPrompt struct {
	instructions func() (protocol.Instructions, []string, error)
	items        func(history.Told) []protocol.Item // nil for none
	announce     announcer
	discover     *discoverer // nil: nothing is suggested
	servers      serverWords
	prompts      promptLister
	updates      resourceUpdates
	nested       *prompt.Nested
	notify       func(sentence string)
}

// Instructions implements [lane.Prompt].
func (p turnPrompt) Instructions() (protocol.Instructions, []string, error) { return p.instructions() }

// Items implements [lane.Prompt].
func (p turnPrompt) Items(told history.Told, said string) []protocol.Item {
	items := append(p.announce.items(told), p.servers.items(told)...)
	items = append(items, p.prompts.items(told)...)
	items = append(items, p.discover.items(told, said)...)
	items = append(items, p.updates.items()...)
	if p.items != nil {
		items = append(items, p.items(told)...)
	}
	return items
}

// NotTold implements [lane.Prompt]. What else is told is looked for in the log.
func (p turnPrompt) NotTold() {
	if p.updates.untake != nil {
		p.updates.untake()
	}
}

// Touched implements [lane.Prompt].
func (p turnPrompt) Touched(t lane.Touched, told history.Told) []protocol.Item {
	var last *protocol.Item
	if item, ok := told.Get(protocol.ItemInstructions); ok {
		last = &item
	}
	item, sentences, ok := p.nested.Item(t.Files, t.Dir, last)
	for _, s := range sentences {
		p.notify(s)
	}
	if !ok {
		return nil
	}
	return []protocol.Item{item}
}
