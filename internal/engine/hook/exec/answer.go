package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/engine/hook"
)

// maxOutput bounds what is read of each of a hook's two streams, in bytes. More on
// stdout is a failure; of stderr the beginning counts.
const maxOutput = 64 << 10

// exitDeny is the exit status that refuses, with stderr as the reason.
const exitDeny = 2

// answer is what a hook says.
type answer struct {
	Decision string          `json:"decision"` // "", allow, ask, deny; block is deny
	Reason   string          `json:"reason"`
	Input    json.RawMessage `json:"input"`
	Context  string          `json:"context"`
}

// verdict is the decision as the dispatcher says it.
func (a *answer) verdict() hook.Verdict {
	switch a.Decision {
	case "allow":
		return hook.Allow
	case "ask":
		return hook.Ask
	case "block", "deny":
		return hook.Deny
	}
	return hook.Continue
}

// fits returns why an answer is none to an event.
func (a *answer) fits(event string) error {
	switch {
	case a.Input != nil && event != "PreToolUse":
		return fmt.Errorf("it gives an input, which counts for PreToolUse alone")
	case a.Decision == "ask" && event != "PreToolUse":
		return fmt.Errorf("it says ask, which counts for PreToolUse alone")
	case a.verdict() == hook.Deny && (event == "SessionStart" || event == "SessionEnd" || event == "Notification"):
		return fmt.Errorf("it refuses, but %s cannot be refused", event)
	}
	return nil
}

// read makes an answer of how a hook ended: JSON on stdout decides at any status, 2
// refuses, 0 continues, and anything else is a failure.
func read(code int, stdout, stderr *output) (answer, error) {
	out, cut := stdout.take()
	var a answer
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(out), []byte("{")) && !cut {
		if a, err = parse(out); err == nil && a.Decision != "" {
			return a, nil
		}
	}
	switch {
	case code == exitDeny:
		reason, _ := stderr.take()
		return answer{Decision: "deny", Reason: strings.TrimSpace(strings.ToValidUTF8(string(reason), "\uFFFD"))}, nil
	case err != nil:
		return answer{}, err
	case code != 0:
		reason, _ := stderr.take()
		return answer{}, fmt.Errorf("it ended with status %d%s", code, firstLine(reason))
	case cut:
		return answer{}, fmt.Errorf("it printed more than %d bytes", maxOutput)
	case !utf8.Valid(out):
		return answer{}, fmt.Errorf("what it printed is not UTF-8")
	}
	return a, nil
}

// parse reads the JSON object of an answer, strictly: what is not understood may have
// been meant as a refusal.
func parse(out []byte) (answer, error) {
	if !utf8.Valid(out) {
		return answer{}, fmt.Errorf("what it printed is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	var a answer
	if err := dec.Decode(&a); err != nil {
		return answer{}, fmt.Errorf("its answer cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); err != io.EOF {
		return answer{}, fmt.Errorf("its answer is not one JSON object alone")
	}
	switch a.Decision {
	case "", "allow", "ask", "deny", "block":
	default:
		return answer{}, fmt.Errorf("its decision is %.40q; it can be block, allow, deny or ask", a.Decision)
	}
	if string(a.Input) == "null" {
		a.Input = nil
	}
	return a, nil
}

// firstLine returns the beginning of what a hook wrote to stderr, for a sentence.
func firstLine(stderr []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(stderr), "\uFFFD")), "\n")
	if line == "" {
		return ""
	}
	const most = 300
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return ": " + strings.TrimRight(line, ".")
}

// output keeps the beginning of a stream, and takes the rest so that the hook does not
// wait for a reader. It may be written while it is taken.
type output struct {
	mu   sync.Mutex
	data []byte
	cut  bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(p), maxOutput-len(o.data))
	o.data = append(o.data, p[:n]...)
	o.cut = o.cut || n < len(p)
	return len(p), nil
}

// take returns what was kept, and whether there was more.
func (o *output) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.data, o.cut
}
