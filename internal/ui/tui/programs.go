package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/status"
)

// getenv looks a variable up in the environment of the UI.
func (m *Model) getenv(name string) string {
	for i := len(m.cfg.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(m.cfg.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// externalEditor has the text edited by the person's own program, which has the terminal
// meanwhile.
func (m *Model) externalEditor() tea.Cmd { return m.whenAnswered((*Model).editOutside) }

func (m *Model) editOutside() tea.Cmd {
	words, err := prefs.EditorCommand(m.settings.Editor, m.getenv)
	if err != nil {
		m.fail(err)
		return nil
	}
	name, remove, err := prefs.WriteDraft("", m.editor.Text())
	if err != nil {
		m.fail(err)
		return nil
	}
	m.scr.Pause()
	return tea.Exec(&foreground{argv: append(words, name), m: m}, func(err error) tea.Msg {
		return then(func(m *Model) tea.Cmd {
			defer remove()
			if rerr := m.scr.Resume(); rerr != nil {
				m.failed = rerr
				return tea.Quit
			}
			text, rerr := prefs.ReadDraft(name)
			switch {
			case err != nil:
				m.fail(fmt.Errorf("%s did not end well, so the text is as it was: %w", words[0], err))
			case rerr != nil:
				m.fail(rerr)
			default:
				return m.editorSet(text)
			}
			return nil
		})
	})
}

// foreground is a program of the person that has the terminal while it runs.
type foreground struct {
	argv []string
	m    *Model
}

// Run runs the program to its end.
func (f *foreground) Run() error {
	return sandbox.Foreground{Argv: f.argv, Dir: f.m.cfg.WorkDir, Env: f.m.cfg.Environ, In: f.m.cfg.In, Out: f.m.cfg.Out}.Run()
}

// SetStdin, SetStdout and SetStderr do nothing: it gets the terminal.
func (f *foreground) SetStdin(io.Reader)  {}
func (f *foreground) SetStdout(io.Writer) {}
func (f *foreground) SetStderr(io.Writer) {}

// Bounds of the status line's command.
const (
	statusTimeout = 5 * time.Second
	maxStatus     = 64 << 10 // bytes that it prints
)

// statusCommand is the command of the user that draws the status line.
type statusCommand struct {
	scheduler status.Scheduler
	cancel    context.CancelFunc // of it
	vim       string             // the mode of the keys of vi that it knows
}

// statusDue runs the command of the status line when that is due, and says how long it
// is until then; 0 is never.
func (m *Model) statusDue(now time.Time) (tea.Cmd, time.Duration) {
	if mode := m.editor.VimMode(); mode != m.statusLine.vim {
		m.statusLine.vim = mode
		m.statusLine.scheduler.Changed(now)
	}
	cmd := m.statusStep(m.statusLine.scheduler.Due(now))
	if at, ok := m.statusLine.scheduler.Next(); ok {
		return cmd, max(time.Millisecond, at.Sub(now))
	}
	return cmd, 0
}

// statusChanged tells the command of the status line that there is something new.
func (m *Model) statusChanged() { m.statusLine.scheduler.Changed(time.Now()) }

// setStatusLine takes the command of the settings.
func (m *Model) setStatusLine() tea.Cmd {
	set := m.settings.StatusLine
	return m.statusStep(m.statusLine.scheduler.Set(set.Command, time.Duration(set.RefreshSeconds)*time.Second, time.Now()))
}

func (m *Model) statusStep(step status.Step) tea.Cmd {
	s := &m.statusLine
	if step.Cancel != 0 && s.cancel != nil {
		s.cancel()
	}
	if step.Warn {
		m.toast(levelWarning, "the command of the status line takes longer than "+status.Elapsed(status.Timeout)+" and was ended")
	}
	if step.Start == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(m.ctx, statusTimeout)
	s.cancel = cancel
	input, err := m.statusInput(time.Now()).JSON()
	if err != nil {
		cancel()
		return nil
	}
	environ, dir := m.cfg.Environ, m.cfg.WorkDir
	return func() tea.Msg {
		defer cancel()
		out, err := runOnce(ctx, sandbox.Helper{Path: "/bin/sh", Args: []string{"-c", step.Run}, Dir: dir, Env: environ}, input, maxStatus)
		return then(func(m *Model) tea.Cmd {
			if _, warn := m.statusLine.scheduler.Ended(step.Start, err == nil, string(out)); warn {
				m.toast(levelWarning, "the command of the status line fails: "+errors.Join(err).Error())
			}
			return nil
		})
	}
}

// statusInput is what the command of the status line is told.
func (m *Model) statusInput(now time.Time) status.Input {
	l := m.live()
	in := status.Input{SessionID: string(m.id), SessionName: l.Meta.Name, Version: m.cfg.Version}
	in.Model.ID, in.Model.DisplayName = m.modelName(), m.modelName()
	in.Workspace.CurrentDir, in.Workspace.ProjectDir = cmp.Or(l.Meta.WorkDir, m.cfg.WorkDir), m.cfg.WorkDir
	if m.project != nil {
		in.Workspace.ProjectDir = m.project.Root
	}
	if json.Unmarshal([]byte(m.setting("permissions.additionalDirectories")), &in.Workspace.AddedDirs) == nil {
		for i, dir := range in.Workspace.AddedDirs {
			if rest, ok := strings.CutPrefix(dir, "~/"); ok {
				in.Workspace.AddedDirs[i] = filepath.Join(filepath.Dir(m.cfg.Dir), rest)
			}
		}
	}
	in.Cost.TotalUSD = l.Usage.CostUSD
	if made := m.said.Summary.CreatedAt; made > 0 {
		in.Cost.DurationMS = max(0, now.UnixMilli()-made)
	}
	if mode := m.editor.VimMode(); mode != "" {
		in.Vim = &status.InputVim{Mode: mode}
	}
	if m.cfg.Remote {
		in.Remote = &status.InputRemote{SessionID: string(m.id)}
	}
	in.Context.TotalInput = l.Usage.InputTokens + l.Usage.CacheReadTokens + l.Usage.CacheWriteTokens
	in.Context.TotalOutput = l.Usage.OutputTokens
	size := 0
	if x, ok := m.model(); ok {
		size = x.ContextWindow
	}
	in.SetContext(m.newest, size)
	return in
}

// runOnce runs a program of the user, without the keys of models in its environment, and
// gives at most limit bytes of what it prints.
func runOnce(ctx context.Context, h sandbox.Helper, input []byte, limit int64) ([]byte, error) {
	h.Env = sandbox.Environ(h.Env, nil)
	p, err := sandbox.StartHelper(ctx, h)
	if err != nil {
		return nil, err
	}
	var streams sync.WaitGroup
	streams.Go(func() { // ends with the program
		_, _ = p.Stdin.Write(input) // who does not read it need not
		_ = p.Stdin.Close()
	})
	streams.Go(func() { _, _ = io.Copy(io.Discard, p.Stderr) }) // ends with the program
	out, err := io.ReadAll(io.LimitReader(p.Stdout, limit))
	_, _ = io.Copy(io.Discard, p.Stdout) // what is over the limit
	streams.Wait()
	if werr := p.Wait(); err == nil {
		err = werr
	}
	return out, err
}

// pasteImage takes an image from the clipboard, where a program for that is there.
func (m *Model) pasteImage() tea.Cmd {
	if m.cfg.Remote || m.getenv("SSH_TTY") != "" {
		m.toast(levelInfo, "the clipboard's images are on the machine of the terminal; save one to a file there and name it with @")
		return nil
	}
	commands := [][]string{{"wl-paste", "--no-newline", "--type", "image/png"}, {"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}, {"pngpaste", "-"}}
	environ := m.cfg.Environ
	return func() tea.Msg {
		var data []byte
		for _, argv := range commands {
			ctx, cancel := context.WithTimeout(m.ctx, statusTimeout)
			out, err := runOnce(ctx, sandbox.Helper{Path: argv[0], Args: argv[1:], Env: environ, Dir: os.TempDir()}, nil, maxDropped+1)
			cancel()
			if err == nil && len(out) > 0 {
				data = out
				break
			}
		}
		return then(func(m *Model) tea.Cmd {
			if len(data) == 0 {
				m.toast(levelInfo, "there is no image in the clipboard, or no program to read it (wl-paste, xclip or pngpaste)")
				return nil
			}
			if err := m.editor.AddImage("clipboard.png", "image/png", data); err != nil {
				m.fail(err)
			}
			return m.typed()
		})
	}
}
