// A scripted agent on version 2 of the official SDK, which refuses what is not valid. The prompt says what it does. With
// SDK_LOGIN in its environment it wants a login first.
import * as acp from '@agentclientprotocol/sdk/experimental/v2'
import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as others } from 'node:timers/promises'
import { Readable, Writable } from 'node:stream'

const { agent, methods, ndJsonStream, RequestError } = acp
const told = text => [{ type: 'text', text }]
const sessions = new Map()
let loggedIn = !process.env.SDK_LOGIN
let made = 0

// Sessions outlive the process.
const file = path.join(process.env.XDG_DATA_HOME, 'sdk2.json')
const save = () => fs.writeFileSync(file, JSON.stringify([...sessions.values()].map(({ id, cwd, log }) => ({ id, cwd, log }))))

const keep = (id, cwd) => {
  const s = { id, cwd, title: `Session ${id}`, mode: 'ask', log: [], open: true, queue: Promise.resolve() }
  sessions.set(id, s)
  return s
}
if (fs.existsSync(file)) {
  for (const { id, cwd, log } of JSON.parse(fs.readFileSync(file, 'utf8'))) keep(id, cwd).log.push(...log)
} else { // One that another client had.
  keep('old', process.cwd()).log.push(
    { sessionUpdate: 'user_message', messageId: 'o1', content: told('Asked long ago.') },
    { sessionUpdate: 'tool_call_update', toolCallId: 'o2', title: 'Looked it up', kind: 'read', status: 'completed' },
    { sessionUpdate: 'agent_message', messageId: 'o3', content: told('Answered long ago.') },
  )
}

const choices = s => ({
  configOptions: [{
    configId: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: s.mode,
    options: [{ value: 'ask', name: 'Ask' }, { value: 'auto', name: 'Auto' }],
  }],
  availableCommands: [{ type: 'command', name: 'plan', description: 'Makes a plan' }],
})

const find = id => {
  const s = sessions.get(id)
  if (!s?.open) throw RequestError.sessionNotFound(id)
  return s
}

class Cancelled extends Error {}

const turns = {
  async allow({ s, client, send }) {
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'edit', title: 'Edit a.txt', kind: 'edit' })
    await send({ sessionUpdate: 'state_update', state: 'requires_action' })
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: s.id, title: 'Edit a.txt?', subject: { type: 'tool_call', toolCall: { toolCallId: 'edit' } },
      options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }, { optionId: 'n', name: 'No', kind: 'reject_once' }],
    })
    await others() // the cancel has come before
    if (s.abort.signal.aborted) throw new Cancelled()
    await send({ sessionUpdate: 'state_update', state: 'running' })
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'edit', status: outcome.optionId === 'y' ? 'completed' : 'failed' })
    await send({ sessionUpdate: 'agent_message', messageId: `m${s.log.length}`, content: told(`You said ${outcome.optionId ?? outcome.outcome}.`) })
  },
  async form({ s, client, send }) {
    const answer = await client.request(methods.client.elicitation.create, {
      sessionId: s.id, mode: 'form', message: 'Which branch?',
      requestedSchema: { type: 'object', properties: { branch: { type: 'string', enum: ['main', 'next'] } }, required: ['branch'] },
    })
    await send({ sessionUpdate: 'agent_message', messageId: `m${s.log.length}`, content: told(`The branch is ${answer.content?.branch}.`) })
  },
  async shell({ send }) {
    const data = text => Buffer.from(text).toString('base64')
    await send({ sessionUpdate: 'terminal_update', terminalId: 't', command: 'make' })
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'run', title: 'make', kind: 'execute', status: 'in_progress', content: [{ type: 'terminal', terminalId: 't' }] })
    await send({ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: data('built \x1b[32mwe') })
    await send({ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: data('ll\x1b[m\n') })
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'run', status: 'completed' })
    await send({ sessionUpdate: 'terminal_update', terminalId: 't', exitStatus: { exitCode: 0 } })
  },
  async slow({ s, send }) {
    await send({ sessionUpdate: 'agent_message_chunk', messageId: `m${s.log.length}`, content: { type: 'text', text: 'Until you stop me.' } })
    await new Promise((_, stop) => s.abort.signal.addEventListener('abort', () => stop(new Cancelled())))
  },
  async fail() { throw new Error('out of paper') },
}

const app = agent({ name: 'sdk2' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 2, info: { name: 'sdk2', version: '1' },
    capabilities: { session: { delete: {}, prompt: { embeddedContext: {} } }, auth: {} },
    authMethods: process.env.SDK_LOGIN ? [{ type: 'agent', methodId: 'token', name: 'Token' }] : [],
  }))
  .onRequest(methods.agent.auth.login, () => { loggedIn = true; return {} })
  .onRequest(methods.agent.auth.logout, () => { loggedIn = false; return {} })
  .onRequest(methods.agent.session.new, ({ params }) => {
    if (!loggedIn) throw RequestError.authRequired()
    acp.assertSupportedMcpServers(params.mcpServers, {})
    const s = keep(`new-${++made}`, params.cwd)
    return { sessionId: s.id, ...choices(s) }
  })
  .onRequest(methods.agent.session.list, () => ({ sessions: [...sessions.values()].map(s => ({ sessionId: s.id, cwd: s.cwd, title: s.title })) }))
  .onRequest(methods.agent.session.resume, async ({ params, client }) => {
    const s = sessions.get(params.sessionId)
    if (!s) throw RequestError.sessionNotFound(params.sessionId)
    s.open = true
    if (params.replayFrom) for (const update of s.log) await client.notify(methods.client.session.update, { sessionId: s.id, update })
    await client.notify(methods.client.session.update, { sessionId: s.id, update: { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' } })
    return choices(s)
  })
  .onRequest(methods.agent.session.close, ({ params }) => { const s = find(params.sessionId); s.abort?.abort(); s.open = false; return {} })
  .onRequest(methods.agent.session.delete, ({ params }) => { sessions.delete(params.sessionId); save(); return {} })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => { const s = find(params.sessionId); s.mode = params.value; return { configOptions: choices(s).configOptions } })
  .onNotification(methods.agent.session.cancel, ({ params }) => { const s = sessions.get(params.sessionId); s?.held?.(); s?.abort?.abort() })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const s = find(params.sessionId)
    const words = params.prompt.map(b => b.text ?? '').join(' ')
    // A prompt is held until what was asked before is done; a cancel gives it back.
    const before = s.queue
    let over
    s.queue = new Promise(resolve => { over = resolve })
    const turn = await Promise.race([before.then(() => 'mine'), new Promise(resolve => { s.held = () => resolve('cancelled') })])
    if (turn === 'cancelled') { before.then(over); throw RequestError.requestCancelled() }
    s.held = undefined
    const messageId = `u${s.log.length}`
    const send = async update => { if (update.sessionUpdate !== 'state_update') s.log.push(update); await client.notify(methods.client.session.update, { sessionId: s.id, update }) }
    await send({ sessionUpdate: 'user_message', messageId, content: params.prompt })
    setImmediate(async () => {
      s.abort = new AbortController()
      let end = { stopReason: 'end_turn' }
      try {
        await send({ sessionUpdate: 'state_update', state: 'running' })
        const play = turns[words.split(' ')[0]]
        if (play) await play({ s, client, send })
        else await send({ sessionUpdate: 'agent_message', messageId: `m${s.log.length}`, content: told(`I have heard: ${words}`) })
      } catch (e) {
        end = e instanceof Cancelled ? { stopReason: 'cancelled' } : { stopReason: 'error', error: { code: -32603, message: e.message } }
      }
      save()
      await client.notify(methods.client.session.update, { sessionId: s.id, update: { sessionUpdate: 'state_update', state: 'idle', ...end } })
      over()
    })
    return { messageId }
  })

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
process.stdin.on('end', () => process.exit(0))
