/**
 * Access to a workspace or a project in the API's words, and what they stand for.
 * Invariant: a word stands for what it grants and for what the weaker words before it do.
 */

import { grantedBy } from '../identity/workspace-permissions.ts';
import type { Grantable } from '../identity/workspace-permissions.ts';
import type { BodyObject, MemberReader } from '../json-api/body.ts';

type Ladder = readonly (readonly [word: string, adds: readonly Grantable[]])[];

/** The words of one group of attributes. */
interface Words {
  /** Attributes with their words from weak to strong, and what each adds. */
  readonly ladders: Readonly<Record<string, Ladder>>;
  /** Attributes that are true or false. */
  readonly switches: Readonly<Record<string, readonly Grantable[]>>;
}

const WORKSPACE_LADDERS: Words['ladders'] = {
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
  'policy-mocks': [
    ['none', []],
    ['read', ['policy-mocks']],
  ],
};

export const WORKSPACE_WORDS: Words = {
  ladders: WORKSPACE_LADDERS,
  switches: {
    'workspace-locking': ['can-lock', 'can-unlock'],
    'run-tasks': ['can-manage-run-tasks'],
    'policy-overrides': ['policy-overrides'],
  },
};

/** Of an access to a project: what it lets one do with each of its workspaces, and with itself. */
export const PROJECT_WORDS: Readonly<Record<'workspace-access' | 'project-access', Words>> = {
  'workspace-access': {
    ladders: WORKSPACE_LADDERS,
    switches: {
      create: ['create-workspaces'],
      locking: ['can-lock', 'can-unlock'],
      move: ['move-workspaces'],
      delete: ['can-destroy'],
      'run-tasks': ['can-manage-run-tasks'],
      'policy-overrides': ['policy-overrides'],
    },
  },
  'project-access': {
    ladders: {
      settings: [
        ['read', []],
        ['update', ['update-project']],
        ['delete', ['delete-project']],
      ],
      teams: [
        ['none', []],
        ['read', ['read-teams']],
        ['manage', ['manage-teams']],
      ],
      'variable-sets': [
        ['none', []],
        ['read', ['read-variable-sets']],
        ['write', ['write-variable-sets']],
      ],
    },
    switches: {},
  },
};

/** What an access lets one do, word by word. */
export function accessWords(
  { ladders, switches }: Words,
  access: string,
  custom: string | null,
): Record<string, unknown> {
  const granted = new Set(grantedBy(access, custom));
  return Object.fromEntries([
    ...Object.entries(ladders).map(([name, steps]) => {
      const reached = steps.filter(([, adds]) => adds.every((one) => granted.has(one)));
      return [name, reached.at(-1)?.[0] ?? steps[0]?.[0]];
    }),
    ...Object.entries(switches).map(([name, adds]) => [name, adds.every((one) => granted.has(one))]),
  ]);
}

/** What a custom access grants after the request; what no word stands for stays as it was. */
export function readWords(
  { ladders, switches }: Words,
  read: MemberReader,
  attributes: BodyObject,
  before: readonly Grantable[],
): Grantable[] {
  const granted = new Set(before);
  for (const [name, steps] of Object.entries(ladders)) {
    const words = steps.map(([word]) => word);
    const word = read.nullableWord(name, words);
    if (word === undefined || word === null) continue;
    for (const [index, [, adds]] of steps.entries()) {
      for (const one of adds) toggle(granted, one, index <= words.indexOf(word));
    }
  }
  for (const [name, adds] of Object.entries(switches)) {
    if (attributes[name] === undefined) continue;
    const on = read.boolean(name) === true;
    for (const one of adds) toggle(granted, one, on);
  }
  return [...granted];
}

function toggle(granted: Set<Grantable>, one: Grantable, on: boolean): void {
  if (on) granted.add(one);
  else granted.delete(one);
}
