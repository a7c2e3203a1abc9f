package permission

import "testing"

func TestTheTighterOfTwoModesIsTheOneThatDoesLessUnasked(t *testing.T) {
	order := []Mode{Plan, DontAsk, Default, AcceptEdits, Bypass}
	for i, a := range order {
		for k, b := range order {
			if got := Tighter(a, b); got != order[min(i, k)] {
				t.Errorf("of %s and %s the tighter is %s", a, b, got)
			}
		}
		if Tighter(a, "") != a || Tighter("", a) != a {
			t.Errorf("%s beside no mode: %s, %s", a, Tighter(a, ""), Tighter("", a))
		}
	}
}
