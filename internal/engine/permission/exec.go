package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

// How far commands inside commands are looked into for rules that deny or ask:
// levels, and commands of one line.
const (
	maxInner  = 6
	maxLooked = 500
)

// exec judges a bash source by what it would start.
func (p *Policy) exec(a Action) Verdict {
	line, err := shellparse.Parse(a.Command)
	if err != nil {
		return p.unparsed(a, err)
	}
	places := newPlaces(p, a)
	if v, ok := p.tighten(a, places, line, 0); ok && v.Decision == protocol.DecisionDeny {
		return v
	} else if ok {
		return p.unlessDenied(a, line, v)
	}
	if p.mode == Bypass {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	if r, ok := find(p.allow, func(r rule) bool { return r.forTool(a.Tool) }); ok {
		return allowed(r)
	}
	return p.loosen(a, line)
}

// unparsed judges a source that cannot be taken apart. Its first lines may run
// all the same, so what denies or asks for them counts; of the rest no rule that
// tightens can say that it does not cover it, so it is asked for where there is
// one, in every mode.
func (p *Policy) unparsed(a Action, err error) Verdict {
	front := shellparse.Front(a.Command)
	if v, ok := p.tighten(a, newPlaces(p, a), front, 0); ok {
		return p.unlessDenied(a, front, v)
	}
	if p.mode == Bypass && !p.tightensCommands() {
		return Verdict{Decision: protocol.DecisionAllow}
	}
	return ask("", sentence(err.Error()))
}

// tightensCommands reports whether there is a rule that denies or asks for some
// command.
func (p *Policy) tightensCommands() bool {
	of := func(r rule) bool { return r.form == command }
	return slices.ContainsFunc(p.deny, of) || slices.ContainsFunc(p.ask, of)
}

// unlessDenied returns v, or the denial that another step of the line meets.
func (p *Policy) unlessDenied(a Action, line shellparse.Line, v Verdict) Verdict {
	q := *p
	q.ask, q.mode = nil, Bypass
	if w, ok := q.tighten(a, newPlaces(p, a), line, 0); ok && w.Decision == protocol.DecisionDeny {
		return w
	}
	return v
}

// tighten looks for what denies or asks: rules about commands, wherever in the
// line they stand, and about the files that redirections and words name.
func (p *Policy) tighten(a Action, at *places, line shellparse.Line, depth int) (Verdict, bool) {
	var question Verdict
	if r, ok := find(p.ask, func(r rule) bool { return r.forTool(a.Tool) }); ok {
		question = asked(r)
	}
	for _, step := range line.Steps {
		v, ok := p.tightenStep(a, at, step, depth)
		if ok && v.Decision == protocol.DecisionDeny {
			return v, true
		}
		if ok && question.Decision == "" {
			question = v
		}
		at.after(step)
	}
	return question, question.Decision != ""
}

func (p *Policy) tightenStep(a Action, at *places, step shellparse.Step, depth int) (Verdict, bool) {
	question, asks := p.tightenWords(a, at, step, depth)
	if asks && question.Decision == protocol.DecisionDeny {
		return question, true
	}
	for _, words := range step.Becomes {
		if at.looked++; at.looked > maxLooked {
			return p.unlessFree(question, step.Text())
		}
		one := step
		one.Words, one.Becomes, one.Redirects = words, nil, nil
		v, ok := p.tightenWords(a, at, one, depth)
		if ok && v.Decision == protocol.DecisionDeny {
			return v, true
		}
		if ok && !asks {
			question, asks = v, true
		}
	}
	return question, asks
}

// unlessFree is the question about a part that no rule can tell anything of; none where no
// rule about commands denies or asks.
func (p *Policy) unlessFree(question Verdict, part string) (Verdict, bool) {
	if question.Decision == "" && p.tightensCommands() {
		question = ask("", fmt.Sprintf("What %s would run cannot be known from the line, and there are rules that deny or ask for commands. Write it out.", quoted(part)))
	}
	return question, question.Decision != ""
}

// unknownName returns the part of a command that says what runs, where that cannot be known.
func unknownName(step shellparse.Step, depth int) string {
	if len(step.Words) == 0 || step.Guess || step.Becomes != nil {
		return ""
	}
	first := step.Words[0]
	switch {
	case first.Unknown != "":
		if name := path.Base(first.Text); name != "" && !strings.ContainsAny(name, "$`{") && strings.Contains(first.Text, "/") {
			return "" // ~/bin, $HOME/bin and the like: the program is named
		}
		return first.Unknown
	case !first.Literal && strings.ContainsAny(first.Text, "*?["), depth > 0 && strings.Contains(first.Text, "{}"):
		return first.Text
	}
	return ""
}

func (p *Policy) tightenWords(a Action, at *places, step shellparse.Step, depth int) (Verdict, bool) {
	for _, w := range step.Words {
		if path, ok := at.reach(w.Text); ok {
			return deny("", outOfReach(path)), true
		}
	}
	if found, _ := at.matched(step); len(found) > 0 {
		for _, abs := range found {
			if at.closed(abs) {
				return deny("", outOfReach(abs)), true
			}
		}
	}
	var question Verdict
	for _, r := range step.Redirects {
		if path, ok := at.reach(r.Target.Text); ok {
			return deny("", outOfReach(path)), true
		}
		if v, ok := p.tightenRedirect(at, r); ok {
			if v.Decision == protocol.DecisionDeny {
				return v, true
			}
			question = v
		}
	}
	if len(step.Words) > 0 {
		defer at.into(step.Words)()
	}
	if step.Unknown != "" && !step.Guess {
		question, _ = p.unlessFree(question, step.Unknown)
	}
	if len(step.Words) == 0 {
		return p.tightenStarted(a, at, step, shellparse.Started(step), depth, question)
	}
	if name := unknownName(step, depth); name != "" {
		question, _ = p.unlessFree(question, name)
	}
	if v, ok := p.tightenNamed(a.Tool, at, step); ok {
		if v.Decision == protocol.DecisionDeny {
			return v, true
		}
		question = v
	}
	if v, ok := p.tightenTree(at, step.Words); ok {
		question = v
	}
	covers := func(r rule) bool { return r.tightens(step.Words) && at.mayBeIn(r) }
	if r, ok := find(p.deny, covers); ok {
		return denied(r), true
	}
	if r, ok := find(p.ask, covers); ok {
		question = asked(r)
	}
	return p.tightenStarted(a, at, step, append(shellparse.Started(step), optionSources(step.Words)...), depth, question)
}

// tightenStarted judges what a step would start.
func (p *Policy) tightenStarted(a Action, at *places, step shellparse.Step, started []shellparse.Inner, depth int, question Verdict) (Verdict, bool) {
	if depth >= maxInner {
		if slices.ContainsFunc(started, func(in shellparse.Inner) bool { return !in.Guess && (in.Source != "" || len(in.Words) > 0) }) {
			return p.unlessFree(question, step.Text())
		}
		return question, question.Decision != ""
	}
	for _, in := range started {
		if at.looked++; at.looked > maxLooked {
			return p.unlessFree(question, step.Text())
		}
		if in.Unknown != "" {
			question, _ = p.unlessFree(question, in.Unknown)
		}
		line := shellparse.Line{Steps: []shellparse.Step{{Words: in.Words, Input: step.Input, Fed: step.Fed, Guess: in.Guess}}}
		if in.Source != "" {
			var err error
			if line, err = shellparse.ParseWith(in.Source, in.Params); err != nil {
				line = shellparse.Front(in.Source)
				if p.tightensCommands() && !in.Guess {
					question = ask("", sentence(err.Error()))
				}
			}
			for i := range line.Steps {
				line.Steps[i].Guess = line.Steps[i].Guess || in.Guess
			}
		} else if len(in.Words) == 0 {
			continue
		}
		if v, ok := p.tighten(Action{Tool: a.Tool, Dir: a.Dir, Resolve: a.Resolve}, at, line, depth+1); ok {
			if v.Decision == protocol.DecisionDeny {
				return v, true
			}
			question = v
		}
	}
	return question, question.Decision != ""
}

// tightenRedirect judges the file of a redirection as Read or Write would be, as
// far as that denies, or asks in every mode.
func (p *Policy) tightenRedirect(at *places, r shellparse.Redirect) (Verdict, bool) {
	for _, v := range p.redirect(at, r) {
		if v.Decision == protocol.DecisionDeny || (v.Decision == protocol.DecisionAsk && v.always) {
			return v.Verdict, true
		}
	}
	return Verdict{}, false
}

// fileVerdict is the judgement about the file of a redirection; always says that
// it holds also where the whole tool is allowed.
type fileVerdict struct {
	Verdict
	always bool
}

// redirect judges the file of a redirection, once for each folder in which it
// may be opened.
func (p *Policy) redirect(at *places, r shellparse.Redirect) []fileVerdict {
	if r.Effect == shellparse.Descriptor || harmlessDevice(r) {
		return nil
	}
	paths, certain := at.files(r.Target)
	var out []fileVerdict
	for _, path := range paths {
		act := writes(path)
		if r.Effect == shellparse.Reads {
			act = Reads(path)
		}
		q := *p
		if q.mode != AcceptEdits && q.mode != Bypass {
			q.mode = Default
		}
		v := q.rules(act)
		out = append(out, fileVerdict{v, v.Rule != "" || (path.Protected && act.Kind == Write)})
	}
	if !certain {
		out = append(out, fileVerdict{Verdict: ask("", fmt.Sprintf("A redirection names %s, which is not certain.", r.Target.Text))})
	}
	return out
}

func harmlessDevice(r shellparse.Redirect) bool {
	if !r.Target.Literal {
		return false
	}
	switch r.Target.Text {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return true
	}
	return false
}

// loosen reports whether the rules allow each simple command of the line.
func (p *Policy) loosen(a Action, line shellparse.Line) Verdict {
	if line.Ask != "" {
		return ask("", sentence("no rule can allow this line: "+line.Ask))
	}
	at := newPlaces(p, a)
	at.survey(line)
	allow := Verdict{Decision: protocol.DecisionAllow}
	var lacks []lack
	for _, step := range line.Steps {
		at.enter(step)
		r, why := p.loosenStep(at, step)
		if why != "" {
			lacks = append(lacks, lack{step, why})
		}
		if r != "" {
			allow.Rule = join(allow.Rule, r)
			allow.Git = allow.Git || len(startsGit(step.Words, maxInner)) > 0
		}
		at.after(step)
	}
	if len(lacks) > 0 {
		return ask("", lacking(lacks))
	}
	if allow.Rule == "" {
		return ask("", "The command needs permission.")
	}
	return allow
}

// loosenStep returns the rule that allows a step, or why none does. A step that
// needs no rule gives neither.
func (p *Policy) loosenStep(at *places, step shellparse.Step) (rule, why string) {
	text := step.Text()
	if step.Ask != "" {
		return "", sentence(fmt.Sprintf("no rule can allow %s: %s", quoted(text), step.Ask))
	}
	for _, r := range step.Redirects {
		for _, v := range p.redirect(at, r) {
			if v.Decision != protocol.DecisionAllow {
				return "", sentence(fmt.Sprintf("a redirection of %s needs permission: %s", quoted(text), v.Reason))
			}
		}
	}
	if step.Test || len(step.Words) == 0 {
		return "", ""
	}
	free := harmless(step.Words) || readsDocument(step) || isCd(step.Words) && at.stays(step)
	if at.outside && !free {
		return "", sentence(fmt.Sprintf("%s runs outside the workspace, or where that is not certain", quoted(text)))
	}
	elsewhere, out := "", ""
	for _, r := range p.allow {
		if !r.permits(step.Words) {
			if out == "" {
				out = r.leavesOut(step.Words)
			}
			continue
		}
		if elsewhere = at.elsewhere(r, step.Words); elsewhere == "" {
			if why := at.git(step.Words); why != "" {
				return "", sentence(fmt.Sprintf("no rule allows %s here: %s", quoted(text), why))
			}
			if why := p.unknownFile(at, step); why != "" {
				return "", sentence(fmt.Sprintf("no rule allows %s: %s", quoted(text), why))
			}
			return r.text, "" // also of a step that needs none: a line of such steps does
		}
	}
	if free {
		return "", ""
	}
	if r, why, ok := p.gitPermits(at, step.Words); ok {
		if why == "" {
			why = p.unknownFile(at, step)
		}
		if why != "" {
			return "", sentence(fmt.Sprintf("no rule allows %s here: %s", quoted(text), why))
		}
		return r, ""
	}
	if elsewhere != "" {
		return "", sentence(fmt.Sprintf("%s needs permission: %s", quoted(text), elsewhere))
	}
	if out != "" {
		return "", sentence(fmt.Sprintf("%s needs permission: %s", quoted(text), out))
	}
	return "", sentence(fmt.Sprintf("%s needs permission", quoted(text)))
}

// readsDocument reports whether a step is a cat that only prints a text of the line.
func readsDocument(step shellparse.Step) bool {
	return len(step.Words) == 1 && step.Words[0].Literal && step.Words[0].Text == "cat" && step.Fed == "" && len(step.Redirects) > 0 &&
		!slices.ContainsFunc(step.Redirects, func(r shellparse.Redirect) bool { return r.Effect != shellparse.Descriptor })
}

// harmless lists builtins that change nothing outside the line.
func harmless(words []shellparse.Word) bool {
	for _, w := range words {
		if !w.Literal {
			return false
		}
	}
	switch words[0].Text {
	case "true", "false", ":", "exit", "return", "break", "continue":
		return true
	}
	return false
}

func quoted(text string) string {
	const most = 120
	if len(text) > most {
		cut := most
		for cut > 0 && text[cut]&0xc0 == 0x80 {
			cut--
		}
		text = text[:cut] + "…"
	}
	return "`" + text + "`"
}

// sentence makes a sentence of a reason.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if last := s[len(s)-1]; last != '.' && last != '!' && last != '?' {
		s += "."
	}
	return s
}
