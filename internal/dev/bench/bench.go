package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func benchCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	n := f.Int("n", 20, "how often short commands run; long ones half as often, memory is read a quarter as often")
	only := f.String("only", "", "measure only what this expression matches of: "+keys())
	bin := f.String("bin", filepath.Join("bin", "scorel"), "the binary")
	little := f.Bool("small", false, "give a serving host little to do, to see that it can be measured")
	dir := f.String("dir", "", "where the scratch folder is made; empty is TMPDIR")
	out := f.String("json", "bench.json", "where to write all values; empty is nowhere")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *n < 1 || f.NArg() > 0 {
		return fmt.Errorf("-n is at least 1, and there are no other arguments")
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(groups(), func(g group) bool { return match.MatchString(g.key) }) {
		return fmt.Errorf("-only %s matches none of %s", *only, keys())
	}
	binary, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("there is no binary; run make build: %w", err)
	}
	amount := full()
	if *little {
		amount = small()
	}
	r, err := measure(ctx, binary, *dir, match, *n, amount)
	if err != nil {
		return err
	}
	if *out != "" {
		if err := r.save(*out); err != nil {
			return err
		}
	}
	if err := r.table(os.Stdout); err != nil {
		return err
	}
	if len(r.Failed) > 0 {
		return fmt.Errorf("of %d groups not everything could be measured", len(r.Failed))
	}
	return nil
}

// keys names the groups for people.
func keys() string {
	var all []string
	for _, g := range groups() {
		all = append(all, g.key)
	}
	return strings.Join(all, ", ")
}

// measure runs the groups that match, one after the other. A group that fails is named
// in the report, with what it had measured until then, and the next one runs.
func measure(ctx context.Context, binary, dir string, match *regexp.Regexp, n int, amount load) (report, error) {
	theirs, err := readPeers()
	if err != nil {
		return report{}, err
	}
	srv, err := startServer(ctx)
	if err != nil {
		return report{}, err
	}
	defer srv.stop()
	w, err := newWorld(dir, srv.url)
	if err != nil {
		return report{}, err
	}
	defer w.remove()
	b := &bench{world: w, server: srv, bin: binary, load: amount}
	r := report{Head: newHead(w.root, n), Peers: theirs.Date + ", " + theirs.Machine}
	forget(binary)
	matched := slices.DeleteFunc(groups(), func(g group) bool { return !match.MatchString(g.key) })
	r.take(ctx, b, matched, theirs, n)
	return r, nil
}

// take measures groups, one after the other.
func (r *report) take(ctx context.Context, b *bench, list []group, theirs peers, n int) {
	for _, g := range list {
		if err := ctx.Err(); err != nil {
			r.Failed = append(r.Failed, failure{g.key, "was not begun: " + err.Error()})
			continue
		}
		begin := time.Now()
		figures, err := g.measure(ctx, b, n)
		for _, f := range figures {
			if len(f.Values) == 0 {
				continue
			}
			f.Median, f.Peers = f.Values.median(), theirs.Figures[f.Key]
			r.Figures = append(r.Figures, f)
		}
		took := time.Since(begin).Seconds()
		if err != nil {
			r.Failed = append(r.Failed, failure{g.key, err.Error()})
			fmt.Fprintf(os.Stderr, "%s: failed after %.1f s: %v\n", g.key, took, err)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", g.key, took)
	}
}
