package session

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// drafts is a connection with the unstable part of the protocol that is the same in both versions.
type drafts struct {
	client    Client
	conn      *acp.Conn
	subagents subagents
	texts     acp.Texts // of the goroutine that reads
}

func newDrafts(client Client) drafts {
	return drafts{client: client, subagents: subagents{children: map[string]*subagent{}, users: map[string]bool{}}}
}

// unknown translates an update of a kind that is not in the version's stable schema.
func (d *drafts) unknown(id, kind string, raw json.RawMessage) []Update {
	if updates, known := d.subagents.take(id, kind, raw); known {
		return updates
	}
	updates, known, err := planUpdate(kind, raw)
	switch {
	case err != nil:
		return []Update{malformed(kind, raw, err)}
	case !known:
		return []Update{UnknownUpdate{Type: kind, Raw: raw}}
	case d.subagents.rootOf(id) != id:
		return nil // only the plan of the user's session is shown
	}
	return updates
}

// malformed returns the update for one that cannot be decoded.
func malformed(kind string, raw json.RawMessage, why error) Update {
	return UnknownUpdate{Type: "malformed " + cmp.Or(kind, "update"), Raw: raw, Reason: strings.TrimPrefix(why.Error(), "decode ")}
}

// afterMessages returns a session's updates, preceded by the messages it was sent if it is a sub-agent's.
func (d *drafts) afterMessages(id string, updates []Update) []Update {
	if len(updates) == 0 {
		return nil
	}
	if told := d.subagents.told(id); len(told) > 0 { // rarely: there are many chunks
		return append(told, updates...)
	}
	return updates
}

// SetTitle implements [Agent].
func (d *drafts) SetTitle(sessionID, title string, done func(string, error)) (cancel func()) {
	request := wire.SetSessionTitleRequest{SessionID: sessionID, Title: title}
	return d.conn.Call(wire.MethodSessionSetTitle, request, answered(done, func(r wire.SetSessionTitleResponse) string { return r.Title }))
}

// Archive implements [Agent].
func (d *drafts) Archive(sessionID string, archived bool, done func(error)) (cancel func()) {
	if archived {
		return d.conn.Call(wire.MethodSessionArchive, wire.ArchiveSessionRequest{SessionID: sessionID}, justDone(done))
	}
	return d.conn.Call(wire.MethodSessionUnarchive, wire.UnarchiveSessionRequest{SessionID: sessionID}, justDone(done))
}

// archiveFilter says which sessions to list.
func archiveFilter(archived bool) wire.SessionArchiveFilter {
	if archived {
		return wire.ArchiveOnly
	}
	return "" // only those that are not archived
}

// Status implements [Agent].
func (d *drafts) Status(sessionID string, done func(error)) (cancel func()) {
	return d.conn.Call(wire.MethodSessionStatus, wire.SessionStatusRequest{SessionID: sessionID}, justDone(done))
}

// AskLogin implements [Agent].
func (d *drafts) AskLogin() {
	d.conn.Call(wire.MethodAuthStatus, wire.AuthStatusRequest{}, func(raw json.RawMessage, err error) {
		if err == nil { // otherwise nothing is known, as before
			d.client.LoggedIn(loginIn(raw))
		}
	})
}

// Providers implements [Agent].
func (d *drafts) Providers(done func([]Provider, error)) (cancel func()) {
	return d.conn.Call(wire.MethodProvidersList, wire.ListProvidersRequest{}, answered(done, func(r wire.ListProvidersResponse) []Provider {
		list := make([]Provider, len(r.Providers))
		for i, p := range r.Providers {
			list[i] = Provider{ID: p.ProviderID, Types: p.Supported, Required: p.Required}
			if c := p.Current; c != nil {
				list[i].Type, list[i].URL = c.APIType, c.BaseURL
			}
		}
		return list
	}))
}

// SetProvider implements [Agent].
func (d *drafts) SetProvider(p Provider, headers map[string]string, done func(error)) (cancel func()) {
	request := wire.SetProviderRequest{ProviderID: p.ID, APIType: p.Type, BaseURL: p.URL, Headers: headers}
	return d.conn.Call(wire.MethodProvidersSet, request, justDone(done))
}

// DisableProvider implements [Agent].
func (d *drafts) DisableProvider(id string, done func(error)) (cancel func()) {
	return d.conn.Call(wire.MethodProvidersDisable, wire.DisableProviderRequest{ProviderID: id}, justDone(done))
}

// SystemPrompt is what the user tells an agent about how to work. Text is "" for nothing.
type SystemPrompt struct {
	Text string
	Own  bool // instead of the agent's own instructions; needs Info.OwnSystemPrompt
}

func (p SystemPrompt) wire() *wire.SystemPrompt {
	if p.Text == "" {
		return nil
	}
	mode := wire.Append
	if p.Own {
		mode = wire.Override
	}
	return &wire.SystemPrompt{Mode: mode, Content: []wire.TextContent{{Text: p.Text}}}
}

// takeSystemPrompt notes which system prompts an agent takes.
func (i *Info) takeSystemPrompt(c *wire.SessionSystemPromptCapabilities) {
	i.SystemPrompt = c != nil
	i.OwnSystemPrompt = c != nil && c.Mode != nil && c.Mode.Override != nil
}

// forksAfter are the agents, by the names they give themselves, that can fork a session after one of their messages.
// The protocol has no capability for that.
var forksAfter = map[string]bool{"@agentclientprotocol/claude-agent-acp": true}

// steer asks the agent to put words into the running turn, using the extension for that.
func (d *drafts) steer(request any, done func(Steering, error)) {
	d.conn.Call(v1.MethodSessionSteering, request, answered(done, steered)) // after an error they are left
}

func steered(r v1.SteeringResponse) Steering {
	if r.Outcome == v1.SteeringInjected || r.Outcome == v1.SteeringStartedNewTurn {
		return SteeringTaken
	}
	return SteeringLeft
}
