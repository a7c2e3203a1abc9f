package trust

import (
	"os"
	"strings"
	"testing"

	"scorel/internal/engine/heartbeat"
)

const beat = "# Beats\n\n```\ntasks:\n- name: example\n```\n\ntasks:\n- name: inbox\n  interval: 30s\n  prompt: |\n    Look\n    around.\n- name: bad\n  interval: 1s\n  prompt: x\n- name: daily\n  interval: 1d\n  prompt: sum up\n"

func TestHeartbeatsAreShownWithWhatTheySend(t *testing.T) {
	w := newWorld(t, map[string]string{heartbeat.File: beat, heartbeat.Standing: "Be brief."})
	it := w.look().Find(KindHeartbeat, heartbeat.File)
	same(t, "what they do", strings.Join(it.Does, "\n"),
		"sends by itself every 30 s (inbox): Look around.",
		"sends by itself every 1 d (daily): sum up",
		"sends .scorel/autonomy/AGENTS.md before each of these",
		`The task "bad" on line 14 is left out: its interval 1s is too short; the shortest is 10 seconds.`)
	many := "tasks:\n"
	for i := range 20 {
		many += "- name: task " + strings.Repeat("i", i) + "\n  interval: 1m\n  prompt: " + strings.Repeat("word ", 500) + "\n"
	}
	w.write(heartbeat.File, many)
	if does := w.look().Find(KindHeartbeat, heartbeat.File).Does; len(does) != 21 || len(does[19]) > 250 {
		t.Errorf("of 20 tasks are shown: %q", does)
	}
}

func TestHeartbeatsCountAsTheyWereTrustedAlone(t *testing.T) {
	read := func(w *world) (string, bool) {
		t.Helper()
		tasks, standing, trusted, warning, err := w.s.ReadHeartbeat(w.root)
		if err != nil || warning != "" {
			t.Fatal(err, warning)
		}
		return string(tasks) + "|" + string(standing), trusted
	}
	for name, change := range map[string]func(*world){
		"tasks":            func(w *world) { w.write(heartbeat.File, beat+" ") },
		"standing text":    func(w *world) { w.write(heartbeat.Standing, "Be long.") },
		"no standing text": func(w *world) { _ = os.Remove(w.path(heartbeat.Standing)) },
		"tasks of a link": func(w *world) {
			w.write("x", beat)
			_ = os.Remove(w.path(heartbeat.File))
			w.link("../../x", heartbeat.File)
		},
		"trust taken again": func(w *world) { _, _, _ = w.s.Revoke(w.root) },
	} {
		w := newWorld(t, map[string]string{heartbeat.File: beat, heartbeat.Standing: "Be brief."})
		if _, trusted := read(w); trusted {
			t.Fatal("they are trusted before")
		}
		w.trust()
		if got, trusted := read(w); !trusted || got != beat+"|Be brief." {
			t.Fatalf("after that: %q, trusted %v", got, trusted)
		}
		change(w)
		if _, trusted := read(w); trusted {
			t.Errorf("%s: they are still trusted", name)
		}
		if it := w.look().Find(KindHeartbeat, heartbeat.File); it.Status == StatusTrusted {
			t.Errorf("%s: they are %s", name, it.Status)
		}
		w.trust()
		if _, trusted := read(w); !trusted {
			t.Errorf("%s: they are not trusted again", name)
		}
	}
	w := newWorld(t, map[string]string{heartbeat.File: beat})
	w.trust()
	w.write(heartbeat.Standing, "new")
	if _, trusted := read(w); trusted {
		t.Error("they are trusted with a standing text that is new")
	}
}

func TestHeartbeatsThatCannotBeReadAreNeverTrusted(t *testing.T) {
	large := strings.Repeat("x", heartbeat.MaxFile+1)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"tasks":         {map[string]string{heartbeat.File: large}, "has more than 64 KiB"},
		"standing text": {map[string]string{heartbeat.File: beat, heartbeat.Standing: large}, "is beside an AGENTS.md that has more than 64 KiB"},
	} {
		w := newWorld(t, c.files)
		if it := w.trust().Find(KindHeartbeat, heartbeat.File); it.Problem != c.want || it.Status == StatusTrusted || len(it.Files) > 0 {
			t.Errorf("%s: %+v", name, it)
		}
		if _, _, trusted, _, err := w.s.ReadHeartbeat(w.root); trusted || err == nil || !strings.Contains(err.Error(), "larger") {
			t.Errorf("%s: trusted %v, %v", name, trusted, err)
		}
	}
	w := newWorld(t, map[string]string{heartbeat.File: beat})
	w.link("/etc/hostname", heartbeat.Standing)
	if it := w.trust().Find(KindHeartbeat, heartbeat.File); it.Problem != "is beside an AGENTS.md that leads out of the project" {
		t.Errorf("beside a link that leads out: %+v", it)
	}
	if tasks, _, trusted, _, err := newWorld(t, nil).s.ReadHeartbeat(t.TempDir()); tasks != nil || trusted || err != nil {
		t.Errorf("without a file: %q, %v", tasks, err)
	}
}

func TestTemplatesNeedTrust(t *testing.T) {
	w := newWorld(t, map[string]string{".scorel/templates/fix.md": "Repair it."})
	read := func() bool {
		t.Helper()
		data, trusted, _, err := w.s.Read(w.root, KindTemplate, ".scorel/templates/fix.md", 1<<20)
		if err != nil || len(data) == 0 {
			t.Fatal(err)
		}
		return trusted
	}
	if read() {
		t.Error("it is trusted before")
	}
	w.trust()
	if !read() {
		t.Error("it is not trusted after")
	}
	w.write(".scorel/templates/fix.md", "Repair something else.")
	if read() {
		t.Error("it is trusted with another text")
	}
}
