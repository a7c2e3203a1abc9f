package tool

import (
	"strings"
	"testing"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

const notebookFile = `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "a1",
   "metadata": {},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": "hello"}],
   "source": ["print('hello')"]
  }
 ],
 "metadata": {"x": 1.50},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestANotebookIsReadAsCellsAndChangedByThem(t *testing.T) {
	b := newBench(t)
	b.write("n.ipynb", notebookFile)
	b.fails("NotebookEdit", in{"path": "n.ipynb", "cell_id": "a1", "new_source": "x"}, "you have not read it")
	if got := b.ok("Read", in{"path": "n.ipynb"}); !strings.Contains(got, "=== cell 1, id a1, code, run as 1") || !strings.Contains(got, "hello") || strings.Contains(got, "nbformat") {
		t.Errorf("Read shows %q", got)
	}
	change := in{"path": "n.ipynb", "cell_id": "a1", "new_source": "print(2)\nprint(3)"}
	p, err := b.prepare("NotebookEdit", change)
	if err != nil {
		t.Fatal(err)
	}
	a := p.Action()
	p.Close()
	_, r := b.run("NotebookEdit", change)
	if a.Kind != permission.Write || len(a.Paths) != 1 {
		t.Errorf("%+v", a)
	}
	if d := r.Details.(protocol.ToolDetails); !strings.Contains(d.Diff, `+    "print(2)\n",`) || len(d.Files) != 1 {
		t.Errorf("%+v", d)
	}
	if got := b.content("n.ipynb"); !strings.Contains(got, `"metadata": {"x": 1.50}`) || !strings.Contains(got, `"outputs": []`) || strings.Contains(got, "hello") {
		t.Errorf("it holds %s", got)
	}
	b.ok("NotebookEdit", in{"path": "n.ipynb", "cell_id": "a1", "edit_mode": "insert", "cell_type": "markdown", "new_source": "# End"})
	if got := b.ok("Read", in{"path": "n.ipynb"}); !strings.Contains(got, "Notebook with 2 cells") || !strings.Contains(got, "# End") {
		t.Errorf("Read shows %q", got)
	}
	b.ok("NotebookEdit", in{"path": "n.ipynb", "cell_id": "a1", "edit_mode": "delete"})
	b.fails("Edit", edits("n.ipynb", "End", "Begin"), "is a notebook; change its cells with NotebookEdit")
	b.fails("Write", in{"path": "n.ipynb", "content": "{}"}, "Change its cells with NotebookEdit")
	for _, c := range []struct {
		in   in
		want string
	}{
		{in{"path": "n.ipynb", "cell_id": "none", "new_source": "x"}, `no cell "none"`},
		{in{"path": "n.ipynb", "new_source": "x"}, "give the cell_id"},
		{in{"path": "n.ipynb", "edit_mode": "insert"}, "give the cell_type"},
		{in{"path": "n.ipynb", "cell_id": "a1", "edit_mode": "delete", "new_source": "x"}, "without new_source"},
		{in{"path": "none.ipynb", "cell_id": "a1"}, "Use Write"},
	} {
		b.fails("NotebookEdit", c.in, c.want)
	}
	b.write("bad.ipynb", "{not a notebook")
	if got := b.ok("Read", in{"path": "bad.ipynb"}); !strings.Contains(got, "not a notebook") {
		t.Errorf("a damaged one is shown as %q", got)
	}
	b.fails("NotebookEdit", in{"path": "bad.ipynb", "cell_id": "a1", "new_source": "x"}, "not a Jupyter notebook")
	b.ok("Edit", edits("bad.ipynb", "{not", "{no"))
}
