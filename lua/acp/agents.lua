---The agents that are known without configuration. Data only: how to start one, how to get it, how
---to log in. The host knows what an agent does differently on the wire, by the name that the agent
---gives itself.
---@class acp.Agent
---@field title string for people
---@field command string[] argv; the first one is looked up on the PATH
---@field install string one sentence
---@field registry? string its id in the registry, where that is another one
---@field version? string as it was installed from the registry
---@field same_as? string the built-in agent that this one is
---@field login? string one sentence
---@field env? table<string, string>
---@field cwd? string of the process; the session's folder by default
---@field protocol? 1|2
---@field options? table<string, string|boolean>
---@field mcp_servers? table<string, acp.McpServer|false>
---@field quirks? table<string, boolean>
---@field paths? table<string, string> the agent's names of folders, by the user's

---@type table<string, acp.Agent>
local agents = {
  claude = {
    title = 'Claude',
    registry = 'claude-acp',
    command = { 'claude-agent-acp' },
    install = 'Install it with: npm install -g @agentclientprotocol/claude-agent-acp',
    login = 'Run `claude /login` in a terminal.',
  },
  codex = {
    title = 'Codex',
    registry = 'codex-acp',
    command = { 'codex-acp' },
    install = 'Install it with: npm install -g @agentclientprotocol/codex-acp',
    login = 'Run `codex login` in a terminal, or set CODEX_API_KEY.',
  },
  gemini = {
    title = 'Gemini',
    command = { 'gemini', '--acp' },
    install = 'Install it with: npm install -g @google/gemini-cli',
    login = 'Run `gemini` in a terminal and log in, or set GEMINI_API_KEY.',
  },
  opencode = {
    title = 'OpenCode',
    command = { 'opencode', 'acp' },
    install = 'Install it with: npm install -g opencode-ai',
    login = 'Run `opencode auth login` in a terminal.',
  },
  goose = {
    title = 'Goose',
    command = { 'goose', 'acp' },
    install = 'See block.github.io/goose for how to install it.',
    login = 'Run `goose configure` in a terminal.',
  },
  qwen = {
    title = 'Qwen Code',
    registry = 'qwen-code',
    command = { 'qwen', '--acp' },
    install = 'Install it with: npm install -g @qwen-code/qwen-code',
    login = 'Run `qwen` in a terminal and log in, or set OPENAI_API_KEY.',
  },
  kimi = {
    title = 'Kimi',
    command = { 'kimi', 'acp' },
    install = 'Install the Kimi CLI and put `kimi` on the PATH.',
    login = 'Run `kimi login` in a terminal.',
  },
  copilot = {
    title = 'Copilot',
    registry = 'github-copilot',
    command = { 'copilot', '--acp' },
    install = 'Install it with: npm install -g @github/copilot',
    login = 'Run `copilot` in a terminal and log in.',
  },
  cursor = {
    title = 'Cursor',
    command = { 'cursor-agent', 'acp' },
    install = 'Install the Cursor CLI and put `cursor-agent` on the PATH.',
    login = 'Run `cursor-agent login` in a terminal.',
  },
  auggie = {
    title = 'Auggie',
    command = { 'auggie', '--acp' },
    install = 'Install it with: npm install -g @augmentcode/auggie',
    login = 'Run `auggie login` in a terminal.',
    env = { AUGMENT_DISABLE_AUTO_UPDATE = '1' },
  },
  vibe = {
    title = 'Mistral Vibe',
    registry = 'mistral-vibe',
    command = { 'vibe-acp' },
    install = 'Install Mistral Vibe and put `vibe-acp` on the PATH.',
    login = 'Set MISTRAL_API_KEY.',
  },
  cline = {
    title = 'Cline',
    command = { 'cline', '--acp' },
    install = 'Install it with: npm install -g cline',
    login = 'Run `cline auth` in a terminal.',
  },
  kilo = {
    title = 'Kilo',
    command = { 'kilo', 'acp' },
    install = 'Install the Kilo CLI and put `kilo` on the PATH.',
  },
  kiro = {
    title = 'Kiro',
    command = { 'kiro-cli', 'acp' },
    install = 'Install the Kiro CLI and put `kiro-cli` on the PATH.',
  },
  droid = {
    title = 'Factory Droid',
    registry = 'factory-droid',
    command = { 'droid', 'exec', '--output-format', 'acp' },
    install = 'Install the Factory CLI and put `droid` on the PATH.',
    env = { DROID_DISABLE_AUTO_UPDATE = 'true' },
  },
  openhands = {
    title = 'OpenHands',
    command = { 'openhands', 'acp' },
    install = 'Install OpenHands and put `openhands` on the PATH.',
  },
}

return agents
