package ordered

import (
	"context"
	"testing"

	"scorel/internal/platform/fault"
)

func TestAPanicOfAJobIsMetInItsTurnWhenAllHaveEnded(t *testing.T) {
	given, ran := 0, make(chan int, 100)
	next := func() func(context.Context) int {
		if given == 10 {
			return nil
		}
		given++
		n := given
		return func(context.Context) int {
			defer func() { ran <- n }()
			if n == 4 {
				panic("the fourth")
			}
			return n
		}
	}
	var got []int
	func() {
		defer func() {
			if p, ok := recover().(*fault.Panic); !ok || p.Value != "the fourth" {
				t.Errorf("it met %v", p)
			}
		}()
		Run(t.Context(), 3, next, func(n int) bool { got = append(got, n); return true })
	}()
	if len(got) != 3 || len(ran) != given {
		t.Errorf("given were %v, %d of %d jobs had ended", got, len(ran), given)
	}
}
