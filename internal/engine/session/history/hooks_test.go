package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"scorel/protocol"
)

// sometimes are hooks that leave a list as it is, or touch it.
type sometimes struct {
	unchanged
	touch bool
}

func (s *sometimes) Context(_ context.Context, list []Element) ([]Element, error) {
	if s.touch && len(list) > 0 {
		return append(list[:len(list)-1:len(list)-1], list[len(list)-1].With(protocol.UserText("touched"))), nil
	}
	return list, nil
}

// TestHooksThatTouchNothingGiveWhatIsBuiltWithoutThem builds after every event, with
// hooks that touch the list now and then in between.
func TestHooksThatTouchNothingGiveWhatIsBuiltWithoutThem(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := newTalk()
		hooks := &sometimes{}
		plain, err := New(Config{Log: s.log})
		if err != nil {
			t.Fatal(err)
		}
		hooked, err := New(Config{Log: s.log, Hooks: hooks})
		if err != nil {
			t.Fatal(err)
		}
		s.user("begin")
		for i := range 60 {
			switch rnd.IntN(5) {
			case 0:
				s.user(fmt.Sprint("user ", i))
			case 1:
				s.item(protocol.ItemHookContext, fmt.Sprint("note ", i))
			case 2:
				s.say(fmt.Sprint("answer ", i))
			default:
				id := fmt.Sprint("call_", i)
				s.say("", id)
				plain.Extend(s.last)
				hooked.Extend(s.last)
				s.result(id, fmt.Sprint("result ", i))
			}
			plain.Extend(s.last)
			hooked.Extend(s.last)
			if hooks.touch = rnd.IntN(3) == 0; hooks.touch {
				c, err := hooked.Build(t.Context(), s.leaf, window)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(c.Messages, func(m protocol.Message) bool { return strings.Contains(m.PlainText(), "touched") }) {
					t.Fatalf("the hooks did not touch: %+v", c.Messages)
				}
				hooks.touch = false
			}
			a, err := plain.Build(t.Context(), s.leaf, window)
			if err != nil {
				t.Fatal(err)
			}
			b, err := hooked.Build(t.Context(), s.leaf, window)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a.Messages, b.Messages) || a.Tokens != b.Tokens {
				t.Fatalf("seed %d, event %d: %d tokens and %d\n%+v\n%+v", seed, i, a.Tokens, b.Tokens, a.Messages, b.Messages)
			}
		}
	}
}
