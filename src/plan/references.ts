/** References to nothing: a name that is neither declared nor live, or that this very plan deletes (RULES 5). */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Draft } from './draft.ts';
import type { Scene } from './scene.ts';
import { unseen } from './unseen.ts';

export function findDanglingReferences(scene: Scene, drafts: ReadonlyMap<AddressText, Draft>): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const [text, resource] of scene.desired) {
    if (!drafts.has(text)) continue;
    for (const { to, path } of scene.kind(resource.address.kind).references?.(resource) ?? []) {
      const told = dangling(scene, drafts.get(formatAddress(to)), { from: resource.address, to });
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
  { from, to }: { readonly from: Address; readonly to: Address },
): Pick<Diagnostic, 'class' | 'message' | 'fix'> | undefined {
  const refers = `"${formatAddress(from)}" refers to "${formatAddress(to)}"`;
  if (draft?.change.action === 'delete') {
    return {
      class: 'invalid',
      message: `${refers}, which this plan deletes`,
      fix: 'remove the reference, or keep what it refers to',
    };
  }
  const isThere = scene.desired.has(formatAddress(to)) || scene.live.has(formatAddress(to));
  return isThere ? undefined : unseen(scene, to, refers);
}
