package demo

import (
	"fmt"
	"strings"
)

// hello opens a task.
const hello = "I am Scorel's built-in demo model: no language model, only a small program that uses the same tools and logs as a real one. Let me look at what is here."

// realModel returns how to get a language model.
const realModel = `To work with a real one, set its key and name it:

    export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY, and others)
    scorel -p --model anthropic/claude-sonnet-5-5 "…"

or write it into ~/.scorel/config.toml, below [model], as name = "anthropic/claude-sonnet-5-5".`

// about answers what needs no tools.
func about() string {
	return `I am the demo model that is built into Scorel. I understand next to nothing: I am no language model.

What I can do: repair a small fault in a project that has a test script (test.sh, or "make test"). Ask me to "repair the failing check", and I run the tests, read what fails, and try changes of a single token until every check passes. "scorel demo" makes a project for that. I can also run the tests for you, or look at what is in a folder.

` + realModel
}

// steps is what a repair consists of.
func steps() []string {
	return []string{"Run the tests", "Read the failing check and the code", "Repair it and see every check pass"}
}

// todoList is the list with the first n steps done.
func todoList(n int) todoInput {
	var in todoInput
	for i, s := range steps() {
		status := "pending"
		switch {
		case i < n:
			status = "completed"
		case i == n:
			status = "in_progress"
		}
		in.Todos = append(in.Todos, todo{s, status})
	}
	return in
}

func refusedText(reason string) string {
	return "I stop here, because a call was not carried out. The answer was:\n\n    " + indent(reason) +
		"\n\nI am a demo model and know no other way to the goal. Allow it and say \"go on\"."
}

func missingText(tools []string) string {
	return "For that I need the tools " + strings.Join(tools, ", ") + ", which this session does not have. I am only a demo model; " +
		"start me with all tools (--tools coding)."
}

// sample names some files of a list.
func sample(files []string) string {
	const most = 6
	if len(files) == 0 {
		return "no files"
	}
	text := fmt.Sprintf("%d files", len(files))
	if len(files) == 1 {
		text = "1 file"
	}
	text += " (" + strings.Join(files[:min(len(files), most)], ", ")
	if len(files) > most {
		text += ", …"
	}
	return text + ")"
}

func lookedText(files []string, script string) string {
	text := "I listed the files here and found " + sample(files) + ". "
	if script != "" {
		text += "The tests seem to be run by `" + command(script) + "`. Ask me to \"repair the failing check\", and I try. "
	}
	return text + "More I cannot say about them: I am a demo model and understand no text.\n\n" + realModel
}

func nothingText(files []string) string {
	return "I looked for a test script here (test.sh, tests.sh, check.sh, run-tests.sh, or a Makefile) and found none. " +
		"What I saw are " + sample(files) + ".\n\n" +
		"I am a demo model, no language model: all I can do is make failing tests of a small project pass. \"scorel demo\" makes a project on which I can show it.\n\n" + realModel
}

func notTestsText(script string, r testRun) string {
	return "I ran `" + command(script) + "`, but that ran no tests:\n\n    " + indent(parseReport(r.output).tail) +
		"\n\nI am a demo model and know no other way to run them."
}

func failedText(script string, r report) string {
	return "I ran `" + command(script) + "`. " + failingText(r) + "\n\nI am a demo model, but I may be able to repair that: ask me to \"repair the failing check\"."
}

// failingText returns what fails.
func failingText(r report) string {
	c := r.first()
	n := "A check fails"
	switch {
	case len(r.failed) == 1:
		n = "One check fails"
	case len(r.failed) > 1:
		n = fmt.Sprintf("%d checks fail; the first is", len(r.failed))
	}
	text := n + ": \"" + c.name + "\"."
	if c.expected != "" || c.got != "" {
		text += fmt.Sprintf(" Expected was \"%s\", but there came \"%s\".", clip(c.expected, 80), clip(c.got, 80))
	}
	return text
}

func readText(names []string, complaint string) string {
	if complaint != "" {
		return "The change may not have taken effect, or somebody else changed the file. I read it again."
	}
	return "The checks run " + strings.Join(names, ", ") + ". Let me read that."
}

func tryText(n int, c candidate) string {
	what := "`" + c.from + "` becomes `" + c.to + "`"
	if c.to == "" {
		what = "without `" + strings.TrimSpace(c.from) + "`"
	}
	return fmt.Sprintf("Try %d: line %d of %s, %s.", n, c.line+1, c.path, what)
}

func noSourceText(script string, r report) string {
	return failingText(r) + " But I cannot find out which file " + script + " tests, so I stop here. I am only a demo model."
}

func unreadableText(names []string) string {
	return "I could not read " + strings.Join(names, ", ") + " as a whole, so I change nothing. I am only a demo model, made for small text files."
}

func editFailedText(complaint string) string {
	return "My change could not be made:\n\n    " + indent(complaint) + "\n\nI am only a demo model and stop here. Say \"go on\" to let me try again."
}

func repairedText(f *source, tries, passed int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Repaired, at try %d. All checks pass", tries)
	if passed > 0 {
		fmt.Fprintf(&s, " (%d of them)", passed)
	}
	s.WriteString(".\n")
	before, after := strings.Split(f.base, "\n"), strings.Split(f.now, "\n")
	for i := range before {
		if i < len(after) && before[i] != after[i] {
			fmt.Fprintf(&s, "\n    %s, line %d\n    - %s\n    + %s\n", f.path, i+1, strings.TrimSpace(before[i]), strings.TrimSpace(after[i]))
		}
	}
	s.WriteString("\nThat was a demo: I ran the tests, read what failed, and changed one token after another until every check passed, without understanding any of it. " +
		"Every step is in the session's log.")
	return s.String()
}

func nothingToRepairText(script string, passed int) string {
	return fmt.Sprintf("I ran `%s` and every check passes (%d seen), so there is nothing to repair. I am a demo model: break something small in the code and ask me to repair it.", command(script), passed)
}

func gaveUpText(tries int, r report) string {
	return fmt.Sprintf("I could not repair it. I tried %d changes of one token each, and none made every check pass; the code is as it was before. %s "+
		"I am a demo model and understand neither the code nor the fault; a real model would.\n\n%s", tries, failingText(r), realModel)
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ") }
