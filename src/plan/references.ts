/** References to nothing: a name that is neither declared nor live, or that this very plan deletes (RULES 5). */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Draft } from './draft.ts';
import type { Scene } from './scene.ts';

export function findDanglingReferences(scene: Scene, drafts: ReadonlyMap<AddressText, Draft>): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const [text, resource] of scene.desired) {
    if (!drafts.has(text)) continue;
    for (const { to, path } of scene.kind(resource.address.kind).references?.(resource) ?? []) {
      const name = formatAddress(to);
      const told = (message: string, fix: string) =>
        problems.push({
          code: 'unknown-reference',
          severity: 'error',
          class: 'invalid',
          message,
          place: resource.placeOf(path),
          fix,
        });
      if (drafts.get(name)?.change.action === 'delete') {
        told(
          `"${text}" refers to "${name}", which this plan deletes`,
          'remove the reference, or keep what it refers to',
        );
      } else if (!scene.desired.has(name) && !scene.live.has(name)) {
        told(
          `"${text}" refers to "${name}", which is neither declared nor live`,
          'declare it, or correct the name',
        );
      }
    }
  }
  return problems;
}
