/**
 * Decides which source of the token a new stack names, and whether this run may use a token that was found. A found token is used
 * for the address it belongs to, and only if somebody agrees.
 */
import type { SecretSource } from '../../model/stack.ts';
import { missingFileToShow, variableToShow } from '../../redaction/mask-text.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type FoundToken, originOf } from './find-tokens.ts';
import { agrees, type Asking } from './questions.ts';

export interface ChosenToken {
  /** what the stack file names; absent for the embedded service, which has a token of its own */
  readonly source?: SecretSource;
  /** the environment with the token in the variable that the stack names; absent: the run has no token, and does not connect */
  readonly env?: Asking['host']['env'];
  /** why `env` is absent, as a clause */
  readonly missing?: string;
  /** a shell line that sets the variable; absent when it is set, or the token is in a file */
  readonly exportLine?: string;
  /** sentences about tokens that were found and are not used */
  readonly notes: readonly string[];
}

export interface TokenWish {
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  /** false: the run does not connect, and needs no token */
  readonly connect: boolean;
}

interface TokenPlace {
  readonly url: string;
  /** the variable that the service's own command line uses */
  readonly usual: string;
  readonly found: readonly FoundToken[];
  /** A file that a flag names, as the stack file names it. */
  readonly fileName: (path: string) => string;
}

/** @throws CommandStop without an answer */
export async function chooseToken(
  { tokenEnv, tokenFile, connect }: TokenWish,
  place: TokenPlace,
  asking: Asking,
): Promise<ChosenToken> {
  const { env } = asking.host;
  refuseTokens(tokenEnv, tokenFile);
  const usable = connect ? { env } : {};
  if (tokenFile !== undefined) return { source: { file: place.fileName(tokenFile) }, ...usable, notes: [] };
  if (tokenEnv !== undefined) {
    const isSet = (env[tokenEnv]?.trim() ?? '') !== '';
    const how = isSet
      ? usable
      : { exportLine: promptLine(tokenEnv), missing: `the variable ${tokenEnv} is not set` };
    return { source: { env: tokenEnv }, ...how, notes: [] };
  }
  const origin = originOf(place.url);
  const own = place.found.find((token) => token.origin !== undefined && token.origin === origin);
  const variable = own?.variable ?? freeVariable(place, env);
  const source = { env: variable };
  const notes = own === undefined ? place.found.map(whyUnused) : [];
  if (own === undefined) {
    const missing = `no token for ${place.url} was found`;
    return { source, exportLine: promptLine(variable), notes, missing };
  }
  const exportLine =
    own.variable === undefined
      ? { exportLine: ['export ', variable, '="', own.expansion, '"'].join('') }
      : {};
  const mayUse = connect && (await isAgreed(own, place.url, asking));
  const use = mayUse
    ? { env: { ...env, [variable]: own.value } }
    : { missing: `the token in ${own.from} was not to be used` };
  return { source, ...exportLine, ...use, notes };
}

/** A token in place of the name of its source would be written into the stack. @throws CommandStop that does not repeat it */
function refuseTokens(tokenEnv: string | undefined, tokenFile: string | undefined): void {
  const never = 'never the token itself, which would be written into the stack';
  if (tokenEnv !== undefined && variableToShow(tokenEnv) !== quoted(tokenEnv))
    throw new CommandStop('usage', `--token-env: give the name of a variable, ${never}`);
  if (tokenFile !== undefined && missingFileToShow(tokenFile) !== quoted(tokenFile))
    throw new CommandStop('usage', `--token-file: give the path of a file, ${never}`);
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new CommandStop('usage', 'give "--token-env" or "--token-file", and not both');
}

async function isAgreed({ from }: FoundToken, url: string, asking: Asking): Promise<boolean> {
  if (asking.takesDefaults) return true;
  if (!asking.canAsk)
    throw new CommandStop(
      'answer-needed',
      `nothing was written: pass "--yes" to use the token in ${from} for ${quoted(url)}, or "--no-connect" to write the files only`,
    );
  return agrees(`Use the token in ${from} to read from ${url}?`, asking);
}

/** The usual variable, unless it holds the token of another address: `trueup plan` would send that one. */
function freeVariable({ usual, url }: TokenPlace, env: Asking['host']['env']): string {
  if ((env[usual]?.trim() ?? '') === '') return usual;
  const host = new URL(url).host.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return `TOKEN_${host}`.replace(/_+$/, '');
}

function whyUnused({ from, origin }: FoundToken): string {
  const name = from.startsWith('~') ? from : variableToShow(from);
  return origin === undefined
    ? `the token in ${name} is not used: it is not known which address it belongs to`
    : `the token in ${name} is not used: it belongs to ${quoted(origin)}`;
}

/** Reads the token from the keyboard: it is neither shown nor kept in the history of the shell. */
function promptLine(variable: string): string {
  return `read -rs ${variable} && export ${variable}`;
}
