/**
 * Searches for the ledger of a stack in places that the stack file does not name: after "spec.ledger" was changed without a move, a run
 * would otherwise start as if nothing had ever been applied. Only places that this checkout reaches are searched, each for a short time.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { remotesOf } from '../ledger/git/git-place.ts';
import { stateFolderName } from '../files/write-file.ts';
import { exists, findRepository } from '../manifest/files/find-stack.ts';
import { isSamePlace, ledgerText, parseLedgerPlace } from '../manifest/ledger-place.ts';
import type { Ledger } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { formatIdentity, identityOf, type LedgerPlace, type Stack } from '../model/stack.ts';
import { CommandStop } from './command-stop.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { checkedPlace, describePlace, moveCommand } from './moved-ledger.ts';
import { openAnyLedger } from './open-ledger.ts';
import type { RunSignals } from './stop-signals.ts';

/** Milliseconds that each place may take: one that does not answer must not delay a first plan for long. */
const placeTimeout = 5_000;

interface Search {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunSignals;
}

interface FoundLedger {
  readonly place: LedgerPlace;
  readonly ledger: Ledger;
}

const localPlace: LedgerPlace = { in: 'local' };

export function placeOf({ ledger = localPlace }: Pick<Stack, 'ledger'>): LedgerPlace {
  return ledger;
}

/** @throws CommandStop for a text that is not valid for "spec.ledger" */
export function readPlace(text: string, flag: string): LedgerPlace {
  const place = parseLedgerPlace(text);
  if (typeof place !== 'string') return place;
  throw new CommandStop(
    'usage',
    `${flag} takes what "spec.ledger" of a stack file may have, such as git: ${place}`,
  );
}

/**
 * Ledgers of this stack in other places than the stack names. A ledger of the same name that has only other targets belongs to
 * another stack.
 */
export async function findLedgers(search: Search): Promise<readonly FoundLedger[]> {
  const { stack, host } = search;
  const places = await Promise.all([localPlaces(stack), gitPlaces(search), databasePlaces(host)]);
  const others = places.flat().filter((place) => !isSamePlace(place, placeOf(stack)));
  const found = await Promise.all(others.map((place) => readAt(place, search)));
  const targets = new Set(stack.targets.map((target) => formatIdentity(identityOf(target))));
  return found.flatMap((one) => (one !== undefined && isOfStack(one.ledger, targets) ? [one] : []));
}

/** The database in the environment, if it holds a ledger of this stack. Undefined if the stack names it, or the ledger was moved away. */
export async function findInDatabase(search: Search): Promise<LedgerPlace | undefined> {
  const [place] = await databasePlaces(search.host);
  if (place === undefined || isSamePlace(place, placeOf(search.stack))) return undefined;
  const found = await readAt(place, search);
  const isOpen = found !== undefined && found.ledger.movedTo === undefined;
  return isOpen ? found.place : undefined;
}

function isOfStack({ targets = new Map() }: Ledger, ours: ReadonlySet<string>): boolean {
  return targets.size === 0 || [...targets.values()].some((identity) => ours.has(identity));
}

/** The default folder, and folders beside the stack file that hold a ledger of its name. */
async function localPlaces({ directory, name }: Stack): Promise<readonly LedgerPlace[]> {
  const file = `${name}.ledger.json`;
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const holding = await Promise.all(
    folders.map(async (folder) => ((await exists(join(directory, folder, file))) ? [folder] : [])),
  );
  return holding.flat().flatMap((folder) => {
    if (folder === stateFolderName) return [localPlace];
    const place = parseLedgerPlace(ledgerText({ in: 'local', folder }));
    return typeof place === 'string' ? [] : [place];
  });
}

/** Each remote of the repository. */
async function gitPlaces({ stack: { directory }, host }: Search): Promise<readonly LedgerPlace[]> {
  if (!(await findRepository(directory)).isGit) return [];
  const { env, secrets } = host;
  const { addresses } = await remotesOf({ directory, env, secrets, timeout: placeTimeout }).catch(() => ({
    addresses: new Map<string, string>(),
  }));
  const remotes = [...addresses.keys()];
  return remotes.flatMap((remote) => {
    const place = parseLedgerPlace(ledgerText({ in: 'git', remote }));
    return typeof place === 'string' ? [] : [place];
  });
}

/** The database that "ledger: postgres" means, if its address is known. */
async function databasePlaces({ env }: CliHost): Promise<readonly LedgerPlace[]> {
  const place = parseLedgerPlace('postgres');
  if (typeof place === 'string' || place.in !== 'postgres' || !('env' in place.url)) return [];
  return env[place.url.env]?.trim() ? [place] : [];
}

/** The ledger at a place. Undefined when there is none, or it cannot be read in time: then nothing is known about this place. */
async function readAt(place: LedgerPlace, { stack, host, time }: Search): Promise<FoundLedger | undefined> {
  const runEnded = AbortSignal.any([time.runEnded, AbortSignal.timeout(placeTimeout)]);
  try {
    const store = await openAnyLedger({ ...stack, ledger: place }, host, { ...time, runEnded });
    try {
      const ledger = await store.read();
      return ledger.known && ledger.closedFor === undefined ? { place, ledger } : undefined;
    } finally {
      await store.close();
    }
  } catch {
    return undefined;
  }
}

/** What to do when the ledger at the other place cannot be used. */
export const elsewhereRecovery =
  'if this is another stack, or that ledger is lost, "trueup recover" makes a new one';

/** @throws CommandStop when the stack has no ledger at the place that it names, but one at another place */
export async function refuseElsewhere(
  { known }: Ledger,
  search: Search,
  exit: ExitCode = exitCodes.conflict,
): Promise<void> {
  if (known) return;
  const message = await describeElsewhere(search);
  if (message !== undefined)
    throw new CommandStop('ledger-elsewhere', `${message}; ${elsewhereRecovery}`, { exit });
}

/** A message about where the stack's ledger was found instead, and what to do; undefined when none was found. */
export async function describeElsewhere(search: Search): Promise<string | undefined> {
  const { stack } = search;
  const found = await findLedgers(search);
  const [open, ...more] = found.filter(({ ledger }) => ledger.movedTo === undefined);
  const { name } = stack;
  const named = placeOf(stack);
  const none = `stack ${quoted(name)} has no ledger in ${describePlace(named, name)}`;
  if (open !== undefined) {
    const all = [open, ...more].map(({ place }) => describePlace(place, name));
    const move = moveCommand(named, more.length === 0 ? undefined : open.place);
    return `${none}, which its stack file names, but one in ${all.join(', and in ')}: move it with ${quoted(move)}, or write ${quoted(`ledger: ${ledgerText(open.place)}`)} into the stack file again`;
  }
  const [last] = found
    .flatMap(({ place, ledger }) => (ledger.movedTo === undefined ? [] : [{ place, move: ledger.movedTo }]))
    .sort((one, other) => (one.move.at < other.move.at ? 1 : -1));
  if (last === undefined) return undefined;
  const to = checkedPlace(last.move.place);
  return isSamePlace(to, named)
    ? `${none}, although it was moved there from ${describePlace(last.place, name)} at ${last.move.at}: restore it`
    : `${none}: it was moved to ${describePlace(to, name)} at ${last.move.at}; write ${quoted(`ledger: ${ledgerText(to)}`)} into the stack file`;
}
