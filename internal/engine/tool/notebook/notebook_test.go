package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"tags": ["a"]},
   "source": [
    "# Title\n",
    "text with ünïcode & <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "run",
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]},
    {"data": {"image/png": "aGVsbG8=", "text/plain": "<Figure>"}, "metadata": {}, "output_type": "display_data"},
    {"ename": "E", "evalue": "v", "output_type": "error", "traceback": ["\u001b[31mboom\u001b[0m"]}
   ],
   "source": "print(1)"
  }
 ],
 "metadata": {"kernelspec": {"language": "python"}, "unknown": 1.50},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func parse(t *testing.T, data string) *Notebook {
	t.Helper()
	n, err := Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCellsAreShownWithTheirIDsAndOutputs(t *testing.T) {
	shown, pictures := parse(t, sample).Show()
	want := "Notebook with 2 cells in python\n\n=== cell 1, id intro, markdown\n# Title\ntext with ünïcode & <b>\n\n=== cell 2, id run, code, run as 3\nprint(1)\n" +
		"--- output\none\ntwo\n--- output\n[picture 1]\n<Figure>\n--- output\nboom\n"
	if shown != want {
		t.Errorf("%s\nwant\n%s", shown, want)
	}
	if len(pictures) != 1 || pictures[0].Media != "image/png" || string(pictures[0].Data) != "aGVsbG8=" {
		t.Errorf("%v", pictures)
	}
}

// changed says in which lines two files differ, as a patch of the first and last of them.
func changed(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	return "-" + strings.Join(a[i:len(a)-j], "\n") + "\n+" + strings.Join(b[i:len(b)-j], "\n")
}

func TestAChangeKeepsAllOtherBytes(t *testing.T) {
	n := parse(t, sample)
	got, err := n.Replace("intro", "", "new & <i>\nlines")
	if err != nil {
		t.Fatal(err)
	}
	if d, want := changed(sample, string(got)), "-    \"# Title\\n\",\n    \"text with ünïcode & <b>\"\n+    \"new & <i>\\n\",\n    \"lines\""; d != want {
		t.Errorf("%s\nwant\n%s", d, want)
	}
	if got, err = n.Replace("run", Code, ""); err != nil {
		t.Fatal(err)
	}
	m := parse(t, string(got))
	if c := m.Cells[1]; c.Source != "" || len(c.outputs) != 0 || c.count != "" || !strings.Contains(string(got), `"unknown": 1.50`) {
		t.Errorf("%s", got)
	}
	if got, err = n.Replace("intro", Code, "x = 1"); err != nil {
		t.Fatal(err)
	}
	if c := parse(t, string(got)).Cells[0]; c.Kind != Code || c.ID != "intro" || !strings.Contains(string(got), `"tags": ["a"]`) || !strings.Contains(string(got), `"outputs": []`) {
		t.Errorf("%s", got)
	}
	if got, err = n.Delete("intro"); err != nil {
		t.Fatal(err)
	}
	if m := parse(t, string(got)); len(m.Cells) != 1 || m.Cells[0].ID != "run" {
		t.Errorf("%s", got)
	}
	if got, err = n.Delete("run"); err != nil {
		t.Fatal(err)
	}
	if m := parse(t, string(got)); len(m.Cells) != 1 || m.Cells[0].ID != "intro" {
		t.Errorf("%s", got)
	}
	if _, err := n.Delete("none"); err == nil || !strings.Contains(err.Error(), `no cell "none"`) {
		t.Error(err)
	}
}

func TestCellsAreInserted(t *testing.T) {
	for _, text := range []string{sample, strings.ReplaceAll(strings.ReplaceAll(sample, "\n", ""), "   ", ""), `{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`,
		"{\n \"cells\": [],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 2\n}", "\xef\xbb\xbf" + sample} {
		n := parse(t, text)
		for _, after := range []string{"", "intro", "run"} {
			if after != "" && len(n.Cells) == 0 {
				continue
			}
			got, id, err := n.Insert(after, Code, "a\n\nb\n")
			if err != nil {
				t.Fatal(err)
			}
			m := parse(t, string(got))
			at := map[string]int{"": 0, "intro": 1, "run": 2}[after]
			if len(m.Cells) != len(n.Cells)+1 || m.Cells[at].Source != "a\n\nb\n" || m.Cells[at].Kind != Code || m.Cells[at].ID != id {
				t.Errorf("behind %q: %s", after, got)
			}
			if n.minor < 5 && strings.Contains(string(got), `"id"`) {
				t.Errorf("an older notebook has no ids: %s", got)
			}
			back, err := m.Delete(id)
			if err != nil {
				t.Fatal(err)
			}
			if len(n.Cells) > 0 && string(back) != text {
				t.Errorf("behind %q, inserted and deleted: %s", after, changed(text, string(back)))
			}
		}
	}
}

func TestWhatIsNoNotebookIsRefused(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", "null", `{"cells":[]}`, `{"cells":{},"nbformat":4}`, `{"cells":[1],"nbformat":4}`, `{"worksheets":[],"nbformat":3}`, `{"cells":[`, `{"cells":[{"cell_type":1}],"nbformat":4}`} {
		if _, err := Parse([]byte(text)); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", text, err)
		}
	}
	many := `{"nbformat":4,"cells":[` + strings.Repeat(`{},`, MaxCells) + `{}]}`
	if _, err := Parse([]byte(many)); err == nil || !strings.Contains(err.Error(), "more than 5000 cells") {
		t.Error(err)
	}
}

func TestOutputsAreBounded(t *testing.T) {
	long := strings.Repeat("é", maxText)
	var outputs []string
	for range maxShown + 5 {
		outputs = append(outputs, `{"output_type":"display_data","data":{"image/png":"YQ=="}}`)
	}
	n := parse(t, fmt.Sprintf(`{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"stream","text":%q},%s],"source":""}]}`, long, strings.Join(outputs, ",")))
	shown, pictures := n.Show()
	if len(shown) > maxText+20_000 || len(pictures) != MaxPictures || !strings.Contains(shown, "20000 bytes more") || !strings.Contains(shown, "and 6 more outputs") {
		t.Errorf("%d bytes, %d pictures", len(shown), len(pictures))
	}
}

// TestJupyterReadsWhatWasWritten asks nbformat itself, where it is.
func TestJupyterReadsWhatWasWritten(t *testing.T) {
	if exec.Command("python3", "-c", "import nbformat").Run() != nil {
		t.Skip("there is no nbformat for Python")
	}
	data, _, err := parse(t, sample).Insert("intro", Code, "x")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", "import sys,nbformat; nbformat.validate(nbformat.reads(sys.stdin.read(), 4))")
	cmd.Stdin = strings.NewReader(string(data))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample, "x\ny")
	f.Add(`{"cells":[{"cell_type":"raw","source":["a"],"id":""}],"nbformat":4}`, "")
	f.Fuzz(func(t *testing.T, text, source string) {
		n, err := Parse([]byte(text))
		if err != nil {
			return
		}
		n.Show()
		for _, c := range n.Cells {
			for _, kind := range []Kind{"", Markdown} {
				got, err := n.Replace(c.ID, kind, source)
				if err != nil {
					continue
				}
				if !json.Valid(got) && json.Valid([]byte(text)) {
					t.Fatalf("%q with %q: %s", text, source, got)
				}
			}
			if got, err := n.Delete(c.ID); err == nil && json.Valid([]byte(text)) && !json.Valid(got) {
				t.Fatalf("%q without %s: %s", text, c.ID, got)
			}
		}
	})
}
