package heartbeat

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

// said is the list in short: a line for each task and each problem.
func said(l *List) string {
	var out []string
	for _, t := range l.Tasks {
		out = append(out, fmt.Sprintf("%s | %s | %q", t.Name, t.Words(), t.Prompt))
	}
	return strings.Join(append(out, l.Problems...), "\n")
}

func TestTasksAreReadInEachWayOfWritingThem(t *testing.T) {
	got := Parse([]byte("# What to do\r\n\r\ntasks:\r\n" + `  - name: inbox   # a comment
    interval: 30s
    prompt: "Look: is there mail?"

  - interval: 5m
    prompt: |
      First line.

      - a point
      ` + "```" + `
      tasks:
      ` + "```" + `
    name: 'review it'
  -
    name: daily
    interval: 1d
    prompt: >-
      folded
      text

# Notes
- this is no task
`))
	want := `inbox | every 30 s | "Look: is there mail?"
review it | every 5 min | "First line.\n\n- a point\n` + "```\\ntasks:\\n```" + `"
daily | every 1 d | "folded text"`
	if said(got) != want {
		t.Errorf("read as\n%s\nwant\n%s", said(got), want)
	}
	flat := Parse([]byte("tasks:\n- name: a\n  interval: 2h\n  prompt: x\n\n- name: b\n  interval: 90s\n  prompt: y"))
	if want := "a | every 2 h | \"x\"\nb | every 90 s | \"y\""; said(flat) != want {
		t.Errorf("without indentation read as\n%s", said(flat))
	}
}

func TestAnExampleInACodeBlockIsNoList(t *testing.T) {
	const task = "tasks:\n  - name: %s\n    interval: 1m\n    prompt: p\n"
	example, real := fmt.Sprintf(task, "example"), fmt.Sprintf(task, "real")
	for name, text := range map[string]string{
		"backticks":    "```yaml\n" + example + "```\n" + real,
		"tildes":       "~~~\n" + example + "```\n~~~~\n" + real,
		"indented":     "   ````\n" + example + "```\n   ````\n" + real,
		"no code":      "```not `code`\n" + real,
		"after":        real + "\n```\n" + example,
		"not at start": "  " + strings.TrimSuffix(example, "\n") + "\n" + real,
	} {
		l := Parse([]byte(text))
		if len(l.Tasks) != 1 || l.Tasks[0].Name != "real" || len(l.Problems) > 0 {
			t.Errorf("%s: read as\n%s", name, said(l))
		}
	}
	if l := Parse([]byte("```\n" + example)); len(l.Tasks) > 0 || !strings.Contains(said(l), "code block") {
		t.Errorf("a list in a code block that does not end is read as\n%s", said(l))
	}
}

func TestAWrongTaskIsLeftOutAloneAndNamed(t *testing.T) {
	for name, c := range map[string]struct{ task, want string }{
		"short":         {"name: bad\n    interval: 9s\n    prompt: x", `The task "bad" on line 5 is left out: its interval 9s is too short; the shortest is 10 seconds.`},
		"long":          {"name: bad\n    interval: 367d\n    prompt: x", `too long; the longest is 366 days.`},
		"overflow":      {"name: bad\n    interval: 4294967295d\n    prompt: x", `too long`},
		"form":          {"name: bad\n    interval: 1h30m\n    prompt: x", `its interval is "1h30m"; write it as 30s, 5m, 2h or 1d.`},
		"unit":          {"name: bad\n    interval: s\n    prompt: x", `its interval is "s"`},
		"none":          {"name: bad\n    prompt: x", `give it the field interval, such as 30s, 5m, 2h or 1d.`},
		"no prompt":     {"name: bad\n    interval: 1m", `The task "bad" on line 5 is left out: give it the field prompt`},
		"empty prompt":  {"name: bad\n    interval: 1m\n    prompt: |\n", `give it the field prompt`},
		"no name":       {"interval: 1m\n    prompt: x", `The task without a name on line 5 is left out: give it the field name.`},
		"field":         {"name: bad\n    intervall: 1m\n    prompt: x", `line 6 has the field "intervall"; the fields are name, interval and prompt.`},
		"twice":         {"name: bad\n    name: bad\n    prompt: x", `line 6: `},
		"same name":     {"name: first\n    interval: 1m\n    prompt: other", `The task "first" on line 5 is left out: there is another one of this name before it.`},
		"colon":         {"name: bad\n    interval: 1m\n    prompt: a: b", `line 7: a value with ": " in it must stand in quotes`},
		"not a map":     {"just text", `The task without a name on line 5 is left out: line 5: the fields have the form "name: value".`},
		"list":          {"name: bad\n    interval: 1m\n    prompt: [a, b]", `line 7: prompt must be one text.`},
		"anchor":        {"name: &a bad\n    interval: 1m\n    prompt: *a", `begins with & or *`},
		"two lines":     {"name: \"a\\nb\"\n    interval: 1m\n    prompt: x", `its name is more than one line of text.`},
		"large":         {"name: bad\n    interval: 1m\n    prompt: " + strings.Repeat("x", 16<<10+1), `its prompt has more than 16 KiB.`},
		"long name":     {"name: " + strings.Repeat("n", protocol.MaxName+1) + "\n    interval: 1m\n    prompt: x", `its name has more than`},
		"tab":           {"name: bad\n\tinterval: 1m", `line 6: `},
		"less indented": {"name: bad\n interval: 1m", `left out`},
	} {
		l := Parse([]byte("tasks:\n  - name: first\n    interval: 1m\n    prompt: x\n  - " + c.task + "\n  - name: last\n    interval: 1m\n    prompt: y\n"))
		if len(l.Tasks) != 2 || l.Tasks[0].Name != "first" || l.Tasks[0].Prompt != "x" || l.Tasks[1].Name != "last" {
			t.Errorf("%s: the others are\n%s", name, said(l))
		}
		if len(l.Problems) != 1 || !strings.Contains(l.Problems[0], c.want) {
			t.Errorf("%s: the problems are %q, not %q", name, l.Problems, c.want)
		}
	}
}

func TestAFileWithoutTasksSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `There is no line "tasks:"`,
		"tasks: [a]":                     `There is no line "tasks:"`,
		"tasks:\n":                       `The list that begins on line 1 has no tasks`,
		"tasks:\n\n# End\n- no":          `The list that begins on line 1 has no tasks`,
		"\ntasks:\n  name: a\n":          `Line 3 is not the beginning of a task`,
		"tasks:\n  - name: \xff":         `not text in UTF-8`,
		strings.Repeat("x", MaxFile+1):   `more than 64 KiB`,
		"tasks:\nother:\n\ntasks:\n- a:": `The list that begins on line 1 has no tasks; each begins with "- name:".` + "\nLine 4 begins a second list of tasks",
	} {
		if l := Parse([]byte(text)); len(l.Tasks) > 0 || !strings.Contains(said(l), want) {
			t.Errorf("%.40q is read as\n%s", text, said(l))
		}
	}
}

func TestOnlySoManyTasksAndProblemsCount(t *testing.T) {
	text := "tasks:\n"
	for i := range MaxTasks + 5 {
		text += fmt.Sprintf("- name: n%d\n  interval: 1m\n  prompt: x\n", i)
	}
	if l := Parse([]byte(text)); len(l.Tasks) != MaxTasks || said(&List{Problems: l.Problems}) != "There are more than 20 tasks; those from line 62 on are left out." {
		t.Errorf("read as\n%s", said(l))
	}
	text += strings.Repeat("\nx\ntasks:\n", 100)
	if l := Parse([]byte(text)); len(l.Problems) != maxProblems || !strings.Contains(l.Problems[maxProblems-1], "more that is wrong") {
		t.Errorf("%d problems: %q", len(l.Problems), l.Problems)
	}
}

func TestAPromptSaysWhatIsTheProjectsAndWhatIsTheTask(t *testing.T) {
	task := Task{Name: `a "b" <c>`, Every: 30 * time.Second, Prompt: "Look.\n</heartbeat>"}
	got := Prompt(task, "Be brief.\n</heartbeat>\x1b[2J")
	for _, want := range []string{"every 30 s", "nobody is watching", "Be brief.", "Look.", "&lt;/heartbeat>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt has no %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "</heartbeat>") != 2 || strings.Contains(got, "\x1b") || strings.Index(got, "Be brief.") > strings.Index(got, "Look.") {
		t.Errorf("the prompt is\n%s", got)
	}
	if got := Prompt(task, " \n"); strings.Contains(got, "instructions") {
		t.Errorf("without a standing text the prompt is\n%s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "tasks:\n- name: a\n  interval: 1m\n  prompt: |\n    x\n", "```\ntasks:\n```\ntasks:\n  -\n\t-\n", "tasks:\n- - -\n- &a [*a]\n- ? x\n", "tasks:\n- a: \"\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Parse(data)
		if len(l.Tasks) > MaxTasks || len(l.Problems) > maxProblems {
			t.Fatalf("%d tasks, %d problems", len(l.Tasks), len(l.Problems))
		}
		if len(l.Tasks) == 0 && len(l.Problems) == 0 {
			t.Fatal("a file without tasks says nothing")
		}
		names := map[string]bool{}
		for _, task := range l.Tasks {
			if task.Name == "" || task.Prompt == "" || task.Every < minEvery || task.Every > maxEvery || names[task.Name] {
				t.Fatalf("a task is %+v", task)
			}
			names[task.Name] = true
		}
		if !reflect.DeepEqual(l, Parse(data)) {
			t.Fatal("it is read in two ways")
		}
	})
}
