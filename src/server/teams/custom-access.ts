/**
 * Access to a workspace in the API's words, and the permissions that they stand for.
 * Invariant: a word stands for its permissions and for those of the weaker words before it.
 */
import { grantedBy, type Permission } from '../identity/workspace-permissions.ts';
import type { BodyObject, MemberReader } from '../json-api/body.ts';

/** Each attribute with its words from weak to strong, and what each adds. */
const LADDERS: Readonly<Record<string, readonly (readonly [string, readonly Permission[]])[]>> = {
  runs: [
    ['read', ['can-read-run']],
    ['plan', ['can-queue-run']],
    ['apply', ['can-queue-apply', 'can-queue-destroy']],
  ],
  variables: [
    ['none', []],
    ['read', ['can-read-variable']],
    ['write', ['can-update-variable']],
  ],
  'state-versions': [
    ['none', []],
    ['read-outputs', ['can-read-state-outputs']],
    ['read', ['can-read-state-versions']],
    ['write', ['can-create-state-versions']],
  ],
};

const SWITCHES: Readonly<Record<string, readonly Permission[]>> = {
  'workspace-locking': ['can-lock', 'can-unlock'],
  'run-tasks': ['can-manage-run-tasks'],
};

/** The attributes of an access: its level, and what that lets one do, word by word. */
export function accessAttributes(access: string, custom: string | null): Record<string, unknown> {
  const granted = new Set(grantedBy(access, custom));
  const ladders = Object.entries(LADDERS).map(([name, steps]) => {
    const reached = steps.filter(([, permissions]) => permissions.every((one) => granted.has(one)));
    return [name, reached.at(-1)?.[0] ?? steps[0]?.[0]];
  });
  const switches = Object.entries(SWITCHES).map(([name, permissions]) => [
    name,
    permissions.every((one) => granted.has(one)),
  ]);
  return { access, ...Object.fromEntries(ladders), ...Object.fromEntries(switches) };
}

/** The permissions of a custom access after the request; what no word stands for stays as it was. */
export function readCustomPermissions(
  read: MemberReader,
  attributes: BodyObject,
  before: readonly Permission[],
): Permission[] {
  const granted = new Set(before);
  for (const [name, steps] of Object.entries(LADDERS)) {
    const words = steps.map(([word]) => word);
    const word = read.nullableWord(name, words);
    if (word === undefined || word === null) continue;
    for (const [index, [, permissions]] of steps.entries()) {
      for (const one of permissions) toggle(granted, one, index <= words.indexOf(word));
    }
  }
  for (const [name, permissions] of Object.entries(SWITCHES)) {
    if (attributes[name] === undefined) continue;
    const on = read.boolean(name) === true;
    for (const one of permissions) toggle(granted, one, on);
  }
  return [...granted];
}

function toggle(granted: Set<Permission>, permission: Permission, on: boolean): void {
  if (on) granted.add(permission);
  else granted.delete(permission);
}
