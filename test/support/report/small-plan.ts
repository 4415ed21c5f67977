/** Parts of plans about a kind that does not exist: each test gives only the members that it is about. */
import { digestVersion } from '../../../src/plan/digest.ts';
import type { Call } from '../../../src/model/call.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Diagnostic, Place } from '../../../src/model/diagnostic.ts';
import { type Plan, planVersion } from '../../../src/model/plan.ts';

export function place(about: Partial<Place> = {}): Place {
  return { file: 'toys.yaml', line: 4, column: 9, length: 4, text: '  name: ball', ...about };
}

export function change(about: Partial<Change> = {}): Change {
  return {
    address: { kind: 'Toy', target: 'acme', name: 'ball' },
    action: 'update',
    reason: 'live differs from the manifest',
    fields: [],
    notes: [],
    place: place(),
    calls: [],
    preconditions: {},
    ...about,
  };
}

export function call(about: Partial<Call> = {}): Call {
  return {
    id: 'Toy/acme/ball#update',
    target: 'acme',
    method: 'PATCH',
    path: ['toys', 'toy-1'],
    order: 10,
    needs: [],
    success: [200],
    repeatable: true,
    ...about,
  };
}

export function plan(about: Partial<Plan> = {}): Plan {
  return {
    version: planVersion,
    stack: 'nursery',
    targets: [
      { name: 'acme', service: 'workspaces', url: 'https://toys.test', place: 'acme', dialect: 'neutral' },
    ],
    changes: [],
    changedNames: [],
    unchanged: 3,
    notices: [],
    problems: [],
    guards: [],
    coverage: {
      complete: true,
      files: 1,
      documents: 4,
      ledger: 'found',
      ledgerNotes: [],
      targets: [
        {
          target: 'acme',
          requests: 2,
          read: [{ kind: 'Toy', count: 4, total: 4 }],
          limits: [],
          incomplete: [],
          invisible: [],
          notes: [],
        },
      ],
    },
    digestVersion,
    digest: '0123456789abcdef0123456789abcdef',
    ...about,
  };
}

export function problem(about: Partial<Diagnostic> = {}): Diagnostic {
  return {
    code: 'not-ours',
    severity: 'error',
    class: 'conflict',
    message: 'Toy "ball" exists without an ownership tag',
    ...about,
  };
}
