package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// npmPackage is a package of npm whose program is a script.
func npmPackage(t *testing.T, version, script string) []byte {
	t.Helper()
	about := fmt.Sprintf(`{"name": "tiny-agent", "version": %q, "bin": {"tiny-agent": "agent.sh"}}`, version)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out := tar.NewWriter(z)
	for name, text := range map[string]string{"package/package.json": about, "package/agent.sh": "#!/bin/sh\n" + script + "\n"} {
		err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))})
		if err == nil {
			_, err = out.Write([]byte(text))
		}
		must.Do(t, err)
	}
	must.Do(t, out.Close(), z.Close())
	return b.Bytes()
}

// serve serves the index of agents and a registry of npm packages: the version 1.0.0 of an agent works, 2.0.0 does not.
func serve(t *testing.T) (url string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		need.Missing(t, "npm")
	}
	noise := make([]byte, 3<<20) // which cannot be packed
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	packages := map[string][]byte{
		"5.0.0": npmPackage(t, "5.0.0", "# "+hex.EncodeToString(noise)),
		"1.0.0": npmPackage(t, "1.0.0", fmt.Sprintf("exec %q demo-agent", scene.Host)),
		"2.0.0": npmPackage(t, "2.0.0", "echo 'it wants a newer Node' >&2; exit 1"),
	}
	const newest = "1.0.0"
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := any(nil)
		switch r.URL.Path {
		case "/index.json":
			answer = obj{"agents": []any{
				obj{"id": "tiny", "name": "Tiny Agent", "version": newest, "description": "A very small agent",
					"distribution": obj{"npx": obj{"package": "tiny-agent@" + newest}}},
				obj{"id": "gone", "name": "Gone", "version": "1.0.0", "description": "Not at npm",
					"distribution": obj{"npx": obj{"package": "no-such-agent@1.0.0"}}},
				obj{"id": "gemini", "name": "Gemini CLI", "version": "9.9.9", "description": "Known to need a login", "distribution": obj{"npx": obj{"package": "gemini@9.9.9"}}},
				obj{"id": "elsewhere", "name": "An Agent With a Rather Long Name", "version": "1.0.0", "distribution": obj{"binary": obj{"plan9-mips": obj{}}}},
				obj{"id": "large", "name": "Large", "version": "1.0.0", "description": "A program of 3 MB", "distribution": obj{
					"binary": obj{"linux-" + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]: obj{
						"archive": server.URL + "/large", "cmd": "./large", "sha256": fmt.Sprintf("%x", sha256.Sum256(noise))}}}},
			}}
		case "/slow.json":
			answer = obj{"agents": []any{obj{"id": "slow", "name": "Slow", "version": "1.0.0", "description": "Never comes",
				"distribution": obj{"npx": obj{"package": "slow-agent@1.0.0"}}}}}
		case "/slow-agent":
			<-r.Context().Done()
			return
		case "/large":
			_, _ = rw.Write(noise)
			return
		case "/tiny-agent":
			versions := obj{}
			for version, data := range packages {
				sum := sha512.Sum512(data)
				versions[version] = obj{"name": "tiny-agent", "version": version, "bin": obj{"tiny-agent": "agent.sh"}, "dist": obj{
					"tarball":   server.URL + "/tiny-agent/" + version + ".tgz",
					"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
				}}
			}
			versions["3.0.0"] = obj{"name": "tiny-agent", "version": "3.0.0", "engines": obj{"node": ">=99.1"}, "dist": obj{"tarball": server.URL + "/none.tgz"}}
			answer = obj{"name": "tiny-agent", "dist-tags": obj{"latest": "2.0.0"}, "versions": versions}
		}
		if data, found := packages[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/tiny-agent/"), ".tgz")]; found {
			_, _ = rw.Write(data)
			return
		}
		if answer == nil {
			http.NotFound(rw, r)
			return
		}
		_ = json.NewEncoder(rw).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func each(t *testing.T, url string, play func(t *testing.T, s *scene.Scene), opts ...nvimtest.Option) {
	opts = append(opts, nvimtest.Env("npm_config_registry="+url, "npm_config_fetch_retries=0", "npm_config_update_notifier=false"))
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Configure(fmt.Sprintf(`c.registry = '%s/index.json'; c.agent = nil`, url))
		play(t, s)
	}, opts...)
}

// call calls a function of the API and gives what its callback got.
func call(s *scene.Scene, lua string) (err string, agent obj) {
	s.T.Helper()
	s.Lua(nil, `_G.done = nil; local done = function(err, agent) _G.done = { err = err or '', agent = agent or vim.empty_dict() } end; `+lua)
	s.AwaitLua(`_G.done ~= nil`)
	var done struct {
		Err   string         `msgpack:"err"`
		Agent map[string]any `msgpack:"agent"`
	}
	s.Lua(&done, `return _G.done`)
	return done.Err, done.Agent
}

// An agent is installed from npm, talks, is not replaced by a version that does not start, and goes again.
func TestInstallFromNpm(t *testing.T) {
	url := serve(t)
	each(t, url, func(t *testing.T, s *scene.Scene) {
		// The project's own files have no say.
		s.WriteFile("package.json", `{"dependencies": {"tiny-agent": "file:nowhere"}}`)
		s.WriteFile(".npmrc", "registry=http://127.0.0.1:1/\n")
		if err, _ := call(s, `require('acp').install('gone', {}, done)`); !strings.Contains(err, "npm could not install Gone") || !strings.Contains(err, "npm does not have it") {
			t.Errorf("what npm does not have: %s", err)
		}
		if err, agent := call(s, `require('acp').install('tiny', {}, done)`); err != "" || agent["id"] != "tiny" {
			t.Fatalf("installed is %v, %s", agent, err)
		}
		if _, err := os.Stat(filepath.Join(s.Data, "nvim", "acp", "agents", "tiny", "1.0.0", "package-lock.json")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(s.Dir, "node_modules")); err == nil {
			t.Error("something is in the project's folder")
		}
		s.Command("Acp new tiny")
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('hello')`)
		s.AwaitState("requires_action") // it talks
		s.OK(`require('acp').cancel()`)
		s.AwaitTurnEnd("cancelled")
		if err, _ := call(s, `require('acp').install('tiny', { version = '2.0.0' }, done)`); !strings.Contains(err, "it wants a newer Node. Nothing else has changed.") {
			t.Errorf("a version that does not start: %s", err)
		}
		if err, _ := call(s, `require('acp').install('tiny', { version = '3.0.0' }, done)`); !strings.Contains(err, "Tiny Agent needs Node.js 99.1.0 or newer, but this is ") {
			t.Errorf("one for a newer Node.js: %s", err)
		}
		s.Lua(nil, `_G.list = nil; require('acp').agents(function(list) _G.list = list end)`)
		s.AwaitLua(`_G.list ~= nil`)
		s.AwaitLua(`vim.iter(_G.list):any(function(a)
			return a.id == 'tiny' and a.installed.version == '1.0.0' and a.installed.by == 'acp' and a.running_version == '1.0.0'
		end)`)
		if err, _ := call(s, `require('acp').uninstall('tiny', done)`); err != "" {
			t.Error(err)
		}
		folder := filepath.Join(s.Data, "nvim", "acp", "agents", "tiny")
		if _, err := os.Stat(filepath.Join(folder, "1.0.0", "package.json")); err != nil {
			t.Errorf("an agent that runs has lost its files: %v", err)
		}
		s.Refused(`require('acp').new({ agent = 'tiny' })`)
		s.OK(`require('acp').close({})`)
		s.Await("its files to go with it", func() bool {
			_, err := os.Stat(folder)
			return os.IsNotExist(err)
		})
	})
}

// Somebody who has no agent at all sees the page, installs one there with a key, and starts it with another.
func TestPage(t *testing.T) {
	url := serve(t)
	path := nvimtest.Env("PATH=" + toolsOnly(t))
	each(t, url, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents = { puppet = { command = { 'no-such-program' } } }`)
		s.Command("Acp")
		page := func(text string) {
			t.Helper()
			s.AwaitLua(`vim.bo.filetype == 'acp-agents' and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find(..., 1, true) ~= nil`, text)
		}
		page("Tiny Agent")
		page("A very small agent")
		s.Keys("/Tiny<CR>i")
		s.AwaitNotification("Tiny Agent 1.0.0 is installed")
		page("Demo")
		s.Keys("p") // the cursor is where the agent is
		page("1.0.0 · pinned")
		s.Keys("i")
		s.AwaitNotification("is pinned")
		s.Keys("b")
		s.AwaitNotification("no earlier version")
		s.Keys("<CR>")
		s.AwaitEvent("AcpSessionReady")
		s.AwaitLua(`require('acp').sessions()[1].agent == 'tiny'`)
		s.Command("Acp agents lock")
		s.AwaitNotification("the versions of 1 agent")
		check.Contains(t, s.ReadFile(filepath.Join(s.Dir, "acp-agents.lock.json")), `"tiny": "1.0.0"`, "the lock is %s")
		s.WriteFile("acp-agents.lock.json", `{"agents": {"tiny": "9.9.9"}}`)
		if err := s.Refused(`require('acp').new({ agent = 'tiny' })`); !strings.Contains(err, "wants tiny 9.9.9") {
			t.Errorf("another version is wanted: %s", err)
		}
	}, path)
}

// date is the day of an index, which is today's.
var date = nvimtest.Replace(`\d{4}-\d\d-\d\d`, "YYYY-MM-DD")

// The page says of each agent in a line what is there, what there is, whether it needs a login, and what it said of itself.
func TestPageOnTheScreen(t *testing.T) {
	url := serve(t)
	each(t, url, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.agents.nowhere = { command = { 'no-such-program' } }`)
		s.Command("Acp agents")
		s.AwaitScreen("A very small agent")
		s.Golden("before", date)
		s.Keys("/Tiny<CR>i")
		s.AwaitNotification("Tiny Agent 1.0.0 is installed")
		s.AwaitScreen("Demo")
		s.Lua(nil, `require('acp').new({ agent = 'puppet' })`)
		p := s.Agent()
		p.Initialize(obj{"authMethods": []any{scene.BrowserLogin}})
		p.Refuse(p.Expect("session/new"), -32000, "Authentication required", nil)
		s.AwaitState("auth_required")
		s.Keys("p")
		s.AwaitScreen("pinned")
		s.AwaitScreen("not logged in")
		s.Golden("installed", date)
	}, nvimtest.Size(80, 24), nvimtest.Env("PATH="+toolsOnly(t)))
}

// What takes too long is cancelled by a key, and nothing of it is left.
func TestCancelOnThePage(t *testing.T) {
	url := serve(t)
	each(t, url, func(t *testing.T, s *scene.Scene) {
		s.Configure(fmt.Sprintf(`c.registry = '%s/slow.json'`, url))
		s.Command("Acp agents")
		s.AwaitScreen("Never comes")
		s.Keys("/Slow<CR>i")
		s.AwaitScreen("npm asks what slow-agent@1.0.0 needs")
		s.Keys("<C-c>")
		s.AwaitNotification("Installing Slow was cancelled. Nothing has changed.")
		s.AwaitScreen("Never comes")
		s.Await("its folder to be gone", func() bool {
			found, _ := filepath.Glob(filepath.Join(s.Data, "nvim", "acp", "agents", "slow", ".*"))
			return len(found) == 0
		})
	})
}

// What the health report says of agents that are there: where, what they said last, logins, and what is to be done.
func TestHealthOfAgents(t *testing.T) {
	url := serve(t)
	health := func(s *scene.Scene, wants ...string) {
		s.T.Helper()
		s.Command("Acp health")
		s.AwaitLua(`vim.bo.filetype == 'checkhealth'`)
		text := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		for _, want := range wants {
			check.Contains(s.T, text, want, "%q is not in\n%s", want)
		}
		s.Command("bwipeout!")
	}
	each(t, url, func(t *testing.T, s *scene.Scene) {
		health(s, "puppet: "+scene.Self, "puppet: not started from here yet", ":Acp new puppet")
		s.Command("Acp new puppet")
		p := s.Agent()
		p.Initialize(obj{
			"agentInfo": obj{"name": "puppet", "title": "Puppet", "version": "4.2"}, "authMethods": []any{scene.BrowserLogin},
			"agentCapabilities": obj{"loadSession": true, "promptCapabilities": obj{"image": true}},
		})
		s.Choose("nothing") // the login that is offered after a while
		p.Refuse(p.Expect("session/new"), -32000, "Authentication required", nil)
		s.AwaitState("auth_required")
		s.Await("the handshake to be kept", func() bool {
			_, err := os.Stat(filepath.Join(s.Data, "nvim", "acp", "agents", "handshakes.json"))
			return err == nil
		})
		health(s, "UTC: Puppet 4.2 · protocol 1 · has a login", "logins it offers, by :Acp auth: "+scene.BrowserLogin["name"].(string),
			"puppet: it resumes them, sees pictures", "puppet: not logged in", ":Acp auth")
		p.Exit(3, "out of memory")
		s.AwaitState("dead")
		health(s, "out of memory", ":Acp restart", "UTC: Puppet 4.2")
		if err, _ := call(s, `require('acp').install('tiny', {}, done)`); err != "" {
			t.Fatal(err)
		}
		folder := filepath.Join(s.Data, "nvim", "acp", "agents", "tiny", "1.0.0")
		health(s, "tiny: version 1.0.0, installed by :Acp agents: "+folder)
		must.Do(t, os.RemoveAll(folder))
		health(s, "tiny was installed by :Acp agents, and its files are gone", "i on its line reinstalls it")
		if err, _ := call(s, `require('acp').install('tiny', {}, done)`); err != "" {
			t.Errorf("it is not mended: %s", err)
		}
	})
}

// Where the disk is full the version before stays, nothing is left behind, and a sentence says what to do.
func TestDiskFull(t *testing.T) {
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root can mount a small disk on Linux")
	}
	url := serve(t)
	each(t, url, func(t *testing.T, s *scene.Scene) {
		folder := filepath.Join(s.Data, "nvim", "acp", "agents")
		must.Do(t, os.MkdirAll(folder, 0o700))
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("a small disk cannot be mounted here: %v", err)
		}
		t.Cleanup(func() {
			must.Do(t, syscall.Unmount(folder, syscall.MNT_DETACH))
		})
		if err, _ := call(s, `require('acp').install('tiny', {}, done)`); err != "" {
			t.Fatal(err)
		}
		left := func() (names []string) {
			for _, pattern := range []string{".*", "*/.*", "*/*"} {
				found, _ := filepath.Glob(filepath.Join(folder, pattern))
				names = append(names, found...)
			}
			return names
		}
		before := left()
		for install, want := range map[string]string{
			`'tiny', { version = '5.0.0' }`: "The disk is full",
			`'large', {}`:                   "The disk is full: Large is not installed. Make room in " + folder,
		} {
			err, _ := call(s, `require('acp').install(`+install+`, done)`)
			if !strings.Contains(err, want) || strings.Count(err, "\n") > 0 && !strings.Contains(err, "ENOSPC") {
				t.Errorf("%s: %s", install, err)
			}
			check.Slice(t, left(), before, "%s: there are %q", install)
		}
		s.Command("Acp new tiny")
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').close({})`)
		s.AwaitLua(`#require('acp').sessions() == 0`)
	})
}

// toolsOnly is a PATH with what npm needs, and no agent.
func toolsOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"node", "npm", "sh", "env", "git", "cat", "ls"} {
		if at, err := exec.LookPath(name); err == nil {
			if real, err := filepath.EvalSymlinks(at); err == nil && name != "npm" {
				at = real
			}
			must.Do(t, os.Symlink(at, filepath.Join(dir, name)))
		}
	}
	return dir
}

// Without the network there is the copy of the index, and a word on why it is no newer one.
func TestNoNetwork(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Configure(`c.registry = 'http://127.0.0.1:1/index.json'`)
		s.Command("Acp agents")
		s.AwaitLua(`vim.bo.filetype == 'acp-agents' and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('This is the last index fetched', 1, true) ~= nil`)
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('Claude Agent', 1, true) ~= nil`)
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('there may be no network', 1, true) ~= nil`)
		s.Lua(nil, `vim.g.acp = vim.tbl_extend('force', vim.g.acp, { registry = false }); require('acp.config').reset()`)
		s.Keys("r")
		s.AwaitNotification("registry = false")
		s.Keys("q")
		s.AwaitLua(`vim.bo.filetype ~= 'acp-agents'`)
	})
}
