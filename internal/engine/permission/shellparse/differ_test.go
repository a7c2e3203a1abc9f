package shellparse

import "testing"

// TestWhatBashReadsOtherwiseIsNotAllowed has forms in which bash starts a command that the
// parser takes for text.
func TestWhatBashReadsOtherwiseIsNotAllowed(t *testing.T) {
	for _, src := range []string{
		"echo ${x:-<(rm a)}", "echo ${x->(rm a)}", "echo ${PATH:+<(rm a)}", "echo ${PATH/a/<(rm a)}", "echo ${PATH#<(rm a)}", "echo ${PATH^<(rm a)}", "echo ${1:-<(rm a)}",
		"[[ -n ${x:-<(rm a)} ]]", "cat <<< ${x:-<(rm a)}", "case ${x:-<(rm a)} in a) ;; esac", "for i in ${x:-<(rm a)}; do echo; done", "echo \"${x:-${y:-<(rm a)}}\"",
		"echo \"$\\\n(rm a)\"", "echo $\\\n(rm a)", "cat <<E\n$\\\n(rm a)\nE", "echo ${x:-$\\\n(rm a)}", "echo <\\\n(rm a)", "echo `\\\nrm a`",
		"ls #\\\nrm a", "git status # list \\\nrm a", "ls;#\\\nrm a",
		"cat <<E\nx\nE\\\n\nrm a\nE", "cat <<EOF\nx\nEO\\\nF\nrm a\nEOF", "cat <<E\nx\n\\\nE\nrm a\nE", "cat <<-E \\\n\nE",
	} {
		line, err := Parse(src)
		if err != nil || line.Ask != "" {
			continue
		}
		asks := false
		for _, s := range line.Steps {
			asks = asks || s.Ask != ""
			for _, w := range s.Words {
				asks = asks || w.Text == "rm"
			}
		}
		if !asks {
			t.Errorf("%q: %+v", src, line)
		}
	}
	for _, src := range []string{"docker run \\\n  -v a:b \\\n\timage", "cd x && \\\nmake", "echo 'a \\\nb'", "git commit -m \"a \\\nb\"", "cat > Dockerfile <<'EOF'\nRUN a &&\\\n  b # c\\\n\nEOF", "awk 'a\\\nb' f"} {
		line, err := Parse(src)
		if err != nil || line.Ask != "" {
			t.Errorf("%q: %v %s", src, err, line.Ask)
		}
	}
}
