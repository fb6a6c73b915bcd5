// Formats Lua files as .stylua.toml says, with the WebAssembly build of StyLua, which has no
// command of its own.
//
//   node scripts/stylua.mjs [--check]
//
// Takes all Lua files of the repository. With --check it writes nothing: it prints where a file
// differs and exits 1.
import * as stylua from '@johnnymorganz/stylua';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const enums = {
  call_parentheses: stylua.CallParenType,
  indent_type: stylua.IndentType,
  line_endings: stylua.LineEndings,
  quote_style: stylua.QuoteStyle,
  syntax: stylua.LuaVersion,
};

// formatted returns the text of a Lua file as it should be. A Config is used up by one call.
function formatted(text) {
  const config = stylua.Config.new();
  for (const [, key, string, number] of settings.matchAll(/^(\w+) *= *(?:"(\w+)"|(\d+))$/gm)) {
    const value = string === undefined ? Number(number) : enums[key]?.[string];
    if (!(key in config) || value === undefined) {
      throw new Error(`.stylua.toml: ${key} is not understood`);
    }
    config[key] = value;
  }
  return stylua.formatCode(text, config, undefined, stylua.OutputVerification.Full);
}

function* luaFiles(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) {
      yield* luaFiles(path);
    } else if (entry.isFile() && entry.name.endsWith('.lua')) {
      yield path;
    }
  }
}

// difference says where two texts part, in the manner of a compiler's message.
function difference(path, is, should) {
  const [have, want] = [is.split('\n'), should.split('\n')];
  const at = have.findIndex((line, i) => line !== want[i]);
  const row = at < 0 ? have.length : at;
  return `${path}:${row + 1}: not formatted: have ${JSON.stringify(have[row])}, want ${JSON.stringify(want[row])}`;
}

const check = process.argv[2] === '--check';
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const settings = readFileSync('.stylua.toml', 'utf8');
for (const path of luaFiles('.')) {
  const is = readFileSync(path, 'utf8');
  let should;
  try {
    should = formatted(is);
  } catch (err) {
    console.error(`${path}: ${err.message ?? err}`);
    process.exitCode = 1;
    continue;
  }
  if (is === should) continue;
  if (check) {
    console.error(difference(path, is, should));
    process.exitCode = 1;
  } else {
    writeFileSync(path, should);
  }
}
