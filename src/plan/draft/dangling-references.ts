/**
 * References to nothing: a name that is neither declared nor live, that this very plan deletes, or whose id nobody could
 * look up for a change that needs it (rules 5, 39).
 */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Draft } from './draft-declared.ts';
import type { Scene } from '../context/plan-context.ts';
import { unseen } from '../context/missing-reference.ts';

export function findDanglingReferences(scene: Scene, drafts: ReadonlyMap<AddressText, Draft>): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const [text, resource] of scene.desired) {
    const draft = drafts.get(text);
    if (draft === undefined) continue;
    for (const { to, path } of scene.kind(resource.address.kind).references?.(resource) ?? []) {
      const told = dangling(scene, drafts.get(formatAddress(to)), { from: draft.change, to });
      if (told === undefined) continue;
      const place = resource.placeOf(path);
      problems.push({ code: 'unknown-reference', severity: 'error', place, ...told });
    }
  }
  return problems;
}

function dangling(
  scene: Scene,
  draft: Draft | undefined,
  { from, to }: { readonly from: Change; readonly to: Address },
): Pick<Diagnostic, 'class' | 'message' | 'fix'> | undefined {
  const refers = `"${formatAddress(from.address)}" refers to "${formatAddress(to)}"`;
  if (draft?.change.action === 'delete') {
    return {
      class: 'invalid',
      message: `${refers}, which this plan deletes`,
      fix: 'remove the reference, or keep what it refers to',
    };
  }
  if (scene.live.has(formatAddress(to))) return undefined;
  if (!scene.desired.has(formatAddress(to))) return unseen(scene, to, refers);
  // What is declared and not live is about to be created, unless nobody knows whether it is live.
  const blind = from.action === 'none' ? undefined : scene.unseen(to);
  if (blind === undefined) return undefined;
  return {
    class: 'incomplete',
    message: `${refers}, and nobody can tell which one that is: ${blind}`,
    fix: `make it possible to read "${formatAddress(to)}", then plan again`,
  };
}
