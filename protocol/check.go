package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The check tag of a field says what is asked of its value, with the bounds below by their
// names (check:"required,max=MaxWord"). internal/dev/tsgen makes functions of the tags, and of
// requests that ask nothing else the whole Check (checks_gen.go); the bounds are in the
// JSON Schema too. What a tag cannot say, or what has a sentence of its own, is checked by
// hand beside the type, which then calls checkFields.

// Bounds of the texts of requests, in bytes. They hold for what lists show, for what
// is in the log and is read again each time, and for what is handed to the system.
const (
	MaxName     = 1000       // a session's name, an entry's, a file's in a message
	MaxPath     = 4096       // a folder or file, as for Linux (PATH_MAX)
	MaxModelRef = 500        // a model, by reference or alias
	MaxWord     = 64         // an id, or a word of a closed set
	MaxQuery    = 1000       // what is looked for in a list
	MaxBlocks   = 1000       // blocks of one message
	MaxArgs     = 256 << 10  // the arguments of a command
	MaxShell    = 100_000    // a command of a person
	MaxRules    = 1000       // rules, and folders, of the options of one message
	MaxSetting  = 16 << 10   // a value of the configuration
	MaxTail     = 2000       // newest events that open_session sends at first
	maxUserText = MaxMessage // of a text in a message: the bound of the message itself
)

// Problem is why a request cannot be carried out as it is: Field is the path of the
// field as it is on the wire, and Text one sentence about it.
type Problem struct {
	Field string
	Text  string
}

// Err returns the problem as a client is told of it: invalid_request, with the field's
// name in the details.
func (p *Problem) Err() *Error {
	if p == nil {
		return nil
	}
	e := &Error{Code: CodeInvalidRequest, Message: p.Text}
	if p.Field != "" {
		e.Details, _ = json.Marshal(FieldDetails{Field: p.Field}) // a string always can
	}
	return e
}

// FieldDetails are the details of an error about a field of a request. Reason tells
// apart what the code does not.
type FieldDetails struct {
	Field  string `json:"field"`
	Reason Reason `json:"reason,omitempty"`
}

// Reason says more of why a field does not do.
type Reason string

// The reasons.
const (
	ReasonOpen      Reason = "open"      // the session is open here
	ReasonElsewhere Reason = "elsewhere" // another program has the session
	ReasonLeaf      Reason = "leaf"      // the leaf of a damaged session must be named
	ReasonHeld      Reason = "held"      // the leaf need not be named
	ReasonSkill     Reason = "skill"     // there is no skill of that name
	ReasonFolder    Reason = "folder"    // the folder is not there, or is none to work in
	ReasonCommand   Reason = "command"   // there is no command of that name
	ReasonWide      Reason = "wide"      // a home or / as the workspace has to be allowed
	ReasonUnasked   Reason = "unasked"   // a person had to be asked, and nobody answered
	ReasonPending   Reason = "pending"   // the client waits to be confirmed
)

// About makes an error about a field of a request.
func About(field string, reason Reason, code Code, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Details, _ = json.Marshal(FieldDetails{field, reason}) // strings always can
	return e
}

// AboutOf returns the details of an error about a field, from its chain; the zero value for
// any other.
func AboutOf(err error) (d FieldDetails) {
	var e *Error
	if errors.As(err, &e) && len(e.Details) > 0 && json.Unmarshal(e.Details, &d) != nil {
		return FieldDetails{}
	}
	return d
}

// Within returns an error about a field of a part as one of the whole, in which the part has
// a name. Any other error stays as it is.
func Within(name string, err error) error {
	d := AboutOf(err)
	var e *Error
	if d.Field == "" || !errors.As(err, &e) {
		return err
	}
	return About(name+"."+d.Field, d.Reason, e.Code, "%s", e.Message)
}

// under puts a problem of a part under the name of the part, also in its sentence.
func (p *Problem) under(name string) *Problem {
	if p == nil {
		return nil
	}
	whole := name + "." + p.Field
	return &Problem{whole, strings.Replace(p.Text, "The field "+p.Field+" ", "The field "+whole+" ", 1)}
}

// Check returns why the call cannot be carried out as it is, nil when it can: it is the one
// place where what a request must have is looked at, whatever way the request came.
// What only the host knows (that a folder is there, that a model can be called) it does
// not look at.
func (c Call) Check() *Problem {
	if c.Request == nil {
		return &Problem{"type", "The call names no request."}
	}
	if spec := c.Request.Spec(); c.SessionID == "" && spec.Scope != ScopeDevice && spec.Scope != ScopeEither {
		return &Problem{"sessionId", fmt.Sprintf("%s needs the field sessionId, the session that it is about.", spec.Name)}
	}
	if c.SessionID != "" {
		if err := c.SessionID.Check(); err != nil {
			return &Problem{"sessionId", fmt.Sprintf("The field sessionId is wrong: %v.", err)}
		}
	}
	return c.Request.Check()
}

// first returns the first problem of several.
func first(problems ...*Problem) *Problem {
	for _, p := range problems {
		if p != nil {
			return p
		}
	}
	return nil
}

// missing reports that a field is empty.
func missing(field string) *Problem {
	return &Problem{field, fmt.Sprintf("The field %s is missing or empty.", field)}
}

// atMost bounds a text that may be empty.
func atMost[T ~string](field string, text T, limit int) *Problem {
	if len(text) > limit {
		return &Problem{field, fmt.Sprintf("The field %s has %d bytes; it can have at most %d.", field, len(text), limit)}
	}
	return nil
}

// line holds a text that lists show to one line, without what a terminal or a page would
// obey: control characters, and marks that turn the direction of what is after them.
func line(field, text string) *Problem {
	for _, r := range text {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return &Problem{field, fmt.Sprintf("The field %s holds the character %U; it is one line of text without control characters.", field, r)}
		}
	}
	return nil
}

// need bounds a text that may not be empty.
func need[T ~string](field string, text T, limit int) *Problem {
	if text == "" {
		return missing(field)
	}
	return atMost(field, text, limit)
}

// one holds a text to a closed set of words, to which "" belongs only when it is named.
func one[T ~string](field string, text T, words ...T) *Problem {
	if slices.Contains(words, text) {
		return nil
	}
	named := ""
	for i, w := range words {
		switch {
		case w == "":
			continue
		case named != "" && i == len(words)-1:
			named += " or "
		case named != "":
			named += ", "
		}
		named += string(w)
	}
	if text == "" {
		return &Problem{field, fmt.Sprintf("The field %s is missing or empty; it can be %s.", field, named)}
	}
	return &Problem{field, fmt.Sprintf("The field %s is %.40q; it can be %s.", field, string(text), named)}
}

// counts holds a number to what is not negative.
func counts[T int | int64](field string, n T) *Problem {
	if n < 0 {
		return &Problem{field, fmt.Sprintf("The field %s is %d; it is a number that is not negative.", field, n)}
	}
	return nil
}

// upTo holds a number to what is not negative and has a bound.
func upTo(field string, n, limit int) *Problem {
	if n < 0 || n > limit {
		return &Problem{field, fmt.Sprintf("The field %s is %d; it is a number from 0 to %d.", field, n, limit)}
	}
	return nil
}

// each bounds a list of texts.
func each[T ~string](field string, texts []T, most, limit int) *Problem {
	if len(texts) > most {
		return &Problem{field, fmt.Sprintf("The field %s has %d entries; it can have at most %d.", field, len(texts), most)}
	}
	for i, text := range texts {
		if p := need(fmt.Sprintf("%s[%d]", field, i), text, limit); p != nil {
			return p
		}
	}
	return nil
}

// session holds an id to the form of a session's.
func session(field string, id SessionID) *Problem {
	if id == "" {
		return missing(field)
	}
	if err := id.Check(); err != nil {
		return &Problem{field, fmt.Sprintf("The field %s is wrong: %v.", field, err)}
	}
	return nil
}

// maybe is session of an id that may be left out.
func maybe(field string, id SessionID) *Problem {
	if id == "" {
		return nil
	}
	return session(field, id)
}

// optional bounds a text that may be left out.
func optional[T ~string](field string, text *T, limit int) *Problem {
	if text == nil {
		return nil
	}
	return atMost(field, *text, limit)
}

// optionalLine is line of a text that may be left out.
func optionalLine(field string, text *string) *Problem {
	if text == nil {
		return nil
	}
	return line(field, *text)
}

// some reports that a list may not be empty.
func some[T any](field string, list []T) *Problem {
	if len(list) == 0 {
		return missing(field)
	}
	return nil
}

// sha256Name holds a text to the name of a payload.
func sha256Name(field, text string) *Problem {
	if !IsPayload(text) {
		return &Problem{field, fmt.Sprintf("The field %s is %.70q; it is %d hexadecimal digits.", field, text, payloadName)}
	}
	return nil
}

// Bounded returns the description with every text cut to what a list shows: a log of
// another version or from elsewhere may have any.
func (m Meta) Bounded() Meta {
	cut := func(text string, limit int) string {
		if len(text) > limit {
			text = strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
		}
		return text
	}
	m.ProjectID, m.WorkDir, m.Name = ProjectID(cut(string(m.ProjectID), MaxWord)), cut(m.WorkDir, MaxPath), cut(m.Name, MaxName)
	m.Model, m.ThinkingLevel = cut(m.Model, MaxModelRef), cut(m.ThinkingLevel, MaxWord)
	if m.Job != nil {
		m.Job = &JobMeta{cut(m.Job.Template, MaxJobTemplate), JobState(cut(string(m.Job.State), MaxWord))}
	}
	return m
}

// Check returns why these are no changes of a session.
func (c MetaChanges) Check() *Problem {
	if c == (MetaChanges{}) {
		return &Problem{"changes", "The field changes is missing or empty; it can have workDir, name, model and thinkingLevel."}
	}
	if c.WorkDir != nil && *c.WorkDir == "" {
		return (&Problem{"workDir", "The field changes.workDir is empty; name a folder by its whole path, or leave the field out."}).under("changes")
	}
	var m Meta
	c.Apply(&m)
	return m.Check().under("changes")
}

// Check returns why these are not options of a turn.
func (o *TurnOptions) Check() *Problem {
	if o == nil {
		return nil
	}
	return o.checkFields().under("options")
}

// given bounds a text that may be left out, but not be empty.
func given[T ~string](field string, text *T, limit int) *Problem {
	if text == nil {
		return nil
	}
	return need(field, *text, limit)
}

// positive holds an amount to what is not negative.
func positive(field string, amount float64) *Problem {
	if amount < 0 {
		return &Problem{field, fmt.Sprintf("The field %s is %v; it is an amount that is not negative.", field, amount)}
	}
	return nil
}

// CheckContent returns why blocks are not the content of a message that a person sends,
// which is in field. Whether a payload that a block names is there only the host
// knows.
func CheckContent(field string, blocks []Block) *Problem {
	if p := CheckBlocks(field, blocks); p != nil {
		return p
	}
	for _, b := range blocks {
		if b.Type != BlockText || b.Text != "" || b.Blob != "" {
			return nil
		}
	}
	return &Problem{field, fmt.Sprintf("The message is empty; write something to send, in a block of the field %s.", field)}
}

// CheckBlocks is [CheckContent] of what a command or an extension makes, which may say
// nothing.
func CheckBlocks(field string, blocks []Block) *Problem {
	if len(blocks) == 0 {
		return &Problem{field, fmt.Sprintf("The message is empty; write something to send, as a block of the field %s.", field)}
	}
	if len(blocks) > MaxBlocks {
		return &Problem{field, fmt.Sprintf("The field %s has %d blocks; a message can have at most %d.", field, len(blocks), MaxBlocks)}
	}
	for i, b := range blocks {
		if p := b.checkSent(fmt.Sprintf("%s[%d]", field, i)); p != nil {
			return p
		}
	}
	return nil
}

// checkSent returns why a block cannot be sent by a person.
func (b Block) checkSent(field string) *Problem {
	p := one(field+".type", b.Type, BlockText, BlockImage, BlockFile)
	if p != nil {
		return p
	}
	if b.Blob != "" && !IsPayload(b.Blob) {
		return &Problem{field + ".blob", fmt.Sprintf("The field %s.blob is %.70q; it is the SHA-256 of a payload that was put before, in %d hexadecimal digits.", field, b.Blob, payloadName)}
	}
	if b.Type == BlockText {
		return atMost(field+".text", b.Text, maxUserText)
	}
	p = first(need(field+".blob", b.Blob, payloadName), need(field+".mediaType", b.MediaType, MaxName))
	if b.Type == BlockFile {
		p = first(p, need(field+".name", b.Name, MaxName))
	}
	return p
}
