/**
 * Collects the secrets that git sends to remotes: logins in addresses, and headers from its settings. A remote may repeat them in
 * its messages, so they must be known, and then be masked, before a remote is used (rule 42).
 */
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import { type GitContext, runGit } from './git-command.ts';

/** A user name of at least this length is a token, even with a password; shorter ones are names. */
const shortestToken = 16;

/** A user name without a real password is a token from this length on; shorter ones are names, such as `git`. */
const shortestLoneToken = 8;

/** Passwords that services expect when the user name is the token. */
const noPassword = ['', 'x-oauth-basic'];

/** Shorter parameters of an address and shorter parts of a header are ordinary words. */
const shortestValue = 8;

/** Remembers the secrets in all of git's settings here, and in the addresses of `remote` as git rewrites them (`insteadOf`). */
export async function learnSecrets(place: GitContext, remote: string | undefined): Promise<void> {
  const { secrets } = place;
  if (secrets === undefined) return;
  const listed = await runGit(['config', '--list', '-z'], place);
  for (const entry of listed.out.toString().split('\0')) learnSetting(entry, secrets);
  if (remote === undefined) return;
  learnAddresses(remote, secrets);
  // Git also reads addresses from files in old formats (.git/remotes), which its settings do not list.
  for (const which of [['--all'], ['--all', '--push']]) {
    const { out } = await runGit(['remote', 'get-url', ...which, '--', remote], place);
    learnAddresses(out.toString(), secrets);
  }
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
    // The value contains a percent sign that is no encoding, so there is no decoded form.
  }
}
