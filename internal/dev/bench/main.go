package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "mock":
			return mockCommand(ctx, args[1:])
		case "session":
			return sessionCommand(ctx, args[1:])
		case "listen":
			return listenCommand(ctx, args[1:])
		case "appends":
			return appendsCommand(ctx, args[1:])
		case "context":
			return contextCommand(ctx, args[1:])
		case "mcpserver":
			return mcpServerCommand(ctx)
		case "mcphang":
			return mcpHangCommand()
		case "mcpidle":
			return mcpIdleCommand(ctx)
		case "open":
			return openCommand(ctx, args[1:])
		}
	}
	return benchCommand(ctx, args)
}
