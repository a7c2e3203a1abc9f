package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func benchCall(b *testing.B, cfg Config, dir string) {
	s := New(cfg)
	b.ReportAllocs()
	for b.Loop() {
		c := bash("true", nil)
		c.Dir = dir
		child, err := s.Start(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		if exit := child.Wait(); exit.Code != 0 {
			b.Fatalf("%+v", exit)
		}
	}
}

func BenchmarkPlainCall(b *testing.B) {
	dir := b.TempDir()
	benchCall(b, Config{RunDir: filepath.Join(dir, "run")}, dir)
}

func BenchmarkSandboxedCall(b *testing.B) {
	for name, network := range map[string]bool{"network": true, "loopback": false} {
		b.Run(name, func(b *testing.B) {
			home := b.TempDir()
			ws, closed := filepath.Join(home, "ws"), filepath.Join(home, ".scorel")
			for _, dir := range []string{ws, closed} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					b.Fatal(err)
				}
			}
			temp, err := NewTemp(b.TempDir(), "bench")
			if err != nil {
				b.Fatal(err)
			}
			defer temp.Close()
			benchCall(b, Config{RunDir: filepath.Join(home, "run"), Profile: &Profile{Mode: WorkspaceWrite, Network: network, Home: home,
				Closed: []string{closed}, Roots: []string{ws}, TempDir: temp.Dir, Environ: os.Environ()}}, ws)
		})
	}
}
