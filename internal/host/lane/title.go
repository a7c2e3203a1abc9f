package lane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// titleKind is the kind of the event that says that a model is asked for the title of
// the session. It is stored before the request, so that there is never a second one.
const titleKind = protocol.OwnKind + "title"

// Bounds of what a title is made from, in characters of each text, and of the messages
// that are looked through for it.
const (
	maxTitleText   = 2000
	maxTitleSearch = 400
)

// BeginTitle returns what a title for the session can be made from: the first message of
// a person and the answer to it, both cut. It is false where none is to be made: the
// session has or had a name, a title was asked for already, or there is no answer yet.
// Where it is true, that a title is asked for is durable, with the model that will be.
func (l *Lane) BeginTitle(ctx context.Context, model string) (prompt, answer string, ok bool, err error) {
	if named, err := l.named(ctx); err != nil || named {
		return "", "", false, err
	}
	if prompt, answer, err = firstExchange(ctx, l.j.Index()); err != nil || answer == "" {
		return "", "", false, err
	}
	data, err := json.Marshal(map[string]string{"model": model})
	if err != nil {
		return "", "", false, err
	}
	_, err = l.Control(ctx, &protocol.Custom{Kind: titleKind, Data: data})
	return prompt, answer, err == nil, err
}

// named reports whether somebody has named the session, or a model was asked to.
func (l *Lane) named(ctx context.Context) (bool, error) {
	if l.Meta().Name != "" {
		return true, nil
	}
	for e, err := range l.j.Index().OfType(ctx, protocol.TypeSessionInfo, protocol.TypeCustom) {
		if err != nil {
			return false, err
		}
		switch b := e.Body.(type) {
		case *protocol.SessionInfo:
			if b.Changes.Name != nil {
				return true, nil
			}
		case *protocol.Custom:
			if b.Kind == titleKind {
				return true, nil
			}
		}
	}
	return false, nil
}

// firstExchange returns the first message of a person and the last text of the answer to
// it; the answer is "" before there is one.
func firstExchange(ctx context.Context, index *session.Index) (prompt, answer string, err error) {
	n := 0
	for e, err := range index.OfType(ctx, protocol.TypeMessage) {
		if err != nil {
			return "", "", err
		}
		if n++; n > maxTitleSearch {
			break
		}
		m, ok := e.Message()
		switch {
		case !ok:
		case m.Role == protocol.RoleUser && prompt == "":
			prompt = cutTitleText(m.PlainText())
		case m.Role == protocol.RoleUser && m.Meta == nil && answer != "":
			return prompt, answer, nil
		case m.Role == protocol.RoleAssistant && !m.Partial && prompt != "":
			if text := cutTitleText(m.PlainText()); text != "" {
				answer = text
			}
		}
	}
	return prompt, answer, nil
}

func cutTitleText(text string) string {
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxTitleText {
		return string(r[:maxTitleText])
	}
	return text
}

// EndTitle names the session on the host's behalf, unless somebody has named it since
// [Lane.BeginTitle]; it reports whether it did. It returns when the name is durable.
func (l *Lane) EndTitle(ctx context.Context, title string) (bool, error) {
	var ticket *publish.Ticket
	err := l.j.Write(ctx, func() (err error) {
		if err := l.j.Writable(); err != nil || l.j.Meta().Name != "" {
			return err
		}
		_, ticket, err = l.j.Append(ctx, &protocol.SessionInfo{Changes: protocol.MetaChanges{Name: &title}}, journal.ByHost())
		if err != nil {
			return fmt.Errorf("name the session: %w", err)
		}
		return nil
	})
	if err != nil || ticket == nil {
		return false, err
	}
	return true, ticket.Wait(ctx)
}
