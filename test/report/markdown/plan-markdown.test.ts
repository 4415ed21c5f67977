import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardIds, type GuardId } from '../../../src/model/guard.ts';
import { formatAddress } from '../../../src/model/address.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { renderPlanMarkdown } from '../../../src/report/markdown/plan.ts';
import { renderDiagnosticsMarkdown } from '../../../src/report/markdown/sections.ts';
import { anyPlan } from '../../support/report/arbitrary-plan.ts';
import { attackingPlan } from '../../support/report/markdown-attacks.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { call, change, place, plan, problem } from '../../support/report/small-plan.ts';

const sample = (name: string) => ({ kind: 'Toy', target: 'acme', name });

const small = plan({
  changes: [
    change({
      action: 'create',
      reason: 'declared, not live',
      address: sample('kite'),
      fields: [
        { path: ['colour'], after: 'red', shape: 'scalar' },
        { path: ['friends'], after: ['ann', 'bob'], shape: 'set' },
        { path: ['key'], after: 'one\ntwo', shape: 'text' },
        { path: ['pause'], after: 5400, shape: 'duration', origin: 'default' },
      ],
    }),
    change({
      address: sample('ball'),
      fields: [
        { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
        { path: ['friends'], before: ['ann', 'bob'], after: ['ann', 'eve'], shape: 'set' },
      ],
      risks: [
        { path: ['friends'], effect: 'widens', message: '"eve" may play with it' },
        { path: ['friends'], effect: 'narrows', message: '"bob" may play with it no more' },
      ],
      notes: ['the colour fades'],
    }),
    change({
      action: 'delete',
      reason: 'no longer declared',
      address: sample('old'),
      id: 'toy-7',
      fields: [],
    }),
  ],
  notices: [{ address: sample('stray'), message: 'is claimed by nobody', fix: 'declare it' }],
  guards: [
    {
      id: 'deletes',
      effect: 'blocks',
      counted: 1,
      message: '1 Toy in "acme" would be deleted',
      concerns: [{ address: sample('old'), messages: [] }],
    },
    {
      id: 'rename',
      effect: 'blocks',
      counted: 1,
      message: '1 create looks like a rename',
      concerns: [{ address: sample('kite'), messages: ['looks like "old"'] }],
    },
  ],
});

describe('the Markdown of a plan', () => {
  it('reports risks first, then each change with folded fields, what was read, and the next steps', async () => {
    await expect(renderPlanMarkdown(small)).toMatchFileSnapshot('plan-markdown.golden.md');
    expect(activeIn(renderPlanMarkdown(small))).toEqual([]);
  });

  it('shows all of the access that a change widens, however many names it has', () => {
    const names = Array.from({ length: 90 }, (_, index) => `namespace-with-a-long-name-${index}`);
    const message = `${names.join(', ')} and zz-kube-system may log in`;
    const risks = [{ path: ['friends'], effect: 'widens' as const, message }];
    expect(renderPlanMarkdown(plan({ changes: [change({ risks })] }))).toContain('zz-kube-system may log in');
  });

  it('shows the details of the other changes, too, if the whole access of one leaves no room for them', () => {
    const message = `${'@'.repeat(9_000)} may log in`;
    const risks = [{ path: ['friends'], effect: 'widens' as const, message }];
    const [risky, other] = [change({ address: sample('kite'), risks }), change({ notes: ['second'] })];
    const text = renderPlanMarkdown(plan({ changes: [risky, other] }));
    expect(text).toContain('note: second');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
  });

  it('shows in the details the access that is too long for the list of risks', () => {
    const names = Array.from({ length: 290 }, (_, index) => `namespace-with-a-long-name-${index}`);
    const message = `${names.join(', ')} and zz-kube-system may log in`;
    const risks = [{ path: ['friends'], effect: 'widens' as const, message }];
    const text = renderPlanMarkdown(plan({ changes: [change({ risks })] }));
    expect(text).toContain('**and 1 more of them**');
    expect(text).toContain('zz-kube-system may log in');
  });

  it('has the exact requests if they are wanted', () => {
    const text = renderPlanMarkdown(plan({ changes: [change({ calls: [call({ body: { name: 'x' } })] })] }), {
      calls: true,
    });
    expect(text).toContain('```text\n\nPATCH /api/v2/toys/toy-1\n');
  });

  it('says that nothing can be applied while there are problems, and has no --ack then', () => {
    const text = renderPlanMarkdown({
      ...small,
      problems: [problem({ place: place(), fix: 'write "adopt: true"' })],
    });
    expect(text).toContain('### Problems\n\n**error** `not-ours` `toys.yaml:4:9`: Toy `ball` exists');
    expect(text).toContain('- fix: write `adopt: true`');
    expect(text).toContain('Nothing can be applied until the problems are solved');
    expect(text).not.toContain('--ack');
  });

  it('never says that there is nothing to do when the read was incomplete', () => {
    const text = renderPlanMarkdown(plan({ coverage: { ...plan().coverage, complete: false } }));
    expect(text).toContain('**The read was incomplete**');
    expect(text).not.toMatch(/No changes|nothing to apply/);
  });

  it('describes equal changes once, below all their names', () => {
    const same = ['one', 'two', 'three'].map((name) => change({ address: sample(name), reason: 'equal' }));
    const text = renderPlanMarkdown(plan({ changes: same }));
    expect(text.match(/<details>/g)).toHaveLength(1);
    expect(text).toContain('and 2 more with the same change');
  });

  it('has no active content for any names, values and texts of services', () => {
    fc.assert(
      fc.property(fc.oneof(attackingPlan, anyPlan), fc.boolean(), (any, calls) => {
        expect(activeIn(renderPlanMarkdown(any, { calls }))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a problem in Markdown', () => {
  it('has the lines of its message as a list, without escaped line ends', () => {
    const text = renderDiagnosticsMarkdown([problem({ message: 'not written\n  to do: a "b"' })], '');
    expect(text).toContain('**error** `not-ours`: not written\n\n- to do: a `b`');
  });
});

describe('a plan that is too long for a comment', () => {
  const sizeOf = (any: Plan) => Buffer.byteLength(renderPlanMarkdown(any));
  const many = <T>(count: number, of: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => of(index));

  it('reports every kind of risk, and counts what it leaves out', () => {
    const changes = many(3_000, (index) =>
      change({
        address: sample(`toy-${index}`),
        action: index % 2 === 0 ? 'delete' : 'update',
        fields: [{ path: ['colour'], before: 'red', after: `${index}`, shape: 'scalar' }],
      }),
    );
    const text = renderPlanMarkdown({ ...small, changes: [...changes, ...small.changes] });
    expect(text).toMatch(/#### Deletes\n\n- `Toy\/acme\/toy-0`.*\*\*and \d+ more deletes\*\*/s);
    expect(text).toContain('to acknowledge: `trueup apply --approve');
    expect(text).toContain('`eve` may play with it');
    const rows = text.match(/^\| `[-~+]` /gm)?.length ?? 0;
    const [, left = '0'] = /\*\*and (\d+) more changes\*\*/.exec(text) ?? [];
    expect(rows).toBeGreaterThan(50);
    expect(rows + Number(left)).toBe(3_003);
    expect(sizeOf({ ...small, changes })).toBeLessThanOrEqual(60_000);
  });

  it('counts the changes that it leaves out, even if one block would have many of them', () => {
    const single = (index: number) =>
      change({ address: sample(`a-${index}`), action: 'delete', notes: ['x'.repeat(500), `${index}`] });
    const equal = (index: number) => change({ address: sample(`z-${index}`), reason: 'equal' });
    const text = renderPlanMarkdown(plan({ changes: [...many(300, single), ...many(100, equal)] }));
    const blocks = text.match(/<details>/g)?.length ?? 0;
    const [, left = '0'] = /\*\*and (\d+) more changes\*\*, which `trueup show` prints/.exec(text) ?? [];
    expect(blocks + Number(left)).toBe(400);
  });

  it('counts the notes and messages that do not fit on a line', () => {
    const gone = change({
      address: sample('old'),
      action: 'delete',
      notes: many(5, (index) => `note ${index}`),
    });
    const concerns = [{ address: sample('old'), messages: many(9, (index) => `message ${index}`) }];
    const guard = { id: 'rename', effect: 'blocks', counted: 1, message: 'looks so', concerns } as const;
    const text = renderPlanMarkdown(plan({ changes: [gone], guards: [guard] }));
    expect(text).toContain('note 2; and 2 more notes');
    expect(text).toContain('message 4; and 4 more');
  });

  it.each(['@', '😀', '`', '"', '|', '\\', '<', 'x', '\u0000', '" "'])(
    'has at most 60,000 bytes when every text is %j, repeated',
    (character) => {
      const long = character.repeat(700);
      const address = { kind: 'Toy', target: long, name: long };
      const concerns = many(30, () => ({ address, messages: many(9, () => long) }));
      const any = plan({
        stack: long,
        digest: long,
        selection: [formatAddress(sample('x'))],
        changes: many(20, (index) =>
          change({
            address,
            action: (['delete', 'release', 'update', 'create'] as const)[index % 4] ?? 'create',
            reason: `${index} ${long}`,
            place: place({ file: long, text: long }),
            fields: many(3, () => ({
              path: [long],
              before: long,
              after: `${long}\n${long}`,
              shape: 'text' as const,
            })),
            notes: many(4, () => long),
            risks: many(4, (at) => ({
              path: [],
              effect: at % 2 === 0 ? 'widens' : 'narrows',
              message: long,
            })),
          }),
        ),
        guards: guardIds.map((id) => ({
          id: id as GuardId,
          effect: 'blocks',
          counted: 1,
          message: long,
          concerns,
        })),
        notices: many(30, () => ({ address, message: long, fix: long })),
        problems: many(30, () =>
          problem({
            severity: 'warning',
            message: long,
            found: long,
            fix: long,
            place: place({ file: long }),
          }),
        ),
        coverage: {
          complete: false,
          files: 1,
          documents: 1,
          ledger: 'found',
          ledgerNotes: many(9, () => long),
          targets: many(9, () => ({
            target: long,
            requests: 1,
            read: [],
            limits: many(9, () => long),
            incomplete: many(9, () => long),
            invisible: [long],
            notes: [long],
          })),
        },
      });
      expect(Buffer.byteLength(renderPlanMarkdown(any, { stack: long, calls: true }))).toBeLessThanOrEqual(
        60_000,
      );
      expect(activeIn(renderPlanMarkdown(any))).toEqual([]);
    },
  );
});

describe('The guards in a comment', () => {
  const guarded = (count: number) =>
    renderPlanMarkdown(
      plan({
        changes: small.changes,
        guards: Array.from({ length: count }, (_, at) => ({
          id: `policy/keeps-its-data-${at}` as GuardId,
          effect: 'blocks' as const,
          message: 'one change violates the policy, which has a long description for people',
          concerns: [],
          counted: 1,
        })),
      }),
    );

  it('have a complete command, or none', () => {
    const few = guarded(20);
    expect(few).toMatch(/--ack policy\/keeps-its-data-0,\S*policy\/keeps-its-data-19`/);
    const many = guarded(3000);
    expect(many).toContain('the command to acknowledge them is too long for this report');
    expect(many).not.toContain('--ack');
  });

  it('are counted if there are too many for the limit of a code host', () => {
    const text = guarded(3000);
    expect(Buffer.byteLength(text)).toBeLessThan(65_536);
    expect(text).toMatch(/and \d+ more guards/);
  });
});
