/**
 * Checks manifests before they are written: they are validated, and planned against the same live resources that they were made
 * from, as if nobody owned them. A resource that cannot be adopted as it is must be reported.
 */
import { dialects } from '../../http/dialects.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { readManifests } from '../../manifest/read-manifests.ts';
import { writeManifests } from '../../manifest/yaml/write-manifests.ts';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { LiveSet, Registry } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { buildPlan, type PlanResult } from '../../plan/build-plan.ts';
import type { DraftedManifest } from './draft.ts';
import type { ExportedTarget } from './read.ts';

export interface Checked {
  /** to be written */
  readonly manifests: readonly DraftedManifest[];
  /** a sentence for each manifest that is left out because a stack with it could not be planned */
  readonly refused: readonly string[];
  /** a sentence for each manifest that is written although its adoption would change something */
  readonly differing: readonly string[];
}

interface CheckInput {
  readonly stack: Stack;
  /** absolute path of the stack file */
  readonly file: string;
  readonly kinds: Registry;
  readonly targets: readonly ExportedTarget[];
}

export async function checkManifests(
  drafted: readonly DraftedManifest[],
  input: CheckInput,
): Promise<Checked> {
  const { stack, kinds } = input;
  const { text, lines } = writeManifests(drafted, '');
  const read = await readManifests({
    path: input.file,
    cwd: stack.directory,
    replacementText: text,
    kinds,
    dialects,
  });
  const planning = planFor(read.resources, input);
  const refusals = new Map<DraftedManifest, string>();
  const refuse = (manifest: DraftedManifest | undefined, why: string) => {
    if (manifest !== undefined && !refusals.has(manifest))
      refusals.set(manifest, `${formatAddress(manifest.address)}: ${why}`);
  };
  const { plan, records } = planning;
  const problems = [...read.diagnostics, ...plan.problems].filter(({ severity }) => severity === 'error');
  for (const problem of problems) refuse(manifestAt(problem, drafted, lines), problem.message);
  const byAddress = new Map(drafted.map((manifest) => [formatAddress(manifest.address), manifest]));
  for (const { address } of read.resources) {
    const name = formatAddress(address);
    if (records.has(name)) continue;
    const why = problems.find(({ message }) => message.includes(quoted(name)))?.message;
    const whole = formatAddress(parentOf(address, kinds));
    refuse(byAddress.get(name) ?? byAddress.get(whole), why ?? 'it cannot be adopted as it is');
  }
  const own = new Set(read.resources.map(({ address }) => formatAddress(address)));
  return {
    manifests: drafted.filter((manifest) => !refusals.has(manifest)),
    refused: [...refusals.values()],
    differing: plan.changes.filter(({ address }) => own.has(formatAddress(address))).flatMap(differences),
  };
}

/** Plans as if no stack owned anything, and this one had never been applied. */
function planFor(desired: readonly DesiredResource[], { stack, kinds, targets }: CheckInput): PlanResult {
  return buildPlan({
    stack,
    kinds,
    desired,
    targets: targets.map(({ connected: { target, dialect }, sets }) => ({
      target,
      dialect,
      sets: withoutOwners(sets),
      requests: 0,
    })),
    ledger: { known: false, serial: 0, records: new Map() },
    manifestsComplete: true,
    files: 1,
    documents: desired.length,
  });
}

function parentOf(address: Address, kinds: Registry): Address {
  const ownership = kinds.get(address.kind)?.ownership;
  return ownership?.by === 'part' ? ownership.of(address) : address;
}

function withoutOwners(sets: ReadonlyMap<string, LiveSet>): ReadonlyMap<string, LiveSet> {
  return new Map(
    [...sets].map(([kind, set]) => [
      kind,
      { ...set, resources: set.resources.map((resource) => ({ ...resource, witness: {} })) },
    ]),
  );
}

function manifestAt(
  { place, related = [] }: ShownDiagnostic,
  drafted: readonly DraftedManifest[],
  lines: readonly number[],
): DraftedManifest | undefined {
  // A problem that a default of the stack causes is placed in the stack; its related place is in the manifest.
  const here = [place, ...related.map((other) => other.place)].find((at) => at?.file === standardInput);
  return here === undefined ? undefined : drafted[lines.findLastIndex((line) => line <= here.line)];
}

function differences({ address, action, fields }: Change): string[] {
  const changed = fields.filter(({ path }) => path[0] !== 'claim').map(({ path }) => path.join('.'));
  if (changed.length === 0 && action === 'adopt') return [];
  const what = changed.length === 0 ? `to ${action} it` : `to change ${changed.join(', ')}`;
  return [
    `${formatAddress(address)}: no manifest can express what is live there, and a plan is going ${what}`,
  ];
}
