package filelist

import (
	"bytes"
	"io"
	"path/filepath"
	"unicode/utf8"

	"scorel/internal/engine/tool/files"
	"scorel/internal/host/failure"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// maxFileText bounds the bytes of a file that are sent to be looked at.
const maxFileText = 256 << 10

// getFile returns a file of a project. It is opened as the tools open it, and only where
// they could read it without asking.
func (fs *Files) getFile(r *protocol.GetFile) (*protocol.FileText, error) {
	refuse := func(format string, args ...any) error {
		return protocol.About("path", "", protocol.CodeInvalidRequest, format, args...)
	}
	if filepath.IsAbs(r.Path) || !filepath.IsLocal(r.Path) {
		return nil, refuse("The path %.200q leads out of the project; name a file by its path in the project's folder.", r.Path)
	}
	root, err := fs.settings.ProjectRoot(r.ProjectID)
	if err != nil {
		return nil, err
	}
	dir, err := settings.Existing("projectId", root)
	if err != nil {
		return nil, err
	}
	opened, err := files.New(files.Config{Root: dir, Home: fs.settings.UserHome, Reach: fs.settings.Dir})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	defer opened.Close()
	target, err := opened.Open(filepath.Join(dir, r.Path), false)
	if err != nil {
		return nil, refuse("%s.", failure.Sentence(err))
	}
	defer target.Close()
	switch {
	case !target.Path.Inside:
		return nil, refuse("%.200q lies outside the project, or where keys are kept; it is not shown.", r.Path)
	case target.Path.Protected:
		return nil, refuse("%.200q is a protected file; it is not shown.", r.Path)
	case !target.Exists():
		return nil, refuse("There is no file %.200q in the project.", r.Path)
	case target.File == nil:
		return nil, refuse("%.200q is a folder; name a file.", r.Path)
	}
	text, err := textOf(target)
	if err != nil {
		return nil, refuse("%s.", failure.Sentence(err))
	}
	text.Path = filepath.ToSlash(filepath.Clean(r.Path))
	return text, nil
}

// textOf reads the beginning of a file, up to the end of a line where it is cut.
func textOf(t *files.Target) (*protocol.FileText, error) {
	data, err := io.ReadAll(io.NewSectionReader(t.File, 0, maxFileText+1))
	if err != nil {
		return nil, files.Explain(t.Path.Abs, err)
	}
	out := &protocol.FileText{Bytes: t.Info.Size()}
	if len(data) > maxFileText {
		data, out.Cut = data[:maxFileText], true
		if end := bytes.LastIndexByte(data, '\n'); end >= 0 {
			data = data[:end+1]
		} else {
			for len(data) > maxFileText-utf8.UTFMax && !utf8.Valid(data) {
				data = data[:len(data)-1]
			}
		}
	}
	if out.Binary = bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data); !out.Binary {
		out.Text = string(data)
	}
	return out, nil
}
