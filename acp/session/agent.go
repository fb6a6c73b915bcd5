package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Agent is one running agent process as the host speaks to it, whatever protocol version it has; [Negotiation] makes
// it. Every done function is called exactly once, on the connection's reader goroutine and in the order of the wire; it
// must not block. All methods may be called from any goroutine and return at once.
type Agent interface {
	// NewSession starts a conversation.
	NewSession(at Place, done func(Setup, error)) (cancel func())
	// LoadSession opens a stored session; what was said in it comes as updates,
	// of some agents after the answer. Needs Info.Loads.
	LoadSession(sessionID string, at Place, done func(Setup, error)) (cancel func())
	// ResumeSession opens a stored session without repeating it. Needs Info.Resumes.
	ResumeSession(sessionID string, at Place, done func(Setup, error)) (cancel func())
	// ListSessions gives all stored sessions, those that are archived or the others, or, beside an error, those that
	// were read before it. Needs Info.Lists, and Info.Archives for those that are archived.
	ListSessions(archived bool, done func([]Stored, error)) (cancel func())
	// ForkSession makes a session that goes on from where another one is or, where Info.ForksAfter and the agent's id
	// of a message of its own is given, was when that had been said. Some agents tell what was said in it, before or
	// after the answer. Needs Info.Forks.
	ForkSession(sessionID, after string, at Place, done func(Setup, error)) (cancel func())
	// SetTitle gives a session a title of the user's; done gets it as the agent keeps it. Needs Info.Titles.
	SetTitle(sessionID, title string, done func(string, error)) (cancel func())
	// Archive takes a session out of the list, and closes it, or brings it back. Needs Info.Archives.
	Archive(sessionID string, archived bool, done func(error)) (cancel func())
	// Status asks whether the agent knows a stored session; one that it does not know is an error. Needs Info.Statuses.
	Status(sessionID string, done func(error)) (cancel func())
	// AskLogin has the client told who is logged in. Needs Info.TellsLogin.
	AskLogin()
	// Providers gives the providers of models that can be configured. Needs Info.Providers, as the next two do.
	Providers(done func([]Provider, error)) (cancel func())
	// SetProvider says where a provider is reached; Headers are secrets.
	SetProvider(p Provider, headers map[string]string, done func(error)) (cancel func())
	// DisableProvider has a provider not used any more.
	DisableProvider(id string, done func(error)) (cancel func())
	// DeleteSession removes a stored session. Needs Info.Deletes.
	DeleteSession(sessionID string, done func(error)) (cancel func())
	// Authenticate logs in by a method that the agent does by itself.
	Authenticate(methodID string, done func(error)) (cancel func())
	// Logout logs out. Needs Info.LogsOut.
	Logout(done func(error)) (cancel func())
	// SetOption gives an option another value, one of its choices' or "true" and "false". The agent answers with all
	// options where it has a list of them, else with nil.
	SetOption(sessionID string, o Option, value string, done func([]Option, error)) (cancel func())
	// Prompt runs one turn. One that the agent has never taken into the conversation ends with [ErrNotTaken].
	Prompt(sessionID string, prompt []Content, done func(StopReason, error))
	// Steer puts the user's words into the running turn. Err says why they were left. Needs Info.Steers.
	Steer(sessionID string, words []Content, done func(became Steering, err error))
	// Cancel asks the agent to end the running turn.
	Cancel(sessionID string)
	// Close lets the agent free a session, where it can.
	Close(sessionID string)
}

// Info is what the agent says of itself (specification: Initialization).
type Info struct {
	Name, Title, Version string
	Protocol             int
	AuthMethods          []AuthMethod

	// What the agent can do beside the baseline.
	Loads, Resumes, Lists, Deletes, LogsOut, Steers bool

	// And what it has of the protocol's unstable part.
	Forks, ForksAfter, Titles, Archives, Statuses, TellsLogin, Providers bool

	// Whether sessions take a system prompt of the user's, beside the agent's own or in its place.
	SystemPrompt, OwnSystemPrompt bool

	// What a session may have: MCP servers of these kinds, and more folders.
	StdioServers, HTTPServers, SSEServers, Directories bool

	Instructions bool // a session may have some of the client's, see [Place]

	// What a prompt may have beside text and links.
	Images, Audio, EmbeddedContext bool
}

// AuthMethod is a way to log in (specification: Authentication).
type AuthMethod struct {
	ID, Name, Description string
	Type                  AuthType

	// Of a terminal login: the program and its arguments; without a program the agent's own command, with the arguments
	// after its own. Env is added to the agent's environment.
	Command string
	Args    []string
	Env     map[string]string

	Vars []AuthVar // of a login by environment variables
}

// AuthType says who does what in a login.
type AuthType string

// The types of [AuthMethod].
const (
	AuthAgent    AuthType = "agent"    // the agent does it all, see Agent.Authenticate
	AuthTerminal AuthType = "terminal" // the user does it in a terminal
	AuthEnvVar   AuthType = "env_var"  // by variables in the agent's environment
)

// AuthVar is an environment variable with which an agent is logged in. Its value is a secret.
type AuthVar struct {
	Name, Label string
	Optional    bool
}

// Setup is a session that has just been opened.
type Setup struct {
	SessionID string
	Options   []Option
	Commands  []Command // where the agent tells them at once
}

// Stored is a session that the agent keeps (specification: Session List).
// UpdatedAt is in ISO 8601, or ""; Directories are where it works beside Cwd.
type Stored struct {
	SessionID, Title, Cwd, UpdatedAt string
	Directories                      []string
}

// Provider is a provider of models that an agent can be told the place of. Type and URL are "" where it is not used.
type Provider struct {
	ID        string
	Types     []string // of interfaces that it may have
	Required  bool     // it cannot be disabled
	Type, URL string
}

// Client is what the agent may ask of its client. The methods are called on the connection's reader goroutine, in the
// order of the wire, and must not block; every reply function is to be called exactly once, from any goroutine.
type Client interface {
	Update(sessionID string, u Update)
	RequestPermission(r PermissionRequest)
	Elicit(r ElicitationRequest)
	// ElicitationCompleted tells that the user has done what a page asked for; id may be of none.
	ElicitationCompleted(id string)
	// Works tells that the agent has begun to work by itself, or has ended to.
	Works(sessionID string, w OwnWork)
	// LoggedIn tells whether somebody is logged in, and who.
	LoggedIn(l Login)
	// Extend serves a request of a method that the specification does not have; it reports whether somebody does.
	Extend(r ExtensionRequest) bool
	ReadTextFile(r ReadTextFile)
	WriteTextFile(r WriteTextFile)
	CreateTerminal(r CreateTerminal)
	TerminalOutput(sessionID, terminalID string) (TerminalOutput, error)
	WaitForTerminalExit(ctx context.Context, sessionID, terminalID string, reply func(TerminalExit, error))
	KillTerminal(sessionID, terminalID string) error
	ReleaseTerminal(sessionID, terminalID string) error
}

// Steering is what has become of the user's words for the running turn.
type Steering int

const (
	SteeringLeft      Steering = iota // they are to be sent as a prompt
	SteeringTaken                     // they are in the turn
	SteeringBegan                     // the turn was over: they begin one of their own, whose end [Client.Works] tells
	SteeringWithdrawn                 // the user's cancel came before the agent had taken them
)

// OwnWork is work of the agent's without a prompt of the user's, or with one
// that [SteeringBegan] has told of. Err is why it failed.
type OwnWork struct {
	Ended      bool
	StopReason StopReason
	Err        error
}

// PermissionRequest asks the user to choose one of Options before the agent goes on. Call patches the tool call it is
// about, and may be the first to name it; its ID is "" where the request is about none. Where there is a Command, Call
// does no more than say to which call that belongs, which may be one that is not known yet. The request is withdrawn
// when Context ends.
type PermissionRequest struct {
	Context   context.Context
	SessionID string
	Call      ToolCallPatch
	Options   []PermissionOption

	// What version 2 tells beside the call; else "".
	Title, Description string
	Command, Cwd       string
	// Reply answers with an option's id, or with "cancelled" when it is "", which
	// is to cancel the turn as well where CancelsTurn says so.
	Reply       func(optionID string)
	CancelsTurn bool
}

// PermissionOption is one possible answer, in the agent's own words.
type PermissionOption struct {
	ID, Name, Kind string
}

// Allows reports whether choosing the option lets the agent go on. Unknown
// kinds count as a permission: the user should not think they refused.
func (o PermissionOption) Allows() bool {
	return o.Kind != "reject_once" && o.Kind != "reject_always"
}

// ReadTextFile asks for the text of a file, from its 1-based Line on, at most Limit lines of it.
type ReadTextFile struct {
	Context         context.Context
	SessionID, Path string
	Line, Limit     *int
	Reply           func(text string, err error)
}

// WriteTextFile gives a file a new text.
type WriteTextFile struct {
	Context               context.Context
	SessionID, Path, Text string
	Reply                 func(error)
}

// CreateTerminal runs a command (specification: Terminals). Dir is "" for the
// session's folder, OutputByteLimit 0 for none given.
type CreateTerminal struct {
	SessionID, Command, Dir string
	Args, Env               []string
	OutputByteLimit         int
	NoOutput                bool // the agent wants none of it
	Reply                   func(terminalID string, err error)
}

// TerminalOutput is what a terminal has shown so far.
type TerminalOutput struct {
	Text      string
	Truncated bool
	Exit      *TerminalExit
}

// TerminalExit is how a command ended: by itself, or by a signal.
type TerminalExit struct {
	Code   *int
	Signal string
}

// Succeeded reports whether nothing is known to have gone wrong.
func (e TerminalExit) Succeeded() bool { return e.Signal == "" && (e.Code == nil || *e.Code == 0) }

// String says how the command ended.
func (e TerminalExit) String() string {
	switch {
	case e.Signal != "":
		return "killed by " + e.Signal
	case e.Code != nil:
		return fmt.Sprintf("exited with code %d", *e.Code)
	}
	return "ended"
}

// ErrNotTaken is why a prompt has ended that was cancelled before the agent had taken it into the conversation.
var ErrNotTaken = errors.New("the prompt was not taken")

// AuthRequired reports whether err is the agent's word that the user must log in first.
func AuthRequired(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeAuthRequired
}

// NotFound reports whether err is the agent's word that there is no such session.
func NotFound(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeResourceNotFound
}

// RequestCancelled reports whether err is the agent's word that a request was
// cancelled, as some answer a prompt after session/cancel.
func RequestCancelled(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeRequestCancelled
}
