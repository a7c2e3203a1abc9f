package progress

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"scorel/protocol"
)

// MaxLine bounds a line of stderr that can be an event, in bytes.
const MaxLine = 64 << 10

// ParseLine reads a line that a skill wrote to stderr. It is an event when it is a
// JSON object with "type":"process_event" and a string as message or stage; any other
// line is not, and returns false. Keys that have no meaning of their own become the
// payload.
//
// An unknown status is running, an unknown level info. The rest is for [Normalise].
func ParseLine(line []byte) (protocol.ProcessUpdate, bool) {
	none := protocol.ProcessUpdate{}
	if len(line) > MaxLine || !hasBrace(line) {
		return none, false
	}
	fields, ok := object(line)
	if !ok {
		return none, false
	}
	get := func(key string) json.RawMessage {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); i >= 0 {
			return fields[i].value
		}
		return nil
	}
	if kind, _ := text(get("type")); kind != "process_event" {
		return none, false
	}
	message, hasMessage := text(get("message"))
	stage, hasStage := text(get("stage"))
	if !hasMessage && !hasStage {
		return none, false
	}
	u := protocol.ProcessUpdate{
		Source:     protocol.ProcessBySkill,
		TargetType: protocol.ProcessOfSkill,
		Stage:      stage,
		Message:    message,
		Current:    first(number(get("current")), number(get("batch"))),
		Total:      first(number(get("total")), number(get("totalBatches"))),
		Percent:    number(get("percent")),
	}
	u.TaskID, _ = text(get("taskId"))
	s, _ := text(get("status"))
	u.Status = status(protocol.ProcessStatus(s))
	l, _ := text(get("level"))
	u.Level = level(protocol.ProcessLevel(l))
	if t, ok := text(get("time")); ok {
		u.Timestamp = t
	} else {
		u.Timestamp, _ = text(get("timestamp"))
	}
	u.Payload = join(redacted(slices.DeleteFunc(fields, func(f field) bool { return reserved(f.key) })))
	return u, true
}

// reserved are the keys of a line that do not go into the payload.
func reserved(key string) bool {
	switch key {
	case "type", "time", "timestamp", "stage", "message", "taskId", "level", "status", "current", "total", "percent",
		"batch", "totalBatches":
		return true
	}
	return false
}

// hasBrace reports whether the first thing in a line is a brace: most lines are not JSON.
func hasBrace(line []byte) bool {
	for _, c := range line {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '{'
		}
	}
	return false
}

// text returns a string; false for another value.
func text(value json.RawMessage) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if plain := value[1 : len(value)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain), true
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// number returns a number; nil for another value, and for one that is too large.
func number(value json.RawMessage) *float64 {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return nil
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return nil
	}
	return &n
}

func first(a, b *float64) *float64 {
	if a != nil {
		return a
	}
	return b
}
