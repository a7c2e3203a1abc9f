package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
	"scorel/protocol/jsonscan"
)

// maxMalformed is how many entries of a list that are left out are named.
const maxMalformed = 20

// entryOf are the lists that servers answer with: what an entry is called, and where it is
// decoded into.
var entryOf = map[string]struct {
	what string
	into func() any
}{
	"tools":             {"tool", func() any { return new(mcp.Tool) }},
	"prompts":           {"prompt", func() any { return new(mcp.Prompt) }},
	"resources":         {"resource", func() any { return new(mcp.Resource) }},
	"resourceTemplates": {"template of resources", func() any { return new(mcp.ResourceTemplate) }},
}

// entries takes malformed entries out of the lists that a server answers with: the library would
// decode none of a list with one. It may be used concurrently.
type entries struct {
	mu   sync.Mutex
	left map[string][]string // faults by list: which were left out and why
}

// take returns which entries of a list were left out since it was called last.
func (e *entries) take(list string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	faults := e.left[list]
	delete(e.left, list)
	return faults
}

// formed returns a message, which is a JSON object, without malformed entries.
func (e *entries) formed(message []byte) []byte {
	var result []byte
	asks := false
	jsonscan.Fields(message, func(key, value []byte) {
		switch string(key) {
		case "result":
			result = value
		case "method":
			asks = true
		}
	})
	if asks || len(result) == 0 || result[0] != '{' {
		return message
	}
	kept := map[string][]json.RawMessage{}
	jsonscan.Fields(result, func(key, value []byte) {
		if of, ok := entryOf[string(key)]; ok {
			var list []json.RawMessage
			if json.Unmarshal(value, &list) != nil {
				return
			}
			if well, faults := sorted(list, of.what, of.into); len(faults) > 0 {
				kept[string(key)] = well
				e.add(string(key), faults)
			}
		}
	})
	if len(kept) == 0 {
		return message
	}
	var whole, inner map[string]json.RawMessage
	if json.Unmarshal(message, &whole) != nil || json.Unmarshal(result, &inner) != nil {
		return message
	}
	for key, list := range kept {
		inner[key], _ = json.Marshal(list) // it was JSON
	}
	whole["result"], _ = json.Marshal(inner)
	made, err := json.Marshal(whole)
	if err != nil {
		return message
	}
	return made
}

func (e *entries) add(list string, faults []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left == nil {
		e.left = map[string][]string{}
	}
	e.left[list] = append(e.left[list], faults...)
	e.left[list] = e.left[list][:min(len(e.left[list]), maxMalformed)]
}

// sorted returns the entries that can be decoded, and faults about the others.
func sorted(list []json.RawMessage, what string, into func() any) (well []json.RawMessage, faults []string) {
	well = []json.RawMessage{}
	for i, raw := range list {
		err := json.Unmarshal(raw, into())
		if err == nil {
			well = append(well, raw)
			continue
		}
		which := fmt.Sprintf("number %d of a list", i+1)
		var named struct{ Name string }
		if _ = json.Unmarshal(raw, &named); named.Name != "" {
			which = fmt.Sprintf("%q", cut(promptsafe.Clean(named.Name), 100))
		}
		why := "it is not formed as MCP says"
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			why = fmt.Sprintf("%s has a value of the wrong kind, %s", kind.Field, kind.Value)
		}
		faults = append(faults, fmt.Sprintf("its %s %s is left out: %s", what, which, why))
	}
	return well, faults
}
