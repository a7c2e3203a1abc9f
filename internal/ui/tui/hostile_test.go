package tui_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// evil is text that would set the title and the clipboard, move the cursor, hide what
// follows and turn the reading direction.
const evil = "a\x1b]0;PWNED\x07b\x1b]52;c;UFdORUQ=\x1b\\c\x1b[2J\x1b[5;5H\x1b[8md\u009b8me\u202efgh\x1b_Gf=PWNED\x1b\\i\x1bP+qPWNED\x1b\\j\x08\x08k\x1b[?1049hl\x0e\x05\x1b[6n\x1bcm"

// shownEvil is how evil begins where it is shown; the rest may be on another line.
const shownEvil = "a[U+001B]]0;PWNEDb"

// recorded is a UI of which all bytes to the terminal are kept.
type recorded struct {
	*tuitest.UI
	file string
}

// record starts the UI in a folder.
func record(t testing.TB, h *tuitest.Harness, dir string, args ...string) *recorded {
	t.Helper()
	r := recordBare(t, h, dir, append([]string{"--model", "script:" + h.Script}, args...)...)
	r.WaitFor("ask something")
	return r
}

// recordBare does so without a model.
func recordBare(t testing.TB, h *tuitest.Harness, dir string, args ...string) *recorded {
	t.Helper()
	args = append([]string{"-c", `read x; exec "$0" "$@"`, h.Program()}, args...)
	s := h.Run(dir, "/bin/sh", args...)
	r := &recorded{s, filepath.Join(filepath.Dir(h.Home), "bytes")}
	s.Record(r.file)
	s.Keys("Enter")
	return r
}

// ours are the sequences that the UI writes: cursor, lines, colours, modes, the title
// and links.
var ours = []string{
	`\x1b\[[0-9;]*m`, `\x1b\[[0-9]*[ABCDGKLMPX@]`, `\x1b\[[0-9;]*H`, `\x1b\[[0-3]?J`, `\x1b\[\?(25|2026|1049|1002|1006|2004|1004|7)[hl]`, `\x1b\[>5u`, `\x1b\[<1u`,
	`\x1b\[>4;[01]m`, `\x1b\[2[23];2t`, `\x1b[78]`, `\x1b\[[0-9]+;[0-9]+r`, `\x1b\[r`, `\x1b\[[0-9]+[ST]`,
	`\x1b\]1[01];\?(\x07|\x1b\\)`, `\x1b\[\?u`, `\x1b\[\?2026\$p`, `\x1b\[0?c`, `\x1b\[1[46]t`, `\x1b\[>0?q`,
	`\x1b\]2;[^\x00-\x1f\x7f-\x9f]*(\x07|\x1b\\)`, `\x1b\]8;[^;\x00-\x1f]*;[!-~]*(\x07|\x1b\\)`,
}

// foreign returns what of the bytes to a terminal is none of the UI's own.
func foreign(written string) []string {
	known := regexp.MustCompile(strings.Join(ours, "|"))
	for _, s := range known.FindAllString(written, -1) {
		switch {
		case strings.HasPrefix(s, "\x1b]") && strings.Contains(s, "\x1b]52"):
			return []string{s}
		case strings.HasSuffix(s, "m") && regexp.MustCompile(`[\[;](5|8)(;|m)`).MatchString(regexp.MustCompile(`[34]8;(5;\d+|2;\d+;\d+;\d+)`).ReplaceAllString(s, "")):
			return []string{s} // blinks or hides
		}
	}
	rest := known.ReplaceAllString(written, "")
	var found []string
	for i, r := range rest {
		if r < ' ' && r != '\r' && r != '\n' && r != '\a' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0xfffd && !strings.HasPrefix(rest[i:], "\ufffd") {
			found = append(found, fmt.Sprintf("%q", rest[max(0, i-20):min(len(rest), i+40)]))
		}
		if len(found) == 10 {
			break
		}
	}
	return found
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func wantOnlyOurs(t testing.TB, h *tuitest.Harness, r *recorded) {
	t.Helper()
	const last = "the very last word"
	r.Paste(last) // what is typed may be drawn in pieces
	r.WaitFor(last)
	h.Until("all bytes", func() bool { return strings.Contains(h.Read(r.file), "last word") })
	written := h.Read(r.file)
	for _, f := range foreign(written) {
		t.Errorf("the terminal got what is none of ours: %s", f)
	}
	if !strings.Contains(written, shownEvil) {
		t.Error("the text itself is not shown")
	}
}

func TestForeignSequencesAreFound(t *testing.T) {
	for _, s := range []string{"\x1b]52;c;UFdORUQ=\x07", "\x1b]0;PWNED\x07", "\x1b[8m", "\x1b[1;5m", "\u009b8m", "\u202e", "\x1bc", "\x1b[6n", "\x1b[?1000h", "\x08", "\x1bP+q\x1b\\"} {
		if foreign("text "+s+" text") == nil {
			t.Errorf("%q is taken for one of ours", s)
		}
	}
	if f := foreign("\x1b[38;5;8mtext\x1b[m\r\n\x1b[48;2;8;5;8mx\x1b[2K\x1b[?25l\x1b]2;title\x07"); f != nil {
		t.Errorf("%q is not taken for ours", f)
	}
}

func TestHostileTextOfModelsToolsAndFilesReachesNoTerminal(t *testing.T) {
	h := newHarness(t,
		`{"if":{"user":"^talk"},"do":[{"thinking":`+quoted(evil+" thought")+`},{"text":`+quoted("# "+evil+"\n\n"+evil+" **"+evil+"** `"+evil+"` ["+evil+"](http://x/"+evil+")\n\n```"+evil+"\n"+evil+"\n```\n\n|"+evil+"|b|\n|-|-|\n|c|"+evil+"|\n\nall said")+`}]}`,
		`{"if":{"user":"^run"},"do":[{"call":"Bash","input":{"command":"cat evil.txt; cat evil.bin"}}]}`,
		`{"if":{"user":"^ask"},"do":[{"call":"Bash","input":{"command":`+quoted("touch '"+evil+"' # "+evil)+`}}]}`,
		`{"if":{"user":"^read"},"do":[{"call":"Read","input":{"path":`+quoted(evil+".md")+`}}]}`,
		`{"if":{"user":"^question"},"do":[{"call":"AskUser","input":{"questions":[{"question":`+quoted(evil+" which")+`,"options":[{"label":`+quoted(evil+"1")+`,"description":`+quoted(evil)+`},{"label":"two"}]}]}}]}`,
		`{"if":{"user":"^unknown"},"do":[{"call":`+quoted("Tool"+evil)+`,"input":{}}]}`,
		`{"if":{"user":"^fail"},"do":[{"error":{"status":400,"message":`+quoted(evil+" failed")+`}}]}`)
	dir := filepath.Join(h.Project, "folder "+strings.ReplaceAll(evil, "/", ""))
	h.Write(filepath.Join(dir, "evil.txt"), evil+"\n")
	var all []byte
	for i := range 256 {
		all = append(all, byte(i), 'x')
	}
	h.Write(filepath.Join(dir, "evil.bin"), string(all)+"\nthe end of the file\n")
	h.Write(filepath.Join(dir, strings.ReplaceAll(evil, "/", "")+".md"), evil)
	r := record(t, h, dir, "--permission-mode", "acceptEdits")
	r.Say("talk to me")
	r.WaitFor("all said")
	r.Say("ask first")
	r.WaitFor("❯ 1. Allow once")
	r.Keys("Enter")
	r.Gone("Allow once")
	r.Say("question")
	r.WaitFor("❯ 1.", "which")
	r.Keys("Enter")
	r.WaitFor("❯ " + shownEvil)
	r.Say("read it")
	r.WaitFor("Read a[U+001B]]0;PWNED[U+0007]b")
	r.Say("unknown")
	r.WaitFor("There is no tool")
	r.Say("fail now")
	r.WaitFor(" failed")
	r.Say("!cat evil.txt evil.bin")
	r.WaitFor("the end of the file")
	r.Type("see @")
	r.WaitFor("❯ see @", "evil.txt", shownEvil)
	r.Keys("C-c")
	r.WaitFor("ask something")
	r.Say("/tree")
	r.WaitFor("Tree · ")
	r.Keys("Escape")
	r.Gone("Tree · ")
	wantOnlyOurs(t, h, r)
}

func TestHostileTextOfAnExtensionReachesNoTerminal(t *testing.T) {
	h := newHarness(t)
	e := quoted(evil)
	h.Write(filepath.Join(h.Home, ".scorel", "extensions", "evil.js"), `export default function (pi) {
  pi.registerCommand("evil", { description: `+e+`, handler: async (args, ctx) => {
    ctx.ui.setStatus("k", `+e+`); ctx.ui.setWidget("w", [`+e+`]); ctx.ui.setTitle(`+e+`); ctx.ui.notify(`+e+`, "warning");
    await ctx.ui.confirm(`+quoted(evil+" sure?")+`, `+e+`);
    ctx.ui.notify("it is over", "info");
  } });
}
`)
	r := record(t, h, h.Project)
	r.Say("hello")
	waitAnswers(r.UI, 1)
	r.Say("/evil")
	r.WaitFor("❯ 1. Yes", "─ "+shownEvil)
	r.Keys("Escape")
	r.WaitFor("it is over")
	wantOnlyOurs(t, h, r)
}

// TestHostileTextOfFilesAndSettingsReachesNoTerminal looks at every page that shows what
// is in a file, in the names of files, in settings, and what programs print.
func TestHostileTextOfFilesAndSettingsReachesNoTerminal(t *testing.T) {
	h := newHarness(t)
	e, name := quoted(evil), strings.ReplaceAll(evil, "/", "")
	home := filepath.Join(h.Home, ".scorel")
	head := func(more string) string {
		return "---\nname: mine\ndescription: " + e + "\n" + more + "---\n" + evil + "\n"
	}
	h.Write(filepath.Join(home, "skills", "mine", "SKILL.md"), head(""))
	h.Write(filepath.Join(home, "skills", name, "SKILL.md"), head(""))
	h.Write(filepath.Join(home, "agents", "mine.md"), head("model: "+e+"\n"))
	h.Write(filepath.Join(home, "agents", name+".md"), "no head "+evil)
	h.Write(filepath.Join(home, "commands", "mine.md"), "---\ndescription: "+e+"\nargument-hint: "+e+"\n---\n"+evil)
	h.Write(filepath.Join(home, "commands", name+".md"), evil)
	h.Write(filepath.Join(home, "memory", "MEMORY.md"), evil+"\n")
	h.Write(filepath.Join(home, "themes", name+".toml"), "[colors]\n"+e+" = "+e+"\n")
	h.Write(filepath.Join(home, "keys.toml"), e+" = "+e+"\n")
	h.Write(filepath.Join(home, "tui.toml"), e+" = 1\n[statusLine]\ncommand = '''printf 'a\\033]0;PWNED\\007b\\033]52;c;UFdORUQ=\\007\\033[2J\\033[8mc\\302\\2338md\\342\\200\\256line' '''\n")
	h.Write(filepath.Join(home, "config.toml"), "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = "+quoted("true # "+evil)+"\n")
	h.Write(filepath.Join(home, "extensions", name+".js"), "throw new Error("+e+")")
	h.Write(filepath.Join(h.Project, ".git", "HEAD"), "ref: refs/heads/"+evil+"\n")
	h.Write(filepath.Join(h.Project, ".scorel", "commands", "theirs.md"), "---\ndescription: "+e+"\n---\n"+evil)
	h.Write(filepath.Join(h.Project, "AGENTS.md"), evil)
	r := record(t, h, h.Project, evil+" is said")
	r.WaitFor("Understood.")
	for _, page := range [][2]string{{"/skills", "─ Skills"}, {"/agents", "─ Sub-agents"}, {"/memory", "─ Memory"}, {"/config", "─ Configuration"}, {"/doctor", "─ Doctor"},
		{"/hooks", "─ Hooks"}, {"/extensions", "─ Extensions"}, {"/cost", "─ Cost"}, {"/context", "─ Context"}, {"/theme", "─ Theme"}, {"/model", "─ Models"}, {"/help", "─ Help"},
		{"/resume", "─ Sessions"}, {"/tree", "─ Tree"}} {
		r.Say(page[0])
		r.WaitFor(page[1])
		r.Keys("Down")
		r.Keys("Escape")
		r.Wait("the end of "+page[0], func(screen string) bool { return strings.Contains(screen, "❯ ask something") })
	}
	r.Say("/memory")
	r.WaitFor("─ Memory", "MEMORY.md")
	r.Keys("Enter")
	r.WaitFor("a]0;PWNEDb") // the text that the model gets, which has no hidden characters
	r.Keys("Escape")
	r.WaitFor("❯ ask something")
	r.Type("/the")
	r.WaitFor("/theirs")
	r.Keys("C-c")
	r.WaitFor("❯ ask something")
	r.Paste(evil)
	r.WaitFor("[U+202E]")
	r.Keys("C-c")
	r.WaitFor("❯ ask something")
	wantOnlyOurs(t, h, r)
}

func TestALineOfTenMegabytesIsShownAndTheUIGoesOn(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^long"},"do":[{"text":"xxxxxxxxxx","times":300000},{"text":" its end"}]}`,
		`{"if":{"user":"^tool"},"do":[{"call":"Bash","input":{"command":"head -c 10000000 big.txt"}}]}`)
	h.Write(h.Script, strings.Replace(h.Read(h.Script), `{"script":1}`, `{"script":1,"chunk":4000}`, 1))
	h.Write(filepath.Join(h.Project, "big.txt"), strings.Repeat("y", 10_000_001))
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("tool")
	s.WaitFor("yyyy", "Understood.")
	s.Say("long")
	s.WaitFor("xxxx", "its end")
	s.Say("and now")
	s.WaitFor("❯ and now", "Understood.")
}
