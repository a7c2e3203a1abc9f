package shellparse

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hiding are forms around a command that stands between single quotes.
var hiding = []string{
	`echo "${x:-'Q'}"`, `echo "${x-'Q'}"`, `echo "${HOME:+'Q'}"`, `echo "${HOME+'Q'}"`, `echo "${x:='Q'}"`, `echo "${x='Q'}"`, `echo "${x:?'Q'}"`, `echo "${x?'Q'}"`,
	`echo "${HOME#'Q'}"`, `echo "${HOME##'Q'}"`, `echo "${HOME%'Q'}"`, `echo "${HOME%%'Q'}"`, `echo "${HOME/a/'Q'}"`, `echo "${HOME//'Q'}"`, `echo "${HOME^'Q'}"`, `echo "${HOME,,'Q'}"`,
	`echo ${x:-'Q'}`, `echo ${HOME+'Q'}`, `echo 'Q'`, `echo "'Q'"`, `echo ${x:-"'Q'"}`, `echo "${x:-"'Q'"}"`,
	`echo "${x:-$'Q'}"`, `echo $"${x:-'Q'}"`, `echo "${x:-${y:-'Q'}}"`, `echo ${x:-"${y:-'Q'}"}`, `echo "${x#${y:-'Q'}}"`, `echo "${x#"${y:-'Q'}"}"`, `echo "${x-"a'b"'Q'"c"}"`, `echo "${x:-'"Q"'}"`,
	`echo "${1:-'Q'}"`, `echo "${@:-'Q'}"`, `echo "${a[0]:-'Q'}"`, `echo "${a[@]:-'Q'}"`,
	"echo `echo \"${x:-'Q'}\"`", `echo $(echo "${x:-'Q'}")`, `(echo "${x:-'Q'}")`, `cat <(echo "${x:-'Q'}")`, `cat <<< "${x:-'Q'}"`, `echo "${x:-$(echo 'Q')}"`,
	"cat <<E\n${x:-'Q'}\nE", "cat <<E\n${x:-$'Q'}\nE", "cat <<E\n${HOME#'Q'}\nE", "cat <<'E'\n${x:-'Q'}\nE", "cat <<E\n'Q'\nE", "cat <<E\n$(('Q'))\nE", "cat <<E\n${a['Q']}\nE", "cat <<-E\n\t${x:-'Q'}\n\tE",
	`y="${x:-'Q'}"`, `a=("${x:-'Q'}")`, `case "${x:-'Q'}" in a) ;; esac`, `for i in "${x:-'Q'}"; do :; done`, `[[ "${x:-'Q'}" ]]`, `: > "${x:-'Q'}"`, `f() { echo "${x:-'Q'}"; }; f`, `declare "z=${x:-'Q'}"`,
	`echo $((${x:-'Q'}))`, `echo $(('Q'))`, `echo "$(('Q'))"`, `echo ${HOME:${y:-'Q'}}`, `echo ${HOME:'Q'}`, `echo "${HOME:0:'Q'}"`, `a[${y:-'Q'}]=1`, `a['Q']=1`, `((${y:-'Q'}))`, `(('Q'))`, `echo "${a[${y:-'Q'}]}"`, `echo ${a['Q']}`, `a=(['Q']=1)`,
	`for ((i='Q';0;)); do :; done`, `echo $[ ${y:-'Q'} ]`, `echo "$((${y#'Q'}))"`, `[[ ${y:-'Q'} -eq 1 ]]`,
	`echo "$${x:-"'Q'"}"`, `echo "$${HOME/a/{x:-"'Q'"}"`, `echo "$${x#"${y:-'Q'}"}"`, `echo "${x:?&$'Q'}"`, `echo "${x:-$'$'$(echo 'Q')}"`, `echo "${x:-$'\x24(touch P)'}"`, "cat <<E\n${x:-$'\\x24(touch P)'}\nE", `echo "$'$${x:-"'Q'"}"`,
	`echo "${x:-'}Q'}"`, `echo "${x:-'{'}${y:-'Q'}"`, `echo "${x:-'a'}Q"`, `echo "${x:-'a'}${y:-'Q'}"`, `echo "${x:-'$(true 'Q')'}"`, `echo "${x:-'${y:-'Q'}'}"`,
}

// TestWhatBashRunsBetweenSingleQuotesIsSeen asks bash which of the forms run the command.
func TestWhatBashRunsBetweenSingleQuotesIsSeen(t *testing.T) {
	ran := 0
	for _, form := range hiding {
		for _, command := range []string{"$(touch P)", "`touch P`"} {
			src := strings.ReplaceAll(form, "Q", command)
			dir := t.TempDir()
			cmd := exec.Command("bash", "-c", src)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
			_ = cmd.Run() // many are errors after what they have run
			if _, err := os.Stat(filepath.Join(dir, "P")); err != nil {
				continue
			}
			ran++
			line, err := Parse(src)
			if err != nil {
				continue // nothing allows it
			}
			seen := slices.ContainsFunc(line.Steps, func(s Step) bool {
				return len(s.Words) > 0 && s.Words[0].Text == "touch" || len(s.Evaluates) > 0 || s.Unknown != ""
			})
			if !seen {
				t.Errorf("%s: bash runs it, and it is not seen: %+v", src, line)
			}
			if line.Ask == "" && !slices.ContainsFunc(line.Steps, func(s Step) bool { return s.Ask != "" || len(s.Words) > 0 && s.Words[0].Text == "touch" }) {
				t.Errorf("%s: a rule for what is around it allows it: %+v", src, line)
			}
		}
	}
	if ran < 80 {
		t.Errorf("bash has run %d of the forms", ran)
	}
}

func TestQuotesThatHideNothingStayAsTheyAre(t *testing.T) {
	for _, src := range []string{`echo "${x:-'none'}"`, `echo "${x:-'a b'}" b`, `echo ${x:-'$y'}`, `echo "${HOME#'$y'}"`, `echo "it's"`, `git log --format='%h $x'`} {
		line, err := Parse(src)
		if err != nil || line.Ask != "" || len(line.Steps) != 1 {
			t.Errorf("%s: %v %+v", src, err, line)
		}
	}
}
