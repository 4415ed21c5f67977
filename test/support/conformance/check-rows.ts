/**
 * Checks the rows of the conformance pages against what the tests that they name sent and asserted. What a row names between backticks
 * has to be in the evidence of one of its tests: a request with its path, a field, a header, a parameter, a value. So has each status.
 */
import { existsSync, readFileSync } from 'node:fs';

import type { Evidence, SentRequest } from './evidence.ts';
import {
  isPlaceholder,
  type Row,
  splitNamed,
  testsFolder,
  titlesIn,
  valuesOf,
  type WrittenTitle,
} from './rows.ts';
import { sourceOfTest } from './source-of-test.ts';

/** The evidence of one named test. */
interface Shown {
  /** Whether its file ran, but the test did not. */
  readonly didNotRun: boolean;
  readonly requests: readonly SentRequest[];
  readonly text: string;
}

/** Tests of real clients, which talk to a service in another process: their requests are not recorded. */
const UNSEEN = 'real-clients/';

const REQUEST = /^(?<method>GET|HEAD|POST|PUT|PATCH|DELETE|LIST|SCAN) (?<path>\S+)$/;
const STATUSES = /(?<![\w.,/-])(?:20[0-7]|30[1-8]|4[0-3]\d|47[23]|50[0-4])(?![\w.,/-]*\w)/g;

/** The problems of a row: names that none of its tests shows, and tests that show none of its names. */
export function problemsOf(row: Row, evidence: readonly Evidence[]): string[] {
  const names = namesIn(row.what);
  if (names.length === 0) return ['names no request, no field and no status'];
  const isAlone = row.what.replaceAll(/[`\s]/g, '') === names[0]?.replaceAll(/\s/g, '');
  const shown = row.shownBy.map((named) => shownBy(named, evidence));
  const missing = names.filter((name) => !shown.some((one) => shows(one, name, isAlone)));
  const wrong = shown.flatMap((one, index) => {
    const named = row.shownBy[index] ?? '';
    if (one.didNotRun) return [`did not run: ${named}`];
    const isIdle = !named.startsWith(UNSEEN) && !names.some((name) => shows(one, name, isAlone));
    return isIdle ? [`shows nothing of it: ${named}`] : [];
  });
  return [...missing.map((name) => `no test that it names shows ${name}`), ...wrong];
}

/** Texts between backticks that have a letter or a digit, and statuses of responses outside of backticks. */
export function namesIn(what: string): string[] {
  const quoted = [...what.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) =>
    /[a-z\d]/i.test(name) ? [name] : [],
  );
  const statuses = what.replaceAll(/`[^`]+`|\([^)]*\)\)?/g, ' ').match(STATUSES) ?? [];
  return [...new Set([...quoted, ...statuses])];
}

function shownBy(named: string, evidence: readonly Evidence[]): Shown {
  const { file, title } = splitNamed(named);
  const source = existsSync(testsFolder + file) ? readFileSync(testsFolder + file, 'utf8') : '';
  const written = nearest(titlesIn(source).filter((one) => isSame(one.title, title)));
  const mine = evidence.filter((one) => one.file === file);
  const ran = mine.filter(({ titles }) => titles.some((one) => isSame(title, one)));
  const titles = mine.length > 0 ? ran.flatMap((one) => one.titles) : [title];
  const values = titles.flatMap((one) =>
    written.flatMap(({ title: template }) => valuesOf(template, one) ?? []),
  );
  const all = [...ran, ...mine.filter(({ titles }) => titles.length === 0)];
  const requests = all.flatMap((one) => one.requests);
  const text = [
    // The title is no evidence: it may name what its test does not do.
    ...written.map((one) => sourceOfTest(source, one).replace(one.title, '')),
    ...values,
    ...all.flatMap(({ asserted }) => asserted),
    ...requests.map(({ method, url, content }) => `${method} ${url}\n${content}`),
  ];
  return { didNotRun: mine.length > 0 && ran.length === 0, requests, text: text.join('\n') };
}

/** A title of placeholders only matches every title, so the ones with the most literal text are chosen. */
function nearest(written: readonly WrittenTitle[]): WrittenTitle[] {
  const words = ({ title }: WrittenTitle) => title.replaceAll(/%[a-z#]|\$\w+/g, '').length;
  const most = Math.max(...written.map(words));
  return written.filter((one) => words(one) === most);
}

/** Whether the titles are the same, where a placeholder matches any value and any other placeholder. */
function isSame(written: string, title: string): boolean {
  const values = valuesOf(written, title);
  return values !== undefined || valuesOf(title, written)?.every(isPlaceholder) === true;
}

function shows(shown: Shown, name: string, isAlone: boolean): boolean {
  const { method, path } = REQUEST.exec(name)?.groups ?? {};
  if (method !== undefined && path !== undefined) {
    const isAsked = asksFor(method, path);
    return shown.requests.some((one) => isAsked(one) && (!isAlone || one.status < 400));
  }
  if (/^\/\S*:/.test(name)) return shown.requests.some(asksFor(undefined, name));
  if (/^\d{3}$/.test(name) && shown.requests.some(({ status }) => String(status) === name)) return true;
  const [, key, value] = /^([\w[\]-]+)=(\S+)$/.exec(name) ?? [];
  if (key !== undefined && value !== undefined)
    return new RegExp(`${escaped(key)}=(?:[^&\\s]*,)?${escaped(value)}(?![\\w-])`).test(shown.text);
  return hasWord(shown.text, name) || wordsIn(name).every((word) => hasInAnyForm(shown.text, word));
}

/** Paths of the workspaces API begin with a slash and are complete; those of the other API follow a mount or a prefix. */
function asksFor(method: string | undefined, path: string): (request: SentRequest) => boolean {
  const [address = '', query = ''] = path.replace(/^…\//, '').split('?');
  const segments = address.replace(/\/$/, '').replaceAll(/:(\w+)|[$()*+.?[\\\]^{|}]/g, (found, parameter) => {
    if (parameter === undefined) return `\\${found}`;
    return parameter === 'mount' || parameter === 'path' ? '[^?]+' : '[^/?]+';
  });
  const prefix = address.startsWith('/') ? '(?:/api/v2|/api|/v1)?' : '/(?:.*/)?';
  const pattern = new RegExp(`^${prefix}${segments}/?(?:\\?|$)`, 's');
  return (request) => {
    const isList = method === 'LIST' && request.method === 'GET' && /[?&]list=/.test(request.url);
    if (method !== undefined && request.method !== method && !isList) return false;
    return pattern.test(request.url) && query.split('&').every((part) => request.url.includes(part));
  };
}

/** The parts of a compound name, such as `auth.type`. */
function wordsIn(name: string): string[] {
  return name.split(/[\s.:,;"'{}[\]]+/).filter((word) => /\w/.test(word));
}

/** Manifests write `tokenTtl` for what requests call `token_ttl` or `token-ttl`. */
function hasInAnyForm(text: string, word: string): boolean {
  const apart = (between: string) =>
    word.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => between + letter.toLowerCase());
  return [word, apart('_'), apart('-')].some((form) => hasWord(text, form));
}

function hasWord(text: string, word: string): boolean {
  const [before, after] = [/^\w/.test(word) ? '(?<![\\w-])' : '', /\w$/.test(word) ? '(?![\\w-])' : ''];
  return new RegExp(before + escaped(word) + after, 'i').test(text);
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
