package admin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"scorel/internal/host/asides"
	"scorel/internal/host/automation/store"
	"scorel/internal/host/doctor"
	"scorel/internal/host/failure"
	"scorel/internal/platform/identity"
)

// filesCheck is the check of the small files that Scorel itself writes; shown only when there
// is something to say.
const filesCheck = "files"

// checkFiles finds the files that are damaged, and those that were and have been set aside.
func (ad *Admin) checkFiles(context.Context) doctor.Finding {
	var texts []string
	st := ad.settings
	if err := identity.Check(st.FS, filepath.Join(st.Dir, "device.json")); err != nil {
		return doctor.Fail(failure.Sentence(err)+".", "Until then no host serves. Connect the clients again that knew the old key.")
	}
	if err := identity.Check(st.FS, filepath.Join(st.Dir, "client.json")); err != nil {
		texts = append(texts, failure.Sentence(err)+".")
	}
	if _, err := st.Projects(); err != nil {
		texts = append(texts, strings.TrimSuffix(failure.Sentence(err), ".")+".")
	}
	if err := store.Look(st.FS, filepath.Join(st.Dir, "automation")); err != nil {
		texts = append(texts, fmt.Sprintf("The file of schedules cannot be used: %v.", err))
	}
	for _, a := range asides.Find(st.FS, st.Dir) {
		texts = append(texts, a.Text)
	}
	switch len(texts) {
	case 0:
		return doctor.OK("")
	case 1:
		return doctor.Warn(texts[0], "Look whether you need something of it; remove it when you do not.")
	}
	return doctor.Warn(fmt.Sprintf("%s And %d more.", texts[0], len(texts)-1), "Look whether you need something of them, below "+st.Dir+"; remove those that you do not.")
}
