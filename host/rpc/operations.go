package rpc

// What the host has Lua do. Each is answered with an error, or as documented here.
type (
	// Hello is the first operation.
	Hello struct {
		Revision string   `msgpack:"revision"`
		Version  string   `msgpack:"version"`
		Groups   []string `msgpack:"groups"` // the highlight groups, by the numbers that marks have
	}
	Notify struct {
		Level string `msgpack:"level"` // "info", "warning" or "error"
		Text  string `msgpack:"text"`
	}
	// Callback answers a message.
	Callback struct {
		ID     int    `msgpack:"id"`
		Result any    `msgpack:"result"`
		Error  string `msgpack:"error,omitempty"`
	}
	// Group reports a process group, which Lua kills if the host dies.
	Group struct {
		Pgid  int  `msgpack:"pgid"`
		Alive bool `msgpack:"alive"`
	}
	Events struct {
		Events []Event `msgpack:"events"`
	}
	// Event is a User autocommand.
	Event struct {
		Name string         `msgpack:"name"`
		Data map[string]any `msgpack:"data"`
	}
)

// What is drawn in the chat and on the review page.
type (
	// Edit changes the lines of a page.
	Edit struct {
		In
		Seq     int      `msgpack:"seq"`
		Count   int      `msgpack:"count"` // lines that the buffer has before
		Row     int      `msgpack:"row"`
		EndRow  int      `msgpack:"end_row"`
		Append  bool     `msgpack:"append"` // the first line is appended at col
		Col     int      `msgpack:"col"`
		Lines   []string `msgpack:"lines"`
		MarkRow int      `msgpack:"mark_row"`
		MarkEnd int      `msgpack:"mark_end"`
		Marks   []string `msgpack:"marks"` // by line: column, end column, group, and so on
		Decor   []Decor  `msgpack:"decor"`
		Code    []Code   `msgpack:"code"`
		Images  []Image  `msgpack:"images"`
		Prose   []Rows   `msgpack:"prose"`
	}
	// Decor is shown beside a line.
	Decor struct {
		Row        int    `msgpack:"row"`
		Right      string `msgpack:"right"`
		RightGroup int    `msgpack:"right_group"`
		Sign       string `msgpack:"sign"`
		SignGroup  int    `msgpack:"sign_group"`
	}
	// Code is rows in a language that Neovim highlights.
	Code struct {
		Row    int      `msgpack:"row"`
		EndRow int      `msgpack:"end_row"`
		Lang   string   `msgpack:"lang"`
		File   string   `msgpack:"file"`
		Col    int      `msgpack:"col"`
		Cols   []int    `msgpack:"cols"`
		Sides  string   `msgpack:"sides"`
		Around []Around `msgpack:"around"`
	}
	// Around is hidden lines before a line of code.
	Around struct {
		Line  int      `msgpack:"line"`
		Lines []string `msgpack:"lines"`
	}
	Image struct {
		Row  int    `msgpack:"row"`
		Path string `msgpack:"path"`
	}
	ReviewEdit struct{ Edit }
	// Unsent reports how many lines at the chat's end belong to waiting prompts.
	Unsent struct {
		In
		Rows int `msgpack:"rows"`
	}
	// Fill appends lines to a buffer that shows a block whole.
	Fill struct {
		Lines
		Buf  int  `msgpack:"buf"`
		Done bool `msgpack:"done"`
	}
	// ImageSaved reports that a file which an agent sent can now be read.
	ImageSaved struct {
		Path string `msgpack:"path"`
	}
	// OpenReview opens the review: the user chose the line that says what is pending.
	OpenReview struct{ In }
)

// What Lua keeps of sessions, for acp.sessions() and the like.
type (
	Session struct {
		ID             int          `msgpack:"id"`
		Agent          string       `msgpack:"agent"`
		AgentTitle     string       `msgpack:"agent_title"`
		Cwd            string       `msgpack:"cwd"`
		State          string       `msgpack:"state"`
		Title          string       `msgpack:"title,omitempty"`
		StopReason     string       `msgpack:"stop_reason,omitempty"`
		AgentSessionID string       `msgpack:"agent_session_id,omitempty"`
		Error          string       `msgpack:"error,omitempty"`
		Protocol       int          `msgpack:"protocol,omitempty"`
		Account        string       `msgpack:"account,omitempty"` // who is logged in, in words
		Login          string       `msgpack:"login,omitempty"`   // "authenticated", "unauthenticated", "not_required"
		ToolCalls      int          `msgpack:"tool_calls"`
		Permissions    int          `msgpack:"permissions"`
		Queued         int          `msgpack:"queued"`
		Paused         bool         `msgpack:"paused"`
		Queue          []string     `msgpack:"queue"`
		Ahead          []string     `msgpack:"ahead"` // words for the running turn that the agent has not taken yet
		Steers         bool         `msgpack:"steers"`
		Background     int          `msgpack:"background"` // how much runs in the background
		Cancels        bool         `msgpack:"cancels"`    // some calls can be cancelled alone
		Forks          bool         `msgpack:"forks"`
		ForksBefore    bool         `msgpack:"forks_before"` // an earlier prompt, too
		Providers      bool         `msgpack:"providers"`
		Directories    []string     `msgpack:"directories,omitempty"` // where it works besides Cwd
		Takes          *Takes       `msgpack:"takes,omitempty"`
		Usage          *Usage       `msgpack:"usage,omitempty"`
		AuthMethods    []AuthMethod `msgpack:"auth_methods"`
		Options        []Option     `msgpack:"options"`
		Mode           *Chosen      `msgpack:"mode,omitempty"`
		Model          *Chosen      `msgpack:"model,omitempty"`
		Commands       []Command    `msgpack:"commands"`
		Lacks          *Lack        `msgpack:"lacks,omitempty"`
		LeftOut        []LeftOut    `msgpack:"left_out,omitempty"`
		EditorTools    string       `msgpack:"editor_tools,omitempty"` // "offered", "connected"
		Unsaved        []string     `msgpack:"unsaved"`
		Plan           []PlanEntry  `msgpack:"plan,omitempty"`
	}
	// LeftOut is an MCP server that the agent did not get.
	LeftOut struct {
		Name string `msgpack:"name"`
		Why  string `msgpack:"why"`
	}
	// Takes says which content blocks the agent takes.
	Takes struct {
		Image    bool `msgpack:"image"`
		Audio    bool `msgpack:"audio"`
		Resource bool `msgpack:"resource"`
	}
	Usage struct {
		Used int   `msgpack:"used"`
		Size int   `msgpack:"size"`
		Cost *Cost `msgpack:"cost,omitempty"`
	}
	Cost struct {
		Amount   float64 `msgpack:"amount"`
		Currency string  `msgpack:"currency"`
	}
	AuthMethod struct {
		ID          string `msgpack:"id"`
		Name        string `msgpack:"name"`
		Description string `msgpack:"description"`
		Type        string `msgpack:"type"`
	}
	Option struct {
		ID          string   `msgpack:"id"`
		Name        string   `msgpack:"name"`
		Description string   `msgpack:"description"`
		Category    string   `msgpack:"category"`
		Type        string   `msgpack:"type"`
		Value       any      `msgpack:"value"` // a string, or a bool
		Choices     []Choice `msgpack:"choices"`
	}
	Choice struct {
		Value       string `msgpack:"value"`
		Name        string `msgpack:"name"`
		Description string `msgpack:"description"`
		Group       string `msgpack:"group"`
	}
	Chosen struct {
		ID   string `msgpack:"id"`
		Name string `msgpack:"name"`
	}
	Command struct {
		Name        string `msgpack:"name"`
		Description string `msgpack:"description"`
		Hint        string `msgpack:"hint"`
	}
	// Lack is what the copies of a session's folders leave out.
	Lack struct {
		Why   string `msgpack:"why"`
		Files string `msgpack:"files"`
	}
	PlanEntry struct {
		Content  string `msgpack:"content"`
		Priority string `msgpack:"priority"`
		Status   string `msgpack:"status"`
	}
	ToolCalls struct {
		In
		Calls []ToolCallAt `msgpack:"calls"`
	}
	ToolCallAt struct {
		At   int      `msgpack:"at"` // its number, from 1
		Call ToolCall `msgpack:"call"`
	}
	ToolCall struct {
		ID        string         `msgpack:"id"`
		Title     string         `msgpack:"title"`
		Name      string         `msgpack:"name,omitempty"`
		Kind      string         `msgpack:"kind"`
		Status    string         `msgpack:"status"`
		Locations []CallLocation `msgpack:"locations"`
		Content   []CallContent  `msgpack:"content"`
		RawInput  any            `msgpack:"raw_input,omitempty"`
		RawOutput any            `msgpack:"raw_output,omitempty"`
	}
	CallLocation struct {
		Path string `msgpack:"path"`
		Line int    `msgpack:"line,omitempty"`
	}
	// CallContent is a part of a tool call's content, with the fields of its type.
	CallContent struct {
		Type       string  `msgpack:"type"`
		Path       string  `msgpack:"path,omitempty"`
		Operation  string  `msgpack:"operation,omitempty"`
		Text       *string `msgpack:"text,omitempty"`
		OldText    *string `msgpack:"old_text,omitempty"`
		Patch      string  `msgpack:"patch,omitempty"` // of a diff that has no texts
		OldPath    string  `msgpack:"old_path,omitempty"`
		TerminalID string  `msgpack:"terminal_id,omitempty"`
		Block      string  `msgpack:"block,omitempty"` // the content's own type
	}
	// Changes are the files whose changes in the record are new.
	Changes struct {
		In
		Files []ChangedFileAt `msgpack:"files"`
	}
	ChangedFileAt struct {
		At   int          `msgpack:"at"`             // its id in the record
		File *ChangedFile `msgpack:"file,omitempty"` // nil: it is as it was
	}
	ChangedFile struct {
		Path    string `msgpack:"path"`
		OldPath string `msgpack:"old_path,omitempty"`
		Status  string `msgpack:"status"`
		State   string `msgpack:"state"`
		Hunks   []int  `msgpack:"hunks"`  // four numbers each
		States  string `msgpack:"states"` // a letter for each hunk
	}
	// Elicitations are the open questions of a session's agent.
	Elicitations struct {
		In
		Elicitations []Elicitation `msgpack:"elicitations"`
	}
	// Elicitation is an open question, the lines of the float, and the form.
	Elicitation struct {
		ID         int                `msgpack:"id"`
		Session    int                `msgpack:"session"`
		ToolCallID string             `msgpack:"tool_call_id,omitempty"`
		Message    string             `msgpack:"message"`
		Mode       string             `msgpack:"mode"` // "form" or "url"
		Schema     any                `msgpack:"schema,omitempty"`
		URL        string             `msgpack:"url,omitempty"`
		Heading    string             `msgpack:"heading"`
		Lines      []string           `msgpack:"lines"`
		Marks      []int              `msgpack:"marks"`
		Options    []PermissionOption `msgpack:"options"`
		Allow      string             `msgpack:"allow,omitempty"`
		Reject     string             `msgpack:"reject"`
		FillIn     string             `msgpack:"fill_in"` // the option that opens the form
		Form       *Form              `msgpack:"form,omitempty"`
	}
	// Form is a form as text. Rows count from 0.
	Form struct {
		Lines  []string   `msgpack:"lines"`
		Fields []int      `msgpack:"fields"` // the row of each
		Notes  []FormNote `msgpack:"notes"`
	}
	// FormNote is said beside a row.
	FormNote struct {
		Row  int    `msgpack:"row"`
		Text string `msgpack:"text"`
	}
	// FormFaults answers [SubmitForm]: what is wrong, none if it was sent, and the notes beside the present rows.
	FormFaults struct {
		Faults []FormNote `msgpack:"faults"`
		Notes  []FormNote `msgpack:"notes"`
	}
	// ExtensionRequest is a request for a method that the user serves: AnswerExtension.
	ExtensionRequest struct {
		ID     int    `msgpack:"id"`
		Method string `msgpack:"method"`
		Params string `msgpack:"params"` // in JSON
	}
	// OpenPage opens a page in the user's browser.
	OpenPage struct {
		URL string `msgpack:"url"`
	}
	Permissions struct {
		In
		Permissions []Permission `msgpack:"permissions"`
	}
	// Permission is an open request, and the lines of the float.
	Permission struct {
		ID           int                `msgpack:"id"`
		Session      int                `msgpack:"session"`
		Title        string             `msgpack:"title"`
		Description  string             `msgpack:"description,omitempty"`
		ToolCallID   string             `msgpack:"tool_call_id"`
		Command      string             `msgpack:"command,omitempty"`
		Cwd          string             `msgpack:"cwd,omitempty"`
		Options      []PermissionOption `msgpack:"options"`
		Allow        string             `msgpack:"allow,omitempty"` // the option that plainly allows
		Reject       string             `msgpack:"reject,omitempty"`
		AllowAlways  string             `msgpack:"allow_always,omitempty"`
		RejectAlways string             `msgpack:"reject_always,omitempty"`
		Heading      string             `msgpack:"heading"`
		Lines        []string           `msgpack:"lines"`
		Marks        []int              `msgpack:"marks"`
		Files        int                `msgpack:"files,omitempty"` // that it would change
		Brief        []string           `msgpack:"brief,omitempty"` // the lines while the diff is open beside
		BriefMarks   []int              `msgpack:"brief_marks,omitempty"`
		Selection    []HunkSelection    `msgpack:"selection,omitempty"`
		Waited       float64            `msgpack:"waited,omitempty"` // seconds, of a write that waits
	}
	PermissionOption struct {
		ID    string `msgpack:"id"`
		Name  string `msgpack:"name"`
		Kind  string `msgpack:"kind"`
		Label string `msgpack:"label"`
	}
	// HunkSelection has the hunks of a file that are refused.
	HunkSelection struct {
		Looked  int   `msgpack:"looked"`
		Refused []int `msgpack:"refused"`
	}
	Terminals struct {
		List []Terminal `msgpack:"list"`
	}
	Terminal struct {
		Session   int    `msgpack:"session"`
		Number    int    `msgpack:"number"`
		ID        string `msgpack:"id"`
		Command   string `msgpack:"command,omitempty"`
		Cwd       string `msgpack:"cwd,omitempty"`
		Running   bool   `msgpack:"running"`
		TakesKeys bool   `msgpack:"takes_keys"`
		Ending    string `msgpack:"ending,omitempty"`
		ExitCode  *int   `msgpack:"exit_code,omitempty"`
		Signal    string `msgpack:"signal,omitempty"`
	}
	TerminalOutput struct {
		In
		Number int    `msgpack:"number"`
		Anew   bool   `msgpack:"anew"`
		Data   string `msgpack:"data"`
	}
)

// What is shown in the user's windows, and what the user is asked.
type (
	// DiffPiece is a part of a diff's text, answered with whether the rest is wanted.
	DiffPiece struct {
		ID         int            `msgpack:"id"` // the callback that gets the answer
		Old        []string       `msgpack:"old"`
		New        []string       `msgpack:"new"`
		OldWords   []int          `msgpack:"old_words,omitempty"` // index of the line, start and end, and so on
		NewWords   []int          `msgpack:"new_words,omitempty"`
		OldNumbers []int          `msgpack:"old_numbers,omitempty"`
		NewNumbers []int          `msgpack:"new_numbers,omitempty"`
		Kinds      string         `msgpack:"kinds,omitempty"`
		Changes    []InlineChange `msgpack:"changes,omitempty"`
	}
	InlineChange struct {
		OldAt    int      `msgpack:"old_at"`
		NewAt    int      `msgpack:"new_at"`
		Old      []string `msgpack:"old"`
		New      []string `msgpack:"new"`
		OldWords []int    `msgpack:"old_words"`
		NewWords []int    `msgpack:"new_words"`
	}
	// Marks are changes of a buffer, answered with whether it still shows them.
	Marks struct {
		Buf     int    `msgpack:"buf"`
		Number  int    `msgpack:"number"`
		At      []int  `msgpack:"at"` // id and line, and so on
		Fresh   []Mark `msgpack:"fresh"`
		KnownBy int    `msgpack:"known_by"`
		Looked  bool   `msgpack:"looked"` // they are for the user's present text
		Done    bool   `msgpack:"done"`
	}
	// Mark is a pending change that Lua does not have yet.
	Mark struct {
		ID       int      `msgpack:"id"`
		Session  int      `msgpack:"session"`
		Count    int      `msgpack:"count"` // new lines
		Old      []string `msgpack:"old"`
		More     int      `msgpack:"more"` // old lines that are left out
		Also     string   `msgpack:"also"`
		Known    string   `msgpack:"known"`
		Last     string   `msgpack:"last"`
		OldWords []int    `msgpack:"old_words"`
		NewWords []int    `msgpack:"new_words"`
	}
	// Jump has the following window show a place: "shown", "busy", "locked" or "skipped".
	Jump struct {
		Jump     int    `msgpack:"jump"`
		Path     string `msgpack:"path"`
		Line     int    `msgpack:"line"`
		Exists   bool   `msgpack:"exists"`
		Big      bool   `msgpack:"big"`
		Activity int    `msgpack:"activity"`
		Agent    string `msgpack:"agent,omitempty"`
	}
	LoginTerminal struct {
		In
		Title   string            `msgpack:"title"`
		Command []string          `msgpack:"command"`
		Env     map[string]string `msgpack:"env"`
		Cwd     string            `msgpack:"cwd"`
	}
	LoginSecrets struct {
		In
		Method string   `msgpack:"method"`
		Vars   []Secret `msgpack:"vars"`
	}
	Secret struct {
		Name     string `msgpack:"name"`
		Label    string `msgpack:"label"`
		Optional bool   `msgpack:"optional"`
	}
)

// What concerns files.
type (
	// Watch begins or ends the tracking of loaded files.
	Watch struct {
		On      bool `msgpack:"on"`
		MaxSize int  `msgpack:"max_size,omitempty"`
	}
	// WatchLimit says why the disk cannot be watched; "": it can.
	WatchLimit struct {
		Why string `msgpack:"why,omitempty"`
	}
	// UnsavedBufs asks for the buffers with unsaved text: []UnsavedBuf.
	UnsavedBufs struct{}
	// Unfinished reports interrupted writes.
	Unfinished struct {
		List []UnfinishedWrite `msgpack:"list"`
	}
	UnfinishedWrite struct {
		ID      string `msgpack:"id"`
		Path    string `msgpack:"path"`
		Created bool   `msgpack:"created"`
	}
	// Buffers calls a function of lua/acp/files/buffers.lua; the package buffers knows what it takes and answers.
	Buffers struct {
		Fn   string `msgpack:"fn"`
		Args any    `msgpack:"args"`
	}
)

// What Lua does for a call of one of the editor's tools.
type (
	// EditorTool is a call, which EditorToolDone answers.
	EditorTool struct {
		ID       int    `msgpack:"id"`
		Tool     string `msgpack:"tool"`
		Path     string `msgpack:"path,omitempty"` // absolute
		Line     int    `msgpack:"line,omitempty"`
		Symbol   string `msgpack:"symbol,omitempty"`
		Column   int    `msgpack:"column,omitempty"`
		Query    string `msgpack:"query,omitempty"`
		Severity string `msgpack:"severity,omitempty"`
		WaitMS   *int   `msgpack:"wait_ms,omitempty"` // nil for as long as it mostly takes
		LimitMS  int    `msgpack:"limit_ms,omitempty"`
		Action   string `msgpack:"action,omitempty"` // the id of a code action
		NewName  string `msgpack:"new_name,omitempty"`
		Own      string `msgpack:"own,omitempty"` // the arguments of the user's own tool, as JSON
	}
	CancelEditorTool struct {
		ID int `msgpack:"id"`
	}
)
