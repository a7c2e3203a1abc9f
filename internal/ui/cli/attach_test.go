package cli

import (
	"os"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// tmux runs a command of the shell on a terminal in the project of a station.
func (s *station) tmux(command string) *tuitest.Tmux {
	s.t.Helper()
	return tuitest.NewTmux(s.t, tuitest.Options{Width: 120, Height: 30, Dir: s.project,
		Env: []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}}, "/bin/sh", "-c", command+"; echo exit code $?; read -r end")
}

func TestAttachOnATerminalIsTheTerminalUI(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	m := s.tmux("scorel attach " + id)
	m.WaitFor("An answer.", "ask something")
	m.Type("once more")
	m.WaitFor("❯ once more")
	m.Keys("Enter")
	s.until("it is stored", func() bool {
		return s.exists(".scorel/sessions/"+id+".jsonl") && len(s.read(".scorel/sessions/"+id+".jsonl")) > 0
	})
	m.WaitFor("❯ once more")
	m.Keys("C-d")
	m.WaitFor("exit code 0")
}

// TestAttachWithoutASessionShowsTheNewestOfTheProject in the terminal UI as in lines.
func TestAttachWithoutASessionShowsTheNewestOfTheProject(t *testing.T) {
	s := newStation(t, answersAnything)
	s.session()
	m := s.tmux("scorel attach")
	m.WaitFor("An answer.", "ask something")
	m.Keys("C-d")
	m.WaitFor("exit code 0")
}

func TestAttachIsLineModeByTheSettingForScreenReadersAndOnADumbTerminal(t *testing.T) {
	for name, command := range map[string]string{"a dumb terminal": "TERM=dumb scorel attach ", "the flag": "scorel attach --plain ", "the setting": "scorel attach "} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, answersAnything)
			if name == "the setting" {
				s.file(".scorel/tui.toml", "plain = true\n")
			}
			m := s.tmux(command + s.session())
			m.WaitFor("An answer.")
			m.Type("/queue")
			m.Keys("Enter")
			m.WaitFor("── nothing waits")
			m.Type("/quit")
			m.Keys("Enter")
			m.WaitFor("detached. Resume with: scorel attach", "exit code 0")
		})
	}
}

func TestAModelThatDoesNotExistEndsTheStartOfTheTerminalUI(t *testing.T) {
	s := newStation(t, answersAnything)
	m := s.tmux("scorel --model nosuch/model")
	m.WaitFor("scorel: There is no model nosuch/model", "exit code 2")
}
