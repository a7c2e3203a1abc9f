package script

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// View is what conditions look at.
type View struct {
	Kind   model.Kind
	User   string // the user's texts after the last assistant message
	Result string // the texts of the tool results after it
	Count  int    // messages of the request, for ids that are made up
	// Whole returns the texts of the whole request, for fills; it may be nil.
	Whole func() string
}

// ViewOf returns the view of a request.
func ViewOf(req model.Request) View {
	v := View{Kind: req.Kind, Count: len(req.Messages)}
	if v.Kind == "" {
		v.Kind = model.KindStep
	}
	var user, result []string
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != protocol.RoleAssistant; i-- {
		switch m := req.Messages[i]; m.Role {
		case protocol.RoleUser:
			user = append([]string{m.PlainText()}, user...)
		case protocol.RoleToolResult:
			result = append([]string{m.PlainText()}, result...)
		}
	}
	v.Whole = func() string {
		var all strings.Builder
		for _, m := range req.Messages {
			all.WriteString(m.PlainText() + "\n")
		}
		return all.String()
	}
	v.User, v.Result = strings.Join(user, "\n"), strings.Join(result, "\n")
	return v
}

// Fits reports whether the conditions hold.
func (c Cond) Fits(v View) bool {
	return c.Kind == v.Kind &&
		(c.User == nil || v.User != "" && c.User.MatchString(v.User)) &&
		(c.Result == nil || v.Result != "" && c.Result.MatchString(v.Result))
}

// Player hands out the lines of a script. It may be used by several goroutines.
type Player struct {
	Script *Script

	mu   sync.Mutex
	used map[int]bool // by line number
}

// NewPlayer makes a player with all lines unused.
func NewPlayer(s *Script) *Player { return &Player{Script: s, used: map[int]bool{}} }

// Next takes the line that answers v. The error names the file and its last line.
func (p *Player) Next(v View) (*Line, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := 1
	for _, l := range p.Script.Lines {
		last = l.Number
		if p.used[l.Number] || !l.If.Fits(v) {
			continue
		}
		if !l.Again {
			p.used[l.Number] = true
		}
		return l, nil
	}
	return nil, fmt.Errorf("%s:%d: no unused line fits the %s call with user text %q and results %q",
		p.Script.Name, last, v.Kind, short(v.User), short(v.Result))
}

func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Piece is what a line does next, after cutting into chunks.
type Piece struct {
	Start *model.BlockStart // opens a block
	Chunk string            // adds to the open block
	End   *Step             // closes it; the step's Text or Input is the whole
	Op    Op                // wait, error, cut, hang, garbage, html; else empty
	Step  Step
}

// Play returns the pieces of a line in order until yield returns false. The same
// line, script and view give the same pieces.
func (s *Script) Play(l *Line, v View, yield func(Piece) bool) {
	rnd := rand.New(rand.NewPCG(s.Seed, uint64(l.Number)))
	index, calls := 0, 0
	for i := 0; i < len(l.Steps); i++ {
		step := l.Steps[i]
		switch step.Op {
		case OpText, OpThinking:
			kind := protocol.BlockText
			if step.Op == OpThinking {
				kind = protocol.BlockThinking
			}
			if i = s.playText(l.Steps, i, kind, index, rnd, yield); i < 0 {
				return
			}
			index++
		case OpCall:
			calls++
			if step.ID == "" {
				step.ID = fmt.Sprintf("call_%d_%d_%d", l.Number, calls, v.Count)
			}
			step.Input = filled(step, v)
			start := &model.BlockStart{Index: index, Type: protocol.BlockToolUse, CallID: step.ID, Name: step.Text}
			index++
			if !yield(Piece{Start: start}) {
				return
			}
			input := step.Input
			if step.Cut {
				input = input[:len(input)/2]
			}
			if !s.chunks(input, rnd, yield) {
				return
			}
			if step.Cut {
				yield(Piece{Op: OpCut, Step: step})
				return
			}
			if !yield(Piece{End: &step}) {
				return
			}
		default:
			if !yield(Piece{Op: step.Op, Step: step}) {
				return
			}
		}
	}
}

// filled returns the input of a call with its fields filled from the request: the
// first group of the pattern's newest match, or all of it without a group. A
// field without a match, or of an input that is not an object, stays as it is.
func filled(step Step, v View) string {
	var fields map[string]any
	if len(step.Fill) == 0 || v.Whole == nil || json.Unmarshal([]byte(step.Input), &fields) != nil || fields == nil {
		return step.Input
	}
	whole := v.Whole()
	for _, f := range step.Fill {
		if all := f.Pattern.FindAllStringSubmatch(whole, -1); len(all) > 0 {
			match := all[len(all)-1]
			fields[f.Field] = match[min(1, len(match)-1)]
		}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		return step.Input
	}
	return string(input)
}

// playText plays a block that begins at step i and returns its last step, or -1
// when yield has had enough. Waits inside do not end the block.
func (s *Script) playText(steps []Step, i int, kind protocol.BlockType, index int, rnd *rand.Rand, yield func(Piece) bool) int {
	if !yield(Piece{Start: &model.BlockStart{Index: index, Type: kind}}) {
		return -1
	}
	whole := Step{Op: steps[i].Op}
	for {
		if steps[i].Op == OpWait {
			if !yield(Piece{Op: OpWait, Step: steps[i]}) {
				return -1
			}
		} else {
			whole.Text += steps[i].Text
			if !s.chunks(steps[i].Text, rnd, yield) {
				return -1
			}
		}
		next := i + 1
		for next < len(steps) && steps[next].Op == OpWait {
			next++
		}
		if next == len(steps) || steps[next].Op != whole.Op {
			break
		}
		i++
	}
	if breaks(steps[i+1:]) { // in the middle of the block
		return i
	}
	if !yield(Piece{End: &whole}) {
		return -1
	}
	return i
}

// breaks reports whether the next thing that happens is a failure.
func breaks(steps []Step) bool {
	for _, s := range steps {
		switch s.Op {
		case OpWait:
			continue
		case OpError, OpCut, OpHang, OpGarbage, OpHTML:
			return true
		}
		return false
	}
	return false
}

func (s *Script) chunks(text string, rnd *rand.Rand, yield func(Piece) bool) bool {
	for text != "" {
		n := s.Chunk
		if n > 0 && s.Seed != 0 {
			n = 1 + rnd.IntN(2*n)
		}
		end := len(text)
		if n > 0 {
			end = 0
			for ; n > 0 && end < len(text); n-- {
				_, size := utf8.DecodeRuneInString(text[end:])
				end += size
			}
		}
		if !yield(Piece{Chunk: text[:end]}) {
			return false
		}
		text = text[end:]
	}
	return true
}
