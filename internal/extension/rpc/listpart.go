package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes [from, to] or the message.
func (p ListPart) MarshalJSON() ([]byte, error) {
	if p.Run != nil {
		return fmt.Appendf(nil, "[%d,%d]", p.Run[0], p.Run[1]), nil
	}
	if len(p.Message) == 0 {
		return nil, fmt.Errorf("wire: a part of a list is empty")
	}
	return p.Message, nil
}

// UnmarshalJSON reads a part. A single index may stand for a run of one.
func (p *ListPart) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*p = ListPart{}
	switch {
	case len(data) > 0 && data[0] == '{':
		p.Message = bytes.Clone(data)
		return nil
	case len(data) > 0 && data[0] == '[':
		var run []int
		if err := json.Unmarshal(data, &run); err != nil || len(run) != 2 || run[0] < 0 || run[1] < run[0] {
			return fmt.Errorf("a part of the list is %.40q; it is [from, to] or a message", data)
		}
		p.Run = &[2]int{run[0], run[1]}
		return nil
	}
	var n int
	if err := json.Unmarshal(data, &n); err != nil || n < 0 {
		return fmt.Errorf("a part of the list is %.40q; it is [from, to] or a message", data)
	}
	p.Run = &[2]int{n, n}
	return nil
}
