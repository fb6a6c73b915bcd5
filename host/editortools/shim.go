package editortools

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// The shim's variables, which an agent gets with the server's entry. They are not arguments, which others could see.
const (
	socketVariable = "ACP_NVIM_EDITOR_SOCKET"
	tokenVariable  = "ACP_NVIM_EDITOR_TOKEN"
)

// greeting is the line with which the host lets a client in.
const greeting = "welcome"

// Relay is the program that agents start: it copies bytes to the host and back until one side ends.
func Relay(ctx context.Context, in io.Reader, out io.Writer) error {
	path, token := os.Getenv(socketVariable), os.Getenv(tokenVariable)
	if path == "" || token == "" {
		return errors.New("only an agent that runs in Neovim can start this; see :help acp-editor-tools")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("reach Neovim: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	folder, _ := os.Getwd() // by which the host knows which sessions it was started for
	if _, err := io.WriteString(conn, token+" "+strings.ReplaceAll(folder, "\n", "?")+"\n"); err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	from := bufio.NewReader(conn)
	switch said, err := from.ReadString('\n'); {
	case strings.TrimSpace(said) == greeting:
	default:
		return fmt.Errorf("not let in by Neovim: %s", cmp.Or(strings.TrimSpace(said), fmt.Sprint(err)))
	}
	go func() {
		_, _ = io.Copy(conn, in) // it ends with the agent
		if c, ok := conn.(*net.UnixConn); ok {
			_ = c.CloseWrite()
		}
	}()
	_, err = io.Copy(out, from)
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
