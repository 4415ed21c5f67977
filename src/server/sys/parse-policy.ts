/**
 * Policies as people write them: `path "auth/cluster/role/*" { capabilities = ["read"] }`, in HCL or in JSON.
 * Invariant: what is not understood is refused, never taken for less than it says.
 */
import { CAPABILITIES, type PolicyCapability, type PolicyRule } from '../identity/service-policies.ts';
import type { Coerced } from '../cluster-auth/values/field-coercion.ts';
import { isObject } from '../cluster-auth/values/is-object.ts';

/** The old word for a whole set of capabilities. */
const SHORTHANDS: Readonly<Record<string, readonly PolicyCapability[]>> = {
  deny: ['deny'],
  read: ['read', 'list'],
  write: ['create', 'read', 'update', 'delete', 'list', 'patch'],
  sudo: ['create', 'read', 'update', 'delete', 'list', 'patch', 'sudo'],
};

/** Reads the rules of a policy; the problem says what is wrong with it. */
export function parsePolicy(text: string): Coerced<PolicyRule[]> {
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
  const short = policy === undefined ? [] : SHORTHANDS[String(policy)];
  if (short === undefined)
    return { ok: false, problem: `path "${path}": invalid policy "${String(policy)}"` };
  const granted: PolicyCapability[] = [...short];
  for (const each of listed) {
    const capability = CAPABILITIES.find((known) => known === each);
    if (capability === undefined)
      return { ok: false, problem: `path "${path}": invalid capability "${String(each)}"` };
    granted.push(capability);
  }
  return { ok: true, value: { path: path.replace(/^\//, ''), capabilities: granted } };
}

function jsonPaths(text: string): Paths {
  try {
    const value: unknown = JSON.parse(text);
    const paths = isObject(value) ? value['path'] : undefined;
    if (!isObject(paths)) return { ok: true, value: [] };
    return { ok: true, value: Object.entries(paths).map(([path, block]) => [path, block as Block]) };
  } catch {
    return { ok: false, problem: 'it is no JSON' };
  }
}

/** Names, texts, and single signs; comments and blanks are skipped. */
const TOKEN =
  /\s+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\/|([A-Za-z_][\w-]*)|("(?:[^"\\\n]|\\.)*")|([{}[\],=])|(.)/gy;

function hclPaths(text: string): Paths {
  const tokens = [...text.matchAll(TOKEN)].flatMap(([, ...kinds]) =>
    kinds.filter((kind) => kind !== undefined),
  );
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

/** `key = value` up to the closing brace. */
function readBlock(
  tokens: readonly string[],
  start: number,
): { readonly block: Block; readonly next: number } | undefined {
  const block: Record<string, unknown> = {};
  let at = start;
  while (tokens[at] !== '}') {
    const [key, equals, first] = tokens.slice(at, at + 3);
    if (key === undefined || equals !== '=' || first === undefined) return undefined;
    if (isText(first)) {
      block[key] = unquoted(first);
      at += 3;
      continue;
    }
    const end = tokens.indexOf(']', at);
    if (first !== '[' || end < 0) return undefined;
    const items = tokens.slice(at + 3, end).filter((token) => token !== ',');
    if (!items.every(isText)) return undefined;
    block[key] = items.map(unquoted);
    at = end + 1;
  }
  return { block, next: at + 1 };
}

function isText(token: string | undefined): token is string {
  return token?.startsWith('"') ?? false;
}

function unquoted(token: string): string {
  return token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
