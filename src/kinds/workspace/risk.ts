/**
 * What a change of a workspace opens or closes, and what makes two workspaces look like one that was renamed. Pure;
 * `before` undefined is a new workspace, `after` undefined a deleted one.
 */
import { canonicalText, isJsonObject } from '../../model/json.ts';
import type { Spec } from '../../model/resource.ts';
import type { SharingEffect } from '../../targets/workspaces/sharing-effect.ts';

export function risk(before: Spec | undefined, after: Spec | undefined): readonly SharingEffect[] {
  const [was, is] = [before?.['globalRemoteState'] === true, after?.['globalRemoteState'] === true];
  if (was === is || after === undefined) return [];
  const path = ['globalRemoteState'];
  return is
    ? [
        {
          path,
          effect: 'widens',
          says: 'every workspace of the organization may read the state',
          guard: 'global-sharing',
        },
      ]
    : [{ path, effect: 'narrows', says: 'only approved consumers may read the state' }];
}

/** Equal texts: a delete of one and a create of the other is likely a rename (RULES 26). Undefined: nothing to go by. */
export function likeness(spec: Spec): string | undefined {
  const repository = spec['vcsRepo'];
  if (!isJsonObject(repository) || typeof repository['identifier'] !== 'string') return undefined;
  const { identifier, branch } = repository;
  return canonicalText([identifier, branch ?? '', spec['workingDirectory'] ?? '']);
}
