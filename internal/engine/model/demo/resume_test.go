package demo

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/model"
	"scorel/protocol"
)

// stopped is what a result says whose call was cut off by a kill.
const stopped = "The host stopped while this ran. It may have taken effect. Check before repeating."

// moment is a conversation in which the host may be killed: the transcript as it
// is then, and the file.
type moment struct {
	messages []protocol.Message
	states   []protocol.FileState
	tally    string
	cut      string // the call that was running, "" for none
}

// small writes a project whose tests take a few milliseconds: its fault takes
// several tries.
func (w *world) small() (sound string) {
	w.t.Helper()
	sound = "one=1 limit=9\nif (($1 > limit)); then\n  echo many\nelse\n  echo $(($1 + one))\nfi\n"
	w.write("tally", strings.Replace(sound, "one=1", "one=2", 1))
	w.write("test.sh", `bad=0
check() {
  got=$(. ./tally "$2")
  [[ $got == "$3" ]] && { echo "ok $1"; return; }
  echo "FAIL $1"; echo "  expected: $3"; echo "  got: $got"; bad=1
}
check "says many above the limit" 10 many
check "adds one" 4 5
check "adds one at the limit" 9 10
exit $bad
`)
	return sound
}

// moments plays a repair and gives each moment between its durable steps, and
// those in which a call had begun: before and after its effect.
func moments(t *testing.T, w *world) []moment {
	var all []moment
	note := func(cut *protocol.Block, tally string) {
		m := moment{messages: append([]protocol.Message(nil), w.messages...), states: append([]protocol.FileState(nil), w.states...), tally: tally}
		if cut != nil {
			m.cut = cut.Name
			m.messages = append(m.messages, protocol.ToolError(cut.ID, cut.Name, stopped))
		}
		all = append(all, m)
	}
	w.messages = append(w.messages, protocol.UserText(task))
	for {
		note(nil, w.file("tally"))
		m := w.answer()
		w.messages = append(w.messages, m)
		calls := m.Calls()
		if len(calls) == 0 {
			note(nil, w.file("tally"))
			return all
		}
		for i, c := range calls {
			before, states := w.file("tally"), len(w.states)
			rest := calls[i+1:]
			cutOff := func(tally string) {
				note(&c, tally)
				last := &all[len(all)-1]
				last.states = last.states[:states]
				for _, r := range rest {
					last.messages = append(last.messages, protocol.ToolError(r.ID, r.Name, stopped))
				}
			}
			cutOff(before)
			w.run(c)
			if after := w.file("tally"); after != before {
				result, now := w.messages[len(w.messages)-1], w.states
				w.messages = w.messages[:len(w.messages)-1]
				cutOff(after)
				w.messages, w.states = append(w.messages, result), now
			}
		}
	}
}

func TestKilledAtAnyMomentItGoesOnToTheRepair(t *testing.T) {
	harness.Computed(t)
	w := newWorld(t)
	sound := w.small()
	all := moments(t, w)
	if len(all) < 20 {
		t.Fatalf("only %d moments", len(all))
	}
	for i, m := range all {
		t.Run(fmt.Sprintf("%d %s", i, m.cut), func(t *testing.T) {
			w := newWorld(t)
			w.small()
			w.write("tally", m.tally)
			w.messages, w.states = m.messages, m.states
			for k := range w.states {
				w.states[k].Path = filepath.Join(w.dir, filepath.Base(w.states[k].Path))
			}
			w.start()
			text := w.say("Go on.")
			if w.file("tally") != sound {
				t.Errorf("tally is not repaired:\n%s", text)
			}
			if !strings.Contains(text, "Repaired") && !strings.Contains(text, "nothing to repair") {
				t.Errorf("it ends with:\n%s", text)
			}
		})
	}
}

func TestCompactedAtAnyMomentItGoesOnToTheRepair(t *testing.T) {
	harness.Computed(t)
	w := newWorld(t)
	sound := w.small()
	tried := map[string]bool{}
	for i, m := range moments(t, w) {
		t.Run(fmt.Sprintf("%d %s", i, m.cut), func(t *testing.T) {
			w := newWorld(t)
			w.small()
			w.write("tally", m.tally)
			w.messages = []protocol.Message{summaryOf(t, m.messages)}
			w.start()
			text := w.say("Go on.")
			if w.file("tally") != sound {
				t.Errorf("tally is not repaired:\n%s\nafter the summary:\n%s", text, w.messages[0].PlainText())
			}
		})
		tried[m.tally] = true
	}
	if len(tried) < 3 {
		t.Errorf("only %d contents of tally were met", len(tried))
	}
}

// summaryOf compacts all messages as the history package does.
func summaryOf(t *testing.T, messages []protocol.Message) protocol.Message {
	t.Helper()
	var text strings.Builder
	text.WriteString("<conversation>\n")
	for _, m := range messages {
		switch {
		case m.Role == protocol.RoleUser:
			fmt.Fprintf(&text, "[User] %s\n", m.PlainText())
		case m.Role == protocol.RoleToolResult && m.IsError:
			fmt.Fprintf(&text, "[Error of %s] %s\n", m.ToolName, m.PlainText())
		case m.Role == protocol.RoleToolResult:
			fmt.Fprintf(&text, "[Result of %s] %s\n", m.ToolName, m.PlainText())
		default:
			fmt.Fprintf(&text, "[Assistant] %s\n", m.PlainText())
			for _, c := range m.Calls() {
				fmt.Fprintf(&text, "[Assistant calls %s] %s\n", c.Name, c.Input)
			}
		}
	}
	text.WriteString("</conversation>\n\nSummarise it.")
	req := model.Request{Kind: model.KindCompact, Messages: []protocol.Message{protocol.UserText(text.String())}}
	var summary string
	for d, err := range New().Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := d.(type) {
		case model.BlockEnd:
			summary = d.Block.Text
		case model.Done:
			if d.StopReason != protocol.StopEndTurn {
				t.Errorf("a summary ends with %s", d.StopReason)
			}
		}
	}
	has(t, summary, "demo model")
	return protocol.UserText("The conversation up to here was replaced by this summary:\n\n<summary>\n" + summary + "\n</summary>")
}

func TestASummaryKeepsWhatTheOneBeforeItSaid(t *testing.T) {
	first := "- The user asked: Repair it.\n- Edit {\"path\":\"tally\",\"edits\":[{\"old_string\":\"a\",\"new_string\":\"b\"}]}"
	text := summarise([]protocol.Message{protocol.UserText("<previous-summary>\n" + first + "\n</previous-summary>\n\n<conversation>\n[User] Go on.\n[Result of Bash] all well\n</conversation>\n")})
	has(t, text, "Repair it.", "Go on.", `"new_string":"b"`)
}

func TestRewoundWithItsFilesItRepairsAgain(t *testing.T) {
	w := newWorld(t)
	sound := w.small()
	broken := w.file("tally")
	has(t, w.say(task), "Repaired")
	w.messages, w.states = w.messages[:1], nil
	w.write("tally", broken)
	w.start()
	has(t, w.say("Go on."), "Repaired")
	if w.file("tally") != sound {
		t.Error("tally is not repaired")
	}
}

func TestRewoundWithoutItsFilesItFindsThemRepaired(t *testing.T) {
	w := newWorld(t)
	w.small()
	has(t, w.say(task), "Repaired")
	w.messages, w.states = w.messages[:1], nil
	w.start()
	has(t, w.say("Go on."), "nothing to repair")
}

func TestASecondFaultIsRepairedInTheSameConversation(t *testing.T) {
	w := newWorld(t)
	sound := w.small()
	has(t, w.say(task), "Repaired")
	w.write("tally", strings.Replace(sound, "echo many", "echo few", 1))
	has(t, w.say("It is broken again. Fix it."), "Repaired")
	if w.file("tally") != sound {
		t.Error("tally is not repaired")
	}
}

func TestRemindersAreNotTheUsersWords(t *testing.T) {
	w := newWorld(t)
	w.small()
	w.messages = []protocol.Message{protocol.UserText(task), protocol.UserText("<system-reminder>\nToday is Friday. What is the date?\n</system-reminder>")}
	for range 60 {
		text, done := w.step()
		if last := &w.messages[len(w.messages)-1]; last.Role == protocol.RoleToolResult {
			last.Content = append(last.Content, protocol.Text("\n\n<system-reminder>\nexit code 0]\n</system-reminder>"))
		}
		if done {
			has(t, text, "Repaired")
			return
		}
	}
	t.Error("the turn does not end")
}

func TestTheSameRequestGivesTheSameAnswer(t *testing.T) {
	w := newWorld(t)
	w.project()
	w.messages = []protocol.Message{protocol.UserText(task)}
	for range 4 {
		w.step()
	}
	a, b := w.answer(), w.answer()
	ids := map[string]bool{}
	for i := range a.Content {
		if a.Content[i].Text != b.Content[i].Text || string(a.Content[i].Input) != string(b.Content[i].Input) {
			t.Errorf("answers differ: %+v and %+v", a.Content[i], b.Content[i])
		}
		maps.Copy(ids, map[string]bool{a.Content[i].ID: true, b.Content[i].ID: true})
	}
	if calls := len(a.Calls()); len(ids) < 2*calls {
		t.Error("two answers share ids of calls")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "tally")); err != nil {
		t.Error(err)
	}
}
