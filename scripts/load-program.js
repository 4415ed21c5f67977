/**
 * Loads the program, as dist/load-program.js: limits its memory, and keeps compiled code for the next start. The cache of Node would hold
 * only what runs while a file is loaded; this one also holds the functions that commands called.
 */
const {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { enableCompileCache } = require('node:module');
const { basename, join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

// While files are loaded, flags are those of Node: it takes compiled code, ours and that of its own modules, only with the same flags.
const flagsOfNode = [
  '--semi-space-growth-factor=2',
  '--heap-growing-percent=0',
  '--wasm-tier-up',
  '--wasm-dynamic-tiering',
];
const flagsOfRun = [
  // Node would let the space for new objects grow to 128 MB, a third of the memory of a large plan, which saves no time.
  '--semi-space-growth-factor=1',
  // The whole heap would double before it is collected; 40 % save a quarter of the memory and cost no time that can be measured.
  '--heap-growing-percent=40',
  // The parser of HTTP is WebAssembly: to optimize it takes a sixth of a short command, and saves nothing in a long one.
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
];

const folder = folderOfCompiledCode();
const modules = new Map();
const scripts = [];
let loading = 0;

/** @returns where compiled code is kept. It is run, so undefined where another user could write it */
function folderOfCompiledCode() {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE === '1') return undefined;
  const kept = NODE_COMPILE_CACHE || join(__dirname, 'compiled');
  const own = join(kept, `trueup-${process.version}-${process.arch}`);
  try {
    if (!NODE_COMPILE_CACHE && !isOwn(__dirname)) return undefined;
    if (!makeOwn(kept) || !makeOwn(own)) return undefined;
  } catch {
    // On a read-only disk the program starts without it.
    return undefined;
  }
  enableCompileCache(kept);
  return own;
}

function makeOwn(folder) {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isOwn(folder);
}

function isOwn(path) {
  const { uid, mode } = lstatSync(path);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/** Loads a file of the program, with the files that it requires. @returns what it exports */
function load(file) {
  setFlags(flagsOfNode);
  loading += 1;
  try {
    return loadOnce(file);
  } finally {
    loading -= 1;
    if (loading === 0) setFlags(flagsOfRun);
  }
}

function loadOnce(file) {
  const known = modules.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(file, module);
  const path = join(__dirname, file);
  const source = readFileSync(path);
  const compiled = folder && join(folder, `${file}-${crc32(source)}`);
  const script = compile(source.latin1Slice(), path, compiled);
  const requireHere = (name) => (name.startsWith('./') ? load(basename(name)) : require(name));
  script.runInThisContext()(module.exports, requireHere, module, path, __dirname);
  return module.exports;
}

/** @param compiled the file of its compiled code */
function compile(source, filename, compiled) {
  const code = `(function (exports, require, module, __filename, __dirname) { 'use strict'; ${source}\n})`;
  const cachedData = compiled && readCompiledCode(compiled);
  const script = new Script(code, { filename, cachedData });
  const size = script.cachedDataRejected === false ? cachedData.length : 0;
  if (compiled) scripts.push({ script, compiled, size });
  return script;
}

/** Its checksum comes first: V8 does not check, and would crash. @returns undefined where there is none, or it is damaged */
function readCompiledCode(path) {
  try {
    if (!isOwn(path)) return undefined;
    const content = readFileSync(path);
    const data = content.subarray(4);
    return data.length > 0 && content.readUInt32LE() === crc32(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

function setFlags(flags) {
  for (const flag of flags) setFlagsFromString(flag);
}

/** Code of which nothing is kept is kept at once. Whether a command called more than is kept takes time, so that few starts look. */
function keepCompiledCode() {
  const looks = Math.random() < 1 / 16;
  setFlags(flagsOfNode);
  for (const { script, compiled, size } of scripts) {
    if (size > 0 && !looks) continue;
    const data = script.createCachedData();
    if (data.length > size * 1.05 && !replaceFile(compiled, data)) return;
  }
}

/** @returns false where the disk is full, or the process may only read */
function replaceFile(path, data) {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(data));
  const written = `${path}-${process.pid}`;
  try {
    writeFileSync(written, Buffer.concat([checksum, data]), { mode: 0o600 });
    renameSync(written, path);
    return true;
  } catch {
    removeFile(written);
    return false;
  }
}

function removeFile(path) {
  try {
    rmSync(path, { force: true });
  } catch {
    // The process may only read.
  }
}

process.on('exit', () => {
  try {
    keepCompiledCode();
  } catch {
    // The command has ended, and only the next start takes longer.
  }
});
load('trueup.js');
