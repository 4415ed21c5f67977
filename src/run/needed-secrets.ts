/**
 * The secrets and tokens that a run needs. A plan only notes missing ones, because it may be applied on another machine; an apply
 * does not begin without them, because it would stop in the middle.
 */
import { sourcesIn } from '../manifest/check-secret-sources.ts';
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import { referencesIn, SecretReference } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Reader } from '../model/http.ts';
import { memberOf } from '../model/json.ts';
import { missingSecretNote } from '../model/transient-notes.ts';
import type { Plan } from '../model/plan.ts';
import { counted, quoted, quoteSome } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { SecretSource, Stack, Target } from '../model/stack.ts';
import { movedTargets } from '../plan/moved-targets.ts';
import { declaredSecretNames } from '../plan/secret-names.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';
import type { PlanRequest } from './make-plan.ts';
import {
  readDatabaseAddress,
  readSecret,
  secretBehind,
  type SecretContext,
  secretContext,
  sourceToShow,
  whyAbsent,
} from './read-secret.ts';
import { printDiagnostics, type Terminal } from './terminal.ts';

/** Adds a note to each change whose calls need a secret that is missing here. Notes do not change the digest. */
export async function noteMissingSecrets(plan: Plan, context: SecretContext): Promise<Plan> {
  const changes = await Promise.all(
    plan.changes.map(async (change) => {
      const missing = await missingOf(change, context, { reads: false });
      const notes = missing.map(({ why }) => missingSecretNote(why));
      return notes.length === 0 ? change : { ...change, notes: [...change.notes, ...new Set(notes)] };
    }),
  );
  return { ...plan, changes };
}

/** Called before anything is written. @throws CommandStop when a secret that the plan's calls need cannot be read */
export async function refuseMissingSecrets(
  plan: Plan,
  context: SecretContext,
  terminal: Terminal,
): Promise<void> {
  const missing = (
    await Promise.all(plan.changes.map((change) => missingOf(change, context, { reads: true })))
  ).flat();
  const bySource = Map.groupBy(missing, ({ source }) => JSON.stringify(source));
  if (bySource.size === 0) return;
  printDiagnostics(terminal, [...bySource.values()].flatMap(diagnose));
  throw new CommandStop(
    'plan-lacks-secrets',
    'nothing was written: the plan sends secrets that cannot be read here',
  );
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
      fix: `${'env' in source ? 'set it to' : 'write into it'} the value to send as ${quoted(member)}`,
    },
  ];
}

// Reads the secrets that the stack and its manifests name, as far as they can be read here, so that they are redacted wherever a
// target repeats one, also in runs that do not send them.

/** @param options.files which files are read: a plan reads none that manifests name, and `validate` reads none */
export async function learnSources(
  stack: Stack,
  resources: readonly DesiredResource[],
  host: CliHost,
  { files = 'all' }: { readonly files?: 'all' | 'of the stack' | 'none' } = {},
): Promise<void> {
  const { env, kinds, secrets } = host;
  const { directory } = stack;
  const keep = async (source: SecretSource, context: SecretContext) => {
    secrets.keep(await readSecret(source, context).catch(() => ''), sourceToShow(source));
  };
  const inManifests = declaredSources(resources, kinds).map(({ source }) => source);
  const mayRead = (source: SecretSource) => files !== 'none' || 'env' in source;
  await Promise.all([
    ...stack.targets
      .flatMap(sourcesOf)
      .filter(mayRead)
      .map((source) => keep(source, { env, directory })),
    ...inManifests
      .filter((source) => files === 'all' || 'env' in source)
      .map((source) => keep(source, secretContext(stack, host))),
    ...databasesOf(stack)
      .filter(mayRead)
      .map((source) =>
        readDatabaseAddress(source, directory, { env, secrets, what: 'an address' }).catch(() => {}),
      ),
  ]);
}

/** The sources that manifests name, each with the resource that names it. */
export function declaredSources(
  resources: readonly DesiredResource[],
  kinds: CliHost['kinds'],
): { readonly source: SecretSource; readonly address: Address }[] {
  return resources.flatMap(({ address, spec }) =>
    sourcesIn(kinds.get(address.kind)?.fields ?? {}, spec, [])
      .flatMap(toSource)
      .map((source) => ({ source, address })),
  );
}

/** Errors about declared names and keys that contain a secret that this run knows by now. */
export function secretNameErrors(resources: readonly DesiredResource[], host: CliHost): Diagnostic[] {
  return declaredSecretNames(resources, host.kinds, (text) => host.secrets.sourcesIn(text));
}

/** Called before a plan is made or a ledger is written. @throws CommandStop with the errors of `secretNameErrors` */
export function refuseSecretNames(resources: readonly DesiredResource[], host: CliHost): void {
  const found = secretNameErrors(resources, host);
  if (found.length > 0) throw CommandStop.ofProblems(found);
}

/** Refuses a selector with a secret of this run, because plans and the history contain the selectors. @throws CommandStop */
export function refuseSecretSelectors(selectors: readonly string[], { secrets }: CliHost): void {
  const sources = [...new Set(selectors.flatMap((text) => secrets.sourcesIn(text)))];
  if (sources.length === 0) return;
  const message = `a value of "--select" contains the secret of ${sources.join(' and ')}`;
  const fix =
    'select in another way, and revoke the secret: plans and the history show selectors as they are';
  // For a name in the service, this code is only a warning.
  const code = 'secret-in-name';
  throw CommandStop.ofProblems([{ code, severity: 'error', class: 'invalid', message, fix }]);
}

function toSource({ env, file }: { readonly env?: string; readonly file?: string }): SecretSource[] {
  return [...(env === undefined ? [] : [{ env }]), ...(file === undefined ? [] : [{ file }])];
}

function sourcesOf({ token, auditToken }: Target): SecretSource[] {
  const own = token === undefined ? [] : [secretBehind(token)];
  return auditToken === undefined ? own : [...own, auditToken];
}

function databasesOf({ ledger, audit }: Stack): SecretSource[] {
  const places = [ledger, audit?.archive];
  return places.flatMap((place) => (place?.in === 'postgres' ? [place.url] : []));
}

// Finds out, before the first write of an apply, whether a token of a secrets service may be used often enough to finish it: one that
// expires halfway would leave a part of the plan undone. A login gets a new token when one is used up, so only given tokens matter.

interface UsedTarget {
  readonly target: Target;
  readonly connection: { readonly reader: Reader; requests(): number };
}

/** A token with a limited number of uses, as they were when the service was asked. */
export interface LimitedToken {
  /** the targets that it is sent to; they share its uses */
  readonly targets: readonly UsedTarget[];
  readonly uses: number;
  /** requests that had been sent to these targets by then */
  readonly sent: number;
}

/**
 * Called before the plan is made, because its reads may use up a token. Targets that the plan does not read get no request.
 * @returns the tokens for which the service shows a limit of uses
 */
export async function findLimitedTokens(
  targets: readonly UsedTarget[],
  { stack, desired, ledger }: Pick<PlanRequest, 'stack' | 'desired' | 'ledger'>,
): Promise<readonly LimitedToken[]> {
  const moved = movedTargets(ledger, stack.targets).map(({ target }) => target.name);
  const addresses = [
    ...desired.map(({ address }) => address),
    ...[...ledger.records.keys()].map(parseAddress),
  ];
  const named = new Set(addresses.map(({ target }) => target));
  const asked = targets.filter(
    ({ target }) =>
      isGiven(target) &&
      !moved.includes(target.name) &&
      (named.has(target.name) || target.exclusive === true),
  );
  const tokens = Map.groupBy(asked, tokenKey);
  const limited = [...tokens.values()].map(async (sharing): Promise<LimitedToken[]> => {
    const uses = await usesLeft(sharing[0]?.connection.reader);
    return uses === undefined ? [] : [{ targets: sharing, uses, sent: requestsOf(sharing) }];
  });
  return (await Promise.all(limited)).flat();
}

/** Why the plan cannot be applied: a token would be used up before the end; undefined otherwise. */
export function whyTooFewUses(plan: Plan, tokens: readonly LimitedToken[]): string | undefined {
  return tokens.map((token) => tooFewUses(plan, token)).find((reason) => reason !== undefined);
}

function tooFewUses(plan: Plan, { targets, uses, sent }: LimitedToken): string | undefined {
  const names = targets.map(({ target }) => target.name);
  const token = `the token of ${names.length === 1 ? 'target' : 'targets'} ${quoteSome(names)}`;
  const left = Math.max(0, uses - (requestsOf(targets) - sent));
  const needed = usesToApply(plan, names);
  if (needed > left)
    return `${token} may be used for ${counted(left, 'more request')}, and this apply needs about ${needed}: nothing was written`;
  const isIncomplete = plan.coverage.targets.some(
    ({ target, unread, incomplete }) => names.includes(target) && (unread === true || incomplete.length > 0),
  );
  return left === 0 && isIncomplete
    ? `${token} could be used for ${counted(uses, 'request')} when this apply began, and reading its targets needs more: nothing was written`
    : undefined;
}

/** Requests to these targets after the plan: a read and a write for each call, and all reads of the plan that follows the apply. */
function usesToApply({ changes, coverage }: Plan, names: readonly string[]): number {
  const calls = changes.flatMap((change) => change.calls).filter(({ target }) => names.includes(target));
  if (calls.length === 0) return 0;
  const created = changes.filter(
    ({ action, address }) => action === 'create' && names.includes(address.target),
  );
  const reads = coverage.targets
    .filter(({ target }) => names.includes(target))
    .reduce((sum, { requests }) => sum + requests, 0);
  return calls.length * 2 + reads + created.length;
}

/** Whether the service counts uses, and the token is one that this run was given. */
function isGiven({ service, token }: Target): boolean {
  return service === 'cluster-auth' && token !== undefined && !('login' in token);
}

/** A text that is equal for targets that are sent the same token. */
function tokenKey({ target: { url, token } }: UsedTarget): string {
  return JSON.stringify([url, token]);
}

function requestsOf(targets: readonly UsedTarget[]): number {
  return targets.reduce((sum, { connection }) => sum + connection.requests(), 0);
}

/** How often the token may still be used; undefined if that is not limited, or the token may not read it. */
async function usesLeft(reader: Reader | undefined): Promise<number | undefined> {
  const answer = await reader?.get('/auth/token/lookup-self').catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const uses = memberOf(memberOf(answer.body, 'data'), 'num_uses');
  if (typeof uses !== 'number' || uses === 0) return undefined;
  // In the answer to the last request of the token it is -1.
  return Math.max(0, uses);
}
