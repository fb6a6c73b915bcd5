package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Agent is one running agent process as the host talks to it, whatever version of the protocol it speaks; [Negotiation]
// makes it. Every done function is called exactly once, on the connection's reader goroutine in wire order; it must not
// block. All methods may be called from any goroutine and return at once.
type Agent interface {
	// NewSession starts a conversation.
	NewSession(at Place, done func(Setup, error)) (cancel func())
	// LoadSession opens a stored session; what was said in it arrives as updates, from some agents after the answer.
	// Needs Info.Loads.
	LoadSession(sessionID string, at Place, done func(Setup, error)) (cancel func())
	// ResumeSession opens a stored session without repeating it. Needs Info.Resumes.
	ResumeSession(sessionID string, at Place, done func(Setup, error)) (cancel func())
	// ListSessions lists the stored sessions, either archived ones or the others; with an error, those read before it.
	// Needs Info.Lists, and Info.Archives for archived ones.
	ListSessions(archived bool, done func([]Stored, error)) (cancel func())
	// ForkSession makes a session that continues from where another one is or, with Info.ForksAfter and the id of one
	// of the agent's messages, from just after that message. Some agents replay what was said in it, before or after
	// the answer. Needs Info.Forks.
	ForkSession(sessionID, after string, at Place, done func(Setup, error)) (cancel func())
	// SetTitle sets the user's title of a session; done gets the title that the agent keeps. Needs Info.Titles.
	SetTitle(sessionID, title string, done func(string, error)) (cancel func())
	// Archive closes a session and takes it out of the list, or brings it back. Needs Info.Archives.
	Archive(sessionID string, archived bool, done func(error)) (cancel func())
	// Status asks whether the agent knows a stored session; an unknown one is an error. Needs Info.Statuses.
	Status(sessionID string, done func(error)) (cancel func())
	// AskLogin asks the agent to tell the client who is logged in. Needs Info.TellsLogin.
	AskLogin()
	// Providers lists the providers of models that can be configured. Needs Info.Providers, like the next two.
	Providers(done func([]Provider, error)) (cancel func())
	// SetProvider says where a provider is reached; Headers are secrets.
	SetProvider(p Provider, headers map[string]string, done func(error)) (cancel func())
	// DisableProvider stops the use of a provider.
	DisableProvider(id string, done func(error)) (cancel func())
	// DeleteSession removes a stored session. Needs Info.Deletes.
	DeleteSession(sessionID string, done func(error)) (cancel func())
	// Authenticate logs in by a method that the agent does by itself.
	Authenticate(methodID string, done func(error)) (cancel func())
	// Logout logs out. Needs Info.LogsOut.
	Logout(done func(error)) (cancel func())
	// SetOption gives an option another value, one of its choices or "true" and "false". done gets all options if the
	// agent has a list of them, otherwise nil.
	SetOption(sessionID string, o Option, value string, done func([]Option, error)) (cancel func())
	// Prompt runs one turn. If the agent never took the prompt into the conversation, the turn ends with [ErrNotTaken].
	Prompt(sessionID string, prompt []Content, done func(StopReason, error))
	// Steer puts the user's words into the running turn. err says why it did not. Needs Info.Steers.
	Steer(sessionID string, words []Content, done func(became Steering, err error))
	// Cancel asks the agent to end the running turn.
	Cancel(sessionID string)
	// Close lets the agent free a session, if it can.
	Close(sessionID string)
}

// Info is what the agent says of itself (specification: Initialization).
type Info struct {
	Name, Title, Version string
	Protocol             int
	AuthMethods          []AuthMethod

	// What the agent can do beyond the baseline.
	Loads, Resumes, Lists, Deletes, LogsOut, Steers bool

	// And what it supports of the protocol's unstable part.
	Forks, ForksAfter, Titles, Archives, Statuses, TellsLogin, Providers bool

	// Whether sessions take a system prompt from the user, in addition to the agent's own or instead of it.
	SystemPrompt, OwnSystemPrompt bool

	// What a session may have: MCP servers of these kinds, and more folders.
	StdioServers, HTTPServers, SSEServers, Directories bool

	Instructions bool // a session takes instructions from the client, see [Place]

	// What a prompt may have besides text and links.
	Images, Audio, EmbeddedContext bool
}

// AuthMethod is a way to log in (specification: Authentication).
type AuthMethod struct {
	ID, Name, Description string
	Type                  AuthType

	// For a terminal login: the program and its arguments; without a program the agent's own command, with these
	// arguments appended. Env is added to the agent's environment.
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
	Commands  []Command // if the agent sends them at once
}

// Stored is a session that the agent keeps (specification: Session List). UpdatedAt is in ISO 8601, or ""; Directories
// are where it works besides Cwd.
type Stored struct {
	SessionID, Title, Cwd, UpdatedAt string
	Directories                      []string
}

// Provider is a provider of models whose address an agent can be told. Type and URL are "" if it is not in use.
type Provider struct {
	ID        string
	Types     []string // of interfaces that it may have
	Required  bool     // it cannot be disabled
	Type, URL string
}

// Client is what the agent may ask of its client. The methods are called on the connection's reader goroutine, in wire
// order, and must not block; every reply function is to be called exactly once, from any goroutine.
type Client interface {
	Update(sessionID string, u Update)
	RequestPermission(r PermissionRequest)
	Elicit(r ElicitationRequest)
	// ElicitationCompleted says that the user has done what a page asked for; id may be unknown.
	ElicitationCompleted(id string)
	// Works says that the agent has begun to work by itself, or has stopped.
	Works(sessionID string, w OwnWork)
	// LoggedIn reports whether somebody is logged in, and who.
	LoggedIn(l Login)
	// Extend serves a request for a method that is not in the specification; it reports whether somebody serves it.
	Extend(r ExtensionRequest) bool
	ReadTextFile(r ReadTextFile)
	WriteTextFile(r WriteTextFile)
	CreateTerminal(r CreateTerminal)
	TerminalOutput(sessionID, terminalID string) (TerminalOutput, error)
	WaitForTerminalExit(ctx context.Context, sessionID, terminalID string, reply func(TerminalExit, error))
	KillTerminal(sessionID, terminalID string) error
	ReleaseTerminal(sessionID, terminalID string) error
}

// Steering says what happened to the user's words for the running turn.
type Steering int

const (
	SteeringLeft      Steering = iota // they are to be sent as a prompt
	SteeringTaken                     // they are in the turn
	SteeringBegan                     // the turn was over: they begin their own, whose end [Client.Works] reports
	SteeringWithdrawn                 // the user's cancel came before the agent had taken them
)

// OwnWork is work that the agent does without a prompt from the user, or with one that [SteeringBegan] reported. Err is
// why it failed.
type OwnWork struct {
	Ended      bool
	StopReason StopReason
	Err        error
}

// PermissionRequest asks the user to choose one of Options before the agent goes on. Call patches the tool call it is
// about, and may be the first to name it; its ID is "" if the request is about none. If there is a Command, Call only
// says which call that belongs to, which may not be known yet. The request is withdrawn when Context ends.
type PermissionRequest struct {
	Context   context.Context
	SessionID string
	Call      ToolCallPatch
	Options   []PermissionOption

	// What version 2 says besides the call, otherwise "".
	Title, Description string
	Command, Cwd       string
	// Reply answers with an option's id, or if that is "" with "cancelled", which must cancel the turn too if
	// CancelsTurn says so.
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
	NoOutput                bool // the agent does not want the output
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

// Succeeded reports whether the command ended without a known failure.
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

// AuthRequired reports whether err says that the user must log in first.
func AuthRequired(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeAuthRequired
}

// NotFound reports whether err says that there is no such session.
func NotFound(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeResourceNotFound
}

// RequestCancelled reports whether err says that a request was cancelled, as some agents answer a prompt after
// session/cancel.
func RequestCancelled(err error) bool {
	var e *acp.Error
	return errors.As(err, &e) && e.Code == acp.CodeRequestCancelled
}
