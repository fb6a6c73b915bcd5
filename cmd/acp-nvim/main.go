// Acp-nvim is the program behind the Neovim plugin.
//
//	acp-nvim host        started by the plugin: talks to Neovim on stdin and stdout
//	acp-nvim demo-agent  a scripted agent: no model, no network
//	acp-nvim mcp         the editor's tools on stdio, for agents to start
//	acp-nvim replay      plays a recorded traffic file as an agent
//	acp-nvim sweep PID   ends what the commands of a host that was killed have started
//	acp-nvim version     prints the version and the revision of the plugin's interface
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/acp-nvim/acp-nvim/acp/demo"
	"github.com/acp-nvim/acp-nvim/acp/replay"
	"github.com/acp-nvim/acp-nvim/host"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/terminal"
)

// version is set by the build.
var version = "dev"

const usage = `usage: acp-nvim host | demo-agent [--protocol 1|2] | mcp | replay FILE | sweep PID | version
The plugin starts the host by itself; see :help acp.
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	// Standard output belongs to the protocols: anything else that is printed goes to standard error.
	stdout := os.Stdout
	os.Stdout = os.Stderr
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1], os.Args[2:], stdout)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "acp-nvim:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, args []string, stdout *os.File) error {
	switch command {
	case "host":
		return runHost(ctx, args, stdout)
	case "demo-agent":
		return runDemo(ctx, args, stdout)
	case "mcp":
		return editortools.Relay(ctx, os.Stdin, stdout)
	case "replay":
		return runReplay(ctx, args, stdout)
	case "sweep":
		return sweep(args)
	case "version":
		fmt.Fprintf(stdout, "acp-nvim %s, api %s\n", version, rpc.Revision)
		return nil
	}
	fmt.Fprint(os.Stderr, usage)
	return flag.ErrHelp
}

func runHost(ctx context.Context, args []string, stdout *os.File) error {
	flags := flag.NewFlagSet("host", flag.ContinueOnError)
	api := flags.String("api", "", "the revision of the interface that the plugin speaks")
	nerdFont := flags.Bool("nerd-font", false, "show icons of a Nerd Font")
	state := flags.String("state", "", "the folder for what Neovim is about to write, in case it is killed")
	data := flags.String("data", "", "the folder for what is needed to undo what agents did")
	cache := flags.String("cache", "", "the folder for images and other files that agents send")
	logFile := flags.String("log", "", "the file to log to; standard error without one")
	var level slog.Level
	flags.TextVar(&level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	if flags.Parse(args) != nil {
		return flag.ErrHelp // Parse has said why
	}
	options := host.Options{Version: version, API: *api, NerdFont: *nerdFont, Cache: *cache, State: *state, Data: *data}
	var out io.Writer = os.Stderr
	if *logFile != "" {
		if f, err := openLog(*logFile); err != nil {
			fmt.Fprintln(os.Stderr, "acp-nvim: open the log:", err)
			options.NoLog = *logFile
		} else {
			defer f.Close()
			out = f
		}
	}
	options.Log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
	return host.Serve(ctx, os.Stdin, stdout, options)
}

func sweep(args []string) error {
	if len(args) != 1 {
		return errors.New("sweep takes the process number of a host")
	}
	host, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	terminal.EndOrphans(host)
	return nil
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

func runDemo(ctx context.Context, args []string, stdout *os.File) error {
	flags := flag.NewFlagSet("demo-agent", flag.ContinueOnError)
	protocol := flags.Int("protocol", 1, "the newest version of the protocol to speak, 1 or 2")
	if flags.Parse(args) != nil {
		return flag.ErrHelp // Parse has said why
	}
	if *protocol != 1 && *protocol != 2 {
		return fmt.Errorf("the demo agent speaks versions 1 and 2 of the protocol, not %d", *protocol)
	}
	return demo.Serve(ctx, os.Stdin, stdout, version, *protocol)
}

func runReplay(ctx context.Context, args []string, stdout *os.File) error {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	if flags.Parse(args) != nil {
		return flag.ErrHelp // Parse has said why
	}
	if flags.NArg() != 1 {
		fmt.Fprint(os.Stderr, usage)
		return flag.ErrHelp
	}
	f, err := os.Open(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("open the traffic file: %w", err)
	}
	defer f.Close()
	return replay.Serve(ctx, f, os.Stdin, stdout)
}
