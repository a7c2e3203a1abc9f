package protocol

import "testing"

func TestWhenIsDueByExactlyOneThing(t *testing.T) {
	for _, w := range []When{{Cron: "0 9 * * *"}, {Cron: "0 9 * * *", Zone: "Europe/Berlin"}, {EverySeconds: MinEverySeconds}, {EverySeconds: MaxEverySeconds}, {At: 1}, {At: maxMilliseconds}} {
		if p := w.Check(); p != nil {
			t.Errorf("%+v: %s", w, p.Text)
		}
	}
	for field, w := range map[string]When{
		"cron":         {},
		"at":           {Cron: "0 9 * * *", At: 1},
		"zone":         {EverySeconds: 60, Zone: "UTC"},
		"everySeconds": {EverySeconds: MinEverySeconds - 1},
	} {
		if p := w.Check(); p == nil || p.Field != field {
			t.Errorf("%+v: %+v, want a problem of %s", w, p, field)
		}
	}
}
