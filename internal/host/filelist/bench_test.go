package filelist

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/host/settings"
	"scorel/internal/text/fuzzy"
	"scorel/protocol"
)

// benchFiles makes a tree of 200,000 files in 4,000 folders, with 20,000 more that
// are ignored, as of a large repository with its build outputs; a tenth of it where
// benchmarks run once, to see that they run.
func benchFiles(b *testing.B) string {
	b.Helper()
	folders := 4000
	if once := flag.Lookup("test.benchtime"); once != nil && once.Value.String() == "1x" {
		folders /= 10
	}
	root := b.TempDir()
	parts := []string{"server", "client", "storage", "network", "render", "parser", "account", "billing"}
	for i := range folders {
		dir := filepath.Join(root, parts[i%8], fmt.Sprintf("%s%d", parts[i/8%8], i/64), fmt.Sprintf("module%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for k := range 50 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_%s%d.go", parts[k%8], parts[(k+i)%8], k)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		for k := range 5 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("out%d.o", k)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.o\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	return root
}

// BenchmarkFilesOfALargeTree returns what somebody who types after an @ waits for: the
// first answer, and those while the list is there.
func BenchmarkFilesOfALargeTree(b *testing.B) {
	root := benchFiles(b)
	h := New(settings.New(settings.Config{UserHome: b.TempDir(), Dir: b.TempDir()}))
	rootOf := func(protocol.ProjectID) (string, error) { return root, nil }
	ask := func(lists *lists, query string) *fuzzy.List {
		list, _, err := lists.get(context.Background(), "prj_1", rootOf, h.takeFiles)
		if err != nil {
			b.Fatal(err)
		}
		if found, _ := list.Find(query, filesLimit); len(found) == 0 && !list.Cut() {
			b.Fatalf("nothing found for %q", query)
		}
		return list
	}
	b.Run("first answer", func(b *testing.B) {
		var whole time.Duration
		for range b.N {
			var lists lists
			ask(&lists, "")
			b.StopTimer()
			began := time.Now()
			for ask(&lists, "").Cut() {
				<-time.After(time.Millisecond)
			}
			whole += time.Since(began)
			lists.close()
			b.StartTimer()
		}
		b.ReportMetric(whole.Seconds()*1000/float64(b.N), "ms-later-whole")
	})
	var lists lists
	defer lists.close()
	for ask(&lists, "").Cut() {
		<-time.After(time.Millisecond)
	}
	for _, query := range []string{"", "s", "mod17", "billing parser", "rendstor12"} {
		b.Run("warm "+strings.ReplaceAll(query, " ", "+"), func(b *testing.B) {
			for range b.N {
				ask(&lists, query)
			}
		})
	}
}
