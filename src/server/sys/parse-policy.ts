/**
 * Policies as people write them: `path "auth/cluster/role/*" { capabilities = ["read"] }`, in HCL or in JSON.
 * Invariant: what is not understood is refused, never taken for less than it says.
 */
import { CAPABILITIES, type PolicyCapability, type PolicyRule } from '../identity/service-policies.ts';
import type { Coerced } from '../cluster-auth/values/field-coercion.ts';
import { isObject } from '../cluster-auth/values/is-object.ts';
import { repeatsMembers } from '../cluster-auth/values/repeated-members.ts';

/** The old word for a whole set of capabilities. */
const SHORTHANDS: ReadonlyMap<unknown, readonly PolicyCapability[]> = new Map<unknown, PolicyCapability[]>([
  ['deny', ['deny']],
  ['read', ['read', 'list']],
  ['write', ['create', 'read', 'update', 'delete', 'list', 'patch']],
  ['sudo', ['create', 'read', 'update', 'delete', 'list', 'patch', 'sudo']],
]);

/** What the original can store at all. */
const LONGEST_POLICY = 1024 * 1024;

/**
 * Reads the rules of a policy; the problem says what is wrong with it. A path may stand in several blocks of HCL, as it may
 * in several policies.
 */
export function parsePolicy(text: string): Coerced<PolicyRule[]> {
  if (text.length > LONGEST_POLICY) return { ok: false, problem: 'it is too long' };
  const paths = /^\s*\{/.test(text) ? jsonPaths(text) : hclPaths(text);
  if (!paths.ok) return paths;
  const rules: PolicyRule[] = [];
  for (const [path, block] of paths.value) {
    const rule = ruleOf(path, block);
    if (!rule.ok) return rule;
    rules.push(rule.value);
  }
  return { ok: true, value: rules };
}

type Block = Readonly<Record<string, unknown>>;
type Paths = Coerced<(readonly [string, Block])[]>;

function ruleOf(path: string, { capabilities = [], policy, ...more }: Block): Coerced<PolicyRule> {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    return { ok: false, problem: `path "${path}": "${unknown}" is not supported here` };
  const listed = Array.isArray(capabilities) ? capabilities : [capabilities];
  const short = policy === undefined ? [] : SHORTHANDS.get(policy);
  if (short === undefined)
    return { ok: false, problem: `path "${path}": invalid policy "${String(policy)}"` };
  const granted: PolicyCapability[] = [...short];
  for (const each of listed) {
    const capability = CAPABILITIES.find((known) => known === each);
    if (capability === undefined)
      return { ok: false, problem: `path "${path}": invalid capability "${String(each)}"` };
    granted.push(capability);
  }
  if (path.includes('+*'))
    return { ok: false, problem: `path "${path}": invalid use of wildcards ('+*' is forbidden)` };
  return { ok: true, value: { path: path.replace(/^\//, ''), capabilities: granted } };
}

/** `{"path": {"auth/*": {…}}}`, or a list of such objects of paths. */
function jsonPaths(text: string): Paths {
  const value = parsed(text);
  if (value === undefined) return notJson('an object in which nothing stands twice');
  const { path = {}, name: _name, ...more } = value;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return { ok: false, problem: `"${unknown}" is not supported here` };
  const paths: unknown[] = Array.isArray(path) ? path : [path];
  if (!paths.every(isObject)) return notJson('with an object of paths');
  const blocks = paths.flatMap((each) => Object.entries(each));
  const isWhole = (block: readonly [string, unknown]): block is [string, Block] => isObject(block[1]);
  return blocks.every(isWhole) ? { ok: true, value: blocks } : notJson('with an object for each path');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !repeatsMembers(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function notJson(wanted: string): Paths {
  return { ok: false, problem: `it is no JSON ${wanted}` };
}

/** Names, texts, and single signs; comments and blanks are skipped. What never ends (the second group) is the last one. */
const TOKEN =
  /\s+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\/|("(?:[^"\\\n]|\\.)*")|((?:\/\*|")[\s\S]*)|([A-Za-z_][\w-]*|[{}[\],=]|.)/gy;

function hclPaths(text: string): Paths {
  const tokens: string[] = [];
  for (const [, quoted, endless, sign] of text.matchAll(TOKEN)) {
    if (endless !== undefined) return notHcl(endless.slice(0, 20));
    const token = quoted ?? sign;
    if (token !== undefined) tokens.push(token);
  }
  const paths: (readonly [string, Block])[] = [];
  let at = 0;
  while (at < tokens.length) {
    const [key, path, brace] = tokens.slice(at, at + 3);
    if (key !== 'path' || !isText(path) || brace !== '{') return notHcl(key);
    const read = readBlock(tokens, at + 3);
    if (read === undefined) return notHcl(path);
    paths.push([unquoted(path), read.block]);
    at = read.next;
  }
  return { ok: true, value: paths };
}

function notHcl(near: string | undefined): Paths {
  return { ok: false, problem: `it is not understood at ${near ?? 'its end'}` };
}

/** `key = value` up to the closing brace, each key once. */
function readBlock(
  tokens: readonly string[],
  start: number,
): { readonly block: Block; readonly next: number } | undefined {
  const block = new Map<string, unknown>();
  let at = start;
  while (tokens[at] !== '}') {
    const [key, equals, first] = tokens.slice(at, at + 3);
    if (key === undefined || block.has(key) || equals !== '=' || first === undefined) return undefined;
    if (isText(first)) {
      block.set(key, unquoted(first));
      at += 3;
      continue;
    }
    const end = tokens.indexOf(']', at);
    if (first !== '[' || end < 0) return undefined;
    const items = tokens.slice(at + 3, end).filter((token) => token !== ',');
    if (!items.every(isText)) return undefined;
    block.set(key, items.map(unquoted));
    at = end + 1;
  }
  return { block: Object.fromEntries(block), next: at + 1 };
}

function isText(token: string | undefined): token is string {
  return token?.startsWith('"') ?? false;
}

function unquoted(token: string): string {
  return token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
