package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

// aside makes a completion that never waits, and counts how often it would have.
func aside(t *testing.T, waits *int, lines ...string) Completion {
	return Completion{Model: harness.Scripted(t, "script:aside", lines...), Tries: 3, Rand: rand.Reader, Sleep: func(ctx context.Context, _ time.Duration) error {
		*waits++
		return ctx.Err()
	}}
}

func asked(text string) model.Request {
	return model.Request{Messages: []protocol.Message{protocol.UserText(text)}}
}

func TestARequestBesideAConversationIsTriedAgainAFewTimes(t *testing.T) {
	waits := 0
	c := aside(t, &waits, `{"do":[{"error":{"status":529}}]}`, `{"do":[{"text":"ha"},{"cut":true}]}`, `{"do":[{"text":"whole"}]}`)
	m, err := Complete(t.Context(), c, asked("x"))
	if err != nil || m.PlainText() != "whole" || m.Role != protocol.RoleAssistant || m.StopReason != protocol.StopEndTurn || m.Usage == nil || m.Usage.OutputTokens == 0 {
		t.Fatalf("%+v %v", m, err)
	}
	if waits != 2 {
		t.Errorf("%d waits", waits)
	}
	waits = 0
	var me *model.Error
	if m, err := Complete(t.Context(), aside(t, &waits, `{"again":true,"do":[{"text":"ha"},{"cut":true}]}`), asked("x")); !errors.As(err, &me) || len(m.Content) > 0 {
		t.Errorf("%+v %v", m, err)
	}
	if waits != 2 {
		t.Errorf("%d waits of 3 tries", waits)
	}
	waits = 0
	if _, err := Complete(t.Context(), aside(t, &waits, `{"again":true,"do":[{"error":{"status":401}}]}`), asked("x")); !errors.As(err, &me) || me.Class != model.ClassAuth || waits != 0 {
		t.Errorf("%v, %d waits", err, waits)
	}
}

func TestACancelledRequestBesideAConversationEndsWithThatError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits := 0
	c := aside(t, &waits, `{"again":true,"do":[{"error":{"status":500}}]}`)
	c.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if _, err := Complete(ctx, c, asked("x")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTheOutputLimitOfARequestBesideAConversationIsTheModels(t *testing.T) {
	waits := 0
	c := aside(t, &waits, `{"do":[{"text":"ok"}]}`)
	m := &limited{Model: c.Model, max: 100}
	c.Model = m
	req := asked("x")
	req.MaxTokens = 4000
	if _, err := Complete(t.Context(), c, req); err != nil || len(m.requests) != 1 || m.requests[0] != 100 {
		t.Errorf("%v %v", m.requests, err)
	}
}
