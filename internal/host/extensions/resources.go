package extensions

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/discovery"
	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// maxResources bounds the paths of one kind that an extension brings along.
const maxResources = 64

// skillFile is what makes a folder a skill.
const skillFile = "SKILL.md"

// resources is what an extension has brought along, besides itself, when it started.
type resources struct{ skills, prompts []discovery.Place }

// discovered keeps what an extension brings along, and tells people of what is left out.
func (x *Session) discovered(e extension.Extension, r rpc.ResourcesAnswer) {
	place := discovery.Place{Scope: discovery.Extension, Label: "extension " + e.ID}
	if e.Scope == extension.Project {
		place.Scope, place.Root = discovery.Project, x.root
	}
	var found resources
	take := func(to *[]discovery.Place, what string, paths []string, look func(string) (dir, only string)) {
		for i, path := range paths {
			if i == maxResources {
				x.tellOnce(fmt.Sprintf("The extension %s names more than %d %s; the others are left out.", e.ID, maxResources, what))
				break
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(e.Path), path)
			}
			if place.Root != "" && !within(place.Root, path) {
				x.tellOnce(fmt.Sprintf("The extension %s names %.300q, which is not in its project; it is left out.", e.ID, path))
				continue
			}
			p := place
			if p.Dir, p.Only = look(filepath.Clean(path)); p.Dir == "" {
				x.tellOnce(fmt.Sprintf("The extension %s names %.300q, which has no %s; it is left out.", e.ID, path, what))
				continue
			}
			*to = append(*to, p)
		}
	}
	take(&found.skills, "skills", r.SkillPaths, skillsAt)
	take(&found.prompts, "commands", r.PromptPaths, promptsAt)
	if len(r.ThemePaths) > 0 {
		x.tellOnce(fmt.Sprintf("The extension %s names themes, which are not used: each terminal has its own, in ~/.scorel/themes.", e.ID))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.resources == nil {
		x.resources = map[string]resources{}
	}
	x.resources[e.Path] = found
}

// within reports whether a path is there and leads into the folder root.
func within(root, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/")
}

// skillsAt says in which folder skills stand that a path names: a folder of skills, a skill,
// or its SKILL.md.
func skillsAt(path string) (dir, only string) {
	if filepath.Base(path) == skillFile {
		path = filepath.Dir(path)
	}
	if _, err := os.Stat(filepath.Join(path, skillFile)); err == nil {
		return filepath.Dir(path), filepath.Base(path)
	}
	return folderAt(path)
}

// promptsAt says in which folder templates stand that a path names: a folder of them, or one.
func promptsAt(path string) (dir, only string) {
	if strings.HasSuffix(path, ".md") {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Dir(path), filepath.Base(path)
		}
		return "", ""
	}
	return folderAt(path)
}

func folderAt(path string) (dir, only string) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", ""
	}
	return path, ""
}

// forget drops what extensions have brought along, before they are asked again.
func (x *Session) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.resources = nil
}

// SkillPlaces returns the folders of skills that the extensions of a project, and the user's,
// bring along: those that manifests name, and those that extensions of open sessions of the
// project have named. What a project's extension brings is text of the project, whose
// programs do not run.
func (xs *Extensions) SkillPlaces(ctx context.Context, root string) (list []discovery.Place) {
	found := xs.discoveredIn(root)
	for _, e := range xs.Find(ctx, root).Extensions {
		if e.State != protocol.ExtensionFound {
			continue
		}
		for _, dir := range e.Skills {
			p := discovery.Place{Dir: dir, Scope: discovery.Extension, Label: "extension " + e.ID}
			if e.Scope == extension.Project {
				p.Scope, p.Root = discovery.Project, root
			}
			list = append(list, p)
		}
		list = append(list, found[e.Path].skills...)
	}
	return list
}

// PromptPlaces returns the same of templates of commands.
func (xs *Extensions) PromptPlaces(ctx context.Context, root string) (list []discovery.Place) {
	found := xs.discoveredIn(root)
	if !slices.ContainsFunc(slices.Collect(maps.Values(found)), func(r resources) bool { return len(r.prompts) > 0 }) {
		return nil
	}
	for _, e := range xs.Find(ctx, root).Extensions {
		if e.State == protocol.ExtensionFound {
			list = append(list, found[e.Path].prompts...)
		}
	}
	return list
}

// discoveredIn returns what extensions have named in the open sessions of a project, by
// their files.
func (xs *Extensions) discoveredIn(root string) map[string]resources {
	xs.mu.Lock()
	var open []*Session
	for _, id := range slices.Sorted(maps.Keys(xs.open)) {
		if x := xs.open[id]; x.root == root {
			open = append(open, x)
		}
	}
	xs.mu.Unlock()
	out := map[string]resources{}
	for _, x := range open {
		x.mu.Lock()
		maps.Copy(out, x.resources)
		x.mu.Unlock()
	}
	return out
}
