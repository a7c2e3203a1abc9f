package editor

// move puts the cursor somewhere else.
func (e *Editor) move(pos int) {
	e.pos, e.goal = pos, -1
	e.undo.seal()
}

// vertical moves the cursor by rows of the screen, in the column in which it was when
// that began.
func (e *Editor) vertical(by int) bool {
	row := e.rowOf(e.pos) + by
	if row < 0 || row >= len(e.rows) {
		return false
	}
	if e.goal < 0 {
		e.goal = e.column(e.pos)
	}
	e.pos = e.at(row, e.goal)
	e.undo.seal()
	return true
}

func (e *Editor) classAt(pos int) class { return classOf(e.text[pos:]) }

// wordRight returns the end of the word at pos or after it.
func (e *Editor) wordRight(pos int) int {
	for pos < len(e.text) && e.classAt(pos) <= sign {
		pos += next(e.text[pos:])
	}
	return e.runEnd(pos)
}

// wordLeft returns the beginning of the word that pos is in or after.
func (e *Editor) wordLeft(pos int) int {
	for pos > 0 {
		p := e.prev(pos)
		if e.classAt(p) > sign {
			break
		}
		pos = p
	}
	return e.runStart(pos)
}

// runEnd returns where the clusters of one class that begin at pos end. A chip is a
// word of its own.
func (e *Editor) runEnd(pos int) int {
	if pos >= len(e.text) {
		return pos
	}
	c := e.classAt(pos)
	for first := true; pos < len(e.text) && e.classAt(pos) == c && (first || c != chipClass); first = false {
		pos += next(e.text[pos:])
	}
	return pos
}

// runStart returns where the clusters of one class that end at pos begin.
func (e *Editor) runStart(pos int) int {
	if pos == 0 {
		return 0
	}
	c := e.classAt(e.prev(pos))
	for first := true; pos > 0 && (first || c != chipClass); first = false {
		p := e.prev(pos)
		if e.classAt(p) != c {
			break
		}
		pos = p
	}
	return pos
}
