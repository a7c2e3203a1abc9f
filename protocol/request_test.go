package protocol

import (
	"errors"
	"strings"
	"testing"
)

func TestAMessageOfAClientHasAtMostOneMebibyte(t *testing.T) {
	message := func(n int) []byte {
		head := `{"type":"follow_up","requestId":"req_00000000000000000000000000","sessionId":"ses_00000000000000000000000001","content":[{"type":"text","text":"`
		tail := `"}]}`
		return []byte(head + strings.Repeat("x", n-len(head)-len(tail)) + tail)
	}
	_, err := ParseCall(message(MaxMessage + 1))
	var pe *Error
	if !errors.As(err, &pe) || pe.Code != CodePayloadTooLarge {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := ParseCall(message(MaxMessage)); errors.As(err, &pe) && pe.Code == CodePayloadTooLarge {
		t.Errorf("the longest message: %v", err)
	}
}
