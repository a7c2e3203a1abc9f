package protocol

// Bounds of jobs.
const (
	MaxJobTemplate = 300 // bytes of the name of a template, with those of its folders
	MaxJobArgs     = 64 << 10
)

// JobState says how far a job is.
type JobState string

// The states of a job. None is final: a message to its session has it work again.
const (
	JobWorking JobState = "working" // a turn runs, or what it began goes on
	JobWaiting JobState = "waiting" // for an answer of a person, also where its turn was cancelled or its host has ended
	JobDone    JobState = "done"
	JobFailed  JobState = "failed" // its turn has ended with an error or at a limit, or the model says so
)

// JobStates returns the states.
func JobStates() []JobState { return []JobState{JobWorking, JobWaiting, JobDone, JobFailed} }

// JobMeta is the part of [Meta] that makes a session a job. The host alone sets it.
type JobMeta struct {
	Template string   `json:"template" check:"max=MaxJobTemplate,line"`
	State    JobState `json:"state" check:"max=MaxWord"`
}

// Requests about jobs.
type (
	// ListJobTemplates lists the templates from which jobs are made in a folder: the user's
	// own and the trusted ones of its project; the answer is a [JobTemplateList].
	ListJobTemplates struct {
		WorkDir string `json:"workDir" check:"required,max=MaxPath"`
	}
	// CreateJob makes the session that the call names from a template and sends it the text
	// that the template becomes with Args; the answer is a [SessionSummary], whose meta
	// names the job. Further messages of people are follow_up requests to the session.
	// Options count for the first turn alone.
	CreateJob struct {
		Template  string       `json:"template" check:"required,max=MaxJobTemplate"`
		Args      string       `json:"args,omitempty" check:"max=MaxJobArgs"`
		ProjectID ProjectID    `json:"projectId,omitempty" check:"max=MaxWord"`
		WorkDir   string       `json:"workDir" check:"required,max=MaxPath"`
		Options   *TurnOptions `json:"options,omitempty"`
	}
)

// What they are answered with.
type (
	// JobTemplate is a Markdown file from which jobs are made.
	JobTemplate struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Model       string `json:"model,omitempty"`
		Path        string `json:"path"`
		Scope       string `json:"scope"` // user or project
	}
	// JobTemplateList has the templates, those that count first before others of the same
	// name; Problems are sentences about those that cannot be used.
	JobTemplateList struct {
		Templates []JobTemplate `json:"templates"`
		Problems  []string      `json:"problems,omitempty"`
	}
)

var (
	listJobTemplatesSpec = Spec{
		Name: "list_job_templates", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListJobTemplates) }, Reply: func() Response { return new(JobTemplateList) },
	}
	createJobSpec = Spec{
		Name: "create_job", Scope: ScopeNew, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(CreateJob) }, Reply: func() Response { return new(SessionSummary) },
	}
)

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *CreateJob) Check() *Problem { return first(r.checkFields(), r.Options.Check()) }

// JobState returns how far the job of a session is: one whose turn asks a question waits for
// the answer. It is "" for a session that is no job.
func (s *SessionSummary) JobState() JobState {
	switch {
	case s.Meta.Job == nil:
		return ""
	case s.State != nil && s.State.Asking:
		return JobWaiting
	}
	return s.Meta.Job.State
}
