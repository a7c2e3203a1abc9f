package script

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheDocumentedStepsAreOnes(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/script-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(string(page), "\n## Steps\n")
	n := 0
	for _, found := range regexp.MustCompile("`(\\{.*?\\})`").FindAllStringSubmatch(steps, -1) {
		step := strings.ReplaceAll(found[1], "{…}", "{}")
		if fill, ok := strings.CutPrefix(step, `{"fill":`); ok { // a field of a call
			step = `{"call":"TaskOutput","fill":` + fill
		}
		if _, err := Parse(strings.NewReader("{\"script\":1}\n{\"do\":["+step+"]}"), "page"); err != nil {
			t.Errorf("%s: %v", found[1], err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d steps were found", n)
	}
	for _, op := range []Op{OpText, OpThinking, OpCall, OpWait, OpError, OpCut, OpHang, OpGarbage, OpHTML} {
		if !strings.Contains(steps, `{"`+string(op)+`":`) {
			t.Errorf("docs/script-model.md lacks the step %s", op)
		}
	}
}
