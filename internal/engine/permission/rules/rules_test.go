package rules

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// store is a folder in memory.
type store struct {
	files  map[string]string
	writes int
	fail   error
}

func (s *store) read(name string) ([]byte, error) {
	data, ok := s.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(data), nil
}

func (s *store) write(name string, data []byte) error {
	s.writes++
	if s.fail != nil {
		return s.fail
	}
	s.files[name] = string(data)
	return nil
}

func newStore() *store { return &store{files: map[string]string{}} }

func TestAddedRulesAreThereForTheirProjectOnly(t *testing.T) {
	s := newStore()
	for _, add := range [][2]string{{"/p", "Bash(make)"}, {"/p/", "Bash(make), Read(/etc/**)"}, {"/q", "Bash(go vet:*)"}} {
		if err := Add("rules.json", add[0], add[1], s.read, s.write); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Load("rules.json", s.read)
	if err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{"/p": "Bash(make)|Read(/etc/**)", "/q/": "Bash(go vet:*)", "/p/sub": ""} {
		l := f.Layer("rules.json", root)
		if got := strings.Join(l.Allow, "|"); got != want || len(l.Deny)+len(l.Ask) > 0 {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}

func TestARuleThatIsThereIsNotWrittenAgain(t *testing.T) {
	s := newStore()
	for range 2 {
		if err := Add("r", "/p", "Bash(make)", s.read, s.write); err != nil {
			t.Fatal(err)
		}
	}
	if s.writes != 1 {
		t.Errorf("written %d times", s.writes)
	}
}

func TestABadRuleIsNotStored(t *testing.T) {
	s := newStore()
	for _, rule := range []string{"", "Bash(rm *)", "Bash(make), Nope(x)"} {
		if err := Add("r", "/p", rule, s.read, s.write); err == nil {
			t.Errorf("%q was accepted", rule)
		}
	}
	if s.writes != 0 {
		t.Error("something was written")
	}
}

func TestAnUnreadableFileIsNotWrittenOver(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":      "{",
		"unknown field": `{"version":1,"deny":[]}`,
		"newer version": `{"version":2,"projects":{}}`,
		"too large":     strings.Repeat(" ", MaxFile+1),
	} {
		s := newStore()
		s.files["r"] = text
		if err := Add("r", "/p", "Bash(make)", s.read, s.write); err == nil || s.files["r"] != text {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestAFailedWriteIsReported(t *testing.T) {
	s := newStore()
	s.fail = errors.New("disk full")
	if err := Add("r", "/p", "Bash(make)", s.read, s.write); !errors.Is(err, s.fail) {
		t.Error(err)
	}
}

func TestOldestRulesGoWhenAProjectHasTooMany(t *testing.T) {
	s := newStore()
	var list []string
	for i := range MaxPerProject {
		list = append(list, "Bash(make "+strings.Repeat("x", i%7+1)+"-"+strings.Repeat("y", i/7+1)+")")
	}
	if err := Add("r", "/p", strings.Join(list, ", "), s.read, s.write); err != nil {
		t.Fatal(err)
	}
	if err := Add("r", "/p", "Bash(new)", s.read, s.write); err != nil {
		t.Fatal(err)
	}
	f, err := Load("r", s.read)
	if err != nil {
		t.Fatal(err)
	}
	allow := f.Layer("r", "/p").Allow
	if len(allow) != MaxPerProject || allow[0] != list[1] || allow[len(allow)-1] != "Bash(new)" {
		t.Errorf("%d rules, first %s, last %s", len(allow), allow[0], allow[len(allow)-1])
	}
}
