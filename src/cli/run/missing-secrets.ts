/**
 * Secrets that the calls of a plan need and that are not there. A plan says so, for it may be applied elsewhere; an apply
 * does not begin: one that stops in the middle for want of a variable leaves a platform half changed.
 */
import { formatAddress } from '../../model/resource/address.ts';
import { referencesIn, SecretReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { KnownSecrets } from '../../model/known-secrets.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { SecretSource } from '../../model/stack/target.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printDiagnostics, printError, type Terminal } from '../terminal/terminal.ts';
import { readSecret, type SecretPlace, whyAbsent } from './read-secret.ts';

/** The plan with a note on each change whose calls need a secret that is not here. Notes are no part of what it means. */
export async function noteMissingSecrets(plan: Plan, place: SecretPlace): Promise<Plan> {
  const changes = await Promise.all(
    plan.changes.map(async (change) => {
      const missing = await missingOf(change, place, { reads: false });
      const notes = missing.map(({ why }) => `${why} here: apply will need it`);
      return notes.length === 0 ? change : { ...change, notes: [...change.notes, ...new Set(notes)] };
    }),
  );
  return { ...plan, changes };
}

/** Before anything is written; undefined when all secrets that the plan's calls need are there. */
export async function refuseMissingSecrets(
  plan: Plan,
  place: SecretPlace,
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const missing = (
    await Promise.all(plan.changes.map((change) => missingOf(change, place, { reads: true })))
  ).flat();
  const bySource = Map.groupBy(missing, ({ source }) => JSON.stringify(source));
  if (bySource.size === 0) return undefined;
  printDiagnostics(terminal, [...bySource.values()].flatMap(diagnose));
  printError(
    terminal,
    'plan-lacks-secrets',
    'nothing was written: the plan sends secrets that cannot be read here',
  );
  return exitCodes.error;
}

/**
 * What the plan's calls need is known before the plan is shown: a live value that repeats it is none to print. What cannot be
 * read is told by `refuseMissingSecrets`.
 */
export async function learnSecrets(plan: Plan, place: SecretPlace, secrets: KnownSecrets): Promise<void> {
  const needed = plan.changes.flatMap(neededBy).map(({ source }) => source);
  const sources = new Map(needed.map((source) => [JSON.stringify(source), source]));
  const values = await Promise.all(
    [...sources.values()].map((source) => readSecret(source, place).catch(() => '')),
  );
  for (const value of values) secrets.keep(value);
}

interface Missing {
  readonly change: Change;
  readonly source: SecretSource;
  /** the member of the request that it is to be sent as */
  readonly member: string;
  readonly why: string;
}

async function missingOf(
  change: Change,
  place: SecretPlace,
  look: { readonly reads: boolean },
): Promise<Missing[]> {
  const looks = await Promise.all(
    neededBy(change).map(async (need) => ({ need, why: await whyAbsent(need.source, place, look) })),
  );
  return looks.flatMap(({ need, why }) => (why === undefined ? [] : [{ ...need, why }]));
}

function neededBy(change: Change): Omit<Missing, 'why'>[] {
  return change.calls.flatMap(({ body = {} }) =>
    Object.entries(body).flatMap(([member, value]) =>
      referencesIn(value).flatMap((found) =>
        found instanceof SecretReference ? [{ change, source: found.$secret, member }] : [],
      ),
    ),
  );
}

/** One for a source, however many changes need it. */
function diagnose(missing: readonly Missing[]): Diagnostic[] {
  const [first] = missing;
  if (first === undefined) return [];
  const { why, member, source, change } = first;
  const needing = [...new Set(missing.map((one) => formatAddress(one.change.address)))];
  return [
    {
      code: 'secret-missing',
      severity: 'error',
      class: 'failure',
      message: `${why}, and ${needing.join(', ')} ${needing.length === 1 ? 'needs' : 'need'} it`,
      ...(change.place === undefined ? {} : { place: change.place }),
      fix: `${'env' in source ? 'set it to' : 'write into it'} what is to be sent as "${member}"`,
    },
  ];
}
