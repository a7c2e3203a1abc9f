package heartbeat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scorel/internal/text/frontmatter"
	"scorel/protocol"
)

// The files, relative to the project.
const (
	File = ".scorel/autonomy/HEARTBEAT.md"
	// Standing is the text that is before the prompt of each task. It need not exist.
	Standing = ".scorel/autonomy/AGENTS.md"
)

// Bounds of the files.
const (
	MaxFile     = 64 << 10 // bytes of each of them
	MaxTasks    = 20
	maxProblems = 20
	maxEvery    = protocol.MaxEverySeconds * time.Second
	minEvery    = protocol.MinEverySeconds * time.Second
)

// Task is something that a project wants done again and again.
type Task struct {
	Name   string // one line, unique in the file
	Every  time.Duration
	Prompt string
}

// Words says how often the task is due, as "every 30 s".
func (t Task) Words() string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if t.Every%u.unit == 0 {
			return fmt.Sprintf("every %d %s", t.Every/u.unit, u.name)
		}
	}
	return fmt.Sprintf("every %d s", t.Every/time.Second)
}

// List is what a file says.
type List struct {
	Tasks []Task // in the order of the file
	// Problems are sentences about what of the file does not count, at most 20.
	Problems []string
}

// item is the text of one task.
type item struct {
	line int // of its first, from 1
	text strings.Builder
}

// Parse reads a HEARTBEAT.md. The list of tasks begins with the line "tasks:", which does not
// count inside of a fenced code block, and ends at the next line that is not indented.
func Parse(data []byte) *List {
	l := &List{}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	switch {
	case len(data) > MaxFile:
		l.problem("The file has more than %d KiB, so none of its tasks counts.", MaxFile>>10)
		return l
	case !utf8.Valid(data):
		l.problem("The file is not text in UTF-8, so none of its tasks counts.")
		return l
	}
	lines := strings.SplitAfter(string(data), "\n")
	heads := headings(lines)
	if len(heads) == 0 {
		l.problem("There is no line %q, so there are no tasks; one inside of a code block does not count.", "tasks:")
		return l
	}
	for i, item := range l.items(lines, heads[0]) {
		if i == MaxTasks {
			l.problem("There are more than %d tasks; those from line %d on are left out.", MaxTasks, item.line)
			break
		}
		l.add(item)
	}
	for _, h := range heads[1:] {
		l.problem("Line %d begins a second list of tasks, which is left out; put all tasks into one.", h+1)
	}
	return l
}

func (l *List) problem(format string, args ...any) {
	switch {
	case len(l.Problems) < maxProblems-1:
		l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
	case len(l.Problems) == maxProblems-1:
		l.Problems = append(l.Problems, "There is more that is wrong; correct these first.")
	}
}

// isHeading reports whether a line begins the list of tasks.
func isHeading(line string) bool {
	rest, ok := strings.CutPrefix(line, "tasks:")
	rest = strings.TrimSpace(rest)
	return ok && (rest == "" || rest[0] == '#')
}

// fence returns the marks of a line that opens or closes a fenced code block, and what is after
// them; "" for another line.
func fence(line string) (marks, rest string) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return "", ""
	}
	rest = strings.TrimLeft(text, text[:1])
	if marks = text[:len(text)-len(rest)]; len(marks) < 3 {
		return "", ""
	}
	return marks, strings.TrimSpace(rest)
}

// headings returns the indices of the lines that begin a list of tasks, without those in
// fenced code blocks.
func headings(lines []string) (at []int) {
	open := ""
	for i, line := range lines {
		marks, rest := fence(line)
		switch {
		case marks != "" && open == "" && !(marks[0] == '`' && strings.Contains(rest, "`")):
			open = marks
		case marks != "" && open != "" && marks[0] == open[0] && len(marks) >= len(open) && rest == "":
			open = ""
		case open == "" && isHeading(line):
			at = append(at, i)
		}
	}
	return at
}

// items cuts the list after a heading into its tasks.
func (l *List) items(lines []string, head int) (out []*item) {
	indent := -1 // of the dashes
	for i := head + 1; i < len(lines); i++ {
		line := lines[i]
		text := strings.TrimLeft(line, " \t")
		in, dash := len(line)-len(text), strings.HasPrefix(text, "- ") || strings.TrimSpace(text) == "-"
		switch {
		case strings.TrimSpace(text) == "":
		case in == 0 && !(dash && indent <= 0): // the list has ended
			return l.some(out, head)
		case dash && (indent < 0 || in <= indent):
			indent = in
			out = append(out, &item{line: i + 1})
			line = line[:in] + " " + line[in+1:]
		case indent < 0:
			l.problem("Line %d is not the beginning of a task; the tasks are a list, and each begins with %q.", i+1, "- name:")
			return out
		}
		if len(out) > 0 {
			out[len(out)-1].text.WriteString(line)
		}
	}
	return l.some(out, head)
}

// some reports an empty list.
func (l *List) some(items []*item, head int) []*item {
	if len(items) == 0 {
		l.problem("The list that begins on line %d has no tasks; each begins with %q.", head+1, "- name:")
	}
	return items
}

// add adds a task, or what is wrong with it.
func (l *List) add(it *item) {
	t, err := it.task()
	name := fmt.Sprintf("%.60q", t.Name)
	if t.Name == "" {
		name = "without a name"
	}
	if err == nil {
		for _, before := range l.Tasks {
			if before.Name == t.Name {
				err = errors.New("there is another one of this name before it")
			}
		}
	}
	if err != nil {
		l.problem("The task %s on line %d is left out: %v.", name, it.line, err)
		return
	}
	l.Tasks = append(l.Tasks, t)
}

// task reads a task. With an error it has a name where that could be read.
func (it *item) task() (t Task, err error) {
	d, err := frontmatter.Parse([]byte("---\n" + it.text.String() + "\n---\n"))
	if err != nil {
		return t, it.wrong(err)
	}
	var every string
	for _, f := range d.Fields {
		to := map[string]*string{"name": &t.Name, "interval": &every, "prompt": &t.Prompt}[f.Name]
		if to == nil {
			return t, fmt.Errorf("line %d has the field %.40q; the fields are name, interval and prompt", it.line+f.Line-2, f.Name)
		}
		if *to, err = f.Value.Text(); err != nil {
			return t, it.wrong(err)
		}
	}
	switch {
	case t.Name == "":
		return t, errors.New("give it the field name")
	case len(t.Name) > protocol.MaxName:
		return t, fmt.Errorf("its name has more than %d bytes", protocol.MaxName)
	case strings.ContainsFunc(t.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return t, errors.New("its name is more than one line of text")
	case t.Prompt == "":
		return t, errors.New("give it the field prompt, the text that is to be sent")
	case len(t.Prompt) > protocol.MaxSchedulePrompt:
		return t, fmt.Errorf("its prompt has more than %d KiB", protocol.MaxSchedulePrompt>>10)
	}
	t.Every, err = interval(every)
	return t, err
}

// wrong names the line of the file instead of that in the text of the task.
func (it *item) wrong(err error) error {
	var e *frontmatter.Error
	if errors.As(err, &e) {
		return fmt.Errorf("line %d: %s", max(it.line, it.line+e.Line-2), e.Problem)
	}
	return err
}

// interval reads 30s, 5m, 2h or 1d.
func interval(text string) (time.Duration, error) {
	const forms = "30s, 5m, 2h or 1d"
	switch {
	case text == "":
		return 0, errors.New("give it the field interval, such as " + forms)
	}
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if unit == 0 || err != nil {
		return 0, fmt.Errorf("its interval is %.40q; write it as %s", text, forms)
	}
	switch every := time.Duration(n); {
	case every > maxEvery/unit:
		return 0, fmt.Errorf("its interval %s is too long; the longest is %d days", text, maxEvery/(24*time.Hour))
	case every*unit < minEvery:
		return 0, fmt.Errorf("its interval %s is too short; the shortest is %d seconds", text, minEvery/time.Second)
	default:
		return every * unit, nil
	}
}
