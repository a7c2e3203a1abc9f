package protocol

// Bounds of schedules and runs.
const (
	MaxSchedulePrompt = 16 << 10 // bytes of what a schedule sends
	MaxWhen           = 200      // bytes of the words that say when one is due
	MaxShownPrompt    = 200      // bytes of a prompt in a list
	MaxListedRuns     = 200
)

// ScheduleTarget says where the runs of a schedule work.
type ScheduleTarget string

// The targets.
const (
	TargetSession ScheduleTarget = "session" // the session that it was made for
	TargetFresh   ScheduleTarget = "fresh"   // a new session each time
	TargetKept    ScheduleTarget = "kept"    // one session of its own, which the first run makes
)

// ScheduleState says whether a schedule makes runs.
type ScheduleState string

// The states of a schedule.
const (
	ScheduleArmed  ScheduleState = "armed"
	SchedulePaused ScheduleState = "paused" // until somebody resumes it, or until PausedUntil
	ScheduleDone   ScheduleState = "done"   // it is never due again
)

// ScheduleSource says who made a schedule.
type ScheduleSource string

// Who makes schedules.
const (
	SchedulePerson    ScheduleSource = "person"
	ScheduleModel     ScheduleSource = "model"     // with a person's permission
	ScheduleHeartbeat ScheduleSource = "heartbeat" // of a trusted project's HEARTBEAT.md
)

// RunState says how far a run is.
type RunState string

// The states of a run. All but the first two are final.
const (
	RunQueued    RunState = "queued"
	RunRunning   RunState = "running"
	RunCompleted RunState = "completed"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled" // by a person, by the end of the host, or because it came too late
	RunBudget    RunState = "budget"    // it reached a limit
)

// Final reports whether no other state follows.
func (s RunState) Final() bool { return s != RunQueued && s != RunRunning }

// Requests about schedules and their runs.
type (
	// CreateSchedule arms a schedule: Prompt is sent when it is due. The answer is a
	// [Schedule].
	//
	// When is words: "every 5m", "in 2h", "at 09:00", "at 2026-12-01 09:00", or a cron
	// expression of five fields, which is in Zone (a name of the IANA; "" is the host's).
	// Target is [TargetSession], with the session that is named, unless it is said; the others
	// work in WorkDir, or the folder of the named session. Options count for each run as those
	// of a message do: the mode is dontAsk unless one is given, and never bypassPermissions.
	// OnQuestion "wait" leaves a run with a question until a person answers it, "deny" answers
	// no; "" is what the configuration says. Name is refused while another schedule that is not
	// done has it.
	CreateSchedule struct {
		Name       string       `json:"name,omitempty" check:"max=MaxName,line"`
		When       string       `json:"when" check:"required,max=MaxWhen"`
		Zone       string       `json:"zone,omitempty" check:"max=MaxName"`
		Prompt     string       `json:"prompt" check:"required,max=MaxSchedulePrompt"`
		Target     string       `json:"target,omitempty" check:"oneof=|session|fresh|kept"`
		WorkDir    string       `json:"workDir,omitempty" check:"max=MaxPath"`
		Options    *TurnOptions `json:"options,omitempty"`
		OnQuestion string       `json:"onQuestion,omitempty" check:"oneof=|deny|wait"`
	}
	// PlanSchedule says what a [CreateSchedule] with the same fields would arm, and arms
	// nothing; the answer is a [ScheduleDetails] whose schedule has no id. What create_schedule
	// would refuse is refused with the same words.
	PlanSchedule struct {
		Name       string       `json:"name,omitempty" check:"max=MaxName,line"`
		When       string       `json:"when" check:"required,max=MaxWhen"`
		Zone       string       `json:"zone,omitempty" check:"max=MaxName"`
		Prompt     string       `json:"prompt" check:"required,max=MaxSchedulePrompt"`
		Target     string       `json:"target,omitempty" check:"oneof=|session|fresh|kept"`
		WorkDir    string       `json:"workDir,omitempty" check:"max=MaxPath"`
		Options    *TurnOptions `json:"options,omitempty"`
		OnQuestion string       `json:"onQuestion,omitempty" check:"oneof=|deny|wait"`
	}
	// ListSchedules returns the schedules, oldest first, of a session where one is named; the
	// answer is [ScheduleList].
	ListSchedules struct{}
	// GetSchedule returns one schedule, when it is due next, and its newest runs; the answer
	// is [ScheduleDetails].
	GetSchedule struct {
		ScheduleID ScheduleID `json:"scheduleId" check:"required,max=MaxWord"`
	}
	// SetSchedule pauses a schedule, or lets it go on from now: what was due in between is not
	// made up for. The answer is the [Schedule].
	SetSchedule struct {
		ScheduleID ScheduleID `json:"scheduleId" check:"required,max=MaxWord"`
		Paused     bool       `json:"paused"`
	}
	// DeleteSchedule ends a schedule; a run that has begun goes on, one that waits is
	// cancelled.
	DeleteSchedule struct {
		ScheduleID ScheduleID `json:"scheduleId" check:"required,max=MaxWord"`
	}
	// RunSchedule makes a run now, of a paused schedule too. It changes nothing of when the
	// schedule is due. The answer is the [ScheduleRun].
	RunSchedule struct {
		ScheduleID ScheduleID `json:"scheduleId" check:"required,max=MaxWord"`
	}
	// ListRuns returns runs, newest first, of one schedule where that is named, and with
	// Active those alone that have not ended. Limit is at most 200, 20 when it is 0. The
	// answer is [RunList].
	ListRuns struct {
		ScheduleID ScheduleID `json:"scheduleId,omitempty" check:"max=MaxWord"`
		Active     bool       `json:"active,omitempty"`
		Limit      int        `json:"limit,omitempty" check:"min=0,max=MaxListedRuns"`
	}
	// CancelRun ends a run that has not ended; the answer is the [ScheduleRun].
	CancelRun struct {
		RunID RunID `json:"runId" check:"required,max=MaxWord"`
	}
	// GetAutomation returns what the host does by itself; the answer is [AutomationStatus].
	GetAutomation struct{}
)

// What they are answered with. Times are Unix milliseconds.
type (
	// Schedule is something that is sent at certain times.
	Schedule struct {
		ScheduleID ScheduleID     `json:"scheduleId"`
		Name       string         `json:"name,omitempty"`
		When       When           `json:"when"`
		Words      string         `json:"words"` // When as people read it
		Prompt     string         `json:"prompt"`
		Target     ScheduleTarget `json:"target"`
		SessionID  SessionID      `json:"sessionId,omitempty"` // of the target, once it has one
		WorkDir    string         `json:"workDir,omitempty"`
		Options    *TurnOptions   `json:"options,omitempty"`
		OnQuestion string         `json:"onQuestion,omitempty"`
		Source     ScheduleSource `json:"source"`
		ClientID   ClientID       `json:"clientId,omitempty"` // who made it
		CreatedAt  int64          `json:"createdAt"`

		State       ScheduleState `json:"state"`
		Why         string        `json:"why,omitempty"`         // it is paused
		PausedUntil int64         `json:"pausedUntil,omitempty"` // 0: until somebody resumes it
		NextAt      int64         `json:"nextAt,omitempty"`      // 0: never again, or paused
		LastRun     *ScheduleRun  `json:"lastRun,omitempty"`
		// LastSkip is the newest instant that had no run, and Skipped how many there were since
		// it was made.
		LastSkip *Skip `json:"lastSkip,omitempty"`
		Skipped  int   `json:"skipped,omitempty"`
	}
	// Skip is an instant at which a schedule was due and made no run.
	Skip struct {
		At  int64  `json:"at"`
		Why string `json:"why"`
	}
	// ScheduleList is schedules, whose prompts are cut to [MaxShownPrompt] bytes.
	ScheduleList struct {
		Schedules []Schedule `json:"schedules"`
	}
	// ScheduleDetails is a schedule, the next three instants at which it is due, and its
	// newest runs, newest first.
	ScheduleDetails struct {
		Schedule Schedule      `json:"schedule"`
		Next     []int64       `json:"next"`
		Runs     []ScheduleRun `json:"runs"`
	}
	// ScheduleRun is one run of a schedule. It becomes running when EventID, its message, is
	// stored.
	ScheduleRun struct {
		RunID      RunID      `json:"runId"`
		ScheduleID ScheduleID `json:"scheduleId"`
		Name       string     `json:"name,omitempty"` // of the schedule
		Due        int64      `json:"due"`            // the instant that it is for
		State      RunState   `json:"state"`
		Why        string     `json:"why,omitempty"` // it waits, or has not completed
		NotBefore  int64      `json:"notBefore,omitempty"`
		SessionID  SessionID  `json:"sessionId"`
		EventID    EventID    `json:"eventId,omitempty"`
		CreatedAt  int64      `json:"createdAt"`
		StartedAt  int64      `json:"startedAt,omitempty"`
		EndedAt    int64      `json:"endedAt,omitempty"`
		CostUSD    float64    `json:"costUSD,omitempty"`
		Tokens     int64      `json:"tokens,omitempty"`
		Denied     int        `json:"denied,omitempty"` // calls that were not permitted
	}
	// RunList is runs, newest first.
	RunList struct {
		Runs []ScheduleRun `json:"runs"`
	}
	// AutomationStatus is what the host does by itself, and the limits of that. A limit of 0
	// is none. Problem says why nothing is due, if so; Notices are
	// sentences about what of the heartbeats of projects does not count.
	AutomationStatus struct {
		Enabled       bool     `json:"enabled"`
		Problem       string   `json:"problem,omitempty"`
		Armed         int      `json:"armed"`
		Paused        int      `json:"paused"`
		Running       int      `json:"running"`
		Queued        int      `json:"queued"`
		Proactive     int      `json:"proactive"` // open sessions in proactive mode
		MaxParallel   int      `json:"maxParallel"`
		NextAt        int64    `json:"nextAt,omitempty"`
		QuietUntil    int64    `json:"quietUntil,omitempty"` // 0: no quiet hours now
		DayUSD        float64  `json:"dayUSD"`
		DayTokens     int64    `json:"dayTokens"`
		MaxDayUSD     float64  `json:"maxDayUSD,omitempty"`
		MaxDayTokens  int64    `json:"maxDayTokens,omitempty"`
		MaxRunUSD     float64  `json:"maxRunUSD,omitempty"`
		MaxRunTokens  int64    `json:"maxRunTokens,omitempty"`
		MaxRunMinutes float64  `json:"maxRunMinutes,omitempty"`
		QuietHours    string   `json:"quietHours,omitempty"` // as the configuration has them
		Notices       []string `json:"notices,omitempty"`
	}
)

var (
	createScheduleSpec = Spec{
		Name: "create_schedule", Scope: ScopeEither, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/schedules",
		New: func() Request { return new(CreateSchedule) }, Reply: func() Response { return new(Schedule) },
	}
	planScheduleSpec = Spec{
		Name: "plan_schedule", Scope: ScopeEither, Grant: GrantControl,
		New: func() Request { return new(PlanSchedule) }, Reply: func() Response { return new(ScheduleDetails) },
	}
	listSchedulesSpec = Spec{
		Name: "list_schedules", Scope: ScopeEither, Grant: GrantView,
		Method: "GET", Path: "/v1/schedules",
		New: func() Request { return new(ListSchedules) }, Reply: func() Response { return new(ScheduleList) },
	}
	getScheduleSpec = Spec{
		Name: "get_schedule", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/schedules/{scheduleId}",
		New: func() Request { return new(GetSchedule) }, Reply: func() Response { return new(ScheduleDetails) },
	}
	setScheduleSpec = Spec{
		Name: "set_schedule", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/schedules/{scheduleId}",
		New: func() Request { return new(SetSchedule) }, Reply: func() Response { return new(Schedule) },
	}
	deleteScheduleSpec = Spec{
		Name: "delete_schedule", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		Method: "DELETE", Path: "/v1/schedules/{scheduleId}",
		New: func() Request { return new(DeleteSchedule) }, Reply: func() Response { return new(Done) },
	}
	runScheduleSpec = Spec{
		Name: "run_schedule", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		Method: "POST", Path: "/v1/schedules/{scheduleId}/runs",
		New: func() Request { return new(RunSchedule) }, Reply: func() Response { return new(ScheduleRun) },
	}
	listRunsSpec = Spec{
		Name: "list_runs", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/runs",
		New: func() Request { return new(ListRuns) }, Reply: func() Response { return new(RunList) },
	}
	cancelRunSpec = Spec{
		Name: "cancel_run", Scope: ScopeDevice, Grant: GrantControl, Mutates: true, Urgent: true,
		Method: "POST", Path: "/v1/runs/{runId}/cancel",
		New: func() Request { return new(CancelRun) }, Reply: func() Response { return new(ScheduleRun) },
	}
	getAutomationSpec = Spec{
		Name: "get_automation", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/automation",
		New: func() Request { return new(GetAutomation) }, Reply: func() Response { return new(AutomationStatus) },
	}
)

// Missed reports whether a schedule that was due once had no run for that.
func (s *Schedule) Missed() bool {
	return s.State == ScheduleDone && s.When.At > 0 && s.LastSkip != nil && s.LastSkip.At == s.When.At
}

// Check says what cannot be carried out; see [Call.Check].
func (r *CreateSchedule) Check() *Problem { return first(r.checkFields(), r.Options.Check()) }

// Check says what cannot be carried out; see [Call.Check].
func (r *PlanSchedule) Check() *Problem { return first(r.checkFields(), r.Options.Check()) }

// CheckPlace says why a schedule works nowhere, or in two places, when a session is named or
// none is.
func (r *CreateSchedule) CheckPlace(session SessionID) *Problem {
	target := ScheduleTarget(r.Target)
	ofSession := target == TargetSession || target == "" && session != ""
	switch {
	case session == "" && ofSession:
		return &Problem{"sessionId", "A schedule with the target session needs the field sessionId."}
	case session == "" && target == "":
		return &Problem{"sessionId", "A schedule needs the field sessionId, the session that it is for, or the field target: fresh, a new session each time, or kept, one of its own."}
	case session == "" && r.WorkDir == "":
		return &Problem{"workDir", "A schedule with sessions of its own needs the field workDir, their folder, or sessionId, whose folder it is."}
	case r.WorkDir != "" && ofSession:
		return &Problem{"workDir", "A schedule of a session works in the folder of that; leave out the field workDir."}
	}
	return nil
}

// CheckAlone says which of the options are none of what runs by itself.
func (o *TurnOptions) CheckAlone() *Problem {
	switch {
	case o == nil:
		return nil
	case o.Mode == "bypassPermissions":
		return &Problem{"options.mode", "What runs by itself never has the mode bypassPermissions; the modes are default, acceptEdits, plan and dontAsk."}
	case len(o.MCPConfig) > 0 || o.StrictMCP:
		return &Problem{"options.mcpConfig", "What runs by itself has the MCP servers of the configuration; add the server there."}
	case len(o.Channels) > 0:
		return &Problem{"options.channels", "Channels belong to the turns of a person; leave them out."}
	case o.Workspace != nil:
		return &Problem{"options.workspace", "A home or / is allowed as a workspace for one turn of a person; register the folder with wide before something works there by itself."}
	}
	return nil
}
