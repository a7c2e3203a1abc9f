package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"syscall"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Script is a parsed script. It is not changed once parsed.
type Script struct {
	Name   string // as errors call it
	Window int    // tokens
	Chunk  int    // characters, 0: whole
	Delay  time.Duration
	Seed   uint64
	Stamp  bool // pieces of texts begin with the time
	Lines  []*Line
}

// Line is one answer.
type Line struct {
	Number int // in the file, from 1
	If     Cond
	Again  bool
	Steps  []Step
	Stop   protocol.StopReason
	Usage  *protocol.Usage // nil: to be estimated
}

// Cond returns which requests a line answers.
type Cond struct {
	User   *regexp.Regexp // nil: any
	Result *regexp.Regexp // nil: any
	Kind   model.Kind
}

// Op names what a step does.
type Op string

// The operations.
const (
	OpText     Op = "text"
	OpThinking Op = "thinking"
	OpCall     Op = "call"
	OpWait     Op = "wait"
	OpError    Op = "error"
	OpCut      Op = "cut"
	OpHang     Op = "hang"
	OpGarbage  Op = "garbage"
	OpHTML     Op = "html"
)

// Step is one step; Op says which fields count.
type Step struct {
	Op    Op
	Text  string // of text, thinking; the tool's name of a call
	ID    string // of a call, "": to be made
	Input string // of a call, JSON unless it came as raw
	Fill  []Fill // of a call: fields that are set from the request
	Cut   bool   // of a call: cut in the middle
	Clean bool   // of cut: without breaking the connection
	Wait  time.Duration
	Error Failure
}

// Fill sets a field of a call's input to the newest match in the request.
type Fill struct {
	Field   string
	Pattern *regexp.Regexp
}

// Failure is what an error step says.
type Failure struct {
	Status     int     `json:"status"`
	RetryAfter float64 `json:"retryAfter"` // seconds
	Message    string  `json:"message"`
	Type       string  `json:"type"`    // the vendor's word, for wire servers
	TooLong    bool    `json:"tooLong"` // the prompt does not fit
}

const defaultWindow = 200_000

// Load parses a file. Errors name FILE:line. It does not wait for somebody who writes to a
// named pipe.
func Load(file string) (*Script, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	return Parse(f, file)
}

const (
	maxFile  = 64 << 20
	maxTimes = 1 << 20 // repetitions of a text
	maxText  = 64 << 20
)

// Parse reads a script that errors call name.
func Parse(r io.Reader, name string) (*Script, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("script: read %s: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("script: %s is larger than %d MiB", name, maxFile>>20)
	}
	s := &Script{Name: name, Window: defaultWindow}
	head := false
	for i, raw := range bytes.Split(data, []byte("\n")) {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || bytes.HasPrefix(raw, []byte("//")) || raw[0] == '#' {
			continue
		}
		if !head {
			err = s.head(raw)
			head = true
		} else {
			err = s.line(raw, i+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if !head {
		return nil, fmt.Errorf("%s:1: a script begins with a line {\"script\":1}", name)
	}
	return s, nil
}

func (s *Script) head(raw []byte) error {
	var h struct {
		Script  int    `json:"script"`
		Window  *int   `json:"window"`
		Chunk   int    `json:"chunk"`
		DelayMs int    `json:"delayMs"`
		Seed    uint64 `json:"seed"`
		Stamp   bool   `json:"stamp"`
	}
	if decode(raw, &h) != nil { // nothing of a file that is no script is told
		return errors.New("it is not a script of answers; one begins with a line {\"script\":1}")
	}
	if h.Script != 1 {
		return fmt.Errorf("a script begins with a line {\"script\":1}, this says version %d", h.Script)
	}
	if h.Chunk < 0 || h.DelayMs < 0 || h.Window != nil && *h.Window <= 0 {
		return errors.New("window, chunk and delayMs are not below 0, and window is above it")
	}
	if h.Window != nil {
		s.Window = *h.Window
	}
	s.Chunk, s.Delay, s.Seed, s.Stamp = h.Chunk, time.Duration(h.DelayMs)*time.Millisecond, h.Seed, h.Stamp
	return nil
}

func (s *Script) line(raw []byte, number int) error {
	var l struct {
		If struct {
			User   string     `json:"user"`
			Result string     `json:"result"`
			Kind   model.Kind `json:"kind"`
		} `json:"if"`
		Again bool                `json:"again"`
		Do    []json.RawMessage   `json:"do"`
		Stop  protocol.StopReason `json:"stop"`
		Usage *protocol.Usage     `json:"usage"`
	}
	if err := decode(raw, &l); err != nil {
		return err
	}
	out := &Line{Number: number, Again: l.Again, Stop: l.Stop, Usage: l.Usage}
	var err error
	if out.If.User, err = expression(l.If.User); err != nil {
		return err
	}
	if out.If.Result, err = expression(l.If.Result); err != nil {
		return err
	}
	switch out.If.Kind = l.If.Kind; l.If.Kind {
	case "":
		out.If.Kind = model.KindStep
	case model.KindStep, model.KindCompact:
	default:
		return fmt.Errorf("kind is step or compact, not %q", l.If.Kind)
	}
	switch l.Stop {
	case "", protocol.StopEndTurn, protocol.StopToolUse, protocol.StopMaxTokens, protocol.StopRefusal:
	default:
		return fmt.Errorf("stop is end_turn, tool_use, max_tokens or refusal, not %q", l.Stop)
	}
	for i, d := range l.Do {
		step, err := parseStep(d)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		out.Steps = append(out.Steps, step)
	}
	if out.Stop == "" {
		out.Stop = protocol.StopEndTurn
		for _, step := range out.Steps {
			if step.Op == OpCall {
				out.Stop = protocol.StopToolUse
			}
		}
	}
	s.Lines = append(s.Lines, out)
	return nil
}

func parseStep(raw []byte) (Step, error) {
	var d struct {
		Text     *string           `json:"text"`
		Thinking *string           `json:"thinking"`
		Times    *int              `json:"times"`
		Call     *string           `json:"call"`
		ID       string            `json:"id"`
		Input    json.RawMessage   `json:"input"`
		Raw      *string           `json:"raw"`
		Fill     map[string]string `json:"fill"`
		Wait     *int              `json:"wait"`
		Error    *Failure          `json:"error"`
		Cut      json.RawMessage   `json:"cut"`
		Hang     bool              `json:"hang"`
		Garbage  bool              `json:"garbage"`
		HTML     bool              `json:"html"`
	}
	if err := decode(raw, &d); err != nil {
		return Step{}, err
	}
	var steps []Step
	add := func(s Step) { steps = append(steps, s) }
	if d.Text != nil || d.Thinking != nil {
		times := 1
		if d.Times != nil {
			times = *d.Times
		}
		op, text := OpText, d.Text
		if d.Text == nil {
			op, text = OpThinking, d.Thinking
		}
		if times < 0 || times > maxTimes || times*len(*text) > maxText {
			return Step{}, fmt.Errorf("times is between 0 and %d and gives at most %d MiB", maxTimes, maxText>>20)
		}
		add(Step{Op: op, Text: string(bytes.Repeat([]byte(*text), times))})
	}
	if d.Text != nil && d.Thinking != nil {
		return Step{}, errors.New("a step does one thing")
	}
	cut, clean, err := parseCut(d.Cut)
	if err != nil {
		return Step{}, err
	}
	if d.Call != nil && *d.Call == "" {
		return Step{}, errors.New("a call names a tool")
	}
	if d.Call != nil {
		call := Step{Op: OpCall, Text: *d.Call, ID: d.ID, Input: string(d.Input), Cut: cut}
		if d.Raw != nil {
			call.Input = *d.Raw
		}
		if call.Input == "" {
			call.Input = "{}"
		}
		if call.Fill, err = parseFill(d.Fill); err != nil {
			return Step{}, err
		}
		add(call)
	} else if cut {
		add(Step{Op: OpCut, Clean: clean})
	}
	if d.Wait != nil {
		add(Step{Op: OpWait, Wait: time.Duration(*d.Wait) * time.Millisecond})
	}
	if d.Error != nil {
		add(Step{Op: OpError, Error: *d.Error})
	}
	if d.Hang {
		add(Step{Op: OpHang})
	}
	if d.Garbage {
		add(Step{Op: OpGarbage})
	}
	if d.HTML {
		add(Step{Op: OpHTML})
	}
	if len(steps) != 1 {
		return Step{}, errors.New("a step does one thing: text, thinking, call, wait, error, cut, hang, garbage or html")
	}
	return steps[0], nil
}

func parseFill(fields map[string]string) ([]Fill, error) {
	var fills []Fill
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		re, err := regexp.Compile(fields[name])
		if err != nil {
			return nil, fmt.Errorf("fill %s: %w", name, err)
		}
		fills = append(fills, Fill{name, re})
	}
	return fills, nil
}

func parseCut(raw json.RawMessage) (cut, clean bool, err error) {
	switch string(raw) {
	case "", "false":
		return false, false, nil
	case "true":
		return true, false, nil
	case `"clean"`:
		return true, true, nil
	}
	return false, false, fmt.Errorf("cut is true or \"clean\", not %s", raw)
}

func expression(s string) (*regexp.Regexp, error) {
	if s == "" {
		return nil, nil
	}
	return regexp.Compile(s)
}

// decode reads one JSON value and refuses fields that do not exist, so that a
// misspelt one is not taken for a default.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one value on the line")
	}
	return nil
}
