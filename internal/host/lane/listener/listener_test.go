package listener

import (
	"testing"

	"scorel/internal/host/lane/notice"
)

func TestWithoutHooksNobodyWatches(t *testing.T) {
	l := New(nil, notice.New(nil))
	l.Handshake(t.Context(), nil, false, nil)
	l.EmitEvent("notification", struct {
		Message string `json:"message"`
	}{"x"})
	if l.cast != nil || l.begun || l.list.Load() != nil {
		t.Error("a session without hooks carries something of them")
	}
	l.NotifyEnd()
}
