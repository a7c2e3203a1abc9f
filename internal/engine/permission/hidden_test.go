package permission

import (
	"testing"

	"scorel/protocol"
)

func TestADenyRuleSeesCommandsThatOthersStart(t *testing.T) {
	p := compile(t, Default, Layer{Allow: []string{"Bash"}, Deny: []string{"Bash(rm:*)"}})
	for _, src := range []string{
		"env - rm F", "env -S 'rm F'", "env -iS 'rm F'", "env -S'rm F'", "env --split-s='rm F'", "env -vu A -S 'rm F'", "env -i A=1 env - rm F",
		"npx -c 'rm F'", "npx --call='rm F'", "npx rm F", "npm exec -c 'rm F'", "npm exec -- rm F", "npm x rm F", "pnpm dlx rm F", "yarn exec rm F", "uv run rm F", "poetry run rm F", "bundle exec rm F",
		"bash <<< 'rm F'", "sh <<E\nrm F\nE", "bash -s <<< 'rm F'", "sudo bash <<< 'rm F'", "env - bash <<< 'rm F'", "bash /dev/stdin <<< 'rm F'", "source /dev/stdin <<< 'rm F'", "bash <<-'E'\n\trm F\n\tE",
		". <(echo rm F)", "source <(printf 'rm F')", "bash <(echo rm F)", "bash <(printf '%s\\n' 'rm F')", ". <(cat <<< 'rm F')", "echo rm F | bash", "printf 'x\\nrm F\\n' | sudo sh", "echo -e 'x\\nrm F' | cat | sh",
		"echo rm F | { bash; }", "$(echo rm F)", "$(echo rm) F", "eval \"$(echo rm F)\"", "bash -c \"$(echo rm F)\"", "echo 'rm F' | at now", "echo 'rm F' | xargs -I{} sh -c {}",
		"prlimit --nofile=5 rm F", "prlimit -n 5 rm F", "setarch x86_64 rm F", "setarch -R rm F", "linux64 rm F", "i386 rm F", "nice rm F", "nice -n 5 rm F", "ionice -c3 rm F", "ionice -c 2 -n 7 rm F",
		"chrt -r 10 rm F", "chrt --rr 10 rm F", "taskset 1 rm F", "taskset -c 0 rm F", "stdbuf -oL rm F", "stdbuf -o L rm F", "setsid -w rm F", "unshare -r rm F", "unshare --map-root-user rm F",
		"script -c 'rm F'", "script -qec 'rm F' /dev/null", "script --command='rm F'", "su -c 'rm F'", "su - bob -lc 'rm F'", "runuser -u bob -- rm F", "sg users -c 'rm F'", "watch rm F", "watch -n 1 'rm F'", "watch -x rm F",
		"parallel rm ::: F", "parallel 'rm F' ::: 1", "busybox rm F", "busybox sh -c 'rm F'", "toybox rm F", "choom -n 0 -- rm F", "bwrap --bind / / rm F", "capsh -- -c 'rm F'", "gosu bob rm F", "faketime x rm F",
		"/lib64/ld-linux-x86-64.so.2 /bin/rm F", "coproc rm F", "exec -a x rm F", "time -p rm F", "\\time -o x rm F", "timeout -s KILL 5 rm F", "nohup rm F", "flock -n /l -c 'rm F'", "strace -f rm F", "systemd-run --user rm F",
		"git -c alias.x='!rm F' x", "git submodule foreach 'rm F'", "git bisect run rm F", "git rebase --exec 'rm F' x", "git -c core.pager='rm F' log", "git clone 'ext::rm F' x", "git grep -O'rm F' x; git ls-remote --upload-pack='rm F' x",
		"awk 'BEGIN{system(\"rm F\")}'", "perl -e 'system(\"rm F\")'", "python3 -c \"import os; os.system('rm F')\"", "python3 -c \"import subprocess; subprocess.run(['rm', 'F'])\"", "node -e 'child_process.execSync(\"rm F\")'", "sed '1e rm F' x",
		"tar xf x --to-command='rm F'", "tar cf x y --checkpoint-action=exec='rm F'", "rg --pre rm x", "sort --compress-program=rm x", "split --filter='rm F' x", "make SHELL=x; find . -exec rm {} +",
	} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionDeny {
			t.Errorf("%q: %s", src, v.Decision)
		}
	}
	for _, src := range []string{"echo rm F", "git commit -m 'rm F'", "cat <<< 'rm F'", "grep -r rm .", "echo rm F | grep x", "cat <(echo rm F)", "env", "env -u rm make", "npx eslint", "printf '%s' rm", "sed 's/rm/x/' f",
		"awk '{print $1}' rm", "python3 x.py rm", "nice make", "git log --grep 'rm F'", "tar cf rm.tar x", "script log"} {
		if v := p.Judge(bash(src)); v.Decision != protocol.DecisionAllow {
			t.Errorf("%q: %s (%s)", src, v.Decision, v.Reason)
		}
	}
}
