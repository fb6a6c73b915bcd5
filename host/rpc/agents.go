package rpc

// What is said of the agents that can be installed.
type (
	// ListAgents asks for the agents of the registry, and those that are installed: AgentList. With a URL the index
	// is fetched from there first, unless it was today.
	ListAgents struct {
		Asks
		URL   string `msgpack:"url"`
		Fetch bool   `msgpack:"fetch"` // also if it was
	}
	// AgentList answers ListAgents. Failure says why the index was not fetched.
	AgentList struct {
		Date    string          `msgpack:"date"` // of the index
		Agents  []RegistryAgent `msgpack:"agents"`
		Failure string          `msgpack:"failure"`
	}
	// RegistryAgent is an agent of the registry, or one that was installed.
	RegistryAgent struct {
		ID          string `msgpack:"id"`
		Name        string `msgpack:"name"`
		Description string `msgpack:"description"`
		Page        string `msgpack:"page"`
		Newest      string `msgpack:"newest"`
		Fits        bool   `msgpack:"fits"`     // this machine
		Login       bool   `msgpack:"login"`    // it is known to have one
		Version     string `msgpack:"version"`  // that is installed; "" for none
		Previous    string `msgpack:"previous"` // to which can be gone back
		Running     string `msgpack:"running"`
		Pinned      bool   `msgpack:"pinned"`
		Path        string `msgpack:"path"` // of the program
		Said        string `msgpack:"said"` // by the agent when it was tried
	}
	// InstallAgent installs an agent: InstallResult.
	InstallAgent struct {
		Asks
		ID         string `msgpack:"id"`
		Version    string `msgpack:"version"`    // "" for the newest
		Unverified bool   `msgpack:"unverified"` // the user wants it without a checksum
		URL        string `msgpack:"url"`        // where the index is fetched if the agent is not known
	}
	// InstallResult answers InstallAgent: the agent, or what the user is to be asked first.
	InstallResult struct {
		Agent *RegistryAgent `msgpack:"agent,omitempty"`
		Ask   string         `msgpack:"ask,omitempty"`
	}
	UninstallAgent struct {
		Asks
		ID string `msgpack:"id"`
	}
	// RollbackAgent has the version used that was used before: RegistryAgent.
	RollbackAgent struct {
		Asks
		ID string `msgpack:"id"`
	}
	// PinAgent has a version stay, or no longer: RegistryAgent.
	PinAgent struct {
		Asks
		ID     string `msgpack:"id"`
		Pinned bool   `msgpack:"pinned"`
	}
	// CancelInstall gives up installing an agent.
	CancelInstall struct {
		ID string `msgpack:"id"`
	}
	// InstallProgress says how far installing an agent is; "" when it is over.
	InstallProgress struct {
		ID   string `msgpack:"id"`
		Text string `msgpack:"text"`
	}
)
