package permission

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestTheTableOfOptionsIsTheOneInTheDocs(t *testing.T) {
	data, err := os.ReadFile("../../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := optionTable(); !strings.Contains(string(data), want) {
		t.Errorf("docs/permissions.md has another table; this is the one that counts:\n%s", want)
	}
}

func TestEveryOptionOfTheTableIsRefusedHoweverItIsWritten(t *testing.T) {
	for _, row := range programs {
		for name := range strings.FieldsSeq(row.name) {
			sub := map[string]string{"git": "git log", "go": "go vet", "npm": "npm test", "pnpm": "pnpm test"}[name]
			if sub == "" {
				sub = name
			}
			p := compile(t, Default, Layer{Allow: []string{"Bash(" + sub + ":*)"}})
			refused := func(rest string) {
				t.Helper()
				if v := p.Judge(bash(sub + " " + rest)); v.Decision == protocol.DecisionAllow {
					t.Errorf("%s %s is allowed", sub, rest)
				}
			}
			for _, c := range row.short {
				refused("-" + string(c) + " x")
				refused("a -" + string(c) + "x")
			}
			for _, l := range row.long {
				refused("--" + l + " x")
				refused("a --" + l + "=x")
				switch row.style {
				case getopt, anyCase, nopt:
					refused("--" + l[:len(l)-1] + "=x")
				case goFlags:
					refused("-" + l + "=x")
				}
				if row.style == anyCase {
					refused("--" + strings.ToUpper(l) + " x")
					refused("--expand-" + l + " x")
				}
			}
		}
	}
}

func TestOptionsAreReadAsTheirProgramsReadThem(t *testing.T) {
	for _, c := range []struct{ rule, src, want string }{
		{"sed:*", "sed -n '1,5p' f", "a"}, {"sed:*", "sed 's/a/b/g' f", "a"}, {"sed:*", "sed -e 's/a/b/' -ne '/x/,$ { s,a,b,2I; p }' f", "a"}, {"sed:*", "sed '$!d' f", "a"},
		{"sed:*", "sed '1e touch x' f", "q"}, {"sed:*", "sed 's/a/b/e' f", "q"}, {"sed:*", "sed 's/a/b/w x' f", "q"}, {"sed:*", "sed -n 'w x' f", "q"}, {"sed:*", "sed 'r /etc/passwd' f", "q"},
		{"sed:*", "sed '/a/ { R x\n}' f", "q"}, {"sed:*", "sed -i s/a/b/ f", "q"}, {"sed:*", "sed s/a/b/ f -ni", "q"}, {"sed:*", "sed --in-pl s/a/b/ f", "q"}, {"sed:*", "sed --expr='1e x' f", "q"},
		{"sed:*", "sed -ne1ex f", "q"}, {"sed:*", "sed -l 5 1ex f", "q"}, {"sed:*", "sed --line-length 5 1ex f", "q"}, {"sed:*", "sed -- 1ex f", "q"}, {"sed:*", "sed -f x f", "q"},
		{"sed:*", "sed 's/[/]/b/e x/' f", "q"}, {"sed:*", `sed 's/a/\` + "\n" + `/e' f`, "q"}, {"sed:*", "sed \"$x\" f", "q"}, {"sed -n:*", "sed -n 5p f", "a"}, {"sed '1e x':*", "sed '1e x' f", "a"},
		{"sed:*", "sed 'y/ab/cd/;p' f", "a"}, {"sed:*", "sed ':a;N;$!ba;s/\\n/ /g' f", "a"}, {"sed:*", "sed '5q' f", "a"}, {"sed:*", "sed 'a e x' f", "a"}, {"sed:*", "sed 'a x\\\ne y' f", "q"},
		{"awk:*", "awk '{print $1}' f", "a"}, {"awk:*", "awk -F: -v x=1 '$1 == x || /a/ {print}' f", "a"}, {"awk:*", "awk 'BEGIN{system(\"x\")}'", "q"}, {"awk:*", "awk '{print > \"x\"}' f", "q"},
		{"awk:*", "awk '{print | \"x\"}' f", "q"}, {"awk:*", "awk -f x f", "q"}, {"awk:*", "awk -F: -v x=1 'BEGIN{\"x\" | getline}' f", "q"}, {"awk:*", "awk -- 'BEGIN{system(1)}'", "q"},
		{"curl:*", "curl -sS -H 'X-To: o' https://x.org", "a"}, {"curl:*", "curl -HX-To:o https://x.org", "a"}, {"curl:*", "curl --trace-as f x", "q"}, {"curl:*", "curl --dump-h f x", "q"},
		{"curl:*", "curl --conf f x", "q"}, {"curl:*", "curl -sSof x", "q"}, {"curl:*", "curl -w '%{http_code}' x", "a"}, {"curl:*", "curl -w '%output{f}x' x", "q"}, {"curl:*", "curl -sw@f x", "q"},
		{"curl:*", "curl --write-out '%output{f}' x", "q"}, {"curl:*", "curl --expand-outp f x", "q"},
		{"npm test:*", "npm test", "a"}, {"npm test:*", "npm test -- -C x", "a"}, {"npm test:*", "npm test -C sub", "q"}, {"npm test:*", "npm test -prefix sub", "q"}, {"npm test:*", "npm test --pref=sub", "q"},
		{"tar tf:*", "tar tf x.tar", "a"}, {"tar:*", "tar xf x.tar --checkpoint=1", "a"}, {"tar:*", "tar xf x --checkpoint-a=exec=x", "q"}, {"tar:*", "tar xIf sh x", "q"}, {"tar:*", "tar xf x --to-c=x", "q"},
		{"sort:*", "sort -k2 -t, f", "a"}, {"sort:*", "sort -to f", "a"}, {"sort:*", "sort -uo f g", "q"}, {"sort:*", "sort f --out=g", "q"}, {"sort:*", "sort --comp=x f", "q"},
		{"rg:*", "rg --pretty x", "a"}, {"rg:*", "rg --pre x y", "q"}, {"rg:*", "rg --pre=x y", "q"}, {"rg:*", "rg --pre-glob x y", "a"},
		{"find:*", "find . -name '*.go'", "a"}, {"find:*", "find . -fprint x", "q"}, {"find:*", "find . -delete", "q"}, {"find:*", "find . -exec x ';'", "q"},
		{"fd:*", "fd -xrm", "q"}, {"fd:*", "fd --exec=rm", "q"}, {"fd:*", "fd -e go", "a"},
		{"make:*", "make -j4 test", "a"}, {"make:*", "make SHELL=x", "q"}, {"make:*", "make -kCx", "q"}, {"make:*", "make --dir=x", "q"},
		{"go test:*", "go test -run X ./...", "a"}, {"go test:*", "go test --exec x", "q"}, {"go test:*", "go test -coverprofile=x", "q"}, {"go test:*", "go test -test.cpuprofile=x", "q"},
		{"git log:*", "git log --text -5", "a"}, {"git log:*", "git log --outp=x", "q"}, {"git log:*", "git log --textc", "q"}, {"git diff:*", "git diff -- --output=x", "a"},
		{"uniq:*", "uniq -c a", "a"}, {"uniq:*", "uniq a b", "q"}, {"shuf:*", "shuf -n 5 a", "a"}, {"shuf:*", "shuf a -ob", "q"}, {"split:*", "split --filt=x a", "q"},
		{"less:*", "less f", "a"}, {"less:*", "less '+!x' f", "q"}, {"man:*", "man -P x ls", "q"}, {"/usr/bin/sort:*", "/usr/bin/sort -o x y", "q"},
		{"timeout 5 sed:*", "timeout 5 sed 1ex f", "q"}, {"timeout 5 sed:*", "timeout 5 sed -n 1p f", "a"},
	} {
		p := compile(t, Default, Layer{Allow: []string{"Bash(" + c.rule + ")"}})
		if v := p.Judge(bash(c.src)); letter(v.Decision) != c.want {
			t.Errorf("Bash(%s) %q: %s, want %s", c.rule, c.src, v.Decision, c.want)
		}
	}
}

// TestScriptsOfSedThatAreAllowedDoNothingForSed puts scripts together at random: GNU sed
// refuses in its sandbox what runs commands or reads and writes files.
func TestScriptsOfSedThatAreAllowedDoNothingForSed(t *testing.T) {
	if out, err := exec.Command("sed", "--sandbox", "e x").CombinedOutput(); err == nil || !strings.Contains(string(out), "sandbox") {
		t.Skip("this sed has no sandbox")
	}
	tokens := []string{"s/a/b/", "s,a,b,", "s", "/", "/a/", "[/]", "[", "]", "\\", "\\/", "\\n", "\n", ";", "}", "{", "e", "w", "r", "R", "W", "e x", "w x", "g", "p", "I", "m", "M", "1", "$", ",", "!", " ", "#", "a", "i\\", "c",
		"b", ":", "t x", "y/a/b/", "d", "q", "l", "=", "~2", "+3", "|", "x", "&", "^", "*"}
	random := rand.New(rand.NewPCG(5, 9))
	allowed := 0
	for range 60_000 {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		script := b.String()
		if !strings.ContainsAny(script, "ewrRW") || !harmlessSed(script) {
			continue
		}
		if allowed++; allowed > 400 {
			break
		}
		out, _ := exec.Command("sed", "--sandbox", "-n", script, "/dev/null").CombinedOutput()
		if strings.Contains(string(out), "sandbox") {
			t.Errorf("%q is allowed: %s", script, out)
		}
	}
	if allowed < 200 {
		t.Errorf("only %d scripts were allowed: the test sees nothing", allowed)
	}
}

// optionTable returns the table as Markdown.
func optionTable() string {
	var b strings.Builder
	b.WriteString("| program | options that a rule has to name | long ones count | and |\n|---|---|---|---|\n")
	for _, p := range programs {
		var options []string
		for _, c := range p.short {
			options = append(options, "`-"+string(c)+"`")
		}
		dash := "--"
		if p.style == goFlags {
			dash = "-"
		}
		for _, l := range p.long {
			options = append(options, "`"+dash+l+"`")
		}
		style := ""
		if len(p.long) > 0 {
			style = string(p.style)
		}
		b.WriteString("| " + strings.ReplaceAll(p.name, " ", ", ") + " | " + strings.Join(options, " ") + " | " + style + " | " + strings.ReplaceAll(p.also, "|", "\\|") + " |\n")
	}
	return b.String()
}
