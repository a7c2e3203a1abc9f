package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// What is looked for on the terminal: the mark of the editor, the last words of the
// session that is resumed, and a character that is at the end of answers.
const (
	editorMark = "❯"
	lastWords  = "returns before the file is closed"
	endMark    = "¶"
)

// keyPresses is how many keys are pressed for one measurement of their echo.
const keyPresses = 200

// scripted writes a script for the model of a session and returns its name.
func (s *serving) scripted(name, script string) (string, error) {
	file := filepath.Join(s.world.root, name+".jsonl")
	return "script:" + file, os.WriteFile(file, []byte(script), 0o600)
}

// serveLong starts a host that has a session of 10,000 events, and returns its id.
func (b *bench) serveLong(ctx context.Context) (s *serving, id string, err error) {
	s, err = b.serveAfter(ctx, func(s *serving) error {
		id, _, err = s.world.session(b.load.long, false)
		return err
	})
	return s, id, err
}

// starts measures how long the terminal UI takes until it can be used, and a short
// answer.
func starts(ctx context.Context, b *bench, n int) ([]figure, error) {
	s, id, err := b.serveLong(ctx)
	if err != nil {
		return nil, err
	}
	defer s.end()
	model, err := s.scripted("short", "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"I am there."+endMark+"\"}]}\n")
	if err != nil {
		return nil, err
	}
	first := figure{Key: "tui", Name: "terminal UI: start to the editor", Unit: "ms", Goal: 60}
	reply := figure{Key: "tui.reply", Name: "Enter to a reply of the mock", Unit: "ms", Goal: 25}
	resume := figure{Key: "tui.resume", Name: "start to the end of 10,000 events", Unit: "ms", Goal: 120}
	rss := figure{Key: "tui.rss", Name: "the same: resident memory", Unit: "MB", Goal: 90}
	anonymous := figure{Key: "tui.anonymous", Name: "the same: anonymous", Unit: "MB", Goal: 40}
	all := func() []figure { return []figure{first, reply, resume, rss, anonymous} }
	for range n {
		if err := func() error {
			g, err := s.open("--model", model)
			if err != nil {
				return err
			}
			defer g.close()
			at, err := g.await(ctx, editorMark)
			if err != nil {
				return err
			}
			first.Values = append(first.Values, milliseconds(at.Sub(g.begun)))
			if _, err := g.press(ctx, "hello", "hello"[4:]); err != nil {
				return err
			}
			if _, err := g.press(ctx, "\r", endMark); err != nil { // makes the session
				return err
			}
			if _, err := g.press(ctx, "again", "again"[4:]); err != nil {
				return err
			}
			ms, err := g.press(ctx, "\r", endMark)
			reply.Values = append(reply.Values, ms)
			return err
		}(); err != nil {
			return all(), err
		}
	}
	for range n {
		if err := func() error {
			g, err := s.open("--session", id)
			if err != nil {
				return err
			}
			defer g.close()
			at, err := g.await(ctx, lastWords)
			if err != nil {
				return err
			}
			resume.Values = append(resume.Values, milliseconds(at.Sub(g.begun)))
			time.Sleep(settling)
			m, err := readMemory(g.pid())
			rss.Values, anonymous.Values = append(rss.Values, m.Peak/mega), append(anonymous.Values, m.Anonymous/mega)
			return err
		}(); err != nil {
			return all(), err
		}
	}
	return all(), nil
}

// echoes measures how long a key takes until it is seen: with nothing, with a long
// session, and while an answer streams in.
func echoes(ctx context.Context, b *bench, n int) ([]figure, error) {
	s, id, err := b.serveLong(ctx)
	if err != nil {
		return nil, err
	}
	defer s.end()
	const stream = "and so on it goes. "
	model, err := s.scripted("endless", fmt.Sprintf("{\"script\":1,\"chunk\":%d,\"delayMs\":1}\n{\"again\":true,\"do\":[{\"text\":%q,\"times\":100000}]}\n", len(stream)/2, stream))
	if err != nil {
		return nil, err
	}
	out := []figure{
		{Key: "tui.key", Name: "a key to its echo, p99", Unit: "ms", Goal: 11},
		{Key: "tui.key.long", Name: "the same with 10,000 events", Unit: "ms", Goal: 12},
		{Key: "tui.key.stream", Name: "the same while an answer streams, a delta a ms", Unit: "ms", Goal: 20},
	}
	for range repeats(n) {
		for i, args := range [][]string{{"--model", model}, {"--session", id}, {"--model", model}} {
			if err := func() error {
				g, err := s.open(args...)
				if err != nil {
					return err
				}
				defer g.close()
				if _, err := g.await(ctx, []string{editorMark, lastWords, editorMark}[i]); err != nil {
					return err
				}
				if i == 2 {
					if _, err := g.press(ctx, "go\r", "so on it"); err != nil {
						return err
					}
				}
				time.Sleep(settling)
				times, err := g.echo(ctx)
				out[i].Values = append(out[i].Values, times.quantile(0.99))
				all, _ := out[i].Runs.([]series)
				out[i].Runs = append(all, times)
				return err
			}(); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// echo presses keys at the pace of somebody who types fast, and returns how long each
// took.
func (g *glass) echo(ctx context.Context) (series, error) {
	var times series
	for i := range keyPresses {
		key := string(rune('Ā' + i)) // each another one, which is seen nowhere else
		ms, err := g.press(ctx, key, key)
		if err != nil {
			return nil, err
		}
		times = append(times, ms)
		if i%40 == 39 {
			if _, err := g.pty.WriteString("\x15"); err != nil { // Ctrl-U: an empty line again
				return nil, err
			}
		}
		time.Sleep(time.Duration(20+7*(i%5)) * time.Millisecond)
	}
	return times, nil
}

// streams measures what an answer costs the terminal UI while it streams in, and what
// it costs to do nothing.
func streams(ctx context.Context, b *bench, n int) ([]figure, error) {
	s, err := b.serve(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer s.end()
	const piece = "A sentence to fill. "
	whole, err := s.scripted("whole", fmt.Sprintf("{\"script\":1,\"chunk\":%d}\n{\"again\":true,\"do\":[{\"text\":%q,\"times\":%d},{\"text\":%q}]}\n", len(piece), piece, b.load.pieces*10, endMark))
	if err != nil {
		return nil, err
	}
	const token = "word "
	slow, err := s.scripted("slow", fmt.Sprintf("{\"script\":1,\"chunk\":%d,\"delayMs\":10}\n{\"again\":true,\"do\":[{\"text\":%q,\"times\":100000}]}\n", len(token), token))
	if err != nil {
		return nil, err
	}
	cpu := figure{Key: "tui.stream", Name: "answer of 200 KB in 10,000 chunks: the UI computes", Unit: "s", Goal: 0.4}
	idle := figure{Key: "tui.idle", Name: "the UI computes while nothing happens", Unit: "%", Goal: 1}
	busy := figure{Key: "tui.busy", Name: "the same while 100 tokens/s stream in", Unit: "%", Goal: 7}
	perToken := figure{Key: "tui.bytes", Name: "the same: written to the terminal a token", Unit: "bytes", Goal: 100}
	for range repeats(n) {
		if err := func() error {
			g, err := s.open("--model", whole)
			if err != nil {
				return err
			}
			defer g.close()
			if _, err := g.await(ctx, editorMark); err != nil {
				return err
			}
			time.Sleep(settling)
			before, err := cpuOf(g.pid())
			if err != nil {
				return err
			}
			if _, err := g.press(ctx, "go\r", endMark); err != nil {
				return err
			}
			time.Sleep(settling) // what is left to do when the end is seen belongs to it
			after, err := cpuOf(g.pid())
			cpu.Values = append(cpu.Values, (after - before).Seconds())
			return err
		}(); err != nil {
			return []figure{cpu, idle, busy, perToken}, err
		}
		if err := func() error {
			g, err := s.open("--model", slow)
			if err != nil {
				return err
			}
			defer g.close()
			if _, err := g.await(ctx, editorMark); err != nil {
				return err
			}
			time.Sleep(settling)
			share, _, err := g.computes()
			if err != nil {
				return err
			}
			idle.Values = append(idle.Values, share)
			if _, err := g.press(ctx, "go\r", "word"); err != nil {
				return err
			}
			time.Sleep(settling)
			share, bytes, err := g.computes()
			busy.Values = append(busy.Values, share)
			perToken.Values = append(perToken.Values, float64(bytes)/(observed.Seconds()*100))
			return err
		}(); err != nil {
			return []figure{cpu, idle, busy, perToken}, err
		}
	}
	return []figure{cpu, idle, busy, perToken}, nil
}

// observed is how long a process is looked at to see what share of a core it takes.
const observed = 4 * time.Second

// computes returns what share of a core the program takes, in percent, and how many
// bytes it writes meanwhile.
func (g *glass) computes() (percent float64, bytes int64, err error) {
	before, err := cpuOf(g.pid())
	if err != nil {
		return 0, 0, err
	}
	wrote := g.written()
	time.Sleep(observed)
	after, err := cpuOf(g.pid())
	return (after - before).Seconds() / observed.Seconds() * 100, g.written() - wrote, err
}
