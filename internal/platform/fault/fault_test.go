package fault

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestAPanicUnderTheMutexOfASessionKeepsEverybodyOut(t *testing.T) {
	for name, deferred := range map[string]bool{"with a deferred unlock": true, "without one": false} {
		told := make(chan *Panic, 2)
		f := NewFuse(func(p *Panic) { told <- p })
		m := NewMutex(f)
		var wg sync.WaitGroup
		m.Lock()
		entered := 0
		for range 3 { // who waits, and who comes later
			wg.Go(func() {
				defer f.Catch()
				m.Lock()
				entered++
			})
		}
		wg.Go(func() {
			defer f.Catch()
			if deferred {
				defer m.Unlock()
			}
			panic("half done")
		})
		wg.Wait()
		p := <-told
		if entered != 0 || !strings.Contains(p.Error(), "half done") || !strings.Contains(string(p.Stack), "fault_test.go") {
			t.Errorf("%s: %d came in; %v\n%s", name, entered, p, p.Stack)
		}
		if f.Panic() != p || len(told) != 0 {
			t.Errorf("%s: it was told of more than the first", name)
		}
		func() {
			defer func() {
				if recover() != any(p) {
					t.Errorf("%s: who comes later is not unwound by the first panic", name)
				}
			}()
			m.Lock()
		}()
	}
}

func TestAPanicUnderWhatAllShareIsFatal(t *testing.T) {
	for name, deferred := range map[string]bool{"with a deferred unlock": true, "without one": false} {
		var died *Panic
		m := &Shared{Fatal: func(p *Panic) { died = p }}
		func() {
			defer func() {
				if p := Caught(recover()); died == nil {
					m.Check(p)
				}
			}()
			m.Lock()
			if deferred {
				defer m.Unlock()
			}
			panic(errors.New("half done"))
		}()
		if died == nil || !strings.Contains(died.Error(), "half done") {
			t.Errorf("%s: it is %v", name, died)
		}
	}
	m := &Shared{Fatal: func(p *Panic) { t.Errorf("fatal: %v", p) }}
	m.Check(&Panic{Value: "elsewhere"})
}

func TestAPanicInAGroupIsMetByWhoWaits(t *testing.T) {
	var g Group
	ended := make(chan int, 3)
	for i := range 3 {
		g.Go(func() {
			defer func() { ended <- i }()
			if i == 1 {
				panic("one of them")
			}
		})
	}
	func() {
		defer func() {
			p, ok := recover().(*Panic)
			if !ok || p.Value != "one of them" || !strings.Contains(string(p.Stack), "fault_test.go") {
				t.Errorf("it met %+v", p)
			}
		}()
		g.Wait()
		t.Error("nobody met the panic")
	}()
	if len(ended) != 3 {
		t.Errorf("%d had ended", len(ended))
	}
}
