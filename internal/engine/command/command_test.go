package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/discovery"
	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

func args(t *testing.T, text string) Args {
	t.Helper()
	a, err := ParseArgs(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArgumentsAreWordsAsInAShell(t *testing.T) {
	for text, want := range map[string][]string{
		"":                   nil,
		"  a  b\tc\nd ":      {"a", "b", "c", "d"},
		`"a b" 'c  d' e"f"g`: {"a b", "c  d", "efg"},
		`a\ b "c\"d\\" '\'`:  {"a b", `c"d\`, `\`},
		`"" ''`:              {"", ""},
		`don't split it`:     {"don't", "split", "it"},
		`say "hi`:            {"say", `"hi`},
		`end\`:               {`end\`},
		`ä "ö ü"`:            {"ä", "ö ü"},
	} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	many := Words(strings.Repeat("x ", 5000))
	if len(many) != maxWords || len(many[maxWords-1]) != 2*(5001-maxWords)-1 {
		t.Errorf("%d words, the last has %d bytes", len(many), len(many[len(many)-1]))
	}
	if _, err := ParseArgs(strings.Repeat("x", MaxArgs+1)); err == nil {
		t.Error("arguments beyond the bound are taken")
	}
}

func TestArgumentsStandWhereTheTemplatePutsThem(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"$1-$2-$3", "a 'b c'", "a-b c-"},
		{"all: $@.", `a  "b c"`, "all: a b c."},
		{"raw: $ARGUMENTS.", `a  "b c"`, `raw: a  "b c".`},
		{"${@:2}|${@:1:2}|${@:3:9}|${@:0:1}|${@:9}", "a b c", "b c|a b|c|a|"},
		{"$10 and $0 and $x and $ and $ARGUMENTSX", "a", "a0 and $0 and $x and $ and $ARGUMENTSX"},
		{`\$1 \$@ \$ARGUMENTS \${@:2} $1`, "a", "$1 $@ $ARGUMENTS ${@:2} a"},
		{"${@:x} ${@:-1} ${@:1:-1} ${@:2", "a b", "${@:x} ${@:-1} ${@:1:-1} ${@:2\n\nARGUMENTS: a b"},
		{"$1", "'$2' b", "$2"}, // what is put in is not looked at again
		{"no place\n", "a b", "no place\n\nARGUMENTS: a b"},
		{"no place\n", "", "no place"},
		{"$99999999999999999999", "", "99999999999999999999"[1:]},
		{"${@:99999999999999999999}", "", "${@:99999999999999999999}"},
	} {
		got, err := Body{[]part{{text: c.text}}}.Expand(t.Context(), args(t, c.args), nil)
		if c.text == "$99999999999999999999" {
			c.want = "9999999999999999999"
		}
		if err != nil || got != c.want {
			t.Errorf("%q with %q gives %q (%v), want %q", c.text, c.args, got, err, c.want)
		}
	}
	if _, err := (Body{[]part{{text: strings.Repeat("$@ ", 2000)}}}).Expand(t.Context(), args(t, strings.Repeat("word ", 1000)), nil); !errors.As(err, new(longError)) {
		t.Errorf("a text that explodes: %v", err)
	}
}

func TestTheTextOfASkillKeepsItsShellAsItIs(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"awk '{print $1}' \"$@\" ${@:2} \\$1", "a b", "awk '{print $1}' \"$@\" ${@:2} \\$1\n\nARGUMENTS: a b"},
		{"Do $ARGUMENTS, $ARGUMENTS_2 and $ARGUMENTS", "'x $ARGUMENTS", "Do 'x $ARGUMENTS, $ARGUMENTS_2 and 'x $ARGUMENTS"},
		{"Do $ARGUMENTS.", "", "Do ."},
	} {
		if got, err := Expand(c.text, args(t, c.args)); err != nil || got != c.want {
			t.Errorf("%q with %q gives %q (%v), want %q", c.text, c.args, got, err, c.want)
		}
	}
	if _, err := Expand(strings.Repeat("$ARGUMENTS ", 2000), args(t, strings.Repeat("word ", 1000))); !errors.As(err, new(longError)) {
		t.Errorf("a text that explodes: %v", err)
	}
}

func TestShellLinesTakeArgumentsAsWordsAndNothingElse(t *testing.T) {
	evil := `'; rm -rf / #' "$(id)" "a'b"`
	for _, c := range []struct{ command, args, want string }{
		{"git log $1", "main", "git log main"},
		{"git log $@", "a 'b c'", "git log a 'b c'"},
		{`echo "$1" '$1' $1`, `"x y"`, `echo "x y" 'x y' 'x y'`},
		{`echo "$1"`, "'$(id) `id` \" \\'", `echo "\$(id) ` + "\\`id\\`" + ` \" \\"`},
		{`echo '$3'`, evil, `echo 'a'\''b'`},
		{`awk '{print \$1}' $1`, "f", `awk '{print $1}' f`},
		{`awk "{print \$1}" $1`, "f", `awk "{print $1}" f`},
		{"echo $HOME ${PATH} $ARGUMENTS", "a", "echo $HOME ${PATH} a"},
		{"echo $(date)", "", "echo $(date)"},
		{"echo $(date $1)", "a", ""},
		{"echo `date $1`", "a", ""},
		{"cat <<E\n$1\nE", "a", ""},
		{"echo $'$1'", "a", ""},
		{"ls # $1", "'a\nrm -rf x'", ""},
		{"echo $@", evil, `echo '; rm -rf / #' '$(id)' 'a'\''b'`},
		{`\01 $1`, "a", `\01 a`},       // a backslash in front of no placeholder is the shell's
		{"sh -c 'echo [$1]'", "a", ""}, // the quotes of the line mean nothing to the inner shell
		{"bash -lc \"make $1\"", "a", ""},
		{"env x=y sh -c 'ls $1'", "a", ""},
		{"eval ls $1", "a", ""},
		{"let x=$1", "a", ""},
		{"test -v $1", "a", ""},
		{"test -f $1", "a", "test -f a"},
		{"[ -n $1 ]", "a", "[ -n a ]"},
		{"printf -v $1 x", "a", ""},
		{"printf '%s' $1", "a", "printf '%s' a"},
		{"echo 1 | read $1", "a", ""},
		{"declare -a a; a[$1]=3", "a", ""},
		{"x=$1; [[ x -eq 0 ]]", "a", ""},
		{`c="echo $1"; eval "$c"`, "a", ""},
		{`"$SHELL" -c "echo $1"`, "a", ""},
		{"/bin/b?sh -c $1", "a", ""},
		{"make X=$1", "a", "make X=a"},
		{"sudo bash -c 'cd $1'", "a", ""},
		{"sh -c 'echo [$0]' sh", "a", "sh -c 'echo [$0]' sh"},
		{`sh -c 'echo "\$1"' sh $1`, "'a b'", `sh -c 'echo "$1"' sh 'a b'`},
		{"sh x.sh $1", "'a b'", "sh x.sh 'a b'"},
		{"npm run test -- $1", "a", "npm run test -- a"},
		{"go test -run $1 ./...", "'A|B'", "go test -run 'A|B' ./..."},
		{"git -C sub log --format=$1", "%H", "git -C sub log --format=%H"},
		{"find . -name $1", "'*.go'", "find . -name '*.go'"},
		{"xargs -n 1 echo $1", "a", "xargs -n 1 echo a"},
		{"docker run x $1", "a", "docker run x a"},
		{"$1", "ls", "ls"},
		{"$1", "'ls -l; id'", "'ls -l; id'"},
	} {
		got, err := args(t, c.args).shell(c.command)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q with %q gives %q (%v), want %q", c.command, c.args, got, err, c.want)
		}
	}
}

func TestABodyRunsItsShellLinesInOrderAndShowsWhatTheyGive(t *testing.T) {
	b, err := ReadBody([]byte("---\ndescription: x\n---\nState:\n!git status $1\n![image](x.png)\n!\n  !date\nOn !`uname` with !`x\n`$1`\n"))
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	got, err := b.Expand(context.Background(), args(t, "src"), func(_ context.Context, command string) (string, error) {
		ran = append(ran, command)
		return "<" + command + ">", nil
	})
	want := "State:\n<git status src>\n![image](x.png)\n!\n<date>\nOn <uname> with !`x\n`src`"
	if err != nil || got != want {
		t.Errorf("%q (%v)\nwant %q", got, err, want)
	}
	if strings.Join(ran, "|") != "git status src|date|uname" {
		t.Errorf("ran %q", ran)
	}
	failed := errors.New("no")
	if _, err := b.Expand(context.Background(), args(t, ""), func(context.Context, string) (string, error) { return "", failed }); !errors.Is(err, failed) {
		t.Errorf("a shell line that may not run: %v", err)
	}
	ran = nil
	b, _ = ReadBody([]byte("!date\n!echo $(x $1)\n"))
	if _, err := b.Expand(context.Background(), args(t, "a"), func(_ context.Context, c string) (string, error) { ran = append(ran, c); return "", nil }); err == nil || ran != nil {
		t.Errorf("a line that cannot take its arguments: %v, and %q ran before", err, ran)
	}
}

func TestATestOfTheShellIsNoImage(t *testing.T) {
	for line, want := range map[string]string{"![[ -f go.mod ]] && go version\n": "[[ -f go.mod ]] && go version", "  ![ -d .git ] || echo no": "[ -d .git ] || echo no", "![[\t-n $x ]]": "[[\t-n $x ]]",
		"![ $a = b ] && ls [ab]": "[ $a = b ] && ls [ab]", "![image](x.png)": "", "![ an image ](x.png)": "", "![ image ][name]": "", "![[notes.md]]": "", "!`date`": "", "!": "", "date": ""} {
		if got, ok := ShellLine(line); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", line, got, ok)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheNearestTemplateCountsAndTheOthersAreNamed(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "src", "p")
	own := filepath.Join(home, ".scorel")
	write(t, filepath.Join(root, ".git", "HEAD"), "ref: x\n")
	write(t, filepath.Join(root, "sub", ".scorel/commands/a.md"), "near")
	write(t, filepath.Join(root, ".scorel/commands/a.md"), "root")
	write(t, filepath.Join(root, ".scorel/commands/broken.md"), "---\nx: [\n---\n")
	write(t, filepath.Join(root, ".scorel/commands/out.md"), "")
	write(t, filepath.Join(root, ".scorel/commands/bad name.md"), "x")
	write(t, filepath.Join(root, ".scorel/commands/notes.txt"), "x")
	write(t, filepath.Join(root, ".scorel/commands/.hidden.md"), "x")
	write(t, filepath.Join(root, ".claude/commands/c.md"), "---\nargument-hint: [file] [n]\ndescription: Looks at it\n---\n!date\n")
	write(t, filepath.Join(home, ".scorel/commands/a.md"), "user")
	write(t, filepath.Join(home, ".scorel/commands/u.md"), "# Title\ntext")
	write(t, filepath.Join(home, ".claude/commands/v.md"), "x")
	if err := os.Symlink(filepath.Join(home, ".scorel/commands/u.md"), filepath.Join(root, ".scorel/commands/link.md")); err != nil {
		t.Fatal(err)
	}
	list, warning := discovery.Find(discovery.Config{WorkDir: filepath.Join(root, "sub"), Root: root, Home: home, Dir: own, UID: os.Getuid()}, "commands", ".claude")
	if warning != "" {
		t.Fatal(warning)
	}
	f := NewTemplates(own)
	got, problems := f.Find(context.Background(), list)
	by := map[string]Template{}
	for _, c := range got {
		by[c.Name] = c
	}
	if by["a"].Path != filepath.Join(root, "sub", ".scorel/commands/a.md") || by["a"].Trusted() != "" {
		t.Errorf("a is %+v", by["a"])
	}
	if c := by["c"]; c.Description != "Looks at it" || c.ArgumentHint != "[file] [n]" || !c.Shell || c.Trusted() != ".claude/commands/c.md" || c.Place.Scope != discovery.Project {
		t.Errorf("c is %+v", c)
	}
	if u := by["u"]; u.Description != "Title" || u.Shell || u.Place.Scope != discovery.User || u.Problem != "" {
		t.Errorf("u is %+v", u)
	}
	for name, want := range map[string]string{"broken": "broken.md: line 2", "link": "leads into Scorel's own folder", "out": "no text"} {
		if !strings.Contains(by[name].Problem, want) {
			t.Errorf("%s: %q, want %q", name, by[name].Problem, want)
		}
	}
	if all := strings.Join(problems, "\n"); len(problems) != 3 || !strings.Contains(all, "bad name.md is left out") || strings.Count(all, "a.md is hidden by") != 2 {
		t.Errorf("problems %q", problems)
	}
	if by["v"].Name == "" || len(got) != 7 {
		t.Errorf("%d templates: %v", len(got), by)
	}

	// What has changed is read again.
	write(t, filepath.Join(home, ".scorel/commands/u.md"), "# Other")
	got, _ = f.Find(context.Background(), list)
	if i := slices.IndexFunc(got, func(c Template) bool { return c.Name == "u" }); got[i].Description != "Other" {
		t.Errorf("after a change u is %+v", got[i])
	}
}

// fixed is a source of commands that tells what ran.
type fixed struct {
	source protocol.CommandSource
	names  []string
}

func (f fixed) List(context.Context) (out []protocol.CommandInfo, _ []string) {
	for _, n := range f.names {
		c := protocol.CommandInfo{Name: n, Source: f.source}
		if n == "broken" {
			c.Refused = "It is broken."
		}
		out = append(out, c)
	}
	return out, nil
}

func (f fixed) Run(_ context.Context, name, args string) (*protocol.CommandResult, error) {
	return &protocol.CommandResult{Status: string(f.source) + " " + name + " " + args}, nil
}

func (f fixed) Complete(context.Context, string, string) ([]protocol.Completion, error) {
	return make([]protocol.Completion, 500), nil
}

func TestANameThatIsTakenTwiceSaysWhoseItIs(t *testing.T) {
	ctx := context.Background()
	r := Registry{fixed{protocol.CommandBuiltin, []string{"compact", "model"}}, fixed{protocol.CommandTemplate, []string{"review", "compact", "solo"}},
		fixed{protocol.CommandSkill, []string{"review", "broken"}}, fixed{protocol.CommandExtension, []string{"x", "x"}}}
	list := r.List(ctx)
	var names []string
	for _, c := range list.Commands {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "broken compact compact:template model review:skill review:template solo x:extension x:extension:2" {
		t.Errorf("listed: %s", got)
	}
	for name, want := range map[string]string{"compact": "builtin compact -", "compact:template": "template compact -", "review:skill": "skill review -",
		"skill:review": "skill review -", "solo": "template solo -", "solo:template": "template solo -", "x:extension:2": "extension x -"} {
		if got, err := r.Run(ctx, name, "-"); err != nil || got.Status != want {
			t.Errorf("/%s: %+v, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"review": "There are several commands /review; say which: /review:skill, /review:template.", "none": "There is no command /none", "broken": "/broken cannot be run: It is broken."} {
		if _, err := r.Run(ctx, name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("/%s: %v; want %q", name, err, want)
		}
	}
	if c, err := r.Complete(ctx, "solo", ""); err != nil || len(c.Items) != maxCompletions {
		t.Errorf("%d completions, %v", len(c.Items), err)
	}
	if _, err := r.Run(ctx, "solo", strings.Repeat("x", MaxArgs+1)); err == nil {
		t.Error("arguments beyond the bound are taken")
	}
}

func FuzzShellLinesKeepTheirShape(f *testing.F) {
	for _, c := range []string{"echo $1", `echo "$1" '$2' $@`, "ls | grep $1 > $2", "echo # $1", `a\$1 "\\$1"`, "[[ $1 == x ]]", "for x in $@; do echo $x; done", "echo $'$1'", "x=$1 y", "~$1", "{$1,b}", `\$1"`} {
		f.Add(c, `'; id #' "$(id)" ~ * a=b`)
	}
	f.Fuzz(func(t *testing.T, command, typed string) {
		a, err := ParseArgs(typed)
		if err != nil {
			return
		}
		out, err := a.shell(command)
		if err != nil || len(a.Words) == 0 {
			return
		}
		if _, used, err := a.write(command, a.Words); err != nil || !used {
			return // no argument is in it
		}
		// With other arguments of as many words the command has the same steps.
		b := Args{Raw: "x", Words: make([]string, len(a.Words))}
		for i := range b.Words {
			b.Words[i] = "x"
		}
		other, err := b.shell(command)
		if err != nil {
			return
		}
		one, err1 := shellparse.Parse(out)
		two, err2 := shellparse.Parse(other)
		if err1 != nil || err2 != nil || len(one.Steps) != len(two.Steps) {
			t.Fatalf("%q with %q gives %q: %d steps (%v), with x %q: %d steps (%v)", command, typed, out, len(one.Steps), err1, other, len(two.Steps), err2)
		}
		for i := range one.Steps {
			if len(one.Steps[i].Words) != len(two.Steps[i].Words) {
				t.Fatalf("%q with %q gives %q, with x %q", command, typed, out, other)
			}
		}
	})
}

func FuzzTemplates(f *testing.F) {
	f.Add("---\ndescription: x\nmodel: y\n---\n$1 !`date` ${@:2:3}\n!x $1", "a b")
	f.Fuzz(func(t *testing.T, text, typed string) {
		_ = parse([]byte(text))
		b, err := ReadBody([]byte(text))
		a, aerr := ParseArgs(typed)
		if err != nil || aerr != nil {
			return
		}
		out, err := b.Expand(context.Background(), a, func(context.Context, string) (string, error) { return "", nil })
		if err == nil && len(out) > MaxText {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
