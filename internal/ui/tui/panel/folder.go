package panel

import (
	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/dialog"
	"scorel/internal/ui/tui/hostinfo"
	"scorel/internal/ui/tui/link"
	"scorel/internal/ui/tui/question"
	"scorel/protocol"
)

// Folder asks what the folder of the project may be: a workspace at all, and one whose
// files act.
type Folder struct {
	Base
	info      *hostinfo.Info
	questions *question.Queue
	typed     Typed
}

// NewFolder returns the questions about the folder.
func NewFolder(b Base, info *hostinfo.Info, q *question.Queue, typed Typed) *Folder {
	return &Folder{Base: b, info: info, questions: q, typed: typed}
}

// OfferTrust shows the state of the project's files, when any could act.
func (x *Folder) OfferTrust(p *protocol.Project) tea.Cmd {
	if p.Trust == nil {
		return nil
	}
	switch p.Trust.State {
	case protocol.TrustNothing, protocol.TrustPart:
		x.Toasts.Info(counted(p.Trust.Count, "file") + " of this project could run commands or change settings; ignored until trusted, and /trust shows what each would do")
	case protocol.TrustNotPossible:
		x.Toasts.Warn("this project has too many files that could run commands, add tools or change settings; they are ignored")
	}
	for _, n := range p.Trust.Notices {
		x.Toasts.Warn(n)
	}
	return nil
}

// Trust shows what of the project could act, and asks whether it may.
func (x *Folder) Trust() tea.Cmd {
	if x.info.Project() == nil {
		x.Toasts.Info("no project is open here")
		return nil
	}
	return link.Ask(x.Link, "", &protocol.GetTrust{ProjectID: x.info.Project().ProjectID}, func(r *protocol.TrustReport, err error) tea.Cmd {
		switch {
		case err != nil:
			x.Toasts.Fail(err)
		case r.State == protocol.TrustNone:
			x.Toasts.Info("nothing here needs trust")
		default:
			return x.questions.Ask(dialog.NewTrust(*r), func(o dialog.Outcome) tea.Cmd {
				if req, ok := o.Request.(*protocol.TrustProject); ok {
					return x.trust(req)
				}
				return nil
			})
		}
		return nil
	})
}

// trust trusts what was shown. Where it has changed meanwhile it is shown again.
func (x *Folder) trust(req *protocol.TrustProject) tea.Cmd {
	return link.Ask(x.Link, "", req, func(t *protocol.ProjectTrust, err error) tea.Cmd {
		switch {
		case err != nil && protocol.AsError(err).Code == protocol.CodeConflict:
			x.Toasts.Warn("the files have changed meanwhile; look again")
			return x.Trust()
		case err != nil:
			x.Toasts.Fail(err)
		case req.Trusted:
			x.Toasts.Info("trusted; it applies from the next message on")
		default:
			x.Toasts.Info("the project's files are no longer trusted")
		}
		x.typed.Forget()
		return x.typed.Changed()
	})
}

// wideQuestion is the name of the question whether a home or / may be the workspace.
const wideQuestion = "wide"

// AskWide asks again where something was refused because the person has said no, or nothing
// yet; it is nil for any other error.
func (x *Folder) AskWide(err error) tea.Cmd {
	if x.info.Project() == nil || protocol.AboutOf(err).Reason != protocol.ReasonWide {
		return nil
	}
	return x.OfferWide(x.info.Project())
}

// OfferWide asks once whether a folder that is as wide as a home may be the workspace.
// Until a person has said so the host begins no session there.
func (x *Folder) OfferWide(p *protocol.Project) tea.Cmd {
	if p.Wide == "" || p.WideAllowed {
		return nil
	}
	what := p.Root + " is your whole home folder."
	if p.Wide == protocol.WidthRoot {
		what = p.Root + " is the whole file system."
	}
	d := dialog.NewConfirm(dialog.ConfirmConfig{ID: wideQuestion, Title: "Work in " + p.Root + "?", Danger: true,
		Message: what + " The model could read everything in it without asking, and what it may write it could write anywhere in it. A project's folder is enough for most work.",
		Yes:     "Yes, and do not ask again", No: "No; start scorel in a project's folder"})
	return x.questions.Ask(d, func(o dialog.Outcome) tea.Cmd {
		if !o.Yes {
			x.Toasts.Info("no session was started in " + p.Root + "; /resume opens a session of another folder")
			return nil
		}
		return link.Ask(x.Link, "", &protocol.RegisterProject{WorkDir: p.WorkDir, Wide: true}, func(allowed *protocol.Project, err error) tea.Cmd {
			if err != nil {
				x.Toasts.Fail(err)
				return nil
			}
			x.info.SetProject(allowed)
			x.Toasts.Info(allowed.Root + " is the workspace")
			return nil
		})
	})
}
