/**
 * Finds secrets that the calls of a plan need and that cannot be read. A plan only notes them, because it may be applied on
 * another machine. An apply does not begin without them, because it would stop in the middle.
 */
import { formatAddress } from '../../model/resource/address.ts';
import { referencesIn, SecretReference } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { SecretSource } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printDiagnostics, printError, type Terminal } from '../terminal/terminal.ts';
import { readSecret, type SecretContext, sourceToShow, whyAbsent } from './read-secret.ts';

/** Adds a note to each change whose calls need a secret that is missing here. Notes do not change the digest. */
export async function noteMissingSecrets(plan: Plan, context: SecretContext): Promise<Plan> {
  const changes = await Promise.all(
    plan.changes.map(async (change) => {
      const missing = await missingOf(change, context, { reads: false });
      const notes = missing.map(({ why }) => `${why} here: apply will need it`);
      return notes.length === 0 ? change : { ...change, notes: [...change.notes, ...new Set(notes)] };
    }),
  );
  return { ...plan, changes };
}

/** Checked before anything is written. @returns undefined when all secrets that the plan's calls need can be read */
export async function refuseMissingSecrets(
  plan: Plan,
  context: SecretContext,
  terminal: Terminal,
): Promise<ExitCode | undefined> {
  const missing = (
    await Promise.all(plan.changes.map((change) => missingOf(change, context, { reads: true })))
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
 * Reads the secrets that the plan's calls need before the plan is printed, so that live values that contain one are masked.
 * Secrets that cannot be read are reported by `refuseMissingSecrets`.
 */
export async function learnSecrets(plan: Plan, context: SecretContext, secrets: KnownSecrets): Promise<void> {
  const needed = plan.changes.flatMap(neededBy).map(({ source }) => source);
  const sources = new Map(needed.map((source) => [JSON.stringify(source), source]));
  await Promise.all(
    [...sources.values()].map(async (source) =>
      secrets.keep(await readSecret(source, context).catch(() => ''), sourceToShow(source)),
    ),
  );
}

interface Missing {
  readonly change: Change;
  readonly source: SecretSource;
  /** the member of the request body that gets it */
  readonly member: string;
  readonly why: string;
}

async function missingOf(
  change: Change,
  context: SecretContext,
  options: { readonly reads: boolean },
): Promise<Missing[]> {
  const checked = await Promise.all(
    neededBy(change).map(async (need) => ({ need, why: await whyAbsent(need.source, context, options) })),
  );
  return checked.flatMap(({ need, why }) => (why === undefined ? [] : [{ ...need, why }]));
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

/** One diagnostic for a source, also when several changes need it. */
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
      fix: `${'env' in source ? 'set it to' : 'write into it'} what is to be sent as ${quoted(member)}`,
    },
  ];
}
