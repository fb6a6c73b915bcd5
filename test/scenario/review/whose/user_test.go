package whose

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/test/must"
)

func (r *whoseRound) userMoves() {
	r.T.Helper()
	r.looksAtBuffers()
	if r.IntN(8) == 0 {
		r.userOpens()
		return
	}
	name := r.pick(r.loaded)
	if name == "" {
		return
	}
	switch n := r.IntN(16); {
	case n < 6:
		r.userChanges(name)
	case n < 8:
		r.userTypes(name)
	case n < 10:
		r.userUndoes(name)
	case n < 12:
		r.userSaves(name)
	case n < 13:
		r.userReloads(name)
	case n < 14 && r.may("renames"):
		r.userRenames(name)
	case n < 15 && r.may("decides"):
		r.userDecides()
	default:
		r.userCloses(name)
	}
}

func (r *whoseRound) userOpens() {
	r.T.Helper()
	name := r.pick(func(name string) bool { return !r.loaded(name) && r.data(name) != nil && isRead(r.data(name)) })
	if name == "" {
		return
	}
	r.did("user opens %s", name)
	r.open(name)
}

// isRead reports whether Neovim reads a file as it is: at the very end it takes a letter of latin1 for an incomplete one of
// UTF-8, and reads a question mark.
func isRead(data []byte) bool {
	return len(data) == 0 || data[len(data)-1] < utf8.RuneSelf || utf8.Valid(data)
}

func (r *whoseRound) open(name string) {
	r.T.Helper()
	r.Command("silent edit " + filepath.Join(r.dir, name))
	r.buffers[name] = r.LuaInt(`vim.api.nvim_get_current_buf()`)
}

// acts has the user do something in a buffer, at once. Their plugin may save it then.
func (r *whoseRound) acts(name string, undo bool, lua string, args ...any) {
	r.T.Helper()
	var texts [2][]string
	r.Lua(&texts, `local buf = ...
		local function lines()
			return vim.tbl_filter(function(l) return l ~= '' end, vim.api.nvim_buf_get_lines(buf, 0, -1, true))
		end
		local before = lines()
		vim.api.nvim_buf_call(buf, function() `+lua+` end)
		return { before, lines() }`, append([]any{r.buffers[name]}, args...)...)
	r.all(name, func(u *userFile) { u.edited(texts[0], texts[1], undo) })
	r.did("  %v", texts[1])
	if r.autosave && !slices.Equal(texts[0], texts[1]) {
		r.pause()
		r.userSaves(name)
	}
}

func (r *whoseRound) userChanges(name string) {
	r.T.Helper()
	lines := r.shown(name)
	at := r.IntN(len(lines) + 1)
	gone := min([]int{0, 0, 1, 1, 2}[r.IntN(5)], len(lines)-at)
	made := r.linesOf("u", []int{0, 1, 1, 2}[r.IntN(4)])
	if gone+len(made) == 0 {
		return
	}
	r.did("user replaces %d lines of %s at %d by %v", gone, name, at, made)
	if len(lines) == 0 {
		gone = 1 // the empty line
	}
	r.Lua(nil, `_G.made = ...`, append([]string{}, made...))
	r.acts(name, false, fmt.Sprintf(`vim.api.nvim_buf_set_lines(0, %d, %d, false, _G.made)`, at, at+gone))
}

// userTypes types a line in Insert mode.
func (r *whoseRound) userTypes(name string) {
	r.T.Helper()
	r.Command(fmt.Sprintf("buffer %d", r.buffers[name]))
	at, word, insert := 1+r.IntN(len(r.shown(name))+1), r.line("u"), "o"
	if len(r.shown(name)) == 0 {
		insert = "i"
	}
	r.did("user types %s below line %d of %s", word, at, name)
	r.Keys(fmt.Sprintf("%dG%s%s", at, insert, word))
	r.AwaitLua(`vim.api.nvim_get_current_line() == ... and vim.fn.mode() == 'i'`, word)
	r.typing = name
	r.tookLine(name, word)
	if r.IntN(2) == 0 {
		r.stopTyping()
	}
}

// tookLine tells the user's file that one line of what the buffer shows is new, and the user's.
func (r *whoseRound) tookLine(name, word string) {
	r.T.Helper()
	after := r.shown(name)
	before := slices.DeleteFunc(slices.Clone(after), func(l string) bool { return l == word })
	r.all(name, func(u *userFile) { u.edited(before, after, false) })
	r.did("  %v", after)
}

func (r *whoseRound) stopTyping() {
	r.T.Helper()
	name := r.typing
	if name == "" {
		return
	}
	r.typing = ""
	if r.IntN(3) == 0 {
		word := r.line("u")
		r.did("user types %s below that", word)
		r.Keys("<End><CR>" + word) // the line may be another one by now
		r.AwaitLua(`vim.api.nvim_get_current_line() == ...`, word)
		r.tookLine(name, word)
	}
	r.did("user leaves Insert mode")
	r.Keys("<Esc>")
	r.AwaitLua(`vim.fn.mode() == 'n'`)
	if r.autosave {
		r.userSaves(name)
	}
}

func (r *whoseRound) userUndoes(name string) {
	r.T.Helper()
	how := []string{"undo", "undo", "redo"}[r.IntN(3)]
	r.did("user does %s in %s", how, name)
	r.acts(name, true, `vim.cmd('silent! `+how+`')`)
	fenc := r.LuaString(`vim.bo[...].fileencoding`, r.buffers[name])
	r.all(name, func(u *userFile) { // their text may be back, in a buffer that has read another encoding of the agent's since
		u.formed = u.formed && strings.HasPrefix(fenc, u.form.encoding)
	})
}

// userSaves writes a buffer; a formatter of the user's may add a line.
func (r *whoseRound) userSaves(name string) {
	r.T.Helper()
	r.did("user saves %s", name)
	was := r.data(name) != nil
	word := ""
	if r.formatter {
		word = r.line("u")
	}
	how := "silent write"
	disk, _ := decode(r.data(name))
	fenc := r.LuaString(`vim.bo[...].fileencoding`, r.buffers[name])
	other := was && ((disk.encoding == "utf-16") != strings.HasPrefix(fenc, "utf-16") || disk.encoding == "latin1" && fenc != "latin1")
	if r.files[name].refused.bytes || other { // Neovim may ask
		how += "!"
	} else if r.autosave {
		how = "doautocmd User WhoseSave"
	}
	r.Lua(nil, `local buf, word, how = ...
		_G.formatted = word
		vim.api.nvim_buf_call(buf, function() vim.cmd(how) end)
		_G.formatted = ''`, r.buffers[name], word, how)
	if word != "" {
		r.tookLine(name, word)
	}
	text := r.shown(name)
	is, _ := decode(r.data(name))
	r.all(name, func(u *userFile) {
		u.saved(text, was)
		u.formed = u.formed && (is == u.form || len(text) == 0) // else what an agent had made of that is the user's now
	})
}

// plugins are what the user has: one that saves, and a formatter that adds a line.
const plugins = `
	_G.formatted = ''
	vim.api.nvim_create_autocmd('User', { pattern = 'WhoseSave', nested = true, command = 'silent write' })
	vim.api.nvim_create_autocmd('BufWritePre', { callback = function(event)
		if _G.formatted ~= '' then
			local lines = vim.api.nvim_buf_get_lines(event.buf, 0, -1, true)
			local row = (#lines == 1 and lines[1] == '') and 0 or #lines
			vim.api.nvim_buf_set_lines(event.buf, row, -1, true, { _G.formatted })
		end
	end })`

// savesAll leaves nothing unsaved in a run that is without.
func (r *whoseRound) savesAll() {
	r.T.Helper()
	r.looksAtBuffers()
	for _, name := range slices.Sorted(maps.Keys(r.buffers)) {
		if !r.may("unsaved") && r.typing != name && r.LuaBool(`vim.bo[...].modified`, r.buffers[name]) {
			r.userSaves(name)
		}
	}
}

func (r *whoseRound) userReloads(name string) {
	r.T.Helper()
	if r.data(name) == nil {
		return
	}
	r.did("user reloads %s", name)
	r.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent edit!') end)`, r.buffers[name])
	r.all(name, (*userFile).reloaded)
}

func (r *whoseRound) userCloses(name string) {
	r.T.Helper()
	r.did("user closes %s", name)
	r.Lua(nil, `local buf, how = ...
		if vim.api.nvim_get_current_buf() == buf then vim.cmd.enew() end
		vim.cmd(how .. buf)`, r.buffers[name], []string{"bwipeout! ", "bdelete! "}[r.IntN(2)])
	delete(r.buffers, name)
	r.all(name, (*userFile).reloaded)
}

// userRenames writes a buffer under another name, and may remove the file of the old one.
func (r *whoseRound) userRenames(name string) {
	r.T.Helper()
	r.count++
	to := fmt.Sprint("name", r.count)
	how := []string{"saveas " + r.dir + "/" + to, "file " + r.dir + "/" + to + " | silent write"}[r.IntN(2)]
	r.did("user in %s: %s", name, how)
	r.Lua(nil, `local buf, how = ...
		vim.api.nvim_buf_call(buf, function() vim.cmd('silent ' .. how) end)`, r.buffers[name], how)
	text := r.shown(name)
	r.did("  %v", text)
	f := r.files[name]
	renamed := func(u *userFile) *userFile {
		c := u.renamed(text)
		if u.exists != present {
			c.exists = either // what the agent has made may go by whatever name
		}
		return c
	}
	r.newFile(to, renamed(f.refused))
	for n, u := range f.undone {
		r.files[to].undone[n] = renamed(u)
	}
	if len(r.kin(name)) > 0 { // a refusal moves it back where the agent has moved it from, with the mode that Neovim gives it here
		r.files[to].kin = f.kin
		r.all(to, func(u *userFile) { u.exists = either })
		for _, k := range r.kin(to) {
			for _, u := range append(k.undone, k.refused) {
				u.mode = 0
			}
		}
	}
	r.buffers[to] = r.buffers[name]
	delete(r.buffers, name)
	r.all(name, (*userFile).reloaded)
	f.left = true
	if r.data(name) == nil { // as the agent has removed it, or the user with the new name
		r.all(name, func(u *userFile) { u.removed(either) })
	} else if r.IntN(2) == 0 {
		r.did("  and removes the old one")
		must.Do(r.T, os.Remove(r.path(name)))
		is := absent
		if r.inTurn || len(r.kin(name)) > 0 {
			is = either // that was not Neovim, or not the file that comes back
		}
		r.all(name, func(u *userFile) { u.removed(is) })
	}
}

// userDecides keeps or refuses a file, or one hunk of it.
func (r *whoseRound) userDecides() {
	r.T.Helper()
	r.Sync()
	r.Sync() // what Lua knows comes a frame later
	var all []obj
	for _, f := range r.changed() {
		if hunks, _ := f["hunks"].([]any); slices.ContainsFunc(hunks, isPending) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return
	}
	f, told := all[r.IntN(len(all))], len(r.Notifications())
	hunks, _ := f["hunks"].([]any)
	at := r.IntN(len(hunks))
	do, whole := []string{"keep", "reject"}[r.IntN(2)], r.IntN(2) == 0 || f["status"] != "modified" || !isPending(hunks[at])
	name := strings.TrimPrefix(r.Rel(f["path"]), r.dir+"/")
	if whole {
		r.did("user decides: %s %s", do, name)
		r.OK(`require('acp')[...]({ path = select(2, ...) })`, do, f["path"])
	} else {
		r.did("user decides: %s hunk %d of %s", do, at+1, name)
		r.OK(`require('acp')[...]({ path = select(2, ...), hunk = select(3, ...) })`, do, f["path"], at+1)
	}
	r.Sync()
	r.did("  there is %v", r.there())
	if strings.Contains(r.Notifications()[told:], "that change is gone") {
		return // as the agent has removed the file meanwhile
	}
	if do == "reject" {
		for n, u := range r.files[name].undone { // it may have been a change of an earlier turn
			is := u.clone()
			r.adopt(name, is)
			r.files[name].undone[n] = u.or(is)
		}
		if whole && f["status"] == "added" && len(r.kin(name)) > 0 {
			r.files[name].refused.parted()
		}
		return
	}
	if status := f["status"]; whole {
		names := []string{name}
		if old, _ := f["old_path"].(string); old != "" {
			names = append(names, strings.TrimPrefix(r.Rel(old), r.dir+"/"))
		}
		for _, name := range names {
			if f := r.files[name]; f != nil {
				was := f.refused.clone()
				r.adopt(name, f.refused)
				f.refused.acceptedAll(was)
				switch text, _ := r.texts(name); {
				case status == "deleted" && len(r.kin(name)) > 0: // where it turns out that it was moved, that can be refused
					f.refused.keptUnseen()
				case status == "modified" && r.data(name) == nil:
					f.refused.keptUnseen()
				case status == "modified" && len(r.data(name)) == 0: // emptied since, which their buffer does not show yet
					f.refused.overrule(text)
				}
			}
		}
		return
	}
	h := hunks[at].(obj)
	start, count := h["new_start"].(int), h["new_count"].(int)
	if count > 0 {
		start-- // where nothing is the line before is named
	}
	text, _ := r.texts(name)
	end := min(start+count, len(text)) // what the user has given another name is there no more
	r.files[name].refused.keptHere(text, min(start, end), end)
}

// adopt has the user's file be what there is.
func (r *whoseRound) adopt(name string, u *userFile) {
	r.T.Helper()
	text, _ := r.texts(name)
	u.adoptFile(text, r.data(name), r.modeOf(name))
}

func isPending(hunk any) bool { return hunk.(obj)["state"] == "pending" }

// changed are the files of the round that are in the review.
func (r *whoseRound) changed() (files []obj) {
	r.T.Helper()
	list, _ := r.Value(`require('acp').changes()`).([]any)
	for _, item := range list {
		if f := item.(obj); strings.HasPrefix(r.Rel(f["path"]), r.dir+"/") {
			files = append(files, f)
		}
	}
	return files
}

// userWorksElsewhere changes a file with another program, while no turn runs.
func (r *whoseRound) userWorksElsewhere() {
	r.T.Helper()
	name := r.pick(func(name string) bool { return r.data(name) != nil })
	if name == "" {
		return
	}
	f, lines := decode(r.data(name))
	if isBinary(lines) {
		return
	}
	at := r.IntN(len(lines) + 1)
	text := slices.Insert(slices.Clone(lines), at, r.line("u"))
	if at < len(lines) && r.IntN(3) == 0 {
		text = slices.Delete(slices.Clone(lines), at, at+1)
	}
	r.did("user changes %s by another program: %v", name, text)
	unsaved := r.isUnsaved(name)
	for _, line := range less(lines, text) { // also where it was moved from
		for _, f := range r.kin(name) {
			for _, u := range append(f.undone, f.refused) {
				u.unsureOf(line)
			}
		}
	}
	must.Do(r.T, os.WriteFile(r.path(name), f.encode(text), 0o644))
	if !r.loaded(name) {
		r.unread[name] = append(r.unread[name], less(text, lines)...)
	}
	r.all(name, func(u *userFile) {
		u.editedOutside(lines, text, unsaved)
		u.anyEnd = u.anyEnd || f.unfinished != u.form.unfinished // the end was the agent's, and is written anew
		u.formed = u.formed && (len(lines) > 1 || !f.unfinished) // else the file has no end of line to go by
		u.formed = u.formed && len(lines) > 0                    // else the program did not know the form
		if u.exists != present {
			u.exists = either
		}
	})
	if r.loaded(name) && !unsaved {
		r.Await("the buffer to follow", func() bool { return slices.Equal(r.shown(name), text) })
	}
	// The buffer's share of it, which conflicts may leave out, is not to come with the next turn's look.
	took := func() bool {
		shown := r.shown(name)
		gone := less(lines, text)
		return len(less(less(text, lines), shown)) == 0 && len(less(gone, shown)) == len(gone)
	}
	for end := time.Now().Add(time.Second); unsaved; {
		if r.Sync(); took() || time.Now().After(end) {
			break
		}
	}
	r.pause()
}
