/**
 * Reads facts about a clone once in a run: its folders, settings and remotes, and the secrets that git sends to them. They do not
 * change during a run, and each git process takes time.
 */
import { resolve } from 'node:path';
import { LedgerError, WaitEnded } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import { waitFor } from '../ledger-store.ts';
import { type GitContext, runGit } from './git-command.ts';

export interface GitPlace {
  /** the git directory, which all folders of a clone share; absolute, like the other paths */
  readonly repository: string;
  readonly objects: string;
  /** the list of commits whose parents are missing */
  readonly shallow: string;
  /** the hash that makes the ids of objects: sha1 or sha256 */
  readonly format: string;
  /** from the root of the work tree to the directory, `teams/network/`; empty at the root */
  readonly prefix: string;
}

/** The answers of git to one question, by the secrets of a run, which identify the run, and by a key. */
type Answers<T> = WeakMap<KnownSecrets, Map<string, Promise<T>>>;

/** The key is the directory. */
const knownPlaces: Answers<GitPlace> = new WeakMap();

/** The directory is not in a repository; the message is that of git. */
export class NoRepository extends LedgerError {}

/** @throws NoRepository, LedgerError */
export function locate(at: GitContext): Promise<GitPlace> {
  return askOnce(knownPlaces, at.directory, at, askPlace);
}

function askOnce<T>(
  known: Answers<T>,
  key: string,
  at: GitContext,
  ask: (at: GitContext) => Promise<T>,
): Promise<T> {
  const { secrets } = at;
  if (secrets === undefined) return ask(at);
  const ofRun = known.get(secrets) ?? new Map<string, Promise<T>>();
  known.set(secrets, ofRun);
  return shared(ofRun, key, at, ask);
}

/**
 * Calls `ask` once for each key and keeps the answer. Callers that come meanwhile wait for the same answer. If the signal of the first
 * caller ends it, the others ask again.
 * @throws WaitEnded when `at.signal` is aborted
 */
export async function shared<T>(
  known: Map<string, Promise<T>>,
  key: string,
  at: GitContext,
  ask: (at: GitContext) => Promise<T>,
): Promise<T> {
  const { signal } = at;
  for (;;) {
    const answer = known.get(key) ?? ask(at);
    known.set(key, answer);
    answer.catch(() => {
      if (known.get(key) === answer) known.delete(key);
    });
    try {
      return await (signal === undefined ? answer : waitFor(answer, signal));
    } catch (error) {
      if (signal?.aborted || !(error instanceof WaitEnded)) throw error;
    }
  }
}

async function askPlace(at: GitContext): Promise<GitPlace> {
  const paths = ['--absolute-git-dir', '--git-path', 'objects', '--git-path', 'shallow'];
  const asked = ['rev-parse', ...paths, '--show-object-format', '--show-prefix'];
  const { code, out, message } = await runGit(asked, at);
  if (code !== 0) throw new NoRepository(message);
  // Names of folders may hold line feeds, and what is before "objects" is also before "shallow".
  const found = /^(.+)\n(.*)objects\n\2shallow\n(\w+)\n(.*)\n$/s.exec(out.toString());
  const [, repository = '', parent = '', format = '', prefix = ''] = found ?? [];
  if (found === null) throw new LedgerError(`git rev-parse printed no folders of ${quoted(at.directory)}`);
  const inClone = (path: string) => resolve(at.directory, path);
  const [objects, shallow] = [inClone(`${parent}objects`), inClone(`${parent}shallow`)];
  return { repository, objects, shallow, format, prefix };
}

/** The key is the git directory. */
const knownSettings: Answers<string> = new WeakMap();

/** All settings of git in a clone, as `git config --list -z` prints them. @throws LedgerError */
export async function settingsOf(at: GitContext): Promise<string> {
  const { repository } = await locate(at);
  return askOnce(knownSettings, repository, at, async (context) => {
    const { code, out, message } = await runGit(['config', '--list', '-z'], context);
    if (code !== 0) throw new LedgerError(`git config failed: ${message}`);
    return out.toString();
  });
}

interface Remotes {
  /** the first fetch address of each remote, by name, as git rewrites it (`insteadOf`) */
  readonly addresses: ReadonlyMap<string, string>;
  /** the output of git, push addresses included */
  readonly text: string;
}

/** The key is the git directory. */
const knownRemotes: Answers<Remotes> = new WeakMap();

/** @throws LedgerError */
export async function remotesOf(at: GitContext): Promise<Remotes> {
  const { repository } = await locate(at);
  return askOnce(knownRemotes, repository, at, async (context) => {
    const { code, out, message } = await runGit(['remote', '--verbose'], context);
    if (code !== 0) throw new LedgerError(`git remote failed: ${message}`);
    const text = out.toString();
    const lines = text.matchAll(/^([^\t\n]+)\t(?:(.*) \(fetch\)(?: \[.*\])?)?$/gm);
    // For a remote without an address, git uses its name as the address.
    const addresses = [...lines].map(([, name = '', address = name]) => [name, address] as const);
    return { addresses: new Map(addresses), text };
  });
}

/** The key is the git directory with the name of the remote. */
const knownOldAddresses: Answers<readonly string[]> = new WeakMap();

/** Addresses from files in old formats (.git/remotes), which git uses but does not list: fetch addresses first. */
async function oldFormatAddresses(at: GitContext, remote: string): Promise<readonly string[]> {
  const { repository } = await locate(at);
  return askOnce(knownOldAddresses, JSON.stringify([repository, remote]), at, async (context) => {
    const answers = [['--all'], ['--all', '--push']].map((which) =>
      runGit(['remote', 'get-url', ...which, '--', remote], context),
    );
    const found = (await Promise.all(answers)).filter(({ code }) => code === 0);
    return found.flatMap(({ out }) => out.toString().split('\n').filter(Boolean));
  });
}

/** The first fetch address, as git rewrites it; undefined if the clone has no such remote. @throws LedgerError */
export async function addressOf(at: GitContext, remote: string): Promise<string | undefined> {
  const { addresses } = await remotesOf(at);
  return addresses.get(remote) ?? (await oldFormatAddresses(at, remote))[0];
}

// Collects the secrets that git sends to remotes: logins in addresses, and headers from its settings. A remote may repeat them in
// its messages, so they must be known before a remote is used.

/** A user name of at least this length is a token, even with a password; shorter ones are names. */
const shortestToken = 16;

/** A user name without a real password is a token from this length on; shorter ones are names, such as `git`. */
const shortestLoneToken = 8;

/** Passwords that services expect when the user name is the token. */
const noPassword = ['', 'x-oauth-basic'];

/** Parameters of an address and parts of a header that are shorter than this count as ordinary words. */
const shortestValue = 8;

/** The key is the git directory. */
const learnedRemotes: Answers<Remotes> = new WeakMap();

/**
 * Collects the secrets in all settings of git, and in the addresses of its remotes.
 * @returns whether the clone has this remote
 */
export async function learnSecrets(place: GitContext, remote: string | undefined): Promise<boolean> {
  const { secrets } = place;
  // `remote` may be an address, which messages would contain.
  if (remote !== undefined && secrets !== undefined) learnAddresses(remote, secrets);
  const { repository } = await locate(place);
  const { addresses } = await askOnce(learnedRemotes, repository, place, learnAll);
  if (remote === undefined || addresses.has(remote)) return remote !== undefined;
  const old = await oldFormatAddresses(place, remote);
  if (secrets !== undefined) learnAddresses(old.join('\n'), secrets);
  return old.length > 0;
}

async function learnAll(place: GitContext): Promise<Remotes> {
  const { secrets } = place;
  const remotes = await remotesOf(place);
  if (secrets === undefined) return remotes;
  for (const entry of (await settingsOf(place)).split('\0')) learnSetting(entry, secrets);
  learnAddresses(remotes.text, secrets);
  return remotes;
}

/** @param entry key, line feed, value; both may contain an address */
function learnSetting(entry: string, secrets: KnownSecrets): void {
  const [key = '', ...values] = entry.split('\n');
  if (/^http\.(.*\.)?extraheader$/i.test(key)) learnHeader(values.join('\n'), secrets);
  learnAddresses(entry, secrets);
}

function learnHeader(header: string, secrets: KnownSecrets): void {
  const words = header.slice(header.indexOf(':') + 1).split(/\s+/);
  for (const word of words) {
    if (word.length < shortestValue) continue;
    secrets.keep(word);
    const login = Buffer.from(word, 'base64').toString();
    if (/^[^:\p{Cc}\ufffd]*:[^\p{Cc}\ufffd]+$/u.test(login))
      keepBoth(login.slice(login.indexOf(':') + 1), secrets);
  }
}

function learnAddresses(text: string, secrets: KnownSecrets): void {
  for (const [, scheme = '', rest = ''] of text.matchAll(/(\w*):\/\/([^\n]+)/g)) {
    // Git and curl disagree on where a login with a slash ends, so both readings count.
    for (const end of new Set([rest.lastIndexOf('@'), rest.split(/[/?#]/)[0]?.lastIndexOf('@') ?? -1]))
      if (end > 0) learnLogin(rest.slice(0, end), /^https?$/i.test(scheme), secrets);
    for (const [, value = ''] of rest.matchAll(/[?&#][^=&#]*=([^&#]+)/g))
      if (value.length >= shortestValue) keepBoth(value, secrets);
  }
}

function learnLogin(login: string, isHttp: boolean, secrets: KnownSecrets): void {
  const colon = login.indexOf(':');
  const user = colon === -1 ? login : login.slice(0, colon);
  const password = colon === -1 ? '' : login.slice(colon + 1);
  if (password !== '') keepBoth(password, secrets);
  const shortest = noPassword.includes(password) ? shortestLoneToken : shortestToken;
  if (isHttp && user.length >= shortest) keepBoth(user, secrets);
}

/** Keeps the value as written in the address, and decoded, as it is sent. */
function keepBoth(value: string, secrets: KnownSecrets): void {
  secrets.keep(value);
  try {
    secrets.keep(decodeURIComponent(value));
  } catch {
    // The value contains a percent sign that is not an encoding, so there is no decoded form.
  }
}
