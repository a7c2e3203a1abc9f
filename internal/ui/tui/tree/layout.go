package tree

import (
	"slices"
	"strings"
)

// line is a row of the tree.
type line struct {
	node  int32
	depth uint16
	head  bool   // the first of a branch that was left
	fork  bool   // the conversation goes on from here in several ways
	tail  bool   // nothing of the parent follows below the branch of this head
	rails uint64 // the depths at which a line goes on downwards
	more  int32  // rows that are folded away below
}

// layout is the rows, and for each node its row, -1 when it has none.
type layout struct {
	rows   []line
	rowOf  []int32
	active []bool // the nodes of the active path
	shown  int    // nodes that pass the filter
}

// maxRail is the deepest branch whose lines are drawn.
const maxRail = 63

// lay makes the rows when something has changed. It takes a few passes over the nodes,
// whose parents always stand before them.
func (t *Tree) lay() {
	if !t.stale {
		return
	}
	t.stale = false
	n := int32(len(t.nodes))
	root := n // stands for what is above the first events
	search := strings.ToLower(strings.TrimSpace(t.search.Text()))

	t.active = make([]bool, n+1)
	t.active[root] = true
	if i, ok := t.index[t.leaf]; ok {
		for ; i >= 0; i = t.nodes[i].parent {
			t.active[i] = true
		}
	}
	// above is the nearest node above that is seen.
	above := make([]int32, n)
	seen := make([]bool, n+1)
	t.shown = 0
	for i := range t.nodes {
		p := t.nodes[i].parent
		switch {
		case p < 0:
			above[i] = root
		case seen[p]:
			above[i] = p
		default:
			above[i] = above[p]
		}
		if seen[i] = t.shows(&t.nodes[i], search); seen[i] {
			t.shown++
		}
	}
	// The children that are seen, in order; how many rows hang below; the newest one.
	child := make([]int32, n+1)
	next := make([]int32, n+1)
	size := make([]int32, n+1)
	newest := make([]int32, n+1)
	for i := range child {
		child[i], newest[i] = -1, int32(i)
	}
	newest[root] = -1
	for i := n - 1; i >= 0; i-- {
		if !seen[i] {
			continue
		}
		p := above[i]
		next[i], child[p] = child[p], i
		size[i]++
		size[p] += size[i]
		newest[p] = max(newest[p], newest[i])
	}

	t.rows = t.rows[:0]
	t.rowOf = slices.Grow(t.rowOf[:0], int(n))[:n]
	for i := range t.rowOf {
		t.rowOf[i] = -1
	}
	var sides []int32
	stack := []line{{node: root}}
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		// What continues: the active path, else, away from it, what is newest.
		going := int32(-1)
		sides = sides[:0]
		for c := child[l.node]; c >= 0; c = next[c] {
			switch {
			case t.active[c]:
				going = c
			case !t.active[l.node] && (going < 0 || newest[c] > newest[going]):
				going = c
			}
		}
		for c := child[l.node]; c >= 0; c = next[c] {
			if c != going {
				sides = append(sides, c)
			}
		}
		if l.node != root {
			l.fork = len(sides) > 0
			if l.head && t.folded(l.node, size[l.node], search) {
				l.more = size[l.node] - 1
				t.rowOf[l.node] = int32(len(t.rows))
				t.rows = append(t.rows, l)
				continue
			}
			t.rowOf[l.node] = int32(len(t.rows))
			t.rows = append(t.rows, l)
		}
		if going >= 0 {
			stack = append(stack, line{node: going, depth: l.depth, rails: l.rails})
		}
		for k := len(sides) - 1; k >= 0; k-- {
			side := line{node: sides[k], depth: l.depth + 1, rails: l.rails, head: true, tail: going < 0 && k == len(sides)-1}
			if !side.tail && l.depth <= maxRail {
				side.rails |= 1 << l.depth
			}
			stack = append(stack, side)
		}
	}
	t.keepOn()
}

// folded says whether a branch that was left shows only its first row.
func (t *Tree) folded(head, size int32, search string) bool {
	if size < 2 || search != "" {
		return false
	}
	if f, ok := t.folds[head]; ok {
		return f
	}
	return true
}

// keepOn puts a node on that has a row: the one that is on, or the nearest above it.
// Until somebody moves it is the leaf.
func (t *Tree) keepOn() {
	i := t.on
	if !t.moved || i < 0 {
		i = -1
		if leaf, ok := t.index[t.leaf]; ok {
			i = leaf
		}
	}
	for i >= 0 && t.rowOf[i] < 0 {
		i = t.nodes[i].parent
	}
	if i < 0 && len(t.rows) > 0 {
		i = t.rows[len(t.rows)-1].node
	}
	t.on = i
}
