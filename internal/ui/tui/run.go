package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"scorel/client"
)

// Config is what the terminal UI needs.
type Config struct {
	// Connect reaches the host, starting one where none runs, and gives a client that
	// connects again by itself. onState is told the state of the connection, onOther that
	// the host is of another build than this program, as a sentence; restart reports whether
	// a host that has ended is to be started again.
	Connect func(ctx context.Context, onState func(client.Change), onOther func(text string), restart func() bool) (*client.Client, error)
	Start   Start
	// Dir is the user's Scorel folder, with the history, settings, themes and keys of
	// the UI. WorkDir is where a new session works; "" with a host elsewhere.
	Dir, WorkDir string
	// Remote says that the host is on another machine.
	Remote  bool
	Environ []string
	In, Out *os.File  // the terminal
	Stderr  io.Writer // what is said when the screen is the shell's again
	Version string
}

// Start says which session is shown first.
type Start struct {
	Session  string // an id, the beginning of one, or a name; "" is none
	Continue bool   // the newest of the project
	Pick     bool   // the picker is open
	Prompt   string // is sent at once
	// Model, Thinking and Mode (of permissions) are set in the session; "" leaves them.
	Model, Thinking, Mode string
	RemoteControl         bool     // the way in for a phone is shown
	MCPConfig             []string // as TurnOptions has it
	Channels              []string // MCP servers that may push events into the session
}

// Run shows the UI until the person leaves. The terminal is as before then, also when
// it fails or panics; a turn that runs goes on at the host.
func Run(ctx context.Context, cfg Config) (err error) {
	if !term.IsTerminal(cfg.In.Fd()) || !term.IsTerminal(cfg.Out.Fd()) {
		return errors.New("the terminal UI needs a terminal for input and output; use scorel -p \"…\" in a script, or scorel attach for lines")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m, err := newModel(ctx, &cfg)
	if err != nil {
		return err
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(m.window.keyboard), tea.WithOutput(cfg.Out), tea.WithEnvironment(cfg.Environ),
		tea.WithoutRenderer(), tea.WithoutSignalHandler(), tea.WithFPS(1)) // its renderer does nothing; the fewer ticks the better
	m.send = program.Send
	var beside sync.WaitGroup
	defer func() {
		m.window.screen.Close()
		stop()
		beside.Wait()
		m.shutdownNotice(cfg.Stderr)
	}()
	defer watchSignals(program)()
	beside.Go(m.link.Run)                           // ends with ctx
	beside.Go(func() { m.reading.images.Run(ctx) }) // and this
	_, err = program.Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the terminal UI failed; the session is safe, and scorel shows it again. Please report the text above")
	case err != nil && !errors.Is(err, tea.ErrProgramKilled):
		return fmt.Errorf("the terminal cannot be used: %w", err)
	}
	return m.exit.failed
}

// watchSignals ends the program in order when the system, or the end of the terminal,
// says so, and tells it of another size.
func watchSignals(p *tea.Program) (stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	size := make(chan os.Signal, 1)
	signal.Notify(size, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() { // ends with stop
		for {
			select {
			case <-c:
				p.Send(closeNow{})
			case <-size:
				p.Send(resized{})
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(c)
		signal.Stop(size)
		close(done)
	}
}

// Messages of signals.
type (
	closeNow struct{} // the UI ends without a question
	resized  struct{} // the terminal has another size
)
