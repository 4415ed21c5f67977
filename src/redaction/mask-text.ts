/**
 * Masks user names, passwords and parameters in addresses, and private keys. Makes the summary of a secret: whether it is set, its
 * version and its source.
 */
import { isJsonObject, type Json } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { TextRange } from './joined-lines.ts';

/** A word, or a quoted text that holds an address, which may have spaces; a quote in the middle of a word does not end it. */
const words = /(["'])(?:(?!\1)[^\n])*\/\/(?:(?!\1)[^\n])*\1(?![^\s:;,.?!)\]}])|\S+/g;

/** Everything after the path, up to the punctuation that closes the word. */
const parameters = /(\/\/[^?#]*[?#]).+?(["']?[:;,.?!)\]}]*)$/;

/** Replaces by `***` the part before the last "@" of each address, and the part after its "?" or "#". */
export function maskUrls(text: string): string {
  let shown = '';
  let at = 0;
  for (const { start, end } of partsOfUrls(text)) {
    shown += `${text.slice(at, start)}***`;
    at = end;
  }
  return shown + text.slice(at);
}

/** The parts that `maskUrls` hides, in the order of the text. */
export function partsOfUrls(text: string): TextRange[] {
  return [...text.matchAll(words)].flatMap(({ 0: word, index }) =>
    partsOfWord(word).map(({ start, end }) => ({ start: index + start, end: index + end })),
  );
}

function partsOfWord(word: string): TextRange[] {
  const [start, at] = [word.indexOf('//'), word.lastIndexOf('@')];
  if (start === -1) return [];
  const user = at < start ? [] : [{ start: start + 2, end: at }];
  // The user's part may contain a "?" that does not begin parameters.
  const shown = user.length === 0 ? word : `${word.slice(0, start)}//***${word.slice(at)}`;
  const found = parameters.exec(shown);
  if (found === null) return user;
  const { 1: before = '', 2: after = '', index } = found;
  const shift = word.length - shown.length;
  return [...user, { start: index + before.length + shift, end: word.length - after.length }];
}

// Finds private keys in PEM form in a text: with real line breaks, with escaped ones as in JSON, or folded into one line. They do not
// belong into manifests, and are never shown (docs/guides/safety.md, "No secret is shown").

/** A part of a text; `end` is exclusive. */
interface KeyPart {
  readonly start: number;
  readonly end: number;
}

const begin = /-----BEGIN\s[A-Z0-9\s]*PRIVATE\s+KEY(?:\s+BLOCK)?-----/g;
const end = /-----END\s[A-Z0-9\s]*PRIVATE\s+KEY(?:\s+BLOCK)?-----/g;

/** The possible extent of a key without an END line: the rest of its line, and whole lines of base64 or PEM headers. */
const body = /[\w+/=\\ \t]*(?:\r?\n[ \t#>-]*(?:[\w+/=\\]+|[A-Z][\w-]+:[^\r\n]*)?[ \t\\'"]*(?=\r?\n|$))*/y;

export function holdsPrivateKey(text: string): boolean {
  return text.includes('PRIVATE') && text.search(begin) !== -1;
}

/** The private keys in a text, in order: each to its END line or, without one, to the end of its possible extent. */
export function privateKeyParts(text: string): KeyPart[] {
  const parts: KeyPart[] = [];
  let lastEnd = 0;
  let keyEnd: number | undefined = 0;
  for (const { 0: opening, index: start } of text.matchAll(begin)) {
    if (start < lastEnd) continue;
    const from = start + opening.length;
    if (keyEnd !== undefined && keyEnd <= from) keyEnd = endOf(end, text, from);
    lastEnd = keyEnd ?? endOf(body, text, from) ?? from;
    parts.push({ start, end: lastEnd });
  }
  return parts;
}

export function maskPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE')) return text;
  let masked = '';
  let shown = 0;
  for (const part of privateKeyParts(text)) {
    masked += `${text.slice(shown, part.start)}***`;
    shown = part.end;
  }
  return masked + text.slice(shown);
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

// The summary of a secret: whether it is set, its version, and the name of its source. Plans, ledgers, histories and reports hold only
// this.

interface SecretSummary {
  readonly set: boolean;
  readonly version?: number;
  /** the environment variable that it is read from */
  readonly env?: string;
  /** or the file that it is read from */
  readonly file?: string;
}

/** The summary of a secret; undefined for undefined (not declared) and null (none wanted). All other members are dropped. */
export function summarizeSecret(value: Json | undefined): SecretSummary | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return { set: value !== false };
  const { set, version, env, file } = value;
  return {
    set: set !== false,
    ...(typeof version === 'number' ? { version } : {}),
    ...(typeof env === 'string' ? { env } : typeof file === 'string' ? { file } : {}),
  };
}

// Decides which names of secret sources may be shown: a user may have written the secret itself instead of the name of its variable
// or file.

/** A variable in capitals; a long one must contain "_", because key ids in capitals contain none. */
const plainVariable = /^(?![0-9])(?=[A-Z0-9_]{1,64}$)(?:.{1,19}$|.*_)/;

/** A part of a path that is long and mixes characters as generated secrets do. */
const generatedLooking = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{12,}$|^(?=.*[a-zA-Z])(?=.*\d).{20,}$|^.{64,}$/;

/** The name in quotes, or a clause that it is not shown; follows "the environment variable" in messages. */
export function variableToShow(name: string): string {
  return plainVariable.test(name) ? quoted(name) : hidden;
}

/** The same for a file that does not exist. The name of an existing file is always safe to show. */
export function missingFileToShow(name: string): string {
  const isWord = /^[a-z_-]{1,12}$/.test(name);
  const isPath = /[/.]/.test(name) && !name.split(/[/._-]/).some((part) => generatedLooking.test(part));
  return isWord || isPath ? quoted(name) : hidden;
}

const hidden = 'that is named there (not shown here: it may be the secret itself)';
