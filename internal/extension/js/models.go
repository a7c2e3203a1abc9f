package js

import (
	"encoding/json"
	"sync"

	"github.com/dop251/goja"

	"scorel/internal/extension/rpc"
)

// models is the answer to models/list, which each extension needs when it is loaded: those
// that are loaded together share one.
type models struct {
	mu      sync.Mutex
	answer  json.RawMessage // nil: it is not there
	asked   bool
	waiting []func(json.RawMessage, *rpcError)
}

// forget has the next extension ask again: what the list was made of may have changed.
func (m *models) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = nil
}

// get calls done once with the answer: on this goroutine if it is there, else on the one
// that reads. ask asks for it.
func (m *models) get(ask func(done func(json.RawMessage, *rpcError)), done func(json.RawMessage, *rpcError)) {
	m.mu.Lock()
	if m.answer != nil {
		answer := m.answer
		m.mu.Unlock()
		done(answer, nil)
		return
	}
	m.waiting = append(m.waiting, done)
	asked := m.asked
	m.asked = true
	m.mu.Unlock()
	if asked {
		return
	}
	ask(func(answer json.RawMessage, err *rpcError) {
		m.mu.Lock()
		waiting := m.waiting
		m.waiting, m.asked = nil, false
		if err == nil {
			m.answer = answer
		}
		m.mu.Unlock()
		for _, done := range waiting {
			done(answer, err)
		}
	})
}

// models is the native models(): a promise of the answer to models/list, as an extension
// needs it while it is loaded.
func (h *host) models(goja.FunctionCall) goja.Value {
	return h.e.Promise(func(settle func(func() (any, error))) {
		h.x.c.models.get(func(done func(json.RawMessage, *rpcError)) {
			h.x.c.peer.call(rpc.CallModels, h.params(goja.Undefined()), done)
		}, func(answer json.RawMessage, err *rpcError) {
			settle(func() (any, error) {
				if err != nil {
					return nil, callError{err}
				}
				return h.e.Parse(answer)
			})
		})
	})
}
