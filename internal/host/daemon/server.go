package daemon

import (
	"scorel/internal/engine/config"
	"scorel/internal/host/serve"
	"scorel/web"
)

// server makes what lets clients reach the host.
func (d *daemon) server(t *tokens, file config.Config) *serve.Server {
	return serve.New(serve.Config{Host: d.host, Version: d.cfg.Host.Version, Token: t.current, Names: file.Host.Names, Origins: file.Host.Origins,
		Page: web.Page(), TLS: d.tls, Report: func(text string) { d.log.line("%s", text) }, Rand: d.cfg.Host.Rand})
}

// accept serves one endpoint until the server is shut down.
func (d *daemon) accept(s *serve.Server, e *endpoint) {
	kind := serve.Loopback
	switch {
	case e.local:
		kind = serve.Unix
	case e.secure:
		kind = serve.TLS
	}
	if err := s.Serve(e.Listener, kind); err != nil {
		d.log.line("%s can no longer be reached: %v", e.url, err)
	}
}
