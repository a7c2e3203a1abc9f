// Package service has the host of a person run by systemd.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"scorel/internal/host"
	"scorel/internal/host/daemon"
)

// Service is the host as systemd runs it.
type Service struct {
	Environ        []string
	Stdout, Stderr io.Writer
}

// Install writes the unit of a host that listens as args say, or with show prints it.
func (s Service) Install(ctx context.Context, args []string, show bool) error {
	home, err := host.UserHome(s.Environ)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return fmt.Errorf("find the program file: %w", err)
	}
	switch {
	case runtime.GOOS == "darwin":
		if !show {
			fmt.Fprintln(s.Stderr, "scorel: this is for launchd; write it to ~/Library/LaunchAgents/scorel.host.plist, and run: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/scorel.host.plist")
		}
		_, err = fmt.Fprint(s.Stdout, daemon.Agent(program, args))
		return err
	case show:
		_, err = fmt.Fprint(s.Stdout, daemon.Unit(program, args))
		return err
	}
	file := daemon.UnitFile(home, s.Environ)
	err = daemon.Install(ctx, file, daemon.Unit(program, args), s.Environ)
	var refused *daemon.ManagerError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s is written, but systemd does not run it (%s); scorel host serve --supervise --detach starts a host that is started again when it fails", file, refused.Text)
	}
	if err != nil {
		return err
	}
	runs := "It ends with your last logout; to have it run from boot on, run: loginctl enable-linger"
	if daemon.Lingers("/") {
		runs = "It runs from boot on, because lingering is enabled for you."
	}
	_, err = fmt.Fprintf(s.Stdout, "Wrote %s; the host runs. %s\n", file, runs)
	return err
}

// Uninstall stops the host that systemd runs, and removes its unit.
func (s Service) Uninstall(ctx context.Context) error {
	home, err := host.UserHome(s.Environ)
	if err != nil {
		return err
	}
	file := daemon.UnitFile(home, s.Environ)
	did, err := daemon.Uninstall(ctx, file, s.Environ)
	var refused *daemon.ManagerError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("removed %s, but systemd could not be asked (%s); a host that it runs continues until scorel host stop", file, refused.Text)
	case err != nil:
		return err
	case !did:
		_, err = fmt.Fprintf(s.Stdout, "There is no unit: %s is missing.\n", file)
		return err
	}
	_, err = fmt.Fprintf(s.Stdout, "Removed %s; the host that systemd ran is stopped.\n", file)
	return err
}
