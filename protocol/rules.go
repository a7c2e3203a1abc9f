package protocol

// Requests about permission rules that people have allowed, and those of other programs.
type (
	// ListRules returns the rules that people have allowed for good, project by project; the
	// answer is a [RuleList]. Those of the configuration are in get_config.
	ListRules struct{}
	// ListForeignRules returns the rules that allow of Claude Code's settings, the user's
	// and those of the project of WorkDir, as they would be here; the answer is a
	// [ForeignRules]. None of them counts.
	ListForeignRules struct {
		WorkDir string `json:"workDir" check:"required,max=MaxPath"`
	}
	// ImportRules allows rules in the project of WorkDir for good, as the answer "always"
	// does. Each is one of As that [ListForeignRules] gives at this moment; another fails
	// with conflict, and none is stored. The answer is a [RulesImported].
	ImportRules struct {
		WorkDir string   `json:"workDir" check:"required,max=MaxPath"`
		Rules   []string `json:"rules" check:"required,max=MaxRules,each=MaxPath"`
	}
)

// What they are answered with.
type (
	// ForeignRules is the rules of another program, file by file.
	ForeignRules struct {
		Root    string        `json:"root"` // of the project
		Rules   []ForeignRule `json:"rules"`
		Notices []string      `json:"notices,omitempty"` // about files that cannot be read
	}
	// ForeignRule is a rule as it was written, and as it is here.
	ForeignRule struct {
		Rule string   `json:"rule"`
		File string   `json:"file"`
		As   []string `json:"as,omitempty"` // none where it cannot be written here
		// Problem says why there is none.
		Problem string `json:"problem,omitempty"`
		Have    bool   `json:"have,omitempty"` // the project has it already
	}
	// RuleList is the rules that people have allowed for good. File is where they are written.
	RuleList struct {
		File     string         `json:"file"`
		Projects []ProjectRules `json:"projects"`
	}
	// ProjectRules is the rules of one project, in the order in which they were allowed.
	ProjectRules struct {
		Root  string   `json:"root"`
		Allow []string `json:"allow"`
	}
	// RulesImported is how many rules were new.
	RulesImported struct {
		Added int `json:"added"`
	}
)

var (
	listRulesSpec = Spec{
		Name: "list_rules", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListRules) }, Reply: func() Response { return new(RuleList) },
	}
	listForeignRulesSpec = Spec{
		Name: "list_foreign_rules", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListForeignRules) }, Reply: func() Response { return new(ForeignRules) },
	}
	importRulesSpec = Spec{
		Name: "import_rules", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(ImportRules) }, Reply: func() Response { return new(RulesImported) },
	}
)
