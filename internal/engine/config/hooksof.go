package config

import (
	"encoding/json"
	"fmt"
)

// HooksOf reads hooks that are written elsewhere than in a config.toml, with the keys of
// [[hooks]]. Numbers are of the type [json.Number].
func HooksOf(tables []map[string]any, source Source) ([]Hook, error) {
	if len(tables) > maxHooks {
		return nil, fmt.Errorf("there are %d hooks; at most %d are possible (%s)", len(tables), maxHooks, source.place())
	}
	e := entry{path: []string{"hooks"}, source: source, line: source.Line}
	var out []Hook
	for i, table := range tables {
		for key, v := range table {
			if n, ok := v.(json.Number); ok {
				if whole, err := n.Int64(); err == nil {
					table[key] = whole
				}
			}
		}
		h, err := hookOf(e, table, i)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}
