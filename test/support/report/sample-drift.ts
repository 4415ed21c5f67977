/** A small drift of every sort, for tests of reports. */
import type { LastModified } from '../../../src/model/audit-trail.ts';
import type { Drift } from '../../../src/model/drift.ts';
import { place, plan, problem } from './small-plan.ts';

export const now = Date.parse('2026-11-22T21:36:28Z');
const { stack, targets, coverage } = plan();

export function drift(about: Partial<Drift> = {}): Drift {
  return {
    ...{
      stack,
      targets,
      coverage,
      drifted: [],
      changedNames: [],
      pending: [],
      unrecorded: [],
      undetermined: [],
      problems: [],
    },
    ...{ unchanged: 5, complete: true },
    ...about,
  };
}

export const sample = (name: string) => ({ kind: 'Toy', target: 'acme', name });

const byAnn: LastModified = {
  modifications: [
    {
      at: '2026-11-22T19:36:28Z',
      actor: { id: 'user-1', name: 'ann', kind: 'Client' },
      resource: { type: 'toy', action: 'update' },
      event: 'ae-1',
    },
  ],
};

export const smallDrift = drift({
  drifted: [
    {
      address: sample('ball'),
      is: 'changed',
      id: 'toy-1',
      fields: [
        { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar', both: true },
        { path: ['friends'], before: ['ann'], after: ['ann', 'eve'], shape: 'set' },
      ],
      notes: ['its claim is gone'],
      lastModified: byAnn,
    },
    { address: sample('old'), is: 'gone', id: 'toy-7', fields: [], notes: [] },
    { address: sample('kite'), is: 'recreated', id: 'toy-8', newId: 'toy-9', fields: [], notes: [] },
  ],
  unmanaged: {
    resources: [
      {
        address: sample('ball'),
        fields: [{ path: ['note'], before: '', after: 'x', shape: 'scalar' }],
        lastModified: byAnn,
      },
    ],
    unseen: 2,
  },
  changedNames: [
    {
      ...{ address: sample('ball'), field: 'boxId', given: 'red box', id: 'box-2', recorded: ['box-1'] },
      message: '"red box" (boxId) was "box-1" when it was applied, and is "box-2" now',
      fix: 'give the boxes their names back',
      place: place(),
    },
  ],
  pending: [
    { address: sample('new'), is: 'new', fields: [], place: place() },
    {
      address: sample('ball'),
      is: 'changed',
      fields: [{ path: ['colour'], before: 'red', after: 'green', shape: 'scalar', both: true }],
    },
  ],
  unrecorded: [{ address: sample('stray'), message: 'has our ownership tag, and is not in the ledger' }],
});

/** Drift with these texts in all places that can have a text from outside. */
export function hostileDrift(texts: readonly string[]): Drift {
  let next = 0;
  const any = () => texts[next++ % texts.length] ?? '';
  const address = () => ({ kind: 'Toy', target: any(), name: any() });
  const fields = () => [
    {
      path: [any()],
      before: any(),
      after: `${any()}\n${any()}`,
      shape: 'text' as const,
      both: true as const,
    },
    { path: [any()], before: [any()], after: [any()], shape: 'set' as const },
  ];
  const lastModified = (): LastModified => ({
    modifications: [
      {
        at: '2026-11-22T19:36:28Z',
        actor: { id: any(), name: any(), kind: any(), impersonatorId: any() },
        resource: { type: any(), action: any() },
        event: any(),
      },
    ],
    unknown: any(),
  });
  const notice = () => ({ address: address(), message: any(), fix: any() });
  const spot = () => place({ file: any(), text: any() });
  return drift({
    stack: any(),
    complete: false,
    drifted: (['changed', 'gone', 'recreated'] as const).map((is) => ({
      ...{ address: address(), is, id: any(), newId: any(), fields: fields(), notes: [any()] },
      lastModified: lastModified(),
    })),
    unmanaged: {
      resources: [{ address: address(), fields: fields(), lastModified: lastModified() }],
      unseen: 1,
    },
    changedNames: [
      {
        ...{ address: address(), field: any(), given: any(), id: any(), recorded: [any()] },
        ...{ message: any(), fix: any(), place: spot() },
      },
    ],
    pending: [{ address: address(), is: 'changed', fields: fields(), place: spot() }],
    unrecorded: [notice()],
    undetermined: [notice()],
    problems: [problem({ message: any(), place: spot(), fix: any() })],
    coverage: {
      ...coverage,
      complete: false,
      ledgerNotes: [any()],
      targets: [
        {
          ...{ target: any(), requests: 1, read: [{ kind: any(), count: 1 }] },
          limits: [any()],
          incomplete: [any()],
          invisible: [any()],
          notes: [any()],
        },
      ],
    },
  });
}
