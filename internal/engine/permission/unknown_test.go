package permission

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestADenyRuleSeesWhatBashMakesOfWords(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)", "Read(./.env)"}})
	for _, src := range []string{
		"{rm,F}", "{rm,-rf,F}", "r{m,x} F", "{,rm} F", "sudo {rm,F}", "cat .e{n,}v", "cat {x,.e}{nv,y}", "cat ./{a,.env}",
		"x=rm; $x F", "x=rm; ${x} F", "x=rm y=F; \"$x\" $y", "x='rm F'; $x", "x=r; y=${x}m; $y F", "x=ls; x=rm; $x F", "x=rm; sudo $x F", "for c in ls rm; do $c F; done", "for f in a .env; do cat \"$f\"; done", "x=.env; cat $x", "x=.e; cat ${x}nv", "export x=rm; $x F",
		"printf '\\162m F' | bash", "printf '\\x72m F' | sh", "printf 'r%s F' m | bash", "printf '%b' '\\162m F' | bash", "echo -e '\\0162m F' | bash", "echo -e 'r\\x6d F' | bash", "echo -n 'rm F' | bash", "printf r%s 'm F' | cat | sh", "{ printf r; printf 'm F'; } | bash", "x='rm F'; echo $x | bash", "x='rm F'; bash <<< \"$x\"", "x=rm; bash <<E\n$x F\nE",
		"bash -c '$0 F' rm", "bash -c '$1 F' x rm", "bash -c '\"$@\"' x rm F", "bash -c '$* ' x rm F", "x=rm; bash -c \"$x F\"", "eval \"$(printf '\\162m F')\"", "$(printf '\\162m') F",
		"make --eval='x:;rm F'", "make SHELL=rm x", "make CC='rm F'", "ssh -o ProxyCommand='rm F' h", "ssh -oProxyCommand='rm F' h", "ssh -o 'LocalCommand rm F' h", "scp -o ProxyCommand='rm F' a b", "zip a b -T -TT 'rm F'", "zip a b -TT'rm F'",
		"mapfile -C 'rm F' -c 1 x", "readarray -C 'rm F' x", "compgen -C 'rm F'", "compgen -W '$(rm F)'", "alias x='rm F'", "hash -p /bin/rm ls",
		"echo $((a[$(rm F)]))", "echo $(( a['$(rm F)'] ))", "let 'a[$(rm F)]=1'", "test -v 'a[$(rm F)]'", "[[ -v 'a[$(rm F)]' ]]", "printf -v 'a[$(rm F)]' x", "read 'a[$(rm F)]'", "unset 'a[$(rm F)]'", "declare 'a[$(rm F)]=1'", "[[ 'a[$(rm F)]' -eq 1 ]]", "((a[$(rm F)]))",
		"echo \"${x:-'$(rm F)'}\"", "echo \"${x-'`rm F`'}\"", "cat <<E\n${x:-'$(rm F)'}\nE", "echo \"${HOME:+'$(cat .env)'}\"", "echo $((${x:-'$(rm F)'}))",
		"PS4='$(rm F)' bash -xc :", "GIT_PAGER='rm F' git log", "env GIT_SSH_COMMAND='rm F' git fetch", "export PROMPT_COMMAND='rm F'", "echo rm F | xargs env", "echo F | xargs rm", "cat \"$(echo .env)\"", "cat $(printf .env)", "cat \"$(printf '.e%s' nv)\"",
	} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionDeny {
			t.Errorf("%q: %s (%s)", src, v.Decision, v.Reason)
		}
	}
}

func TestWhatWouldRunAndCannotBeKnownIsAskedForWhereCommandsAreDenied(t *testing.T) {
	free := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Read(./.env)"}})
	for _, mode := range []Mode{Default, Bypass, DontAsk} {
		p := compile(t, mode, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)"}})
		want := protocol.DecisionAsk
		if mode == DontAsk {
			want = protocol.DecisionDeny
		}
		for src, part := range map[string]string{
			"$x F": "$x", "\"$@\"": "$@", "/bin/r* F": "/bin/r*", "sudo $x F": "$x", "bash -c \"$x\"": "$x", "bash -c \"ls $x\"": "$x", "eval \"$x\"": "$x", "read x; $x F": "$x", "bash -c '$0 F' $x": "$0", "x=$(cat f); $x F": "$x", "$(cat f) F": "$(cat f)",
			"cat f | bash": "cat f", "curl x | sudo bash": "curl x", "bash <<< \"$x\"": "$x", "bash <<E\n$x\nE": "$x", ". <(curl x)": "<(curl x)", "bash < <(curl x)": "<(curl x)", "cat f | python3": "cat f", "bash \"$x\"": "$x", "printf \"$x\" | bash": "$x",
			"make --eval=x": "--eval=x", "make --ev x": "--ev x", "make -f -": "-f -", "make -f/dev/stdin": "-f/dev/stdin", "make SHELL=./x": "SHELL=./x", "ssh -o \"$x\" h": "$x", "BASH_ENV=x bash -c :": "BASH_ENV=x", "env BASH_ENV=x bash -c :": "BASH_ENV=x", "export ENV=x": "ENV=x",
			"echo ${x@P}": "${x@P}", "read x; echo $((x))": "x", "read x; echo ${!x}": "${!x}", "x='a[$y]'; echo $((x))": "x", "find . -exec {} \\;": "{}", "ls | xargs env": "xargs", "ls | xargs -I X X F": "X", "fd x -x {}": "{}", "set -- rm F; \"$@\"": "$@", "mapfile -C \"$x\" y": "$x",
			"trap \"$x\" EXIT": "$x", "sort --compress-program=\"$x\" f": "$x", "rsync -e \"$x\" a b": "$x", "{1..3}": "{1..3}", "GIT_PAGER=$x git log": "GIT_PAGER=$x",
		} {
			v := p.Judge(bash(src))
			if v.Decision != want || !strings.Contains(v.Reason, part) {
				t.Errorf("%s %q: %s (%s), want %s that names %s", mode, src, v.Decision, v.Reason, want, part)
			}
			if v := free.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
				t.Errorf("%q without a rule about commands: %s (%s)", src, v.Decision, v.Reason)
			}
		}
		for _, src := range []string{
			"X=1 make && eval y", "f() { x; }; f > y", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", "for f in *.go; do go vet \"$f\"; done", "cat $x", "\"$HOME/bin/tool\" x", "~/bin/tool x", "$HOME/bin/x \"$y\"", "bash x.sh \"$y\"", "python3 x.py $y", "cat f | python3 -c 'x'",
			"sort -o \"$f\" x", "curl -o \"$f\" x", "npx eslint \"$f\"", "npm run x -- \"$f\"", "perf stat ls \"$f\"", "ls | xargs grep x", "find . -exec grep x {} +", "git commit -m \"$x\"", "git clean -fdx \"$x\"", "x=ls; $x -l", "echo $((1+n))", "bash -c 'ls \"$0\"' x", "echo 'ls' | bash",
			"PATH=$HOME/go/bin:$PATH make", "make -j4 V=1 test", "make -f x.mk", "make -C sub", "ssh -p 22 h", "tar xf \"$f\"", "cmd=\"go test\"; $cmd ./...", "n=3; echo $((n*2))", "env A=1 make", "echo \"${x:-y}\" ${#x} $?", "timeout 5 make $x",
		} {
			if v := p.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
				t.Errorf("%s %q: %s (%s)", mode, src, v.Decision, v.Reason)
			}
		}
	}
}

func TestNoPrefixRuleCoversAFileThatCannotBeKnown(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(cat:*)", "Bash(git diff:*)", "Bash(git ls-files:*)", "Bash(echo:*)", "Bash(grep:*)", "Bash(rm:*)"}, Deny: []string{"Read(./.env)"}})
	for src, part := range map[string]string{
		"cat \"$x\"": "`$x`", "cat $x": "`$x`", "cat \"$(git ls-files)\"": "`$(git ls-files)`", "cat a$x": "`$x`", "git diff a\"$x\"": "`$x`", "grep x \"$x\"": "`$x`", "cat {1..3}": "{1..3}",
	} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionAsk || !strings.Contains(v.Reason, part) {
			t.Errorf("%q: %s (%s)", src, v.Decision, v.Reason)
		}
	}
	for _, src := range []string{"cat a", "cat *.go", "echo $x", "for f in a b; do cat \"$f\"; done", "for f in *.go; do cat \"$f\"; done", "cat {a,b}", "cat ~/x", "cat $HOME/x", "cat \"$PWD/x\"", "cat \"$(echo a)\"", "git diff HEAD"} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
			t.Errorf("%q: %s (%s)", src, v.Decision, v.Reason)
		}
	}
	free := compile(t, Default, Layer{Allow: []string{"Bash(cat:*)"}, Deny: []string{"Write(x)"}})
	if v := free.Judge(bash("cat \"$x\"")); v.Decision != protocol.DecisionAllow {
		t.Errorf("a rule about writing: %s (%s)", v.Decision, v.Reason)
	}
}

func TestACommandThatReadsAFolderWithAWithheldFileIsAskedFor(t *testing.T) {
	tree := []string{testRoot + "/.env", testRoot + "/src/a.go", testRoot + "/keys/k.pem"}
	for _, c := range []struct{ src, want string }{
		{"grep -r x .", "q"}, {"git grep --untracked x", "q"}, {"git grep --no-index x src", "a"}, {"git grep --no-index x keys", "q"}, {"git grep x", "a"}, {"grep -rn x", "q"}, {"grep -R x src", "a"}, {"grep -r x keys", "q"}, {"grep --recurs x .", "q"}, {"grep -d recurse x .", "q"}, {"grep x a", "a"}, {"rgrep x", "q"}, {"rg x src", "a"}, {"rg -uu x", "q"}, {"rg -u --hidden x", "q"}, {"rg x", "q"}, {"rg x keys", "q"},
		{"rg x src keys", "q"}, {"cp -r . /tmp/x", "q"}, {"cp -a keys x", "q"}, {"tar cf x.tar .", "q"}, {"tar -czf x.tar src", "a"}, {"zip -r x.zip .", "q"}, {"rsync -a . h:", "q"}, {"diff -r . /x", "q"}, {"cd src && grep -r x .", "q"}, {"bash -c 'grep -r x .'", "q"}, {"git grep x", "a"},
	} {
		a := bash(c.src)
		a.Holds = func(dir string, covered func(string) bool) (string, bool) {
			for _, f := range tree {
				if under(f, dir) && covered(f) {
					return f, true
				}
			}
			return "", true
		}
		p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Read(./.env)", "Read(**/*.pem)"}})
		v := p.Judge(a)
		if letter(v.Decision) != c.want || c.want == "q" && !strings.Contains(v.Reason, ".env") && !strings.Contains(v.Reason, "k.pem") {
			t.Errorf("%q: %s (%s), want %s", c.src, v.Decision, v.Reason, c.want)
		}
		narrow := compile(t, Default, Layer{Allow: []string{"Bash(rg:*)", "Bash(grep:*)"}, Deny: []string{"Read(./.env)"}})
		a.Holds = func(string, func(string) bool) (string, bool) { return "", false }
		if v := narrow.Judge(a); strings.HasPrefix(c.src, "rg ") && v.Decision != protocol.DecisionAsk {
			t.Errorf("%q below more files than are looked at: %s", c.src, v.Decision)
		}
	}
}

func TestWhatCertainlyOnlyLooksNeedsNoRuleOfItsOwn(t *testing.T) {
	doc := "git commit -m \"$(cat <<'EOF'\nadd: it's (a) \"thing\" $(rm x) `y` \\ done\n\nEOF x\nEOF\n)\""
	for _, c := range []struct{ rule, src, want string }{
		{"git commit:*", doc, "a"}, {"git commit:*", "git add . && " + doc, "q"}, {"git commit -m:*", doc, "a"}, {"git commit:*", "git commit -m \"x $(cat <<\"E\"\ny\nE\n) z\"", "a"}, {"git commit:*", "git commit -m \"$(cat <<-'E'\n\ty\n\tE\n)\"", "a"},
		{"git commit:*", "git commit -m \"$(cat <<E\ny\nE\n)\"", "q"}, {"git commit:*", "git commit -m $(cat <<'E'\ny\nE\n)", "q"}, {"git commit:*", "git commit -m \"$(cat f <<'E'\ny\nE\n)\"", "q"}, {"git commit:*", "git commit \"$(cat <<'E'\n-S\nE\n)\"", "q"}, {"git commit:*", "git commit -m \"`cat <<'E'\ny\nE\n`\"", "q"},
		{"git commit:*", "git commit -m \"$(cat <<'E' >f\ny\nE\n)\"", "q"}, {"git commit:*", "git commit -m \"$(cat <<'E'; rm x\ny\nE\n)\"", "q"}, {"git commit:*", "git commit -m \"$(rm <<'E'\ny\nE\n)\"", "q"},
		{"git log:*", "git --no-pager log", "a"}, {"git log:*", "git -P log -3", "a"}, {"git log:*", "git --no-pager --paginate log", "q"}, {"git log:*", "git --no-pager push", "q"}, {"git log:*", "git --no-pager log --output=x", "q"}, {"git log:*", "git --no-pager -c a=b log", "q"},
		{"git status:*", "git -C src status", "a"}, {"git status:*", "git -C src -C a status", "a"}, {"git status:*", "git -C /tmp status", "q"}, {"git status:*", "git -C .. status", "q"}, {"git status:*", "git -C out status", "q"}, {"git status:*", "git -C src/../.. status", "q"}, {"git status:*", "git -C $x status", "q"}, {"git status", "git -C src status", "q"}, {"cd src && git status", "git -C src status", "a"}, {"cd web && git status", "git -C src status", "q"},
		{"git log:*", "GIT_PAGER=cat git log", "a"}, {"git log:*", "GIT_PAGER=cat PAGER=cat git --no-pager log", "a"}, {"git log:*", "GIT_PAGER=x git log", "q"}, {"git log:*", "GIT_PAGER=cat; git log", "q"}, {"git log:*", "GIT_PAGER=cat A=b git log", "q"}, {"git log:*", "GIT_PAGER+=cat git log", "q"}, {"git log:*", "export GIT_PAGER=cat; git log", "q"}, {"git log:*", "GIT_PAGER=\"$x\" git log", "q"},
		{"git diff:*,git log:*", "git diff $(git log --format=%H -1)", "a"}, {"git diff:*,git log:*", "git diff $(git log --format=%H -n 1 main -- a.go) HEAD", "a"}, {"git diff:*", "git diff $(git log --format=%H -1)", "q"}, {"git diff:*,git log:*", "git diff $(git log)", "q"}, {"git diff:*,git log:*", "git diff $(git log --format=%s -1)", "q"}, {"git diff:*,git log:*", "git diff $(git log -p --format=%H -1)", "q"}, {"git diff:*,git log:*", "git diff $(git log --format=%H --format=%s -1)", "q"},
		{"git diff:*,git merge-base:*", "git diff $(git merge-base main HEAD)", "a"}, {"git diff:*,git rev-parse:*", "git diff $(git rev-parse HEAD)", "a"}, {"git diff:*,git rev-parse:*", "git diff $(git rev-parse --output=x)", "q"},
		{"awk:*", "awk '$1 > 3' f", "a"}, {"awk:*", "awk '$1>3 && $2 > 1 {print $1}' f", "a"}, {"awk:*", "awk '{print > \"f\"}'", "q"}, {"awk:*", "awk '$1 > 3 {print > \"f\"}' f", "q"}, {"awk:*", "awk '/}/ {print > \"f\"}' f", "q"}, {"awk:*", "awk '\"}\" {print > f}' f", "q"}, {"awk:*", "awk '{a}} {print > f}' f", "q"}, {"awk:*", "awk '# }\n{print > f}' f", "q"},
	} {
		layer := Layer{}
		for rule := range strings.SplitSeq(c.rule, ",") {
			layer.Allow = append(layer.Allow, "Bash("+rule+")")
		}
		if v := compile(t, Default, layer).Judge(bash(c.src)); letter(v.Decision) != c.want || v.Decision == protocol.DecisionAllow && strings.Contains(c.rule, "git") && !v.Git {
			t.Errorf("Bash(%s): %q: %s, git %v (%s), want %s", c.rule, c.src, v.Decision, v.Git, v.Reason, c.want)
		}
	}
	p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(cd src && git push)", "Read(src/x)"}})
	for _, src := range []string{"git -C src push", "git -C src show HEAD:x"} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionDeny {
			t.Errorf("%q: %s", src, v.Decision)
		}
	}
}

func TestTheReasonNamesWhatNoRuleCovers(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash(git diff:*)", "Bash(sed:*)", "Bash(sort:*)"}})
	for src, part := range map[string]string{
		"f=a.txt; git diff -- $f": "`f=a.txt`", "((x=1)); git diff": "`((x=1))`", "for X in a; do git diff; done": "`for X in a`", "(git diff) > x": "`(git diff) > x`", "sed \"s/$HOME/x/\" f": "`s/$HOME/x/`", "sort -o f g": "`-o`", "git -C /tmp diff": "outside the workspace", "> x": "`> x`",
	} {
		v := p.Judge(bash(src))
		if v.Decision != protocol.DecisionAsk || !strings.Contains(v.Reason, part) || strings.Contains(v.Reason, "``") {
			t.Errorf("%q: %s (%s), want %s", src, v.Decision, v.Reason, part)
		}
	}
}

func TestWhatBashAndProgramsRunByWaysOfTheirOwnIsNotAllowedWhereItIsDenied(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)", "Read(./.env)"}})
	for _, src := range []string{
		"time -- rm F", "time -p -- rm F", "time rm F", "sh < <(echo rm F)", "bash < <(printf 'rm F')", "exec < <(echo rm F); bash", "exec 0< F; bash", "cat <>.env", "cat 0<>.env",
		"git clone -u 'rm F;' . zz", "git clone -u'rm F;' . zz", "git grep -O'rm F;' needle", "git grep -nO'rm F;' needle",
		"sed '1s/.*/rm F/e' f", "sed -n 's/x/rm F/gpe' f", "sed -e 's#.*#rm F#e' f", "sed 's|a\\|b|rm F|2e' f", "awk 'BEGIN{print \"rm F\" | \"sh\"}'", "awk '{print $0 | \"/bin/bash -s\"}' f",
		"declare -i k='a[$(rm F)]'", "k='a[$(rm F)]'; declare -i z=k", "k='a[$(rm F)]'; declare -i z; z=k", "k='a[$(rm F)]'; RANDOM=k", "k='a[$(rm F)]'; OPTIND=k", "k='a[$(rm F)]'; declare \"$k=1\"", "k='a[$(rm F)]'; declare -n r=$k; : $r", "typeset -i 'k=a[$(rm F)]'",
		"python3 <<'E'\nimport os; os.system(\"rm F\")\nE", "echo 'import os; os.system(\"rm F\")' | python3", "python3 - <<< 'import os; os.system(\"rm F\")'", "perl -e '`rm F`'", "perl -e 'qx{rm F}'", "ruby -e '%x(rm F)'",
		"vim -c '!rm F' f", "vim '+silent !rm F' f", "gdb -ex '!rm F'", "gdb -batch -ex 'shell rm F'", "tclsh <<< 'exec \"rm F\"'", "/lib64/ld-linux-x86-64.so.2 /usr/bin/rm F",
	} {
		if v := p.Judge(bash(src)); v.Decision == protocol.DecisionAllow {
			t.Errorf("%q: allowed", src)
		}
	}
	for _, src := range []string{
		"time make", "time -p make test", "sed 's/see/eye/g' f", "sed -e 's#a#be#;s/x/e/2p' f", "sed -n '1,20p;s/e/e/' f", "awk '{print $1}' f | sort", "awk -F: '{print $1 | \"sort\"}' f", "declare -i n=5", "declare -i n; n=6", "git clone -q https://example.org/x", "git grep -n needle",
		"python3 - <<'E'\nprint(1)\nE", "echo 'print(1)' | python3", "perl -ne 'print if /x/' f", "vim -es -c '%s/a/b/' -c wq f", "exec 3< f", "declare name=x", "cat <> f", "local x=1",
	} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
			t.Errorf("%q: %s (%s)", src, v.Decision, v.Reason)
		}
	}
}
