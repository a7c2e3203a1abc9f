package turnconfig_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/engine/session"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// fieldOf returns the field that an error names, and why.
func fieldOf(err *protocol.Error) protocol.FieldDetails {
	var d protocol.FieldDetails
	_ = json.Unmarshal(err.Details, &d)
	return d
}

func TestASessionWorksInTheFolderOfItsProjectOrIsNotMade(t *testing.T) {
	t.Chdir("/") // where a host is that was started in the background
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Project})
	sum := hosttest.Call[*protocol.SessionSummary](t, c, hosttest.NewID(), &protocol.CreateSession{ProjectID: p.ProjectID})
	if sum.Meta.WorkDir != w.Project {
		t.Errorf("without a folder it works in %q", sum.Meta.WorkDir)
	}
	hosttest.Refused(t, c, hosttest.NewID(), &protocol.CreateSession{}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, c, hosttest.NewID(), &protocol.CreateSession{ProjectID: "prj_0000000000000000"}, protocol.CodeProjectNotFound)
	file := w.File("a.txt", "x")
	for what, dir := range map[string]string{"nothing": "", "a relative path": "etc", "a dot": ".", "what is not there": "/no/such/folder", "a file": file, "a name with a zero": "/tmp/\x00"} {
		for _, r := range []protocol.Request{&protocol.RegisterProject{WorkDir: dir}, &protocol.UpdateInfo{Changes: protocol.MetaChanges{WorkDir: &dir}},
			&protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: dir}},
			&protocol.SendMessage{Content: hosttest.Text("go"), WhenBusy: "reject", Options: &protocol.TurnOptions{AdditionalDirs: []string{dir}}}} {
			id := sum.SessionID
			if _, creates := r.(*protocol.CreateSession); creates {
				if id = hosttest.NewID(); dir == "" { // that is the project's
					continue
				}
			}
			err := hosttest.Refused(t, c, id, r, protocol.CodeInvalidRequest)
			if field := fieldOf(err).Field; !strings.Contains(strings.ToLower(field), "dir") || strings.Contains(err.Message, "--") {
				t.Errorf("%s with %s: about %q: %s", r.Spec().Name, what, field, err.Message)
			}
		}
	}
	own := filepath.Join(w.Home, ".scorel")
	hosttest.Refused(t, c, "", &protocol.RegisterProject{WorkDir: own}, protocol.CodeForbidden)
	hosttest.Refused(t, c, sum.SessionID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{WorkDir: &own}}, protocol.CodeForbidden)
	if now := w.Open(c, sum.SessionID).S.Live.Meta.WorkDir; now != w.Project {
		t.Errorf("it works in %q now", now)
	}
}

func TestAHomeOrTheWholeFileSystemIsAWorkspaceOnlyWhenSomebodyAllowedIt(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	c := w.Connect(false)
	for dir, width := range map[string]protocol.Width{w.Home: protocol.WidthHome, "/": protocol.WidthRoot} {
		p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir})
		if p.Wide != width || p.WideAllowed {
			t.Errorf("%s is told as %q, allowed %v", dir, p.Wide, p.WideAllowed)
		}
		create := func() *protocol.CreateSession {
			return &protocol.CreateSession{ProjectID: p.ProjectID, Meta: protocol.Meta{WorkDir: dir}}
		}
		if err := hosttest.Refused(t, c, hosttest.NewID(), create(), protocol.CodeForbidden); fieldOf(err).Reason != protocol.ReasonWide {
			t.Errorf("%s: %v %s", dir, err, err.Details)
		}
		e := w.Begin(false)
		hosttest.Refused(t, c, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{WorkDir: &dir}}, protocol.CodeForbidden)
		if p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir, Wide: true}); !p.WideAllowed {
			t.Errorf("%s is not allowed: %+v", dir, p)
		}
		w.Restart() // it is asked once
		c = w.Connect(false)
		if p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir}); !p.WideAllowed {
			t.Errorf("%s is allowed no more", dir)
		}
		hosttest.Call[*protocol.SessionSummary](t, c, hosttest.NewID(), create())
	}
	if p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Project, Wide: true}); p.Wide != "" || p.WideAllowed {
		t.Errorf("a folder like any other: %+v", p)
	}
}

func TestAnUpdateTakesWhatANewSessionTakesAndNothingElse(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	say := func(s string) *string { return &s }
	for what, changes := range map[string]protocol.MetaChanges{
		"model":         {Model: say("no-such-model-anywhere")},
		"workDir":       {WorkDir: say("/no/such/folder")},
		"thinkingLevel": {ThinkingLevel: say("ultra")},
		"name":          {Name: say(strings.Repeat("n", 1<<20-2000))},
	} {
		err := hosttest.Refused(t, e.C, e.ID, &protocol.UpdateInfo{Changes: changes}, protocol.CodeInvalidRequest)
		if field := fieldOf(err).Field; !strings.HasSuffix(field, what) {
			t.Errorf("%s: about %q: %s", what, field, err.Message)
		}
		var meta protocol.Meta
		changes.Apply(&meta)
		if meta.WorkDir == "" {
			meta.WorkDir = w.Project
		}
		err = hosttest.Refused(t, e.C, hosttest.NewID(), &protocol.CreateSession{Meta: meta}, protocol.CodeInvalidRequest)
		if field := fieldOf(err).Field; !strings.HasSuffix(field, what) {
			t.Errorf("a new session, %s: about %q: %s", what, field, err.Message)
		}
		checked := hosttest.Refused(t, e.C, "", &protocol.CheckSession{Meta: meta}, protocol.CodeInvalidRequest)
		if checked.Message != err.Message || fieldOf(checked) != fieldOf(err) {
			t.Errorf("%s: checked: %s; made: %s", what, checked.Message, err.Message)
		}
	}
	hosttest.Refused(t, e.C, "", &protocol.CheckSession{Meta: protocol.Meta{WorkDir: w.Project, Job: &protocol.JobMeta{Template: "t", State: protocol.JobWorking}}}, protocol.CodeInvalidRequest)
	hosttest.Call[*protocol.Done](t, e.C, "", &protocol.CheckSession{Meta: protocol.Meta{WorkDir: w.Project, Model: "mock"}})
	if list := hosttest.Call[*protocol.SessionList](t, e.C, "", &protocol.ListSessions{}); len(list.Sessions) != 1 {
		t.Errorf("%d sessions after what was only checked", len(list.Sessions))
	}
	e.Say("one")
	if err := os.RemoveAll(w.Project); err != nil {
		t.Fatal(err)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: say("its folder is gone")}})
}

func TestNoMessageHasABlockThatIsNoneOrAPayloadThatIsNotThere(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, hosttest.Wait, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	lines := len(w.Log(e.ID))
	sha := strings.Repeat("ab", 32)
	for what, content := range map[string][]protocol.Block{
		"content[0].type":      {protocol.ToolUse("c1", "Bash", []byte("{}"))},
		"content[0].blob":      {{Type: protocol.BlockImage, MediaType: "image/png"}},
		"content[1].blob":      {protocol.Text("x"), {Type: protocol.BlockImage, MediaType: "image/png", Blob: sha}},
		"content[0].mediaType": {{Type: protocol.BlockImage, Blob: sha}},
		"content[0].name":      {{Type: protocol.BlockFile, MediaType: "text/plain", Blob: sha}},
		"content":              {protocol.Text("")},
	} {
		for _, r := range []protocol.Request{&protocol.SendMessage{Content: content}, &protocol.Steer{Content: content}, &protocol.FollowUp{Content: content},
			&protocol.RewriteQueue{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{Content: content}}}} {
			err := hosttest.Refused(t, e.C, e.ID, r, protocol.CodeInvalidRequest)
			if field := strings.TrimPrefix(fieldOf(err).Field, "items[0]."); field != what {
				t.Errorf("%s: about %q, not %q: %s", r.Spec().Name, field, what, err.Message)
			}
		}
	}
	if n := len(w.Log(e.ID)); n != lines {
		t.Errorf("%d lines were stored", n-lines)
	}
}

func TestAListStaysShortWhateverNamesLogsFromElsewhereHave(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"ok"}]}`)
	store, err := session.OpenStore(session.Config{FS: disk.OS(), Dir: filepath.Join(w.Home, ".scorel"), Now: time.Now, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ü", hosttest.LongName)
	for range 20 {
		log, err := store.Create(context.Background(), protocol.Header{Version: protocol.HeaderVersion, SessionID: hosttest.NewID(), DeviceID: "dev_x", CreatedAt: 1,
			Meta: protocol.Meta{WorkDir: "/" + long, Name: long, Model: long, ThinkingLevel: long}})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := w.Connect(false)
	list, err := client.Call[*protocol.SessionList](context.Background(), c, "", &protocol.ListSessions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 20 || len(data) > 20*8000 {
		t.Errorf("%d sessions in %d bytes", len(list.Sessions), len(data))
	}
}
