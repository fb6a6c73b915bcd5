package setup

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// release builds the release for this machine, twice, and checks that both are the same.
func release(t *testing.T) (folder, lua string) {
	t.Helper()
	nvimtest.Need(t)
	var builds []string
	for range 2 {
		dir := t.TempDir()
		lua = filepath.Join(dir, "release.lua")
		cmd := exec.Command(filepath.Join("..", "..", "..", "scripts", "release.sh"), "9.9.9", dir, lua)
		cmd.Env = append(os.Environ(), "TARGETS="+runtime.GOOS+"/"+runtime.GOARCH)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		builds, folder = append(builds, read(t, filepath.Join(dir, "SHA256SUMS"))), dir
	}
	if builds[0] != builds[1] || builds[0] == "" {
		t.Errorf("two builds differ: %s", builds)
	}
	return folder, lua
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must.Do(t, err)
	return string(text)
}

// Without Go the released host is shown, agreed to, downloaded, and runs; anything else than it is not used.
func TestHostIsDownloaded(t *testing.T) {
	folder, lua := release(t)
	name := "acp-nvim-" + runtime.GOOS + "-" + runtime.GOARCH
	host := []byte(read(t, filepath.Join(folder, name)))
	tools := t.TempDir()
	for _, tool := range []string{"curl", "sha256sum", "shasum", "sh"} {
		if at, err := exec.LookPath(tool); err == nil {
			must.Do(t, os.Symlink(at, filepath.Join(tools, tool)))
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good/" + name:
			_, _ = rw.Write(host)
		case "/wrong/" + name:
			_, _ = rw.Write(append([]byte{host[0] ^ 1}, host[1:]...))
		case "/half/" + name:
			for range 3 { // more than it may be, and no length said
				_, _ = rw.Write(host)
				rw.(http.Flusher).Flush()
			}
		case "/cut/" + name:
			rw.Header().Set("Content-Length", "10000")
			_, _ = rw.Write(host[:1000])
		case "/slow/" + name:
			_, _ = rw.Write(host[:1000])
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			http.NotFound(rw, r)
		}
	}))
	t.Cleanup(server.Close)
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		binary := filepath.Join(s.Home, "bin", "acp-nvim")
		s.Lua(nil, `local path, tools, binary = ...
			package.loaded['acp.release'] = dofile(path)
			vim.env.PATH = tools
			require('acp.rpc.host').binary = binary`, lua, tools, binary)
		from := func(part string) {
			s.Lua(nil, `local c = vim.g.acp; c.host = { url = ... }; vim.g.acp = c; require('acp.config').reset()`, server.URL+part)
		}
		for part, words := range map[string]string{
			"/wrong": "its checksum is not the one that the plugin expects", "/half": "it is too large", "/cut": "the host was not downloaded: (18)",
			"/none": "404",
		} {
			from(part)
			s.Lua(nil, `vim.cmd('Acp build download')`)
			s.AwaitNotification(words)
			s.AwaitLua(`not require('acp.rpc.host').building`)
			if left, _ := filepath.Glob(binary + "*"); len(left) > 0 {
				t.Errorf("%s: left is %s", part, left)
			}
		}
		from("/slow")
		s.Lua(nil, `vim.cmd('Acp build download')`)
		s.AwaitLua(`vim.uv.fs_stat(...) ~= nil and vim.uv.fs_stat(...).size == 1000`, binary+".new-"+strconv.Itoa(s.PID()))
		s.Lua(nil, `vim.cmd('Acp build')`)
		s.AwaitNotification("the download was cancelled")
		s.AwaitLua(`not require('acp.rpc.host').building`)
		from("/good")
		s.Choose("Download it")
		s.Lua(nil, `vim.cmd('Acp build')`)
		s.AwaitNotification("the host is installed")
		s.Command("Acp new demo")
		s.AwaitEvent("AcpSessionReady")
		check.Equal(t, s.LuaString(`require('acp.rpc.host').find()[1]`), binary, "the host is %s")
	})
}

// What is no release says what to do, and that without asking the network.
func TestNoRelease(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Lua(nil, `vim.env.PATH = ''`)
		s.Command("Acp build")
		s.AwaitNotification("there is no released host of this version of the plugin: building it needs Go (go.dev) and make")
		s.Lua(nil, `package.loaded['acp.release'] = { version = '1', revision = require('acp.rpc.host').api, files = {} }`)
		s.Command("Acp build")
		s.AwaitNotification("there is no released host for " + strings.Join([]string{runtime.GOOS, runtime.GOARCH}, "-"))
	})
}
