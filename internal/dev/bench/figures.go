package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// figure is one row of the table.
type figure struct {
	Key      string  `json:"key"`
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Values   series  `json:"values"`
	Median   float64 `json:"median"`
	Goal     float64 `json:"goal,omitempty"` // 0: none
	AtLeast  bool    `json:"atLeast,omitempty"`
	Peers    []peer  `json:"peers,omitempty"`
	Runs     any     `json:"runs,omitempty"` // what else was measured with each value
	WholeRun float64 `json:"maxRssMB,omitempty"`
}

// ok reports whether the median reaches the goal.
func (f figure) ok() bool {
	if f.AtLeast {
		return f.Median >= f.Goal
	}
	return f.Median <= f.Goal
}

// group is a number of figures that are measured together.
type group struct {
	key     string // of its first figure
	measure func(ctx context.Context, b *bench, n int) ([]figure, error)
}

// goals of one command: milliseconds from start to exit, and megabytes (10^6
// bytes) while the model has the last request; 0: none.
type goals struct{ ms, rss, anonymous float64 }

func groups() []group {
	prompt := func(text string) []string { return []string{"-p", text} }
	return []group{
		{"version", func(ctx context.Context, b *bench, n int) ([]figure, error) {
			return b.command(ctx, "version", task{name: "scorel --version", args: []string{"--version"}, stdout: "scorel "}, goals{ms: 10}, n)
		}},
		{"prompt", func(ctx context.Context, b *bench, n int) ([]figure, error) {
			return b.command(ctx, "prompt", task{name: "one prompt", args: prompt("Say that you are there."),
				script: inOrder(0, `{"text":"I am there."}`), requests: 1, messages: 1, stdout: "I am there."}, goals{45, 60, 25}, n)
		}},
		{"tools", func(ctx context.Context, b *bench, n int) ([]figure, error) {
			return b.command(ctx, "tools", task{name: "one prompt with 5 tool calls",
				args: append(prompt("Count the lines."), "--allowed-tools", "Bash(wc:*)", "--allowed-tools", "Bash(head:*)"),
				script: inOrder(0,
					`{"call":"Read","id":"c1","input":{"path":"notes.txt"}}`,
					`{"call":"Grep","id":"c2","input":{"pattern":"func f","mode":"count"}}`,
					`{"call":"Bash","id":"c3","input":{"command":"wc -l notes.txt"}}`,
					`{"call":"Read","id":"c4","input":{"path":"src/part1/file01.go"}}`,
					`{"call":"Bash","id":"c5","input":{"command":"head -3 src/part1/file01.go"}}`,
					`{"text":"There are 200 lines."}`),
				requests: 6, messages: 11, stdout: "There are 200 lines."}, goals{ms: 100}, n)
		}},
		{"stream", func(ctx context.Context, b *bench, n int) ([]figure, error) {
			return b.command(ctx, "stream", task{name: "answer of 200 KB in 10,000 chunks", args: prompt("Tell me all."),
				script:   inOrder(20, `{"text":"A sentence to fill. ","times":10000}`),
				requests: 1, messages: 1, stdout: strings.Repeat("A sentence to fill. ", 10_000-1)}, goals{ms: 90}, n)
		}},
		{"kept", kept},
		{"resume-10k", resume("resume-10k", "resume 10,000 events, compacted", 10_000, true, goals{60, 90, 0})},
		{"resume-100k", resume("resume-100k", "resume 100,000 events, compacted", 100_000, true, goals{130, 90, 0})},
		{"whole-10k", resume("whole-10k", "resume 10,000 events, all sent", 10_000, false, goals{150, 120, 0})},
		{"sandbox", confinement},
		{"search", search},
		{"toolsearch", toolSearch},
		{"mcp", mcpServers},
		{"appends", durableAppends},
		{"context", longContext},
		{"open", checkedOpen},
		{"extension", extensions},
		{"replaced", replacedTool},
		{"ten", tenExtensions},
		{"servers", tenServers},
		{"host", idle},
		{"latency", latency},
		{"reconnect", reconnect},
		{"sessions", manySessions},
		{"fanout", fanOut},
		{"work", atWork},
		{"handlers", handlers},
		{"armed", armed},
		{"due", due},
		{"wake", wakes},
		{"ps", background},
		{"supervised", supervised},
		{"giant", giant},
		{"tui", starts},
		{"tui.key", echoes},
		{"tui.stream", streams},
		{"tui.custom", components},
	}
}

// inOrder is a script whose answers are taken in order.
func inOrder(chunk int, answers ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "{\"script\":1,\"chunk\":%d}\n", chunk)
	for _, a := range answers {
		fmt.Fprintf(&s, "{\"do\":[%s]}\n", a)
	}
	return s.String()
}

// resume measures a prompt to a session that exists.
func resume(key, name string, events int, compact bool, g goals) func(context.Context, *bench, int) ([]figure, error) {
	return func(ctx context.Context, b *bench, n int) ([]figure, error) {
		id, file, err := b.world.session(events, compact)
		if err != nil {
			return nil, err
		}
		messages := events + 1
		if compact {
			messages = keptBehind + 1 // the summary joins the user message after it
		}
		figures, err := b.command(ctx, key, task{name: name, args: []string{"-p", "--session", id, "Go on."},
			script: inOrder(0, `{"text":"I go on."}`), requests: 1, messages: messages, stdout: "I go on.", log: file}, g, max(5, n/2))
		return figures, firstOf(err, os.Remove(file))
	}
}

const mega = 1e6

// command measures a command: its time n times, then its memory while the model
// has its last request.
func (b *bench) command(ctx context.Context, key string, t task, g goals, n int) ([]figure, error) {
	if err := b.check(ctx, t); err != nil {
		return nil, err
	}
	if t.script != "" {
		if err := b.server.load(ctx, t.script, false); err != nil {
			return nil, err
		}
	}
	var runs []process
	f := figure{Key: key, Name: t.name, Unit: "ms", Goal: g.ms}
	for range n {
		settle()
		p, err := b.once(ctx, t)
		if err != nil {
			return nil, err
		}
		runs = append(runs, p)
		f.Values = append(f.Values, p.WallMS)
		f.WholeRun = max(f.WholeRun, p.MaxRSS/mega)
	}
	f.Runs = runs
	if t.script == "" {
		return []figure{f}, nil
	}
	rss := figure{Key: key + ".rss", Name: t.name + ", peak RSS", Unit: "MB", Goal: g.rss}
	pss := figure{Key: key + ".pss", Name: t.name + ", PSS", Unit: "MB"}
	anonymous := figure{Key: key + ".anonymous", Name: t.name + ", anonymous", Unit: "MB", Goal: g.anonymous}
	for range max(3, n/4) {
		settle()
		m, err := b.remember(ctx, t)
		if err != nil {
			return nil, err
		}
		rss.Values = append(rss.Values, m.Peak/mega)
		pss.Values = append(pss.Values, m.PSS/mega)
		anonymous.Values = append(anonymous.Values, m.Anonymous/mega)
	}
	return []figure{f, rss, pss, anonymous}, nil
}

// child runs a subcommand of this program and decodes what it prints.
func (b *bench) child(ctx context.Context, to any, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	settle()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("bench %s: %w", args[0], err)
	}
	return json.Unmarshal(out, to)
}

func durableAppends(ctx context.Context, b *bench, n int) ([]figure, error) {
	rate := figure{Key: "appends", Name: "durable appends, 64 sessions at once", Unit: "/s", Goal: 20_000, AtLeast: true}
	p99 := figure{Key: "appends.p99", Name: "durable appends, 99th percentile", Unit: "ms", Goal: 10}
	bare := figure{Key: "appends.bare", Name: "the same bytes into 64 files without Scorel", Unit: "/s"}
	for range max(3, n/4) {
		var a appends
		if err := b.child(ctx, &a, "appends", "-parent", b.world.root); err != nil {
			return []figure{rate, p99, bare}, err
		}
		rate.Values = append(rate.Values, a.PerSecond)
		p99.Values = append(p99.Values, a.P99)
		bare.Values = append(bare.Values, a.Bare)
	}
	return []figure{rate, p99, bare}, nil
}

func longContext(ctx context.Context, b *bench, n int) ([]figure, error) {
	var c contexts
	if err := b.child(ctx, &c, "context", "-parent", b.world.root, "-n", fmt.Sprint(n)); err != nil {
		return nil, err
	}
	return []figure{
		{Key: "context.extend", Name: "context of 10,000 events, one step more", Unit: "ms", Goal: 1, Values: c.Extend},
		{Key: "context.build", Name: "context of 10,000 events, built anew", Unit: "ms", Goal: 30, Values: c.Build},
	}, nil
}
