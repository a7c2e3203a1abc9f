package tool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/progress"
	"scorel/internal/engine/skill"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

//go:embed executeskill.md
var executeText string

const (
	maxSkillInput  = 1 << 20   // bytes of the JSON document that a program gets
	maxSkillOutput = 4 << 20   // bytes of the one that it gives
	maxStderrTail  = 2000      // characters of stderr in a failed result
	maxOutputTail  = 500       // characters of an output that is not JSON, in the result
	maxStderr      = 512 << 20 // bytes of stderr; one that writes more is ended
)

type executeTool struct {
	skills    *skill.Set
	files     *files.Files
	spawn     sandbox.Spawner
	environ   []string
	protected Protected
}

// With implements [Needy].
func (t executeTool) With(g Setting, s Session) Tool {
	t.skills, t.files, t.spawn, t.environ, t.protected = g.Skills, g.Files, g.Spawn, g.Environ, s.Protected
	return t
}

type executeInput struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// executeInfo is what the tool means to others.
var executeInfo = protocol.ToolInfo{Name: "ExecuteSkill", Kind: protocol.ToolRuns, TitleField: "name", Rule: protocol.RuleSkill, AlsoRuledBy: "Bash"}

// executeSchema is the JSON Schema of its input.
var executeSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"name":{"type":"string","minLength":1,"maxLength":64,"description":"The name of the skill."},` +
		`"input":{"description":"Its input, as the skill's schema says; mostly an object."}},` +
		`"required":["name"],"additionalProperties":false}`)

// Spec implements [Tool]. Calls of one message run one after the other: a program may
// change what the next one works on.
func (executeTool) Spec() Spec {
	return Spec{ToolInfo: executeInfo, Needs: NeedsPrograms, Deferred: true, Description: executeText, Schema: executeSchema}
}

// Prepare implements [Tool].
func (t executeTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[executeInput](call)
	if err != nil {
		return nil, err
	}
	if len(in.Input) > maxSkillInput {
		return nil, fmt.Errorf("the input has %d bytes, at most %d are given to a skill; write it into a file and name that", len(in.Input), maxSkillInput)
	}
	p, err := t.skills.Program(in.Name)
	if err != nil {
		return nil, err
	}
	if in.Input == nil {
		in.Input = json.RawMessage("null")
	}
	if err := p.Validate(in.Input); err != nil {
		// Models write the JSON of an input as a text now and then.
		var text string
		if json.Unmarshal(in.Input, &text) != nil || !json.Valid([]byte(text)) || p.Validate(json.RawMessage(text)) != nil {
			return nil, err
		}
		in.Input = json.RawMessage(text)
	}
	return &executeCall{tool: t, call: call, program: p, input: in.Input}, nil
}

type executeCall struct {
	tool    executeTool
	call    Call
	program *skill.Program
	input   json.RawMessage
}

// Label implements [Labelled].
func (c *executeCall) Label() string {
	if c.program.Label != "" {
		return c.program.Label
	}
	return c.program.Name
}

// Action implements [Prepared].
func (c *executeCall) Action() permission.Action {
	return permission.Action{Tool: executeInfo.Name, Kind: executeInfo.Kind, Name: c.program.Name, Dir: c.program.Dir, Resolve: c.tool.files.Resolve}
}

// Snapshots implements [Prepared].
func (*executeCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (*executeCall) Close() {}

// Run implements [Prepared].
func (c *executeCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	if err := c.program.Check(); err != nil { // a person may have taken a while to answer
		return Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.program.Timeout)
	defer cancel()
	guard := newGuard(c.tool.files, c.tool.protected, c.call.ID)
	defer guard.end()
	stdout := &document{max: maxSkillOutput, full: cancel}
	stderr := &childLog{call: c.call, max: maxStderr, full: cancel}
	child, err := c.tool.spawn.Start(limited, sandbox.Cmd{Path: c.program.Path, Args: c.program.Args, Dir: c.program.Dir, Env: c.environ(),
		Stdin: strings.NewReader(string(c.input) + "\n"), Stdout: stdout, Stderr: stderr})
	if err != nil {
		why := fmt.Sprintf("the skill %s did not start: %s", c.program.Name, c.program.WithoutPaths(err.Error()))
		return c.failed(ctx, "skill-start", why, stderr, protocol.ToolDetails{})
	}
	exit := child.Wait()
	stderr.end()
	d := protocol.ToolDetails{ExitCode: &exit.Code}
	harm := guard.end()
	harm.into(&d)
	note := harm.note()
	fail := func(stage, format string, args ...any) (Result, error) {
		return c.failed(ctx, stage, fmt.Sprintf(format, args...)+note, stderr, d)
	}
	switch {
	case ctx.Err() != nil:
		d.Cancelled = true
		return c.failed(ctx, "", "Cancelled by user: the skill and its children were ended."+note, stderr, d)
	case stdout.over():
		return fail("skill-output", "The skill %s wrote more than %d MiB to stdout and was ended; its answer must be shorter, or name a file.", c.program.Name, maxSkillOutput>>20)
	case stderr.over():
		return fail("skill-output", "The skill %s wrote more than %d MiB to stderr and was ended.", c.program.Name, maxStderr>>20)
	case limited.Err() != nil:
		d.TimedOut = true
		return fail("skill-timeout", "The skill %s timed out after %v: it and its children were ended.", c.program.Name, c.program.Timeout)
	case exit.Err != nil:
		return fail("skill-exit", "How the skill %s ended is not known: %v.", c.program.Name, exit.Err)
	case exit.Code != 0 && exit.Signal != "":
		return fail("skill-exit", "The skill %s was ended by %s.%s", c.program.Name, exit.Signal, shown(stdout.bytes()))
	case exit.Code != 0:
		return fail("skill-exit", "The skill %s failed with exit code %d.%s", c.program.Name, exit.Code, shown(stdout.bytes()))
	}
	answer, err := oneJSON(stdout.bytes())
	if err != nil {
		return fail("skill-output", "The skill %s ended well, but its output cannot be read: %v.%s", c.program.Name, err, shown(stdout.bytes()))
	}
	out := newCapture(nil)
	_, _ = out.Write(answer)
	text, full := out.finish()
	r := textResult(text + note)
	r.Details = d
	if full != nil {
		r.Full = full
	}
	return r, nil
}

// failed makes the result of a run that went wrong, and tells people so. The end of
// stderr stands in it. Of a run that was cancelled the runtime tells.
func (c *executeCall) failed(ctx context.Context, stage, text string, stderr *childLog, d protocol.ToolDetails) (Result, error) {
	if ctx.Err() == nil && stage != "" {
		line, _, _ := strings.Cut(text, "\n")
		c.call.Report(protocol.ProcessUpdate{TargetType: protocol.ProcessOfSkill, Source: protocol.ProcessByRuntime, TaskID: taskID(c.input),
			Stage: stage, Status: protocol.ProcessFailed, Level: protocol.ProcessError, Message: line})
	}
	if tail := stderr.text(); tail != "" {
		text += "\n\nThe end of what it wrote to stderr:\n" + tail
	}
	r := textResult(text)
	r.IsError, r.Details = true, d
	return r, nil
}

// taskID returns the taskId of an input that has one.
func taskID(input json.RawMessage) string {
	var in struct {
		TaskID string `json:"taskId"`
	}
	_ = json.Unmarshal(input, &in)
	return in.TaskID
}

// environ is the environment of a program. Nothing asks or colours.
func (c *executeCall) environ() []string {
	return append(append([]string{}, c.tool.environ...), "TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0", "BASH_ENV=",
		"SKILL_DIR="+c.program.Dir, "SKILL_WORKSPACE="+c.tool.files.Root())
}

// oneJSON returns the one JSON document that an output is.
func oneJSON(out []byte) (json.RawMessage, error) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")))
	if len(out) == 0 {
		return nil, errors.New("it is empty; the program must write one JSON document to stdout")
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	var doc json.RawMessage
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it is not a JSON document (%w)", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the JSON document; what is no answer goes to stderr")
	}
	if !utf8.Valid(doc) {
		return nil, errors.New("it is not valid UTF-8")
	}
	return doc, nil
}

// shown returns the beginning of an output for the model, "" for none.
func shown(out []byte) string {
	text := strings.TrimSpace(promptsafe.Clean(strings.ToValidUTF8(string(out[:min(len(out), 4*maxOutputTail)]), "\ufffd")))
	if text == "" {
		return ""
	}
	return "\n\nIts output began:\n" + string(firstRunes([]byte(text), maxOutputTail))
}

// document takes what a program writes to stdout, up to max bytes; then it has the
// program ended. It is written by one goroutine and read after that.
type document struct {
	max  int
	full func()
	buf  bytes.Buffer
	lost bool
}

// Write implements [io.Writer]; it never fails.
func (d *document) Write(p []byte) (int, error) {
	if d.buf.Len()+len(p) > d.max {
		if !d.lost {
			d.lost = true
			d.full()
		}
		return len(p), nil
	}
	return d.buf.Write(p)
}

func (d *document) over() bool    { return d.lost }
func (d *document) bytes() []byte { return d.buf.Bytes() }

// childLog takes what a program writes to stderr, line by line: what is a process
// event is reported, the others are kept in the log of the operation, and the newest
// of them for a failed result. A line that is too long for an event is one of these,
// in pieces. It is written by one goroutine and read after that.
type childLog struct {
	call Call
	max  int64 // bytes
	full func()
	size int64
	line []byte
	tail []byte
	lost bool
}

// Write implements [io.Writer]; it never fails.
func (p *childLog) Write(b []byte) (int, error) {
	if p.size += int64(len(b)); p.size > p.max {
		if !p.lost {
			p.lost = true
			p.full()
		}
		return len(b), nil
	}
	for rest := b; len(rest) > 0; {
		at := bytes.IndexByte(rest, '\n')
		piece := rest
		if at >= 0 {
			piece = rest[:at]
		}
		if room := progress.MaxLine - len(p.line); len(piece) > room {
			p.line = append(p.line, piece[:room]...)
			p.other()
			rest = rest[room:]
			continue
		}
		p.line = append(p.line, piece...)
		if at < 0 {
			break
		}
		p.take()
		rest = rest[at+1:]
	}
	return len(b), nil
}

// take takes a whole line.
func (p *childLog) take() {
	line := bytes.TrimSuffix(p.line, []byte("\r"))
	u, ok := progress.ParseLine(line)
	if !ok {
		p.other()
		return
	}
	p.line = p.line[:0]
	p.call.Report(u)
}

// other keeps a line that is no event.
func (p *childLog) other() {
	text := strings.ToValidUTF8(strings.TrimSuffix(string(p.line), "\r"), "\ufffd")
	p.line = p.line[:0]
	p.call.LogStderr(text)
	if p.tail = append(append(p.tail, text...), '\n'); len(p.tail) > 2*utf8.UTFMax*maxStderrTail {
		p.tail = append([]byte(nil), p.tail[len(p.tail)-utf8.UTFMax*maxStderrTail:]...)
	}
}

// end takes the last line, which may lack its end.
func (p *childLog) end() {
	if len(p.line) > 0 {
		p.take()
	}
}

func (p *childLog) over() bool { return p.lost }

// text returns the last 2,000 characters of the lines that were no events.
func (p *childLog) text() string {
	text := strings.TrimSpace(promptsafe.Clean(strings.ToValidUTF8(string(p.tail), "\ufffd")))
	return string(lastRunes([]byte(text), maxStderrTail))
}
