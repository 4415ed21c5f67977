/**
 * What git would tell a remote and nobody else: logins in its addresses and headers that its settings add. A remote may
 * say any of it again, so all of it is known before a remote is asked (rule 42).
 */
import type { KnownSecrets } from '../../model/known-secrets.ts';
import { type GitContext, runGit } from './git-command.ts';

/** A user of this length is a token, whatever stands behind it; shorter ones are names. */
const shortestToken = 16;

/** A user without a password that is one is a token from this length on; shorter ones are names, such as `git`. */
const shortestLoneToken = 8;

/** What services want in the place of a password when the user is the token. */
const noPassword = ['', 'x-oauth-basic'];

/** A parameter of an address, or a word of a header, that is shorter is a word of its own. */
const shortestValue = 8;

/** Remembers the secrets of every address that git knows here, rewritten ones (`insteadOf`) and those of `remote` too. */
export async function learnSecrets(place: GitContext, remote: string | undefined): Promise<void> {
  const { secrets } = place;
  if (secrets === undefined) return;
  const listed = await runGit(['config', '--list', '-z'], place);
  for (const entry of listed.out.toString().split('\0')) learnSetting(entry, secrets);
  if (remote === undefined) return;
  learnAddresses(remote, secrets);
  // Git also reads addresses from files of former days, which its settings do not list.
  for (const which of [['--all'], ['--all', '--push']]) {
    const { out } = await runGit(['remote', 'get-url', ...which, '--', remote], place);
    learnAddresses(out.toString(), secrets);
  }
}

/** @param entry key, line feed, value; an address may stand in either */
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
    // Git and curl do not agree on where a login ends that has a slash of its own: whatever one of them takes for it counts.
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

/** As it stands in the address, and as it is sent. */
function keepBoth(value: string, secrets: KnownSecrets): void {
  secrets.keep(value);
  try {
    secrets.keep(decodeURIComponent(value));
  } catch {
    // A lone percent sign stands for itself.
  }
}
