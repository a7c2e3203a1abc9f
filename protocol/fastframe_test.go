package protocol

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

func eventsFrame(t testing.TB, n int) []byte {
	t.Helper()
	r := rand.NewChaCha8([32]byte{2})
	f := &EventsFrame{SessionID: "ses_00000000000000000000000001", Events: []Event{}}
	types := append(persistentTypes(), transientTypes()...)
	for i := range n {
		f.Events = append(f.Events, sample(types[i%len(types)], r))
	}
	data, err := MarshalFrame(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// slowEvents reads a frame of events with encoding/json.
func slowEvents(data []byte) (*EventsFrame, error) {
	f := &EventsFrame{}
	err := json.Unmarshal(data, f)
	return f, err
}

func TestFramesOfEventsAreReadAsEncodingJSONReadsThem(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		data := eventsFrame(t, n)
		fast := fastEvents(data)
		slow, err := slowEvents(data)
		if err != nil || fast == nil || !reflect.DeepEqual(fast, slow) {
			t.Errorf("%d events: %v\n%+v\n%+v", n, err, fast, slow)
		}
		for cut := range data { // a frame that was cut off is none
			if fastEvents(data[:cut]) != nil {
				t.Fatalf("%q was read", data[:cut])
			}
			if cut > 500 {
				break
			}
		}
	}
}

func FuzzFramesOfEvents(f *testing.F) {
	f.Add(eventsFrame(f, 3))
	f.Add([]byte(eventsHead + `ses_00000000000000000000000001","events":[]}`))
	f.Add([]byte(eventsHead + `ses_00000000000000000000000001","events":[{"type":"turn_start","seq":1,"turnIndex":1},{}]}`))
	f.Add([]byte(eventsHead + `ses_00000000000000000000000001","events":[null],"x":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fast := fastEvents(data)
		if fast == nil {
			return
		}
		slow, err := slowEvents(data)
		if err != nil || !reflect.DeepEqual(fast, slow) {
			t.Fatalf("%q is\n%+v\nfor encoding/json\n%+v (%v)", data, fast, slow, err)
		}
	})
}

func BenchmarkParseFrameOfEvents(b *testing.B) {
	data := eventsFrame(b, 100)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseFrame(data); err != nil {
			b.Fatal(err)
		}
	}
}
