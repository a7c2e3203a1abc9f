package protocol

// When says when something is due, by exactly one of Cron, EverySeconds and At.
type When struct {
	Cron         string `json:"cron,omitempty"`
	Zone         string `json:"zone,omitempty"`
	EverySeconds int    `json:"everySeconds,omitempty"`
	At           int64  `json:"at,omitempty"`
}
