package config

type Automation struct {
	Enabled                             bool
	MaxParallel                         int
	MaxRunUSD, MaxDayUSD                float64
	MaxRunTokens, MaxDayTokens          int64
	MaxRunMinutes, ProactiveTickSeconds int
	QuietHours, OnQuestion, CatchUp     string
}
