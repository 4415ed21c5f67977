import { describe, expect, it } from 'vitest';
import type { Concern, Guard } from '../../../src/model/guard.ts';
import { guardSummary } from '../../../src/report/text/guards.ts';
import { plain } from '../../../src/report/text/layout.ts';
import { planJson } from '../../../src/report/json/plan.ts';
import { renderPlan } from '../../../src/report/text/plan.ts';
import { change, plan, problem } from '../../support/report/small-plan.ts';

function concern(name: string, ...messages: string[]): Concern {
  return { address: { kind: 'Toy', target: 'acme', name }, messages };
}

function guard(about: Partial<Guard> = {}): Guard {
  return {
    id: 'deletes',
    effect: 'blocks',
    kind: 'Toy',
    target: 'acme',
    counted: 4,
    of: 12,
    limit: 3,
    message: '4 of 12 Toy in "acme" would be deleted or released, more than 3',
    concerns: ['a', 'b', 'c', 'd'].map((name) => concern(name)),
    ...about,
  };
}

const widening = guard({
  id: 'widening',
  effect: 'warns',
  message: '1 Toy in "acme" would widen access',
  concerns: [
    concern('ball', 'everyone may kick it, and nobody asks who it is that does so', 'ann may keep it'),
  ],
});

describe('the risks of a plan', () => {
  const shown = plan({
    guards: [guard(), widening],
    changes: [
      change({
        risks: [
          { path: ['friends'], effect: 'widens', message: 'ann may keep it' },
          { path: ['friends'], effect: 'narrows', message: 'bob may not' },
        ],
      }),
    ],
  });

  it('come first with their resources; the summary repeats them, and says how to acknowledge them', () => {
    expect(renderPlan(shown, { paint: plain, width: 80 })).toMatchInlineSnapshot(`
      "Risks
        ! blocks  deletes   4 of 12 Toy in "acme" would be deleted or released, more
                            than 3
                    a, b, c, d
        ? warns   widening  1 Toy in "acme" would widen access
                    ball: everyone may kick it, and nobody asks who it is that does
                      so; ann may keep it

      acme  workspaces acme at https://toys.test, dialect neutral

      ~ update  Toy/acme/ball                                              toys.yaml:4
          live differs from the manifest
          widens: ann may keep it
          narrows: bob may not

      1 guard blocks applying until it is acknowledged: deletes; warnings: widening
      1 to update, 3 unchanged
      stack nursery  digest 0123456789abcdef0123456789abcdef
      to acknowledge  trueup apply --approve 0123456789abcdef0123456789abcdef --ack deletes

      Checked
        manifests  1 file, 4 documents
        ledger     found
        acme       2 requests: 4 of 4 Toy"
    `);
  });

  it('are in the JSON with their numbers and with what has to be acknowledged', () => {
    const json = planJson(shown);
    expect(json).toMatchObject({
      summary: { guards: 2, blocking: 1 },
      acknowledge: ['deletes'],
      guards: [
        { id: 'deletes', effect: 'blocks', counted: 4, of: 12, limit: 3 },
        { id: 'widening', effect: 'warns', concerns: [{ address: 'Toy/acme/ball', name: 'ball' }] },
      ],
    });
    expect(json.changes[0]?.risks).toEqual([
      { path: '/friends', effect: 'widens', says: 'ann may keep it' },
      { path: '/friends', effect: 'narrows', says: 'bob may not' },
    ]);
  });

  it('of many resources are counted at the end, unless they block with messages of their own', () => {
    const names = Array.from({ length: 30 }, (_, index) => `toy-${index}`);
    const text = (about: Partial<Guard>) =>
      renderPlan(plan({ guards: [guard(about)] }), { paint: plain, width: 200 });
    const bare = text({ concerns: names.map((name) => concern(name)) });
    expect(bare).toContain('toy-19');
    expect(bare).not.toContain('toy-20');
    expect(bare).toContain('and 10 more, listed with their changes');
    const concerns = names.map((name) => concern(name, 'everyone may kick it'));
    expect(text({ concerns })).toContain('toy-29: everyone may kick it');
    expect(text({ effect: 'warns', concerns })).not.toContain('toy-29');
  });

  it('are acknowledged by a command that names the stack like the user did', () => {
    const shown = plan({ guards: [guard()] });
    const commandFor = (stack: string) =>
      /^to acknowledge.*$/m.exec(renderPlan(shown, { paint: plain, stack }))?.[0];
    expect(commandFor('stacks/toys')).toBe(
      `to acknowledge  trueup apply stacks/toys --approve ${shown.digest} --ack deletes`,
    );
    expect(commandFor('- --complete')).toContain('trueup apply - --complete --approve');
  });

  it('have no command to acknowledge them if the plan also has problems', () => {
    const text = renderPlan(plan({ guards: [guard()], problems: [problem()] }), { paint: plain });
    expect(text).toContain('1 guard blocks applying until it is acknowledged: deletes');
    expect(text).not.toContain('--ack');
  });

  it.each<[string, Guard[], string | undefined]>([
    ['nothing without guards', [], undefined],
    ['the warnings', [widening], 'warnings: widening'],
    [
      'each blocking guard once',
      [guard(), guard({ target: 'other' }), guard({ id: 'zero' }), widening],
      '2 guards block applying until they are acknowledged: deletes, zero; warnings: widening',
    ],
  ])('are summed up as %s', (_, guards, expected) => {
    expect(guardSummary(plan({ guards }))).toBe(expected);
  });
});
