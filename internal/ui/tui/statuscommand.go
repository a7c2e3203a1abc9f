package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/platform/sandbox"
	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/program"
	"scorel/internal/ui/tui/status"
)

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

// commandDue runs the command of the status line when that is due, and returns how long it
// is until then; 0 is never.
func (s *statusArea) commandDue(now time.Time) (tea.Cmd, time.Duration) {
	if mode := s.input.VimMode(); mode != s.command.vim {
		s.command.vim = mode
		s.command.scheduler.Changed(now)
	}
	cmd := s.step(s.command.scheduler.Due(now))
	if at, ok := s.command.scheduler.Next(); ok {
		return cmd, max(time.Millisecond, at.Sub(now))
	}
	return cmd, 0
}

// changed tells the command of the status line that there is something new.
func (s *statusArea) changed() { s.command.scheduler.Changed(time.Now()) }

// setCommand takes the command of the settings.
func (s *statusArea) setCommand() tea.Cmd {
	set := s.prefs.settings.StatusLine
	return s.step(s.command.scheduler.Set(set.Command, time.Duration(set.RefreshSeconds)*time.Second, time.Now()))
}

func (s *statusArea) step(step status.Step) tea.Cmd {
	if step.Cancel != 0 && s.command.cancel != nil {
		s.command.cancel()
	}
	if step.Warn {
		s.toasts.Warn("the command of the status line takes longer than " + status.Elapsed(status.Timeout) + " and was ended")
	}
	if step.Start == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.window.ctx, statusTimeout)
	s.command.cancel = cancel
	input, err := s.facts(time.Now()).JSON()
	if err != nil {
		cancel()
		return nil
	}
	environ, dir := s.cfg.Environ, s.cfg.WorkDir
	return func() tea.Msg {
		defer cancel()
		out, err := program.Output(ctx, sandbox.Helper{Path: "/bin/sh", Args: []string{"-c", step.Run}, Dir: dir, Env: environ}, input, maxStatus)
		return loop.Then(func() tea.Cmd {
			if _, warn := s.command.scheduler.Ended(step.Start, err == nil, string(out)); warn {
				s.toasts.Warn("the command of the status line fails: " + errors.Join(err).Error())
			}
			return nil
		})
	}
}

// facts is what the command of the status line is told.
func (s *statusArea) facts(now time.Time) status.Input {
	l := s.session.Live()
	in := status.Input{SessionID: string(s.session.ID()), SessionName: l.Meta.Name, Version: s.cfg.Version}
	in.Model.ID, in.Model.DisplayName = s.host.ModelName(), s.host.ModelName()
	in.Workspace.CurrentDir, in.Workspace.ProjectDir = cmp.Or(l.Meta.WorkDir, s.cfg.WorkDir), s.cfg.WorkDir
	if s.host.Project() != nil {
		in.Workspace.ProjectDir = s.host.Project().Root
	}
	if json.Unmarshal([]byte(s.host.Setting("permissions.additionalDirectories")), &in.Workspace.AddedDirs) == nil {
		for i, dir := range in.Workspace.AddedDirs {
			if rest, ok := strings.CutPrefix(dir, "~/"); ok {
				in.Workspace.AddedDirs[i] = filepath.Join(filepath.Dir(s.cfg.Dir), rest)
			}
		}
	}
	in.Cost.TotalUSD = l.Usage.CostUSD
	if made := s.session.CreatedAt(); made > 0 {
		in.Cost.DurationMS = max(0, now.UnixMilli()-made)
	}
	if mode := s.input.VimMode(); mode != "" {
		in.Vim = &status.InputVim{Mode: mode}
	}
	if s.cfg.Remote {
		in.Remote = &status.InputRemote{SessionID: string(s.session.ID())}
	}
	in.Context.TotalInput = l.Usage.InputTokens + l.Usage.CacheReadTokens + l.Usage.CacheWriteTokens
	in.Context.TotalOutput = l.Usage.OutputTokens
	size := 0
	if x, ok := s.host.Model(); ok {
		size = x.ContextWindow
	}
	in.SetContext(s.session.Figures().Newest, size)
	return in
}

// replaced is what the command of the status line printed.
func (s *statusArea) replaced() string {
	if text := s.command.scheduler.Text(); text != "" {
		return strings.Repeat(" ", s.prefs.settings.StatusLine.Padding) + text
	}
	return ""
}
