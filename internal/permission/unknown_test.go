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
