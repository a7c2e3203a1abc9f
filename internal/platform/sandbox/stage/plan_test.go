package stage

import (
	"reflect"
	"strings"
	"testing"
)

func full() *Plan {
	return &Plan{Namespaces: true, Network: NetworkLoopback, NoUnix: true, FileCaps: true, Temp: "/tmp/x/t", Writable: []string{"/w", "/odd \n$'\"ü"}, Readable: []string{"/w"},
		Pinned: []string{"/w/.git"}, ReadOnly: []string{"/w/.git/config"}, Hidden: []string{"/h"}, Shown: []string{"/h/skills/a b"}, Socket: "/s", SocketAt: "/t", Extra: 1, Dir: "/w", Path: "/bin/bash",
		Args: []string{"bash", "", "-c", "echo \xff"}}
}

func TestAPlanComesBackAsItWas(t *testing.T) {
	for _, p := range []*Plan{full(), {Network: NetworkOpen, Temp: "/tmp/x/t", Dir: "/", Path: "/bin/true", Args: []string{"true"}}} {
		data, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%+v, %v\nwant %+v", got, err, p)
		}
	}
}

func TestAPlanThatSaysTooLittleOrTooMuchIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"names no command":              func(p *Plan) { p.Args = nil },
		"not absolute and clean":        func(p *Plan) { p.Hidden = []string{"/a/../b"} },
		"is not the plan of a command":  func(p *Plan) { p.Args = []string{"a\x00plan\x00x"} },
		"wrong number of descriptors":   func(p *Plan) { p.Extra = 7 },
		"unknown network":               func(p *Plan) { p.Network = "half" },
		"no folder for temporary files": func(p *Plan) { p.Temp = "/tmp/t" },
		"what the network is":           func(p *Plan) { p.Namespaces = false },
		"socket without a place":        func(p *Plan) { p.SocketAt = "" },
		"more than 4096 paths":          func(p *Plan) { p.Writable = strings.Split(strings.Repeat("/a ", 4096)+"/a", " ") },
		"more than 1048576 bytes":       func(p *Plan) { p.Args = []string{strings.Repeat("x", MaxPlan)} },
	} {
		p := full()
		change(p)
		if _, err := p.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	data, err := full().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := Decode(data[:n]); err == nil {
			t.Errorf("a plan cut at %d of %d is taken", n, len(data))
		}
	}
	if _, err := Decode(append(data, 0)); err == nil {
		t.Error("what stands behind the end is taken")
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range []*Plan{full(), {Network: NetworkOpen, Temp: "/tmp/x/t", Dir: "/", Path: "/bin/true", Args: []string{"true"}}} {
		data, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("plan\x00scorel-stage 1\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatalf("a plan that was read cannot be written: %v", err)
		}
		if q, err := Decode(again); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("%+v, %v\nwant %+v", q, err, p)
		}
	})
}
