import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Drift } from '../../../src/model/drift.ts';
import type { LastModified } from '../../../src/model/audit-trail.ts';
import { renderDriftMarkdown } from '../../../src/commands/drift/render-markdown.ts';
import { markdownAttack } from '../../support/report/markdown-attacks.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { place, plan, problem } from '../../support/report/small-plan.ts';

const now = Date.parse('2026-11-22T21:36:28Z');
const { stack, targets, coverage } = plan();

function drift(about: Partial<Drift> = {}): Drift {
  return {
    ...{ stack, targets, coverage, drifted: [], pending: [], unrecorded: [], undetermined: [], problems: [] },
    ...{ unchanged: 5, complete: true },
    ...about,
  };
}

const sample = (name: string) => ({ kind: 'Toy', target: 'acme', name });

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

const small = drift({
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

describe('drift in Markdown', () => {
  it('lists what changed and who modified it, separately what is pending, and the next steps', async () => {
    const text = renderDriftMarkdown(small, { now });
    await expect(text).toMatchFileSnapshot('drift-markdown.golden.md');
    expect(activeIn(text)).toEqual([]);
  });

  it('says "No drift" only after a complete read', () => {
    expect(renderDriftMarkdown(drift(), { now })).toContain(
      '**No drift, nothing pending, 5 as last applied**',
    );
    const undetermined = [{ address: sample('ball'), message: 'was not answered' }];
    const text = renderDriftMarkdown(drift({ complete: false, undetermined }), { now });
    expect(text).not.toMatch(/No drift|nothing to do/i);
    expect(text).toContain('**The read was incomplete**');
    expect(text).toContain('### Not known whether it drifted');
  });

  it('does nothing, whatever names, values and people are in it', () => {
    fc.assert(
      fc.property(fc.array(markdownAttack, { minLength: 25, maxLength: 25 }), (texts) => {
        expect(activeIn(renderDriftMarkdown(hostile(texts), { now }))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it.each(['@', '😀', '`', '|', 'x'])(
    'has at most 60,000 bytes when every text is %j, repeated',
    (character) => {
      const one = hostile([character.repeat(700)]);
      const many = drift({
        ...one,
        drifted: Array.from(
          { length: 400 },
          (_, index) => ({ ...(one.drifted[index % 3] ?? small.drifted[0]) }) as Drift['drifted'][number],
        ),
        pending: Array.from({ length: 400 }, () => one.pending[0] as Drift['pending'][number]),
        undetermined: Array.from({ length: 400 }, () => one.undetermined[0] as Drift['undetermined'][number]),
        unrecorded: Array.from({ length: 400 }, () => one.undetermined[0] as Drift['undetermined'][number]),
      });
      const text = renderDriftMarkdown(many, { now });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
      expect(text).toMatch(/\*\*and \d+ more that drifted\*\*/);
      expect(activeIn(text)).toEqual([]);
    },
  );
});

/** Drift with these texts wherever a text from outside can stand. */
function hostile(texts: readonly string[]): Drift {
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
  const mention = () => ({ address: address(), message: any(), fix: any() });
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
    pending: [{ address: address(), is: 'changed', fields: fields(), place: spot() }],
    unrecorded: [mention()],
    undetermined: [mention()],
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
