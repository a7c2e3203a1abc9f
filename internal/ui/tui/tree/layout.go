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
// whose parents are always before them.
func (t *Tree) lay() {
	if !t.stale {
		return
	}
	t.stale = false
	search := strings.ToLower(strings.TrimSpace(t.search.Text()))
	t.findActive()
	t.layRows(t.hang(search), search)
	t.keepOn()
}

// findActive finds the nodes of the active path; the last one is what is above the first
// events.
func (t *Tree) findActive() {
	n := len(t.nodes)
	t.active = make([]bool, n+1)
	t.active[n] = true
	if i, ok := t.index[t.leaf]; ok {
		for ; i >= 0; i = t.nodes[i].parent {
			t.active[i] = true
		}
	}
}

// hanging is what hangs below each node of those that are seen; the last node is what is
// above the first events.
type hanging struct {
	child  []int32 // the first child, -1 for none
	next   []int32 // the next child of the same node
	size   []int32 // how many rows hang below, with its own
	newest []int32 // the newest node among them
}

// hang hangs each node that is seen below the nearest one above it.
func (t *Tree) hang(search string) hanging {
	n := int32(len(t.nodes))
	root := n
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
	h := hanging{child: make([]int32, n+1), next: make([]int32, n+1), size: make([]int32, n+1), newest: make([]int32, n+1)}
	for i := range h.child {
		h.child[i], h.newest[i] = -1, int32(i)
	}
	h.newest[root] = -1
	for i := n - 1; i >= 0; i-- {
		if !seen[i] {
			continue
		}
		p := above[i]
		h.next[i], h.child[p] = h.child[p], i
		h.size[i]++
		h.size[p] += h.size[i]
		h.newest[p] = max(h.newest[p], h.newest[i])
	}
	return h
}

// layRows makes the rows: what continues goes on at its depth, other branches before it,
// each one deeper.
func (t *Tree) layRows(h hanging, search string) {
	root := int32(len(t.nodes))
	t.rows = t.rows[:0]
	t.rowOf = slices.Grow(t.rowOf[:0], int(root))[:root]
	for i := range t.rowOf {
		t.rowOf[i] = -1
	}
	var sides []int32
	stack := []line{{node: root}}
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		going := t.continues(h, l.node)
		sides = sides[:0]
		for c := h.child[l.node]; c >= 0; c = h.next[c] {
			if c != going {
				sides = append(sides, c)
			}
		}
		if l.node != root {
			l.fork = len(sides) > 0
			folded := l.head && t.folded(l.node, h.size[l.node], search)
			if folded {
				l.more = h.size[l.node] - 1
			}
			t.rowOf[l.node] = int32(len(t.rows))
			t.rows = append(t.rows, l)
			if folded {
				continue
			}
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
}

// continues returns the child with which a node goes on, -1 for none: that of the active
// path, else, away from it, what is newest.
func (t *Tree) continues(h hanging, node int32) int32 {
	going := int32(-1)
	for c := h.child[node]; c >= 0; c = h.next[c] {
		switch {
		case t.active[c]:
			going = c
		case !t.active[node] && (going < 0 || h.newest[c] > h.newest[going]):
			going = c
		}
	}
	return going
}

// folded reports whether a branch that was left shows only its first row.
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
