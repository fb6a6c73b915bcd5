// Package rpc is the contract between Neovim and the host, in one place: a struct for each message from Lua, for each
// answer to one, and for each operation that Lua executes. A message is named after its struct, see [Name].
// lua/acp/rpc/contract.lua has the same names and fields, and is generated from these (go generate).
//
// Lua only sends notifications. To get an answer it sends the number of a callback, and the host answers with
// [Callback].
package rpc

//go:generate go test -run TestContractOfLua -update .

// In is embedded in each message to a session.
type In struct {
	Session int `msgpack:"session"`
}

// Asks is embedded in each message that wants an answer.
type Asks struct {
	Callback int `msgpack:"callback"`
}

// At is embedded in each message about a row of a page that the host draws: a chat, or a review.
type At struct {
	Row int `msgpack:"row"`
	Seq int `msgpack:"seq"` // the edit of the page after which the row was counted
}

// InSession returns the session that a message is for.
func (m In) InSession() int { return m.Session }

// Answers returns the callback that waits for an answer.
func (m Asks) Answers() int { return m.Callback }

// Messages about sessions.
type (
	// New opens a session under an id that Lua has chosen.
	New struct {
		In
		Agent          Agent    `msgpack:"agent"`
		Cwd            string   `msgpack:"cwd"`
		Directories    []string `msgpack:"directories"` // besides, absolute
		Anywhere       bool     `msgpack:"anywhere"`    // in the agent's folder of it, if that is known
		AgentSessionID string   `msgpack:"agent_session_id"`
		Title          string   `msgpack:"title"`
		Retold         bool     `msgpack:"retold"` // the chat already shows what was said
		Queue          []string `msgpack:"queue"`  // prompts that were waiting in a host that died
		Along          int      `msgpack:"along"`  // bytes of unsaved text that may be sent with them
		Fork           int      `msgpack:"fork"`   // the session that it is forked from; 0 for none
		Before         int      `msgpack:"before"` // the first of its prompts to leave out, from 1; 0 to have all
	}
	// Agent is how an agent is started, from the user's configuration.
	Agent struct {
		Name    string            `msgpack:"name"`
		Title   string            `msgpack:"title"`
		Command []string          `msgpack:"command"`
		Env     map[string]string `msgpack:"env"`
		Cwd     string            `msgpack:"cwd"`
		Install string            `msgpack:"install"`
		Login   string            `msgpack:"login"`
		Quirks  map[string]bool   `msgpack:"quirks"`
		Options map[string]string `msgpack:"options"`

		Protocol   int                  `msgpack:"protocol"` // the version to ask for; 0 means 1
		MCPServers map[string]MCPServer `msgpack:"mcp_servers"`
		Paths      map[string]string    `msgpack:"paths"` // its names of folders, by the user's

		SystemPrompt SystemPrompt `msgpack:"system_prompt"`
	}
	// SystemPrompt is what the agent is told about how to work, in addition to its own instructions or instead of them.
	SystemPrompt struct {
		Text string `msgpack:"text"`
		Mode string `msgpack:"mode"` // "append", "override"
	}
	// MCPServer is how an MCP server is reached: by a command, or at a URL.
	MCPServer struct {
		Type    string            `msgpack:"type"`
		Command string            `msgpack:"command"`
		Args    []string          `msgpack:"args"`
		Env     map[string]string `msgpack:"env"`
		URL     string            `msgpack:"url"`
		Headers map[string]string `msgpack:"headers"`
	}
	Close   struct{ In }
	Restart struct{ In }
	// Delete has the agent forget an open session.
	Delete struct {
		In
		Asks
	}
	// ListStored asks an agent for the sessions that it keeps: []StoredSession.
	ListStored struct {
		Asks
		Agent    Agent  `msgpack:"agent"`
		Cwd      string `msgpack:"cwd"`
		Archived bool   `msgpack:"archived"` // only archived ones
	}
	StoredSession struct {
		AgentSessionID string `msgpack:"agent_session_id"`
		Cwd            string `msgpack:"cwd"`
		Title          string `msgpack:"title,omitempty"`
		UpdatedAt      string `msgpack:"updated_at,omitempty"`

		Directories []string `msgpack:"directories,omitempty"` // where it works beside Cwd
	}
	// Rename sets the user's title of a session.
	Rename struct {
		In
		Asks
		Title string `msgpack:"title"`
	}
	// Archive closes a session and takes it out of the lists.
	Archive struct {
		In
		Asks
	}
	// ArchiveStored takes a session that is not open out of the lists, or brings it back.
	ArchiveStored struct {
		Asks
		Agent          Agent  `msgpack:"agent"`
		Cwd            string `msgpack:"cwd"`
		AgentSessionID string `msgpack:"agent_session_id"`
		Archived       bool   `msgpack:"archived"`
	}
	// ListProviders asks an agent for its providers of models: []Provider.
	ListProviders struct {
		In
		Asks
	}
	Provider struct {
		ID       string   `msgpack:"id"`
		Types    []string `msgpack:"types"` // of interfaces that it may have
		Required bool     `msgpack:"required"`
		Type     string   `msgpack:"type"` // "" where it is not used
		URL      string   `msgpack:"url"`
	}
	// SetProvider says where a provider is reached. The values of Headers are secrets.
	SetProvider struct {
		In
		Asks
		ID      string            `msgpack:"id"`
		Type    string            `msgpack:"type"`
		URL     string            `msgpack:"url"`
		Headers map[string]string `msgpack:"headers"`
	}
	DisableProvider struct {
		In
		Asks
		ID string `msgpack:"id"`
	}
	// DeleteStored has an agent forget a session that is not open.
	DeleteStored struct {
		Asks
		Agent          Agent  `msgpack:"agent"`
		Cwd            string `msgpack:"cwd"`
		AgentSessionID string `msgpack:"agent_session_id"`
	}
	// ListSaved asks for the sessions with a saved review: []SavedSession.
	ListSaved    struct{ Asks }
	SavedSession struct {
		StoredSession
		Agent      string `msgpack:"agent"`
		AgentTitle string `msgpack:"agent_title"`
		Changes    int    `msgpack:"changes"` // that await review
		Archived   bool   `msgpack:"archived"`
	}
	Authenticate struct {
		In
		MethodID string `msgpack:"method_id"`
	}
	// LoginEnded reports the exit code of what [LoginTerminal] started.
	LoginEnded struct {
		In
		Code int `msgpack:"code"`
	}
	// Secrets answers [LoginSecrets].
	Secrets struct {
		In
		MethodID string            `msgpack:"method_id"`
		Values   map[string]string `msgpack:"values"`
	}
	Logout    struct{ In }
	SetOption struct {
		In
		ID    string `msgpack:"id"`
		Value string `msgpack:"value"`
	}
	// Traffic asks for the messages to and from an agent, and records them to a file from now on: []TrafficEntry.
	Traffic struct {
		Asks
		Agent string `msgpack:"agent"`
		File  string `msgpack:"file"`
	}
	TrafficEntry struct {
		Dir string `msgpack:"dir"`
		T   int    `msgpack:"t"` // milliseconds since the record began
		Msg string `msgpack:"msg"`

		Note string `msgpack:"note,omitempty"` // why it was left out
	}
)

// Messages about the history.
type (
	// SearchHistory looks for a text in all kept transcripts: []FoundLine.
	SearchHistory struct {
		Asks
		Text string `msgpack:"text"`
	}
	FoundLine struct {
		Session string `msgpack:"session"` // the agent's id
		Agent   string `msgpack:"agent"`
		Cwd     string `msgpack:"cwd"`
		Time    string `msgpack:"time,omitempty"`
		Line    int    `msgpack:"line"`
		Path    string `msgpack:"path"`
		Text    string `msgpack:"text"`
		Title   string `msgpack:"title"`
	}
	// ListHistory asks for the kept transcripts, the latest first: []Transcript.
	ListHistory struct{ Asks }
	Transcript  struct {
		StoredSession
		Agent      string `msgpack:"agent"`
		AgentTitle string `msgpack:"agent_title"`
		Path       string `msgpack:"path"`
	}
	// ShowHistory fills a buffer with a kept transcript: Transcript.
	ShowHistory struct {
		Asks
		Buf  int    `msgpack:"buf"`
		Path string `msgpack:"path"`
	}
	// Export asks for the session in Markdown: Exported. Without a path only as text.
	Export struct {
		In
		Asks
		Path    string `msgpack:"path"`
		Replace bool   `msgpack:"replace"` // a file that is there
	}
	Exported struct {
		Path string `msgpack:"path,omitempty"`
		Text string `msgpack:"text,omitempty"`
	}
)

// Messages about prompts.
type (
	Prompt struct {
		In
		Blocks []Content `msgpack:"blocks"`
	}
	// Steer is a prompt for the running turn.
	Steer struct {
		In
		Blocks []Content `msgpack:"blocks"`
	}
	// Content is a block of a prompt: one of the protocol's types with the protocol's fields, "file" for one whose text
	// is read when the prompt is sent, "excerpt" for what Lua gathered in Neovim, "diff" for what has changed in the
	// folder since the last commit, or "unsaved" for unsaved text.
	Content struct {
		Type     string `msgpack:"type"`
		Text     string `msgpack:"text"`
		Path     string `msgpack:"path"`
		Gathered bool   `msgpack:"gathered"` // the user did not name the file: it is not sent if it is private
		Parts    []Part `msgpack:"parts"`    // of an excerpt
		First    int    `msgpack:"first"`    // lines of a file, from 1; 0 for all of it
		Last     int    `msgpack:"last"`
		Room     int    `msgpack:"room"` // bytes of unsaved text that may be sent; 0: the user was asked
		// Files are the buffers with unsaved text now; none: the host asks when the prompt is sent.
		Files       *[]UnsavedBuf `msgpack:"files"`
		URI         string        `msgpack:"uri"`
		Name        string        `msgpack:"name"`
		Title       string        `msgpack:"title"`
		MimeType    string        `msgpack:"mimeType"`
		Description string        `msgpack:"description"`
		Data        string        `msgpack:"data"`
		Resource    *Resource     `msgpack:"resource"`
	}
	Resource struct {
		URI      string `msgpack:"uri"`
		MimeType string `msgpack:"mimeType"`
		Text     string `msgpack:"text"`
		Blob     string `msgpack:"blob"`
	}
	// Part is some lines of an excerpt, and the file that they are about, if any.
	Part struct {
		Path string `msgpack:"path"`
		Text string `msgpack:"text"`
	}
	// PreviewDiff asks for the first lines of what a "diff" would send: DiffPreview.
	PreviewDiff struct {
		In
		Asks
	}
	DiffPreview struct {
		Text  string `msgpack:"text"`
		Empty string `msgpack:"empty"` // why there is nothing, in words
	}
	Cancel struct{ In }
	// Queue changes the waiting prompts, from those with these texts to others.
	Queue struct {
		In
		Was     []string    `msgpack:"was"`
		Prompts [][]Content `msgpack:"prompts"`
	}
	// FindFiles completes the name of a file: FoundFiles.
	FindFiles struct {
		In
		Asks
		Query string   `msgpack:"query"`
		Open  []string `msgpack:"open"` // files that buffers show, which come first
	}
	FoundFiles struct {
		Files   []FoundFile `msgpack:"files"`
		Partial bool        `msgpack:"partial"` // the folder is still being listed
	}
	FoundFile struct {
		Path string `msgpack:"path"`
		Open bool   `msgpack:"open"`
	}
	// AwaitFiles is answered when the session's folder is listed.
	AwaitFiles struct {
		In
		Asks
	}
	// UnsavedFiles reports which buffers have unsaved text.
	UnsavedFiles struct {
		Files []UnsavedBuf `msgpack:"files"`
	}
	// ListUnsaved asks what of the user's unsaved text would be sent with a prompt: Unsaved.
	ListUnsaved struct {
		In
		Asks
		Files []UnsavedBuf `msgpack:"files"`
	}
	UnsavedBuf struct {
		Name string `msgpack:"name"`
		Buf  int    `msgpack:"buf"`
		Tick int    `msgpack:"tick"`
		Size int    `msgpack:"size"` // bytes
	}
	Unsaved struct {
		New   []string `msgpack:"new"` // that the agent does not know yet
		Names []string `msgpack:"names"`
		Bufs  []int    `msgpack:"bufs"`
		Size  int      `msgpack:"size"` // bytes that would be sent
	}
)

// Messages about the chat.
type (
	// Visible reports whether a window shows the chat.
	Visible struct {
		In
		Visible bool `msgpack:"visible"`
	}
	// Width reports the cells of the narrowest window on the chat; 0: there is none.
	Width struct {
		In
		Width int `msgpack:"width"`
	}
	// Fold opens or closes the block at a row, see transcript.Fold.
	Fold struct {
		In
		At
		Fold string `msgpack:"fold"`
	}
	// KeepDue keeps everything that awaits review, on the line that says so.
	KeepDue struct {
		In
		At
	}
	// CancelCall makes the agent stop the tool call at a row, if it allows that.
	CancelCall struct {
		In
		At
	}
	// Next asks for the n-th row of a kind below or above: FoundRow.
	Next struct {
		In
		Asks
		At
		Kind    string `msgpack:"kind"`
		Count   int    `msgpack:"count"`
		Forward bool   `msgpack:"forward"`
	}
	FoundRow struct {
		Row   int  `msgpack:"row"`
		Found bool `msgpack:"found"`
	}
	// Block asks for the rows of the block at a row: Rows.
	Block struct {
		In
		Asks
		At
	}
	Rows struct {
		Row    int `msgpack:"row"`
		EndRow int `msgpack:"end_row"`
	}
	// Location asks for the place that a row refers to: Place.
	Location struct {
		In
		Asks
		At
	}
	Place struct {
		Path     string `msgpack:"path,omitempty"` // "": none
		Line     int    `msgpack:"line,omitempty"`
		External bool   `msgpack:"external,omitempty"` // not to be opened as text
		Gone     bool   `msgpack:"gone,omitempty"`     // the file was deleted
	}
	// Inspect asks for everything known about the tool call at a row: Lines.
	Inspect struct {
		In
		Asks
		At
	}
	Lines struct {
		Lines []string `msgpack:"lines"`
		Marks []int    `msgpack:"marks"` // row, column, end column, group, and so on
	}
	// Whole fills a buffer with the whole block at a row: WholeBlock.
	Whole struct {
		In
		Asks
		At
		Buf int `msgpack:"buf"`
	}
	// Output is Whole for the output of a tool call.
	Output struct {
		In
		Asks
		At
		Buf int `msgpack:"buf"`
	}
	WholeBlock struct {
		Name string `msgpack:"name"`
		Lang string `msgpack:"lang"`
	}
	// EditPrompt asks for the user's prompt at a row, to edit and resend: EarlierPrompt, or nothing.
	EditPrompt struct {
		In
		Asks
		At
	}
	EarlierPrompt struct {
		Text     string     `msgpack:"text"`
		Waits    bool       `msgpack:"waits"` // it is not sent yet
		Attached []Attached `msgpack:"attached"`
		Lost     []string   `msgpack:"lost"`   // what cannot be attached again, in words
		Prompt   int        `msgpack:"prompt"` // which of the session's it is, from 1
	}
	// Attached is what was attached to a prompt: a file or lines of it, or an address.
	Attached struct {
		Path  string `msgpack:"path"`
		First int    `msgpack:"first"`
		Last  int    `msgpack:"last"`
		URI   string `msgpack:"uri"`
	}
	// Redraw redraws the chat.
	Redraw struct {
		In
		Why string `msgpack:"why"`
	}
	// GetToolCall asks for a tool call with all its texts: ToolCall.
	GetToolCall struct {
		In
		Asks
		ID string `msgpack:"id"`
	}
)

// Messages about terminals.
type (
	// InTerminal is embedded in each message to a terminal.
	InTerminal struct {
		In
		Terminal int `msgpack:"terminal"` // its number in the session
	}
	// TerminalsAt asks for the numbers of the terminals that a row shows: []int.
	TerminalsAt struct {
		In
		Asks
		Row int `msgpack:"row"`
	}
	// TerminalShow reports that a terminal's buffer is shown in this size, or no longer (0).
	TerminalShow struct {
		InTerminal
		Anew bool `msgpack:"anew"` // the buffer is a new one
		Cols int  `msgpack:"cols"`
		Rows int  `msgpack:"rows"`
	}
	TerminalShut  struct{ InTerminal }
	TerminalFocus struct {
		InTerminal
		Focused bool `msgpack:"focused"`
	}
	TerminalKeys struct {
		InTerminal
		Keys string `msgpack:"keys"`
	}
)

// Messages about permissions and the rules for them.
type (
	Respond struct {
		In
		ID     int    `msgpack:"id"`
		Option string `msgpack:"option"` // "" cancels
	}
	// ChooseAnswer answers an agent's question with an option of the float.
	ChooseAnswer struct {
		In
		ID     int    `msgpack:"id"`
		Option string `msgpack:"option"`
	}
	// Answer answers a question: "accept", "decline" or "cancel".
	Answer struct {
		In
		ID      int    `msgpack:"id"`
		Action  string `msgpack:"action"`
		Content string `msgpack:"content"` // the fields of an accepted form, in JSON
	}
	// SubmitForm sends a form as the user filled it in: FormFaults.
	SubmitForm struct {
		In
		Asks
		ID    int      `msgpack:"id"`
		Lines []string `msgpack:"lines"`
	}
	// ServeRequests reports which methods besides the specification's the user serves: all of them.
	ServeRequests struct {
		Methods []string `msgpack:"methods"`
	}
	// AnswerExtension answers an ExtensionRequest, with a result in JSON or an error's message.
	AnswerExtension struct {
		ID     int    `msgpack:"id"`
		Result string `msgpack:"result"`
		Error  string `msgpack:"error"`

		Unknown bool `msgpack:"unknown"` // nothing serves the method any more
	}
	// ShowDiff asks for a diff: of a call, an open request, the call at a row, or else of the last call that has one.
	// The text is sent in [DiffPiece]s before the answer: Diff.
	ShowDiff struct {
		In
		Asks
		Call       string `msgpack:"call"`
		Permission int    `msgpack:"permission"`
		Row        *int   `msgpack:"row"`
		File       int    `msgpack:"file"` // from 1
		Form       string `msgpack:"form"` // "inline", "rows", "whole" or ""
		Anew       bool   `msgpack:"anew"` // the files are looked at again
	}
	Diff struct {
		Call       string     `msgpack:"call"`
		Permission int        `msgpack:"permission,omitempty"` // that waits for an answer about it
		At         int        `msgpack:"at"`                   // the number of the file, from 1
		Files      []DiffFile `msgpack:"files"`
		Path       string     `msgpack:"path"`
		Before     string     `msgpack:"before"` // what the sides are
		After      string     `msgpack:"after"`
		Note       string     `msgpack:"note"`
		Looked     int        `msgpack:"looked"` // how often the file was looked at
		Form       string     `msgpack:"form"`   // "whole", "changes", "inline" or "sentence"
		First      int        `msgpack:"first"`  // line of the first change
		OldLines   int        `msgpack:"old_lines"`
		NewLines   int        `msgpack:"new_lines"`
		Hunks      []int      `msgpack:"hunks"` // old start and count, new start and count, and so on
	}
	DiffFile struct {
		Name    string `msgpack:"name"`
		Added   int    `msgpack:"added"`
		Removed int    `msgpack:"removed"`
	}
	// SelectHunks refuses hunks of an open request, or takes that back; false: the diff has changed.
	SelectHunks struct {
		In
		Asks
		Permission int  `msgpack:"permission"`
		File       int  `msgpack:"file"`
		Looked     int  `msgpack:"looked"`
		First      int  `msgpack:"first"` // hunks, from 1
		Last       int  `msgpack:"last"`
		Refuse     bool `msgpack:"refuse"`
	}
	// EditPending begins to edit what would be written (EditedText), or ends that.
	EditPending struct {
		In
		Asks
		Permission int  `msgpack:"permission"`
		On         bool `msgpack:"on"`
	}
	EditedText struct {
		Lines []string `msgpack:"lines"`
	}
	// WriteEdited writes the user's text in place of the agent's.
	WriteEdited struct {
		In
		Asks
		Permission int    `msgpack:"permission"`
		Text       string `msgpack:"text"`
	}
	// SetRules sets the user's rules, and the other configuration that concerns the host.
	SetRules struct {
		Rules   []Rule   `msgpack:"rules"`
		Private []string `msgpack:"private"`
		File    string   `msgpack:"file"`     // of the lasting answers
		Review  string   `msgpack:"review"`   // "before", "after" or "": no review
		KeepKey string   `msgpack:"keep_key"` // of the chat, that keeps all; "" for none
		Unkept  bool     `msgpack:"unkept"`   // no history is kept
	}
	Rule struct {
		Kinds    []string `msgpack:"kind"`
		Paths    []string `msgpack:"path"`
		Commands []string `msgpack:"command"`
		Agents   []string `msgpack:"agent"`
		Tools    []string `msgpack:"tool"`
		Action   string   `msgpack:"action"`
	}
	// ListDecided asks for the rules in force and the lasting answers: Decided.
	ListDecided struct{ Asks }
	Decided     struct {
		Rules   []DecidedRule   `msgpack:"rules"`
		Answers []LastingAnswer `msgpack:"answers"`
	}
	DecidedRule struct {
		Action string `msgpack:"action"`
		What   string `msgpack:"what"`
	}
	LastingAnswer struct {
		ID      string `msgpack:"id"`
		Action  string `msgpack:"action"`
		Agent   string `msgpack:"agent"`
		Project string `msgpack:"project"`
		What    string `msgpack:"what"`
		At      string `msgpack:"at"`
		Session int    `msgpack:"session"`
	}
	// Revoke takes a lasting answer back.
	Revoke struct {
		Asks
		ID string `msgpack:"id"`
	}
)

// Messages about the review.
type (
	// ListChanges asks for the lines of the quickfix list: []Change.
	ListChanges struct {
		In
		Asks
		All bool `msgpack:"all"` // what is decided, too
	}
	Change struct {
		Path string `msgpack:"path"`
		Line int    `msgpack:"line"`
		Text string `msgpack:"text"`
		Gone bool   `msgpack:"gone"`
	}
	// Decide keeps or rejects all changes, those of a file, or a hunk by its number: DecidedFiles.
	Decide struct {
		In
		Asks
		Do       string `msgpack:"do"`
		Path     string `msgpack:"path"`
		Hunk     int    `msgpack:"hunk"`
		OldStart int    `msgpack:"old_start"`
		OldCount int    `msgpack:"old_count"`
		NewStart int    `msgpack:"new_start"`
		NewCount int    `msgpack:"new_count"`
	}
	DecidedFiles struct {
		Files int `msgpack:"files"`
	}
	// DecideHunks keeps or rejects lines of a file, or hunks from a line on.
	DecideHunks struct {
		In
		Asks
		Path     string `msgpack:"path"`
		Decision string `msgpack:"decision"`
		Lines    bool   `msgpack:"lines"`
		First    int    `msgpack:"first"`
		Last     int    `msgpack:"last"`
		Count    int    `msgpack:"count"`
	}
	// ShowMarks makes the host send the changes of a buffer, in [Marks], now and whenever they change.
	ShowMarks struct {
		Buf    int    `msgpack:"buf"`
		Path   string `msgpack:"path"`
		Number int    `msgpack:"number"` // of what the buffer shows; another one begins with nothing
		Look   bool   `msgpack:"look"`   // the user has changed the buffer
	}
	// Undo undoes a turn, or reports what that would do: Undone.
	Undo struct {
		In
		Asks
		Turn    string `msgpack:"turn"`
		Again   bool   `msgpack:"again"` // the last undo is taken back
		Preview bool   `msgpack:"preview"`
	}
	Undone struct {
		Prompt string       `msgpack:"prompt"`
		Turn   string       `msgpack:"turn"`
		Again  bool         `msgpack:"again"`
		Files  []UndoneFile `msgpack:"files"`
		Diff   []string     `msgpack:"diff,omitempty"`
		Unseen bool         `msgpack:"unseen"` // not everything that commands changed is known
		Failed string       `msgpack:"failed,omitempty"`
	}
	UndoneFile struct {
		Path      string `msgpack:"path"`
		Name      string `msgpack:"name"`
		What      string `msgpack:"what"`
		Stays     bool   `msgpack:"stays"`
		Settled   bool   `msgpack:"settled"`
		Conflicts []int  `msgpack:"conflicts,omitempty"`
	}
	// ReviewOpen draws the page: true.
	ReviewOpen struct {
		In
		Asks
		Send string `msgpack:"send"` // the key that sends
	}
	ReviewClose struct{ In }
	ReviewFold  struct {
		In
		At
		Fold string `msgpack:"fold"`
	}
	// ReviewNext asks for the n-th hunk or file below or above: FoundRow.
	ReviewNext struct {
		In
		Asks
		At
		Kind    string `msgpack:"kind"`
		Count   int    `msgpack:"count"`
		Forward bool   `msgpack:"forward"`
	}
	// ReviewPlace asks for the place that a row refers to: Place.
	ReviewPlace struct {
		In
		Asks
		At
	}
	// ReviewBeside fills a buffer with the accepted text of a file: BesideFile.
	ReviewBeside struct {
		In
		Asks
		At
		Path string `msgpack:"path"` // in place of a row
		Buf  int    `msgpack:"buf"`
	}
	BesideFile struct {
		Path string `msgpack:"path"`
		Name string `msgpack:"name"`
		Line int    `msgpack:"line"`
		Gone bool   `msgpack:"gone"`
	}
	ReviewDecide struct {
		In
		At
		Last  int    `msgpack:"last"`
		Lines bool   `msgpack:"lines"`
		Do    string `msgpack:"do"`
	}
	ReviewUndo struct{ In }
	// ReviewSend sends comments and refusals: whether they wait.
	ReviewSend struct {
		In
		Asks
	}
	// CommentAt asks what a comment on lines of a file, or on rows of the page, is about: CommentDraft.
	CommentAt struct {
		In
		Asks
		At
		Last  int      `msgpack:"last"`
		Path  string   `msgpack:"path"`
		First int      `msgpack:"first"`
		Lines []string `msgpack:"lines"`
	}
	CommentDraft struct {
		ID    int    `msgpack:"id"`
		Name  string `msgpack:"name"`
		First int    `msgpack:"first"`
		Last  int    `msgpack:"last"`
		Text  string `msgpack:"text"`
	}
	Comment struct {
		In
		ID      int    `msgpack:"id"`
		Text    string `msgpack:"text"` // "": it is gone
		Dropped bool   `msgpack:"dropped"`
	}
)

// Messages about files and the following window.
type (
	// Track reports which files are loaded.
	Track struct {
		Files []TrackedFile `msgpack:"files"`
	}
	TrackedFile struct {
		Name  string     `msgpack:"name"`
		Large bool       `msgpack:"large"`
		Disk  *DiskState `msgpack:"disk"`
	}
	DiskState struct {
		Exists bool `msgpack:"exists"`
		Sec    int  `msgpack:"sec"`
		Nsec   int  `msgpack:"nsec"`
		Size   int  `msgpack:"size"`
	}
	FileRenamed struct {
		From string `msgpack:"from"`
		To   string `msgpack:"to"`
	}
	// Passed reports that what Neovim has said of a buffer, or of all, for reads no longer holds.
	Passed struct {
		Buf     int `msgpack:"buf"`     // 0: all
		Changes int `msgpack:"changes"` // how often this has happened so far
	}
	// Ahead reports what a read needs to know of a file's buffer before it asks.
	Ahead struct {
		Path string         `msgpack:"path"` // the real one
		Info map[string]any `msgpack:"info"` // acp.buffers.Info
	}
	// FileSaved reports that the user has written a file.
	FileSaved struct {
		Name string    `msgpack:"name"`
		Disk DiskState `msgpack:"disk"` // as it was written
	}
	// Reread reports that a buffer was read from the disk.
	Reread struct {
		Name string    `msgpack:"name"`
		Disk DiskState `msgpack:"disk"` // as it was read
	}
	// Check compares a file with the disk; "": all.
	Check struct {
		Name string `msgpack:"name"`
	}
	// CatchUp compares a file that the user is about to write: whether to ask again.
	CatchUp struct {
		Asks
		Name string `msgpack:"name"`
	}
	// Compare reports that a buffer's conflicts are decided.
	Compare struct {
		Name string `msgpack:"name"`
	}
	// OpenConflicts reports the places that conflict, by file.
	OpenConflicts struct {
		Files []ConflictCount `msgpack:"files"`
	}
	ConflictCount struct {
		Path  string `msgpack:"path"`
		Count int    `msgpack:"count"`
	}
	// ListRefused asks for the agent's texts that lost to the user's in a file: []string.
	ListRefused struct {
		Asks
		Name string `msgpack:"name"`
	}
	// Recover chooses the text of a file whose writing was interrupted.
	Recover struct {
		ID    string `msgpack:"id"`
		Which string `msgpack:"which"`
	}
	// FollowState reports what the user does with the following window.
	FollowState struct {
		What     string `msgpack:"what"`     // "on", "off", "navigated", "active" or "idle"
		Activity int    `msgpack:"activity"` // how many of the user's actions there were
		Jump     int    `msgpack:"jump"`     // the last one that is no longer blocked
	}
)

// Messages about the editor's tools.
type (
	// EditorTools reports which tools the user wants agents to have.
	EditorTools struct {
		Tools   []string   `msgpack:"tools"` // by their names; none: agents get no server
		Tasks   []Task     `msgpack:"tasks"`
		Own     []UserTool `msgpack:"own"`     // of acp.tool()
		Servers bool       `msgpack:"servers"` // Neovim can ask the language servers for them
		Folder  string     `msgpack:"folder"`  // for what lives as long as Neovim; only the user can open it

		Transport    string `msgpack:"transport"`    // "stdio", or "http" for agents that take that
		Instructions bool   `msgpack:"instructions"` // the model's system prompt mentions the tools, if the agent takes that
	}
	// Task is a command that the user lets agents run by its name.
	Task struct {
		Name    string   `msgpack:"name"`
		Command []string `msgpack:"command"` // an argv; a single text is a line for the shell
	}
	UserTool struct {
		Name        string `msgpack:"name"`
		Description string `msgpack:"description"`
		Schema      string `msgpack:"schema"` // of its arguments, as JSON
	}
	// EditorToolDone answers an EditorTool.
	EditorToolDone struct {
		ID          int                `msgpack:"id"`
		Err         string             `msgpack:"err"` // for the agent, a sentence
		Places      []EditorPlace      `msgpack:"places"`
		Located     []EditorLocated    `msgpack:"located"` // other places, as servers send them
		Counted     EditorCounted      `msgpack:"counted"` // places, or diagnostics, than those
		Diagnostics []EditorDiagnostic `msgpack:"diagnostics"`
		Text        string             `msgpack:"text"`
		Actions     []EditorAction     `msgpack:"actions"`
		Edits       []EditorEdit       `msgpack:"edits"`
		Files       []EditorFile       `msgpack:"files"`
		Partial     bool               `msgpack:"partial"` // a server was cut off, or failed
		Note        string             `msgpack:"note"`    // how the question was understood
		Servers     []string           `msgpack:"servers"`
	}
	// EditorPlace is a place in a file; lines and columns begin with 1, columns count bytes.
	EditorPlace struct {
		Path      string `msgpack:"path"`
		Line      int    `msgpack:"line"`
		Column    int    `msgpack:"column"`
		EndLine   int    `msgpack:"end_line"`
		Text      string `msgpack:"text"`
		Name      string `msgpack:"name"`
		Kind      string `msgpack:"kind"`
		Container string `msgpack:"container"`
		Depth     int    `msgpack:"depth"`
	}
	// EditorCounted is how many more there are in files.
	EditorCounted struct {
		Paths  []string `msgpack:"paths"`
		Counts []int    `msgpack:"counts"`
	}
	// EditorLocated are the places in a file that a language server reports.
	EditorLocated struct {
		Path     string   `msgpack:"path"`
		Encoding string   `msgpack:"encoding"` // of the units: "utf-8", "utf-16" or "utf-32"
		At       []int    `msgpack:"at"`       // line and unit of each place, from 0
		Loaded   bool     `msgpack:"loaded"`   // a buffer has the file: the disk may have other text
		Rows     []int    `msgpack:"rows"`     // where a buffer has the file, lines of the first places, from 0
		Lines    []string `msgpack:"lines"`    // their texts
	}
	EditorDiagnostic struct {
		Path     string `msgpack:"path"`
		Line     int    `msgpack:"line"`
		Column   int    `msgpack:"column"`
		Severity string `msgpack:"severity"`
		Message  string `msgpack:"message"`
		Source   string `msgpack:"source"`
		Code     string `msgpack:"code"`
	}
	EditorAction struct {
		ID    string `msgpack:"id"`
		Title string `msgpack:"title"`
		Kind  string `msgpack:"kind"`
	}
	// EditorEdit is an edit to a file that has not been made yet.
	EditorEdit struct {
		Path    string `msgpack:"path"`
		Text    string `msgpack:"text"`
		Same    bool   `msgpack:"same"`     // its text stays as it is
		NewPath string `msgpack:"new_path"` // where it is moved
		Create  bool   `msgpack:"create"`
		Delete  bool   `msgpack:"delete"`
	}
	// EditorFile is a file that is open.
	EditorFile struct {
		Path     string `msgpack:"path"`
		Modified bool   `msgpack:"modified"`
		Visible  bool   `msgpack:"visible"`
		Current  bool   `msgpack:"current"`
		Line     int    `msgpack:"line"` // of the cursor, in a window that shows it
	}
)
