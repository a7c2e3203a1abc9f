package exit

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"scorel/protocol"
)

func TestCodeOfAnErrorIsThatOfItsKind(t *testing.T) {
	for want, errs := range map[int][]error{
		Usage:     {Usagef("no folder"), fmt.Errorf("wrapped: %w", Usagef("x")), protocol.Errorf(protocol.CodeSessionNotFound, "none")},
		Failed:    {errors.New("x"), protocol.Errorf(protocol.CodeStorageError, "full")},
		Cancelled: {fmt.Errorf("x: %w", context.Canceled), Interruptedf("nothing was written")},
		Unasked:   {protocol.Errorf(protocol.CodePermissionDenied, "a hook refused the message")},
		Pipe:      {fmt.Errorf("write: %w", syscall.EPIPE)},
	} {
		for _, err := range errs {
			if got := Code(err); got != want {
				t.Errorf("%v ends with %d, want %d", err, got, want)
			}
		}
	}
}
