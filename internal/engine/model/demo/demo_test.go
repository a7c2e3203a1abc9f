package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/catalog"
	"scorel/internal/ui/cli/demoproject"
	"scorel/protocol"
)

const task = "A check of this project fails. Repair it."

func TestPlantedFaultsAreRepaired(t *testing.T) {
	harness.Computed(t)
	for name, fault := range map[string][]string{
		"an amount at the limit is left out": {"amount >= min", "amount > min"},
		"the mean multiplies":                {"sums[i] / counts[i]", "sums[i] * counts[i]"},
		"the order is the wrong way round":   {"-k1,1nr", "-k1,1n"},
		"a word of a message is another":     {"cannot read $file", "cannot open $file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sound := w.project(fault...)
			text := w.say(task)
			has(t, text, "Repaired", "demo")
			if w.file("tally") != sound {
				t.Errorf("tally passes its checks but is not as it was:\n%s", text)
			}
			for _, tool := range []string{"TodoWrite", "Glob", "Grep", "Read", "Edit", "Bash"} {
				if w.calls(tool) == 0 {
					t.Errorf("%s was not used", tool)
				}
			}
		})
	}
}

func TestTheShippedFaultIsRepairedInAFewTries(t *testing.T) {
	w := newWorld(t)
	sound := w.project()
	if err := demoproject.Write(w.dir); err != nil {
		t.Fatal(err)
	}
	has(t, w.say(task), "Repaired")
	if w.file("tally") != sound {
		t.Error("tally is not as it should be")
	}
	if n := w.calls("Edit"); n < 2 || n > 8 {
		t.Errorf("it took %d tries; a demo shows a few", n)
	}
}

func TestNoLineOfTheProjectStandsInTheModelsSource(t *testing.T) {
	const trivial = 12
	sources, err := filepath.Glob("*.go")
	if err != nil || len(sources) < 5 {
		t.Fatalf("no sources: %v", err)
	}
	var all strings.Builder
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	names, err := demoproject.Names()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range names {
		data, err := demoproject.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); len(line) < trivial {
				continue
			}
			checked++
			if strings.Contains(all.String(), line) {
				t.Errorf("the model's source contains a line of %s: %s", name, line)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d lines were looked for", checked)
	}
}

func TestAnotherFolderIsLookedAtAndNothingIsChanged(t *testing.T) {
	w := newWorld(t)
	w.write("notes.txt", "milk\n")
	w.write("src/main.c", "int main(void) { return 0; }\n")
	text := w.say("Please fix the bug in here")
	has(t, text, "notes.txt", "src/main.c", "2 files", "demo", "test.sh")
	if w.calls("Edit")+w.calls("Bash") > 0 {
		t.Error("something was run or changed")
	}
}

func TestAnEmptyFolderHasNoFiles(t *testing.T) {
	has(t, newWorld(t).say(task), "no files", "demo")
}

func TestAMakefileWithoutTestsIsNoTest(t *testing.T) {
	w := newWorld(t)
	w.write("Makefile", "all:\n\techo built\n")
	has(t, w.say(task), "make test", "demo")
	if w.calls("Edit") > 0 {
		t.Error("something was changed")
	}
}

func TestMakeTestIsRunWhereThereIsNoScript(t *testing.T) {
	w := newWorld(t)
	w.write("Makefile", "test:\n\t@test \"$$(bash add.sh 2 3)\" = 5 || { echo FAIL two and three; exit 1; }\n")
	w.write("add.sh", "echo $(($1 - $2))\n")
	has(t, w.say(task), "Repaired")
	if w.file("add.sh") != "echo $(($1 + $2))\n" {
		t.Errorf("add.sh: %s", w.file("add.sh"))
	}
}

func TestAQuestionIsAnsweredWithWhatADemoCanDo(t *testing.T) {
	for _, prompt := range []string{"hello", "What is the capital of France?", "Who are you?", "now add a comment at the top", "2+2"} {
		w := newWorld(t)
		has(t, w.say(prompt), "demo model", "scorel demo", "--model", "ANTHROPIC_API_KEY")
		if len(w.messages) != 2 {
			t.Errorf("%q: tools were used", prompt)
		}
	}
}

func TestAQuestionAboutTheFolderIsAnsweredWithItsFiles(t *testing.T) {
	w := newWorld(t)
	w.project()
	has(t, w.say("What is in this folder?"), "tally", "bash test.sh", "demo")
	if w.calls("Bash") > 0 {
		t.Error("something was run")
	}
}

func TestAskedOnlyToTestItChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.project("amount >= min", "amount > min")
	has(t, w.say("Run the tests."), "One check fails", "--min", "demo")
	if w.calls("Edit") > 0 {
		t.Error("something was changed")
	}
	has(t, w.say("Then fix it."), "Repaired")
}

func TestWhatPassesNeedsNoRepair(t *testing.T) {
	w := newWorld(t)
	w.project("usage: tally", "usage: tally")
	has(t, w.say(task), "nothing to repair", "14")
	if w.calls("Edit") > 0 {
		t.Error("something was changed")
	}
}

func TestADeniedCallIsSaidAndNotRepeated(t *testing.T) {
	for _, denied := range []string{"Bash", "Edit", "Read", "Glob", "Grep"} {
		t.Run(denied, func(t *testing.T) {
			w := newWorld(t)
			sound := w.small()
			w.deny = denied
			has(t, w.say(task), "Not run: a person refused it.", "demo")
			if n := w.calls(denied); n > 2 {
				t.Errorf("%s was called %d times", denied, n)
			}
			w.deny = ""
			has(t, w.say("go on"), "Repaired")
			if w.file("tally") != sound {
				t.Error("tally is not repaired")
			}
		})
	}
}

func TestWithoutToolsItSaysWhichItNeeds(t *testing.T) {
	w := newWorld(t)
	w.tools = nil
	has(t, w.say(task), "Glob", "Bash", "Edit", "demo")
}

func TestWhatItCannotRepairIsLeftAsItWas(t *testing.T) {
	w := newWorld(t)
	w.write("test.sh", "echo 'FAIL never passes'\necho '  command: bash add.sh'\nexit 1\n")
	w.write("add.sh", "echo $((1 + 1))\n")
	text := w.say(task)
	has(t, text, "could not repair", "never passes", "demo")
	if w.file("add.sh") != "echo $((1 + 1))\n" {
		t.Errorf("add.sh is left as %q", w.file("add.sh"))
	}
	if w.calls("Edit") > maxTries+1 {
		t.Errorf("%d tries", w.calls("Edit"))
	}
}

func TestAFileThatSomebodyElseChangesIsReadAgain(t *testing.T) {
	w := newWorld(t)
	sound := w.small()
	w.messages = append(w.messages, protocol.UserText(task))
	for w.calls("Edit") == 0 {
		w.step()
	}
	broken := strings.Replace(sound, "echo many", "echo few", 1)
	w.write("tally", broken)
	for range 150 {
		if text, done := w.step(); done {
			has(t, text, "Repaired")
			break
		}
	}
	if w.file("tally") != sound {
		t.Error("tally is not repaired")
	}
}

func TestTextComesWordByWordWithTheDelayBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, deltas := time.Now(), 0
		for d, err := range NewPaced(Config{Delay: time.Second}).Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("hello")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := d.(model.TextDelta); ok {
				deltas++
			}
		}
		if passed := time.Since(start); deltas < 20 || passed != time.Duration(deltas)*time.Second {
			t.Errorf("%d words took %v", deltas, passed)
		}
	})
}

func TestACancelledAnswerEndsWithTheErrorOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range NewPaced(Config{Delay: time.Hour}).Stream(ctx, model.Request{Messages: []protocol.Message{protocol.UserText("hello")}}) {
			if last = err; last == nil {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("the stream ended with %v", last)
		}
	})
}

func TestAConsumerThatStopsGetsNothingMore(t *testing.T) {
	for range New().Stream(t.Context(), model.Request{Messages: []protocol.Message{protocol.UserText("hello")}}) {
		break
	}
}

func TestTheRealModelThatItNamesIsInTheCatalogue(t *testing.T) {
	_, rest, ok := strings.Cut(realModel, "--model ")
	provider, rest, _ := strings.Cut(rest, "/")
	id, _, _ := strings.Cut(rest, " ")
	if _, found := catalog.Find(provider, id); !ok || !found {
		t.Errorf("there is no %s/%s in the catalogue", provider, id)
	}
}

func TestTheModelIsFreeAndSaysWhatItIs(t *testing.T) {
	info := New().Info()
	if info.Ref != "demo" || info.Provider != "scorel" || info.API != model.APIDemo || info.ContextWindow != 200_000 || info.MaxTokens != 16_384 || info.Price != (model.Price{}) {
		t.Errorf("%+v", info)
	}
}
