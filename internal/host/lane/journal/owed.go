package journal

import (
	"context"

	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Owed is an event that people were shown in part and that could not be stored.
type Owed struct {
	By   Author
	Body func(leaf protocol.EventID) protocol.Body // what is left of it, where the leaf is that

	entered bool // it has entered, and was not lost since
}

// Owe has an event enter as soon as something can be stored again: before anything else that
// enters. What was owed before and has not been stored is forgotten; there is none, because
// it has entered before what the new one follows. j is locked.
func (j *Journal) Owe(o *Owed) { j.owed = o }

// Pay lets what is owed enter; the ticket is nil when nothing is. j is locked.
func (j *Journal) Pay(ctx context.Context) (*publish.Ticket, error) {
	o := j.owed
	switch {
	case o == nil:
		return nil, nil
	case o.entered:
		if j.Index().Has(o.By.ID) {
			j.owed = nil
		}
		return nil, nil
	}
	_, ticket, err := j.append(ctx, o.Body(j.leaf), o.By)
	o.entered = err == nil
	return ticket, err
}
