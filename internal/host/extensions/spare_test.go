package extensions_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/hosttest"
	"scorel/internal/host/registry"
)

const countsItself = `export default function (pi: any) {
  pi.registerTool({ name: "counted", description: "x", execute: async () => ({ content: [] }) });
}`

// childIn returns the process for extensions that works in a folder, when there is one.
func childIn(t *testing.T, dir string) (pid string) {
	t.Helper()
	harness.Until(t, "a process for extensions in "+dir, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, p := range all {
			cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
			args, _ := os.ReadFile(filepath.Join(p, "cmdline"))
			if cwd == dir && strings.Contains(string(args), "\x00"+rpc.ChildName+"\x00") && !strings.Contains(string(args), "exec") {
				pid = filepath.Base(p)
			}
		}
		return pid != ""
	})
	return pid
}

func TestProcessThatIsStartedBeforeTheSessionIsTheOneThatItsExtensionsRunIn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks for the process below /proc")
	}
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("counted", countsItself)
	w.Config.Soon = w.Project
	w.Restart()
	early := childIn(t, w.Project)
	e := w.Begin(true)
	e.Say("hello")
	records, err := os.ReadDir(registry.RunDir(filepath.Join(w.Home, ".scorel"), e.ID))
	if err != nil || len(records) != 1 || records[0].Name() != early {
		t.Errorf("the records are %v, %v; the process that was started first is %s", records, err, early)
	}
}

// The leak check of the package fails where a process that nobody takes is left.
func TestProcessThatNoSessionTakesEndsWithTheHost(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("counted", countsItself)
	w.Config.Soon = w.Project
	w.Restart()
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
}
