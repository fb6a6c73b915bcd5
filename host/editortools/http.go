package editortools

import (
	"context"
	"log/slog"
	"net"
	stdhttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// This file serves agents that reach the editor by http: only from this machine, with the grant's token, and no web
// page, whatever it claims to be.

// http is the name of this transport, in the configuration and in the protocol.
const http = "http"

// maxRequest bounds a request, in bytes.
const maxRequest = 4 << 20

// web is the http server; the Server's mu guards it.
type web struct {
	address string // and port; "" while nobody is served
	server  *stdhttp.Server
}

func (w *web) close() {
	if w.server != nil {
		_ = w.server.Close()
	}
}

// listenHTTP begins to serve, once; s.mu is held.
func (s *Server) listenHTTP() error {
	if s.web.server != nil {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.web.address = l.Addr().String()
	s.web.server = &stdhttp.Server{
		Handler: s.guarded(l.Addr().String()), ReadHeaderTimeout: tokenPatience, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	server := s.web.server
	s.config.Background(func() { _ = server.Serve(l) }) // its error means that it was closed
	return nil
}

// webEntry returns the server as described to the agent.
func (g *Grant) webEntry(folder string) session.MCPServer {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	at := url.URL{Scheme: http, Host: g.server.web.address, Path: "/mcp", RawQuery: url.Values{"folder": {folder}}.Encode()}
	return session.MCPServer{
		Name: Name, Type: http, URL: at.String(), Headers: []session.Pair{{Name: "Authorization", Value: "Bearer " + g.token}},
	}
}

// ofRequest is the key of a request's grant.
type ofRequest struct{}

// guarded serves clients that know a token and were not sent by a web page.
func (s *Server) guarded(address string) stdhttp.Handler {
	tools := mcp.NewStreamableHTTPHandler(func(r *stdhttp.Request) *mcp.Server {
		return r.Context().Value(ofRequest{}).(*Grant).mcp
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	return stdhttp.HandlerFunc(func(w stdhttp.ResponseWriter, r *stdhttp.Request) {
		token, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case r.Host != address, r.Header.Get("Origin") != "", r.URL.Path != "/mcp":
			stdhttp.Error(w, "refused: this is for agents of this Neovim alone", stdhttp.StatusForbidden)
			return
		case !bears:
			stdhttp.Error(w, "refused: a token is needed", stdhttp.StatusUnauthorized)
			return
		}
		g := s.granted(token)
		if g == nil {
			stdhttp.Error(w, "refused: the token belongs to no running agent", stdhttp.StatusUnauthorized)
			return
		}
		g.noteCame(r.URL.Query().Get("folder"))
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), ofRequest{}, g))
		defer cancel()
		defer context.AfterFunc(g.ctx, cancel)()
		r.Body = stdhttp.MaxBytesReader(w, r.Body, maxRequest)
		tools.ServeHTTP(w, r.WithContext(ctx))
	})
}
