package tuitest

import (
	"bufio"
	"os/exec"
	"testing"
)

func TestAProgramHasThePseudoTerminalAsItsOwn(t *testing.T) {
	p, err := StartPTY(exec.Command("/bin/sh", "-c", "stty -echo; stty size </dev/tty; read x; echo got $x"), 60, 15)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := bufio.NewReader(p)
	if line, err := r.ReadString('\n'); err != nil || line != "15 60\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := p.WriteString("text\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "got text\r\n" {
		t.Errorf("%q, %v", line, err)
	}
}
