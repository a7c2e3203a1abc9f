package jobs

import (
	"context"
	"fmt"
	"path/filepath"

	"scorel/internal/engine/command"
	"scorel/internal/engine/discovery"
	"scorel/internal/engine/trust"
	"scorel/internal/host/failure"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// template is a template as its file was when it was read.
type template struct {
	command.Template
	data []byte
}

// Templates lists the templates of a folder that can be used, and what is wrong with others.
func (js *Jobs) Templates(ctx context.Context, workDir string) (*protocol.JobTemplateList, error) {
	found, problems, err := js.find(ctx, workDir)
	if err != nil {
		return nil, err
	}
	list := &protocol.JobTemplateList{Templates: []protocol.JobTemplate{}, Problems: problems}
	for _, t := range found {
		list.Templates = append(list.Templates, protocol.JobTemplate{Name: t.Name, Description: t.Description, Model: t.Model, Path: t.Path, Scope: string(t.Place.Scope)})
	}
	return list, nil
}

// find returns the templates that can be used. One that cannot hides none of the others.
func (js *Jobs) find(ctx context.Context, workDir string) (found []template, problems []string, err error) {
	dir, err := js.settings.LookedAt(workDir)
	if err != nil {
		return nil, nil, err
	}
	root, _ := workspace.Root(dir, js.settings.UserHome)
	places, warning := js.settings.Places("templates", dir, root)
	if warning != "" {
		problems = append(problems, warning)
	}
	have := map[string]string{} // name -> path
	for _, p := range places {
		list, bad := js.templates.Find(ctx, []discovery.Place{p})
		problems = append(problems, bad...)
		for _, t := range list {
			usable, problem := js.read(root, t)
			if other := have[t.Name]; problem == "" && other != "" {
				problem = fmt.Sprintf("The job template %s is hidden by %s.", t.Path, other)
			}
			if problem != "" {
				problems = append(problems, problem)
				continue
			}
			have[t.Name] = t.Path
			found = append(found, usable)
		}
	}
	return found, problems, ctx.Err()
}

// read reads a template, or returns in a sentence why it cannot be used.
func (js *Jobs) read(root string, t command.Template) (template, string) {
	if t.Problem != "" {
		return template{}, t.Problem
	}
	var data []byte
	switch name := t.Trusted(); {
	case t.Place.Scope != discovery.Project:
		real, err := t.Place.Resolve(filepath.Base(t.Path), js.settings.Dir)
		if err != nil {
			return template{}, fmt.Sprintf("%s %v.", t.Path, err)
		}
		content, err := discovery.Read(filepath.Dir(real), filepath.Base(real), command.MaxFile)
		if err != nil {
			return template{}, fmt.Sprintf("%s %v.", t.Path, err)
		}
		data = content.Data
	case name == "":
		return template{}, fmt.Sprintf("The job template %s is left out: only those in the top folder of a project can be trusted; move it there, or to your own templates.", t.Path)
	default:
		read, trusted, _, err := js.settings.Trust.Read(root, trust.KindTemplate, name, command.MaxFile)
		switch {
		case err != nil:
			return template{}, failure.Sentence(err) + "."
		case read == nil:
			return template{}, t.Path + " is gone."
		case !trusted:
			return template{}, fmt.Sprintf("The job template %s is left out: it is not trusted as it is now; scorel trust shows it.", t.Path)
		}
		data = read
	}
	t = t.With(data)
	if t.Problem == "" && t.Shell {
		t.Problem = t.Path + ": it has shell lines, which job templates do not run; say in words what is to be run."
	}
	return template{t, data}, t.Problem
}

// lookup returns the template of a name that somebody typed.
func (js *Jobs) lookup(ctx context.Context, workDir, name string) (template, error) {
	found, problems, err := js.find(ctx, workDir)
	if err != nil {
		return template{}, err
	}
	for _, t := range found {
		if t.Name == name {
			return t, nil
		}
	}
	more := ""
	if len(problems) > 0 {
		more = fmt.Sprintf(" Of those that are there, some cannot be used, such as: %s", problems[0])
	}
	return template{}, protocol.About("template", "", protocol.CodeNotFound, "There is no job template %.80q; their list has those that there are.%s", name, more)
}

// text returns what the template becomes with arguments.
func (t template) text(ctx context.Context, typed string) (string, error) {
	body, err := t.ReadBody(t.data)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "%s: %s.", t.Path, failure.Sentence(err))
	}
	args, err := command.ParseArgs(typed)
	if err != nil {
		return "", protocol.Errorf(protocol.CodePayloadTooLarge, "%s.", failure.Sentence(err))
	}
	text, err := body.Expand(ctx, args, nil)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return text, nil
}
