package history

import (
	"reflect"
	"slices"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// passes is the state of passes 3 to 6. run appends what a piece of the list
// gives; a mark lets a later piece replace the open end. Everything before the
// mark stays as it is, which is why a longer list begins with the same bytes.
type passes struct {
	limits limits
	from   protocol.Seq // usage of older messages is not taken

	elems []Element          // after pass 4
	at    []int              // elems[i] begins at out[at[i]]
	out   []protocol.Message // after pass 6
	sums  []int              // estimated tokens of out[:i+1]
	usage counted

	// offset is how many messages stand before out[0]: not zero in a scratch.
	offset int
}

// counted is what a provider counted: tokens for the request that out[:n] came
// out of, its answer included.
type counted struct {
	n, tokens int
}

// run takes the next piece of the list and its notes. It reports whether a result
// without a call was dropped, in which case the call may stand in an earlier
// piece.
func (p *passes) run(list []Element, notes []note) (orphans bool) {
	list, orphans = pairElements(list)
	notesAt := place(list, notes)
	next := 0
	notesBehind := func(i int) {
		for ; next < len(notesAt) && notesAt[next].behind <= i; next++ {
			p.addNote(notesAt[next].item)
		}
	}
	p.grow(len(list) + len(notes))
	notesBehind(-1)
	for i := range list {
		e := list[i]
		p.limits.shrink(&e)
		p.elems = append(p.elems, e)
		p.at = append(p.at, p.offset+len(p.out))
		p.add(&e)
		notesBehind(i)
	}
	return orphans
}

func (p *passes) grow(n int) {
	p.elems = slices.Grow(p.elems, n)
	p.at = slices.Grow(p.at, n)
	p.out = slices.Grow(p.out, n)
	p.sums = slices.Grow(p.sums, n)
}

// add converts an element and appends it.
func (p *passes) add(e *Element) {
	if e.steer() && p.endsWithResult() {
		content := sendable(e.Message.Content)
		var text protocol.Message
		var rest []protocol.Block
		for i := range content {
			if content[i].Type == protocol.BlockText {
				text.Content = append(text.Content, content[i])
			} else {
				rest = append(rest, content[i])
			}
		}
		p.mergeNote(steerIntro(e.Message.Meta.Channel)+text.PlainText(), rest)
		return
	}
	m, ok := convert(e.Message)
	if !ok {
		return
	}
	if p.offset+len(p.out) == 0 && m.Role != protocol.RoleUser {
		p.push(protocol.UserText(opening))
	}
	p.push(m)
	u := e.Message.Usage
	if m.Role == protocol.RoleAssistant && u != nil && u.ContextTokens() > 0 && e.seq > p.from &&
		m.StopReason != protocol.StopError && m.StopReason != protocol.StopCancelled {
		tokens := u.ContextTokens()
		if e.Message.IsCut() { // not all that was counted is sent
			tokens += model.EstimateTokens(m) - u.OutputTokens
		}
		p.usage = counted{p.offset + len(p.out), tokens}
	}
}

func (p *passes) push(m protocol.Message) {
	sum := model.EstimateTokens(m)
	if n := len(p.sums); n > 0 {
		sum += p.sums[n-1]
	}
	p.out = append(p.out, m)
	p.sums = append(p.sums, sum)
}

// addNote is the second half of pass 5 for a harness item.
func (p *passes) addNote(item *protocol.Item) {
	if p.endsWithResult() {
		p.mergeNote(item.Content, nil)
		return
	}
	p.push(protocol.UserText(reminder(item.Content)))
}

func (p *passes) mergeNote(text string, more []protocol.Block) {
	last := len(p.out) - 1
	m := &p.out[last]
	before := model.EstimateTokens(*m)
	merge(m, reminder(text), more)
	p.sums[last] += model.EstimateTokens(*m) - before
}

func (p *passes) endsWithResult() bool {
	n := len(p.out)
	return n > 0 && p.out[n-1].Role == protocol.RoleToolResult
}

// total is the estimate of all that is sent.
func (p *passes) total() int {
	if len(p.sums) == 0 {
		return 0
	}
	return p.sums[len(p.sums)-1]
}

// mark is a place in a list and in what came out of it.
type mark struct {
	list, notes int // what was taken in
	elems, out  int // what came out
}

// here is the mark at the end, with so much taken in.
func (p *passes) here(list, notes int) mark {
	return mark{list, notes, len(p.elems), len(p.out)}
}

// scratch returns passes that go on at a mark in memory of their own, with the
// message before it in sight. What was counted stays: the messages after the
// mark come again.
func (p *passes) scratch(m mark) *passes {
	seen := max(0, m.out-1)
	return &passes{limits: p.limits, from: p.from, usage: p.usage, offset: seen,
		out: slices.Clip(p.out[seen:m.out]), sums: slices.Clip(p.sums[seen:m.out])}
}

// mark is the mark at the end of a scratch that began at from.
func (p *passes) mark(from mark, list, notes int) mark {
	return mark{list, notes, from.elems + len(p.elems), p.offset + len(p.out)}
}

// adopt puts what a scratch made in the place of what stands after the mark at
// which it began. What stands there may be in the hands of callers: where it
// stays the same it is only added to, else everything moves to new memory.
func (p *passes) adopt(m mark, s *passes) {
	if len(p.out)+len(p.elems) == 0 {
		p.elems, p.at, p.out, p.sums, p.usage = s.elems, s.at, s.out, s.sums, s.usage
		return
	}
	out, sums := s.out[m.out-s.offset:], s.sums[m.out-s.offset:]
	n, k := len(p.out)-m.out, len(p.elems)-m.elems
	same := len(out) >= n && len(s.elems) >= k && slices.Equal(p.elems[m.elems:], s.elems[:k]) &&
		slices.Equal(p.at[m.elems:], s.at[:k]) && slices.EqualFunc(p.out[m.out:], out[:n], func(a, b protocol.Message) bool {
		return reflect.DeepEqual(a, b)
	})
	if !same {
		p.elems, p.at = slices.Clip(p.elems[:m.elems]), slices.Clip(p.at[:m.elems])
		p.out, p.sums = slices.Clip(p.out[:m.out]), slices.Clip(p.sums[:m.out])
		n, k = 0, 0
	}
	p.elems, p.at = append(p.elems, s.elems[k:]...), append(p.at, s.at[k:]...)
	p.out, p.sums = append(p.out, out[n:]...), append(p.sums, sums[n:]...)
	p.usage = s.usage
}
