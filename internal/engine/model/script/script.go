package script

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// Config returns what to play.
type Config struct {
	Script *Script
	Ref    string // empty: "script:" and the script's name
	// Sleep waits or ends with the error of ctx; nil waits by the real clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Model plays a script. It implements [model.Model].
type Model struct {
	player *Player
	info   model.Info
	sleep  func(context.Context, time.Duration) error
}

// maxTokens is the output limit that a script model announces.
const maxTokens = 32_000

// New makes a model that has played nothing yet.
func New(c Config) *Model {
	if c.Ref == "" {
		c.Ref = "script:" + c.Script.Name
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	return &Model{
		player: NewPlayer(c.Script),
		sleep:  c.Sleep,
		info: model.Info{
			Ref:           c.Ref,
			Provider:      "script",
			ID:            filepath.Base(c.Script.Name),
			API:           model.APIScript,
			ContextWindow: c.Script.Window,
			MaxTokens:     maxTokens,
			Images:        true,
			PDF:           true,
			PriceKnown:    true, // what the usage of its lines says
			Thinking:      []model.ThinkingLevel{model.ThinkingLow, model.ThinkingMedium, model.ThinkingHigh},
		},
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Info returns what the model is.
func (m *Model) Info() model.Info { return m.info }

// Stream plays the line that fits.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		view := ViewOf(req)
		line, err := m.player.Next(view)
		if err != nil {
			yield(nil, &model.Error{Class: model.ClassInvalid, Message: err.Error()})
			return
		}
		p := playing{m: m, ctx: ctx, line: line, yield: yield, pace: Pace{Every: m.player.Script.Delay}}
		m.player.Script.Play(line, view, p.piece)
		if p.ended {
			return
		}
		usage := protocol.Usage{InputTokens: model.EstimateRequest(req), OutputTokens: model.EstimateText(p.output.String())}
		if line.Usage != nil {
			usage = *line.Usage
		}
		yield(model.Done{StopReason: line.Stop, Usage: usage}, nil)
	}
}

// playing is one answer on its way.
type playing struct {
	m      *Model
	ctx    context.Context
	line   *Line
	yield  func(model.Delta, error) bool
	pace   Pace
	block  model.BlockStart
	output strings.Builder
	text   strings.Builder // of a block whose pieces are stamped
	ended  bool            // by an error or by the consumer
}

func (p *playing) piece(piece Piece) bool {
	if err := p.ctx.Err(); err != nil {
		return p.fail(err)
	}
	switch {
	case piece.Start != nil:
		p.block = *piece.Start
		p.text.Reset()
		return p.give(p.block)
	case piece.End != nil:
		return p.give(p.end(*piece.End))
	case piece.Op != "":
		return p.event(piece)
	}
	if p.pace.Every > 0 {
		if err := p.m.sleep(p.ctx, p.pace.Next(time.Now())); err != nil {
			return p.fail(err)
		}
	}
	if p.m.player.Script.Stamp && p.block.Type == protocol.BlockText {
		piece.Chunk = fmt.Sprintf("@%d;%s", time.Now().UnixNano(), piece.Chunk)
		p.text.WriteString(piece.Chunk)
	}
	p.output.WriteString(piece.Chunk)
	switch p.block.Type {
	case protocol.BlockThinking:
		return p.give(model.ThinkingDelta{Index: p.block.Index, Text: piece.Chunk})
	case protocol.BlockToolUse:
		return p.give(model.CallDelta{Index: p.block.Index, JSON: piece.Chunk})
	}
	return p.give(model.TextDelta{Index: p.block.Index, Text: piece.Chunk})
}

func (p *playing) end(step Step) model.Delta {
	switch step.Op {
	case OpCall:
		return model.CallEnd(p.block.Index, step.ID, step.Text, step.Input)
	case OpThinking:
		return model.BlockEnd{Index: p.block.Index, Block: protocol.Block{
			Type: protocol.BlockThinking, Thinking: step.Text, Signature: "script",
		}}
	}
	if p.m.player.Script.Stamp {
		return model.BlockEnd{Index: p.block.Index, Block: protocol.Text(p.text.String())}
	}
	return model.BlockEnd{Index: p.block.Index, Block: protocol.Text(step.Text)}
}

func (p *playing) event(piece Piece) bool {
	switch piece.Op {
	case OpWait:
		if err := p.m.sleep(p.ctx, piece.Step.Wait); err != nil {
			return p.fail(err)
		}
		p.pace.Restart()
		return true
	case OpHang:
		<-p.ctx.Done()
		return p.fail(p.ctx.Err())
	case OpError:
		return p.fail(p.failure(piece.Step.Error))
	case OpGarbage:
		return p.fail(p.error(model.ClassTransient, "an event that is not valid JSON"))
	case OpHTML:
		return p.fail(p.error(model.ClassTransient, "an HTML page instead of an answer"))
	}
	return p.fail(p.error(model.ClassTransient, "the answer ended before it was complete"))
}

func (p *playing) error(class model.Class, text string) *model.Error {
	return &model.Error{Class: class, Message: fmt.Sprintf("%s:%d: %s", p.m.player.Script.Name, p.line.Number, text)}
}

func (p *playing) failure(f Failure) *model.Error {
	text := f.Message
	if text == "" {
		text = fmt.Sprintf("the script answers %d", f.Status)
	}
	e := p.error(f.Class(), text)
	e.Status = f.Status
	e.RetryAfter = time.Duration(f.RetryAfter * float64(time.Second))
	return e
}

// Class is the class of the failure, by its status as the vendors use them.
func (f Failure) Class() model.Class {
	switch {
	case f.TooLong, f.Status == http.StatusRequestEntityTooLarge:
		return model.ClassTooLong
	case f.Status == 529:
		return model.ClassOverloaded
	case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden:
		return model.ClassAuth
	case f.Status == 0, f.Status == http.StatusRequestTimeout, f.Status == http.StatusConflict,
		f.Status == http.StatusTooManyRequests, f.Status >= 500:
		return model.ClassTransient
	}
	return model.ClassInvalid
}

func (p *playing) give(d model.Delta) bool {
	if !p.yield(d, nil) {
		p.ended = true
	}
	return !p.ended
}

func (p *playing) fail(err error) bool {
	p.ended = true
	p.yield(nil, err)
	return false
}
