/**
 * Finds the changes that can be made: with them, the manifests are valid and the plan is empty. This is tried before anything is
 * written. Values that differ only after others are written are included.
 */
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import type { FileDrafts } from '../../manifest/load-documents.ts';
import type { Manifests } from '../../manifest/read-manifests.ts';
import type { Registry } from '../../model/kind.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import { sameJson } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { Spec } from '../../model/resource.ts';
import { findDialect } from '../../api/dialects.ts';
import { wideningBetween } from '../../plan/find-guards.ts';
import type { Widening } from './render.ts';
import { draftFiles } from './draft-files.ts';
import { locateChanges } from './locate-in-templates.ts';
import {
  type AcceptedChange,
  acceptedChangeKey,
  entriesByAddress,
  type LocatedChange,
  nameOfAcceptedChange,
  type Refusal,
  refuse,
} from './locate-change.ts';

/** What is found with drafts in place of some files of the manifests. */
export interface Trial {
  readonly manifests: Manifests;
  /** the requested values that differ */
  readonly acceptedChanges: readonly AcceptedChange[];
  readonly refusals: readonly Refusal[];
  /** problems of the plan, one for each resource: a message about several would change when one of them is fixed */
  readonly problems: readonly Diagnostic[];
  /** The complete content of a resource if these manifests are applied; undefined where there is none. */
  contentOf(address: Address): Spec | undefined;
}

interface ResolveContext {
  readonly cwd: string;
  readonly kinds: Registry;
  /** the secrets that this run has read; none of them is written */
  readonly secrets: Pick<KnownSecrets, 'isIn'>;
  /** Reads the manifests as they would be, and returns what would differ from live then. */
  attempt(drafts: FileDrafts): Promise<Trial>;
}

export interface ResolvedChanges {
  readonly drafts: FileDrafts;
  readonly placed: readonly LocatedChange[];
  readonly refusals: readonly Refusal[];
  /** the access that applying the manifests with these values widens, compared with the manifests as they are */
  readonly widens: readonly Widening[];
}

/** How many rounds are tried until nothing new differs: after one value is written, others that depend on it may differ. */
const maxRounds = 4;

/** @param first the manifests as they are */
export async function resolveAcceptedChanges(
  first: Trial,
  context: ResolveContext,
): Promise<ResolvedChanges> {
  const refusals = new Map<string, Refusal>();
  const known = new Set(first.problems.map(problemKey));
  const refuseAll = (found: readonly Refusal[]) => {
    for (const refusal of found) refusals.set(acceptedChangeKey(refusal.accepted), refusal);
  };
  refuseAll(first.refusals);
  for (;;) {
    const excluded = new Set(refusals.keys());
    const round = await acceptAll(first, { ...context, excluded, known });
    refuseAll(round.refusals);
    if (round.failed === undefined)
      return {
        drafts: round.drafts,
        placed: round.placed,
        refusals: [...refusals.values()],
        widens: widensBy(round, first, context),
      };
    refuseAll(await findCulprits(first, round.failed, { ...context, excluded, known }));
  }
}

interface RoundContext extends ResolveContext {
  readonly excluded: ReadonlySet<string>;
  /** problems that the plan had before */
  readonly known: ReadonlySet<string>;
}

interface Round extends Omit<ResolvedChanges, 'widens'> {
  /** the trial of the manifests with all changes that were placed */
  readonly trial: Trial;
  /** changes that must be left out of the next attempt */
  readonly failed?: readonly Refusal[];
}

function widensBy({ placed, trial }: Round, first: Trial, { kinds }: ResolveContext): Widening[] {
  const addresses = new Map(placed.map(({ accepted: { address } }) => [formatAddress(address), address]));
  return [...addresses.values()].flatMap((address) => {
    const [before, after] = [first.contentOf(address), trial.contentOf(address)];
    const target = first.manifests.stack?.targets.find(({ name }) => name === address.target);
    const dialect = target && findDialect(target.service, target.dialect);
    const kind = kinds.get(address.kind);
    if (before === undefined || after === undefined || kind === undefined || dialect === undefined) return [];
    return wideningBetween(kind, [before, after], dialect).map((risk) => ({ address, risk }));
  });
}

/** Accepts all changes that are not excluded, round by round. */
async function acceptAll(first: Trial, context: RoundContext): Promise<Round> {
  const { kinds, secrets, cwd, excluded } = context;
  const placed: LocatedChange[] = [];
  const refusals: Refusal[] = [];
  let drafts: FileDrafts = new Map();
  let trial = first;
  for (let count = 0; count < maxRounds; count++) {
    const done = new Set(placed.map(({ accepted }) => acceptedChangeKey(accepted)));
    const left = trial.acceptedChanges.filter((accepted) => !excluded.has(acceptedChangeKey(accepted)));
    const stuck = left.filter((accepted) => done.has(acceptedChangeKey(accepted)));
    if (stuck.length > 0) return { drafts, placed, trial, refusals, failed: stuck.map(stillDiffers) };
    const entries = entriesByAddress(trial.manifests.entries);
    const places = locateChanges(left, { entries, kinds, cwd });
    const located = places.flatMap((one) => ('why' in one ? [] : [one]));
    const drafted = draftFiles(located, { drafts, kinds, secrets });
    const unplaced = [...places.flatMap((one) => ('why' in one ? [one] : [])), ...drafted.refusals];
    if (unplaced.length > 0) return { drafts, placed, trial, refusals, failed: unplaced };
    if (located.length === 0) {
      const besides = changedBesides(placed, [first, trial], kinds);
      return { drafts, placed, trial, refusals, ...(besides.length === 0 ? {} : { failed: besides }) };
    }
    drafts = drafted.drafts;
    for (const one of located) placed.push(one);
    trial = await context.attempt(drafts);
    const wrong = newErrors(trial, context);
    if (wrong.length > 0) return { drafts, placed, trial, refusals, failed: blame(placed, wrong) };
    refusals.push(...trial.refusals.filter(isNew));
  }
  return { drafts, placed, trial, refusals, failed: placed.map(({ accepted }) => stillDiffers(accepted)) };
}

/** Refuses values that make others change: a default may match a document only with the new value. */
function changedBesides(
  placed: readonly LocatedChange[],
  [first, trial]: readonly [Trial, Trial],
  kinds: Registry,
): Refusal[] {
  if (placed.length === 0) return [];
  const [before, after] = [first, trial].map(({ manifests }) => entriesByAddress(manifests.entries));
  const placedAt = Map.groupBy(placed, ({ accepted }) => formatAddress(accepted.address));
  const inDocument = Map.groupBy(
    placed,
    ({ accepted }) => after?.get(formatAddress(accepted.address))?.declaration.document,
  );
  return [...(after ?? [])].flatMap(([text, { address, resource, declaration }]) => {
    const references = kinds.get(address.kind)?.named?.references ?? [];
    const asked = new Set(
      (placedAt.get(formatAddress(address)) ?? []).flatMap(({ accepted: { path } }) => [
        path[0],
        ...references.filter(({ id }) => id[0] === path[0]).map(({ name }) => name[0]),
      ]),
    );
    const [was, is] = [before?.get(text)?.resource?.spec ?? {}, resource?.spec ?? {}];
    const field = Object.keys({ ...was, ...is }).find(
      (name) => !asked.has(name) && !sameJson(was[name], is[name]),
    );
    if (field === undefined) return [];
    return (inDocument.get(declaration.document) ?? placed).map(({ accepted, place }) =>
      refuse(accepted, 'value-still-differs', {
        message: `with the live value of ${nameOfAcceptedChange(accepted)} in its manifest, ${quoted(field)} of ${quoted(text)} would change as well, because a default or another field depends on it`,
        place,
        fix: `write ${quoted(field)} into the document first, or change the manifest by hand`,
      }),
    );
  });
}

/** Whether a refusal is new. It is not if an accepted value no longer differs, or a dropped resource is no longer declared. */
function isNew({ why: { code } }: Refusal): boolean {
  return code !== 'no-difference' && code !== 'unknown-address';
}

/** Errors that the manifests, or the plan, did not have before. */
function newErrors({ manifests, problems }: Trial, { known }: RoundContext): readonly Diagnostic[] {
  const { diagnostics } = manifests;
  if (hasErrors(diagnostics)) return diagnostics.filter(({ severity }) => severity === 'error');
  return problems.filter((problem) => problem.severity === 'error' && !known.has(problemKey(problem)));
}

function problemKey({ code, message }: Diagnostic): string {
  return `${code} ${message}`;
}

/** Of several changes that failed together, those that also fail alone are at fault; all of them, if none fails alone. */
async function findCulprits(
  first: Trial,
  failed: readonly Refusal[],
  context: RoundContext,
): Promise<readonly Refusal[]> {
  const addresses = new Set(failed.map(({ accepted }) => formatAddress(accepted.address)));
  if (addresses.size < 2 || failed.every(({ why }) => why.code !== 'value-still-differs')) return failed;
  const members = first.acceptedChanges.filter(({ address }) => addresses.has(formatAddress(address)));
  const byAddress = [...Map.groupBy(members, ({ address }) => formatAddress(address)).values()];
  const culprits = await searchCulprits(first, byAddress, context);
  return culprits.length === 0 ? failed : culprits;
}

/** Searches by halves, because each attempt reads all manifests. Finds nothing if changes fail only together. */
async function searchCulprits(
  first: Trial,
  byAddress: readonly (readonly AcceptedChange[])[],
  context: RoundContext,
): Promise<readonly Refusal[]> {
  const { failed } = await acceptAll({ ...first, acceptedChanges: byAddress.flat() }, context);
  if (failed === undefined || byAddress.length === 1) return failed ?? [];
  const half = Math.ceil(byAddress.length / 2);
  const [left, right] = [byAddress.slice(0, half), byAddress.slice(half)];
  return [...(await searchCulprits(first, left, context)), ...(await searchCulprits(first, right, context))];
}

function blame(placed: readonly LocatedChange[], [first]: readonly Diagnostic[]): Refusal[] {
  return placed.map(({ accepted, place }) =>
    refuse(accepted, 'value-still-differs', {
      message: `with the live value of ${nameOfAcceptedChange(accepted)} in its manifest, there would be an error: ${first?.message ?? ''}`,
      place,
      fix: first?.fix ?? 'change the manifest by hand',
    }),
  );
}

function stillDiffers(accepted: AcceptedChange): Refusal {
  return refuse(accepted, 'value-still-differs', {
    message: `with the live value of ${nameOfAcceptedChange(accepted)} in its manifest, the plan would still change it`,
    fix: 'change the manifest by hand',
  });
}
