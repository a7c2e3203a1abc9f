package screen

import (
	"io"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

func TestAFrameForAnotherSizeIsCutToTheTerminalAsItIs(t *testing.T) {
	person, program, err := tuitest.OpenPTY(40, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	shown := make(chan string)
	go func() { // ends with the terminal
		data, _ := io.ReadAll(person)
		shown <- string(data)
	}()
	s := start(t, program, Options{Input: program})
	if width, height := s.Size(); width != 40 || height != 10 {
		t.Errorf("the terminal has %d by %d", width, height)
	}
	narrow := &tuitest.PTY{File: person}
	if err := narrow.Resize(20, 10); err != nil {
		t.Fatal(err)
	}
	s.Show(Frame{Lines: []string{strings.Repeat("x", 40)}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	if text := <-shown; strings.Count(text, "x") != 20 {
		t.Errorf("%q", text)
	}
}
