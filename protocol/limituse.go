package protocol

import (
	"fmt"
	"math"
	"strconv"
)

// LimitKind is what a limit of a turn bounds.
type LimitKind string

// The kinds of limits.
const (
	LimitCost   LimitKind = "cost"   // in US dollars
	LimitTokens LimitKind = "tokens" // all that models read and wrote ([Usage.ContextTokens])
	LimitTime   LimitKind = "time"   // in minutes, without waits for a person's answers
)

// LimitPlace is whose limit it is, as the turn sees it.
type LimitPlace string

// Whose limits there are.
const (
	LimitOfTurn LimitPlace = "turn"  // the turn's own
	LimitAbove  LimitPlace = "above" // of a turn that this one, of a sub-agent, works for
	LimitOfDay  LimitPlace = "day"   // of all automated turns of a day
)

// LimitUse is a limit and how much of it is used, both in the unit of Kind. What
// sub-agents use counts in the turn that they work for, too.
type LimitUse struct {
	Kind  LimitKind  `json:"kind"`
	Where LimitPlace `json:"where"`
	Used  float64    `json:"used"`
	Limit float64    `json:"limit"`
}

// String returns the figures for a person, as "$0.1200 of $2".
func (u LimitUse) String() string {
	short := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	limit := short(u.Limit)
	switch u.Kind {
	case LimitCost:
		return fmt.Sprintf("$%.4f of $%s", u.Used, limit)
	case LimitTokens:
		return fmt.Sprintf("%.0f of %s tokens", u.Used, limit)
	default:
		return fmt.Sprintf("%s of %s minutes", short(math.Round(u.Used*100)/100), limit)
	}
}
