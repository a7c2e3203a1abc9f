package extensions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"scorel/internal/extension/rpc"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// Bounds of what a client takes along to another session.
const (
	maxCarried        = 256 << 10 // bytes of a text for its editor, and of a message
	maxCarriedNotices = 8
)

// Movement is where a command leads the client that sent it. It may be used concurrently.
type Movement struct {
	by lane.Caller

	mu    sync.Mutex
	going bool // a session is being found or made
	move  *protocol.Move
}

// movementKey is the key of the [Movement] of a command.
type movementKey struct{}

// WithMovement returns a context of a command that may lead the client that sent it
// elsewhere.
func WithMovement(ctx context.Context, by lane.Caller) (context.Context, *Movement) {
	m := &Movement{by: by}
	return context.WithValue(ctx, movementKey{}, m), m
}

// Move returns where the command led, nil for nowhere. m may be nil.
func (m *Movement) Move() *protocol.Move {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.move
}

// begin takes the movement for one caller.
func (m *Movement) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.going || m.move != nil {
		return errors.New("this command leads to another session already; one command leads to one")
	}
	m.going = true
	return nil
}

// end keeps where it leads, nil for nowhere.
func (m *Movement) end(move *protocol.Move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.going, m.move = false, move
}

var errNoMovement = errors.New("a session can be left only by a command that somebody has typed in a terminal while no turn runs; ask the person to do it with /new, /fork, /resume or /quit")

// moved is the answer to a move.
type moved struct {
	Cancelled bool   `json:"cancelled"`
	Editor    string `json:"editor,omitempty"` // the message of a person that tree has led to before
}

// move leads the client whose command runs to another session, unless hooks refuse it.
func (x *Session) move(ctx context.Context, p *rpc.Move) (any, error) {
	if p.To == rpc.MoveTree {
		return x.navigate(ctx, p)
	}
	m, _ := ctx.Value(movementKey{}).(*Movement)
	if m == nil {
		return nil, errNoMovement
	}
	if err := m.begin(); err != nil {
		return nil, err
	}
	by := x.caller()
	by.Client = m.by.Client
	to, err := x.destination(ctx, by, p)
	if err != nil {
		m.end(nil)
		if protocol.AsError(err).Code == protocol.CodePermissionDenied {
			return moved{Cancelled: true}, nil
		}
		return nil, err
	}
	m.end(to)
	return moved{}, nil
}

// navigate sets the leaf to an entry, or before it when that is a message of a person, unless
// hooks refuse it.
func (x *Session) navigate(ctx context.Context, p *rpc.Move) (any, error) {
	to, text, err := x.before(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, err := x.lane.Navigate(ctx, x.caller(), to); err != nil {
		if protocol.AsError(err).Code == protocol.CodePermissionDenied {
			return moved{Cancelled: true}, nil
		}
		return nil, err
	}
	return moved{Editor: text}, nil
}

// before returns the entry that a move names, or, of a message of a person, its text and the
// entry before it, "" for the beginning.
func (x *Session) before(ctx context.Context, p *rpc.Move) (to protocol.EventID, text string, err error) {
	e, err := x.lane.Log().Index().Event(ctx, protocol.EventID(p.EntryID))
	if err != nil {
		return "", "", fmt.Errorf("the entry %.100q cannot be found: %w", p.EntryID, err)
	}
	if b, ok := e.Body.(*protocol.MessageBody); ok && b.Message.Role == protocol.RoleUser && p.Position != "at" {
		return e.ParentID, b.Message.PlainText(), nil
	}
	return e.ID, "", nil
}

// destination finds or makes what a move leads to.
func (x *Session) destination(ctx context.Context, by lane.Caller, p *rpc.Move) (*protocol.Move, error) {
	switch p.To {
	case rpc.MoveQuit:
		return &protocol.Move{Quit: true}, nil
	case rpc.MoveNew:
		return x.fresh(ctx, by)
	case rpc.MoveSwitch:
		id := protocol.SessionID(strings.TrimSuffix(filepath.Base(p.Session), ".jsonl"))
		if err := x.exts.upper.HasSession(ctx, id); err != nil {
			return nil, fmt.Errorf("the session %.100q cannot be opened: %w", p.Session, err)
		}
		if err := x.lane.AskSwitch(ctx, "resume", id); err != nil {
			return nil, err
		}
		return &protocol.Move{SessionID: id}, nil
	case rpc.MoveFork:
		at, text, err := x.before(ctx, p)
		if err != nil {
			return nil, err
		}
		if at == "" {
			to, err := x.fresh(ctx, by)
			if err != nil {
				return nil, err
			}
			to.Editor = text
			left, err := x.exts.upper.CarryMode(ctx, by, x.lane.Mode(), to.SessionID)
			if left != "" {
				to.Notices = append(to.Notices, left)
			}
			return to, err
		}
		id, notices, err := x.exts.upper.CloneSession(ctx, by, x.lane.ID(), at)
		return &protocol.Move{SessionID: id, Editor: text, Notices: notices}, err
	}
	return nil, fmt.Errorf("a move leads to %s, %s, %s or %s, and not to %.40q", rpc.MoveNew, rpc.MoveFork, rpc.MoveSwitch, rpc.MoveQuit, p.To)
}

// fresh makes a session like this one.
func (x *Session) fresh(ctx context.Context, by lane.Caller) (*protocol.Move, error) {
	if err := x.lane.AskSwitch(ctx, "new", ""); err != nil {
		return nil, err
	}
	meta := x.lane.Meta()
	id, err := x.exts.upper.CreateSession(ctx, by, protocol.Meta{ProjectID: meta.ProjectID, WorkDir: meta.WorkDir, Model: meta.Model, ThinkingLevel: meta.ThinkingLevel})
	return &protocol.Move{SessionID: id, Made: true}, err
}

// carry has the client take something along to the session that it is led to.
func (x *Session) carry(ctx context.Context, p *rpc.Carry) error {
	m, _ := ctx.Value(movementKey{}).(*Movement)
	if m == nil {
		return errNoMovement
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.move == nil || m.move.Quit {
		return errors.New("this command leads to no session that something could be taken along to")
	}
	for _, text := range []*string{p.Editor, p.Message} {
		if text != nil && len(*text) > maxCarried {
			return fmt.Errorf("a text for another session has %d bytes; at most %d", len(*text), maxCarried)
		}
	}
	if p.Editor != nil {
		m.move.Editor = *p.Editor
	}
	if p.Message != nil {
		m.move.Message = *p.Message
	}
	if p.Notice != "" {
		if len(m.move.Notices) >= maxCarriedNotices {
			return fmt.Errorf("there are %d notices for the other session already", maxCarriedNotices)
		}
		m.move.Notices = append(m.move.Notices, x.keys.Clean(p.Notice))
	}
	return nil
}
