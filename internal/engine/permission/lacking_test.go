package permission

import (
	"strings"
	"testing"
)

func TestNoCommandHidesBehindManyHarmlessOnes(t *testing.T) {
	many := strings.Repeat("echo x\n", 100)
	p := compile(t, Default, Layer{Scope: ScopeUser, Allow: []string{"Bash(ls:*)"}})
	for _, c := range []struct{ src, want string }{
		{"make test", "`make test` needs permission."},
		{"ls && make test", "`make test` needs permission."},
		{"npm ci && git push --force", "`npm ci` needs permission. 1 more command needs permission: git push --force."},
		{many + "rm -rf EVIL\n" + many, "`rm -rf EVIL` needs permission. 200 more commands need permission: echo (200 times)."},
		{many + "curl x\n" + many, "`curl x` needs permission. 200 more commands need permission: echo (200 times)."},
		{"rm a\nrm b\nrm c\nrm d\nshred z\n" + many, "`shred z` needs permission. 104 more commands need permission: rm (4 times), echo (100 times)."},
		{"a1; a2; a3; a4; a5; a6; a7; a8", "`a1` needs permission. 7 more commands need permission: a2, a3, a4, a5, a6, and more programs."},
		{many + "rm a\nmv " + strings.Repeat("y", 5000), "`rm a` needs permission. 101 more commands need permission: mv " + strings.Repeat("y", 37) + "…, echo (100 times)."},
		{"make; foo 'b`c' d", "`make` needs permission. 1 more command needs permission: foo b…."},
	} {
		v := p.Judge(bash(c.src))
		if v.Reason != c.want {
			t.Errorf("%.40q…:\n%s\nwant\n%s", c.src, v.Reason, c.want)
		}
	}
}

func TestAReasonShowsEveryCharacterOfACommand(t *testing.T) {
	v := compile(t, Default).Judge(bash("rm a\u200db 3\u28004; mv x\ufe0f y"))
	if want := "`rm a[U+200D]b 3[U+2800]4` needs permission. 1 more command needs permission: mv x[U+FE0F] y."; v.Reason != want {
		t.Errorf("%q, want %q", v.Reason, want)
	}
}

func TestARedirectionThatNeedsPermissionIsNamedFirst(t *testing.T) {
	p := compile(t, Default)
	v := p.Judge(bash(strings.Repeat("echo x\n", 20) + "echo x > /etc/evil"))
	if !strings.HasPrefix(v.Reason, "A redirection of `echo x` needs permission") || !strings.Contains(v.Reason, "20 more commands need permission: echo (20 times).") {
		t.Error(v.Reason)
	}
}
