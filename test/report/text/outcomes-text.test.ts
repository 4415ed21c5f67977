import { describe, expect, it } from 'vitest';
import type { Outcome, OutcomeKind } from '../../../src/model/change.ts';
import { renderOutcomesJson } from '../../../src/report/json/apply-events.ts';
import {
  doneText,
  renderEvent,
  renderOutcomes,
  stepAfterApply,
  writtenText,
} from '../../../src/report/text/outcomes.ts';
import { plain } from '../../../src/report/text/layout.ts';
import { change, place } from '../../support/report/small-plan.ts';

const paint = plain;

function outcome(kind: OutcomeKind, name: string, about: Partial<Outcome> = {}): Outcome {
  return { address: { kind: 'Toy', target: 'acme', name }, action: 'update', kind, ...about };
}

const failed = outcome('failed', 'ball', {
  detail: 'PATCH https://toys.test/toys/1 answered 422: colour is taken (request 7f3a)',
  done: ['POST /toys/1/unlock'],
  place: place(),
});

describe('during an apply', () => {
  it('each finished change is one line with the progress', () => {
    const event = { type: 'end', outcome: outcome('applied', 'kite'), finished: 3, changes: 12 } as const;
    expect(renderEvent(event, { paint })).toBe('applied   ~ Toy/acme/kite  (3/12)');
  });

  it('a failure is one line, and the message of the service follows only at the end', () => {
    expect(renderEvent({ type: 'end', outcome: failed, finished: 4, changes: 12 }, { paint })).toBe(
      'failed    ~ Toy/acme/ball  (4/12)',
    );
  });

  it('a warning of the service follows its change, and is in the JSON', () => {
    const warned = outcome('applied', 'kite', { warnings: ['kites have no audience'] });
    expect(renderEvent({ type: 'end', outcome: warned, finished: 1, changes: 1 }, { paint })).toBe(
      'applied   ~ Toy/acme/kite  (1/1)  the service warns: kites have no audience',
    );
    expect(renderOutcomes([warned], { paint })).toContain(
      '\n    the service warns: kites have no audience\n',
    );
    expect(JSON.parse(renderOutcomesJson([warned]))).toMatchObject({
      outcomes: [{ outcome: 'applied', warnings: ['kites have no audience'] }],
    });
  });

  it('the begin says how much there is to do, and the start of a change prints nothing', () => {
    expect(renderEvent({ type: 'begin', changes: 1, calls: 3 }, { paint })).toBe(
      'Applying 1 change with 3 calls',
    );
    expect(renderEvent({ type: 'start', change: change() }, { paint })).toBeUndefined();
  });
});

describe('after a run that was stopped', () => {
  const unsent = (name: string) =>
    outcome('skipped', name, { detail: 'not sent: the run was stopped', place: place() });
  const numbered = (count: number, make: (name: string) => Outcome) =>
    Array.from({ length: count }, (_, index) => make(`toy-${index + 1}`));

  it('unsent changes are grouped, with the next step, and the JSON has each of them', () => {
    const waiting = (name: string) =>
      outcome('skipped', name, { detail: `depends on Toy/acme/${name}#create, which did not succeed` });
    const outcomes = [outcome('applied', 'kite'), ...numbered(200, unsent), ...numbered(90, waiting)];
    expect(renderOutcomes(outcomes, { paint, openOnly: true })).toMatchInlineSnapshot(`
      "skipped   ~ Toy/acme/toy-1
      skipped   ~ Toy/acme/toy-2
      skipped   ~ Toy/acme/toy-3
          and 197 more: "trueup history show latest" lists each
          200 changes: not sent: the run was stopped

      skipped   ~ Toy/acme/toy-1
      skipped   ~ Toy/acme/toy-2
      skipped   ~ Toy/acme/toy-3
          and 87 more: "trueup history show latest" lists each
          90 changes: skipped: depends on a change that was not sent

      1 applied, 290 skipped"
    `);
    expect(stepAfterApply(outcomes, undefined)).toBe(
      'Next: run the same command again. It continues with what is left.',
    );
    expect(JSON.parse(renderOutcomesJson(outcomes)).outcomes).toHaveLength(291);
    expect(renderEvent({ type: 'end', outcome: unsent('cat'), finished: 4, changes: 12 }, { paint })).toBe(
      undefined,
    );
  });

  it('a few unsent changes are listed, and the next step is to correct a failure', () => {
    const outcomes = [...numbered(2, unsent), failed];
    const text = renderOutcomes(outcomes, { paint });
    expect(text.match(/not sent: the run was stopped/g)).toHaveLength(2);
    expect(text).toContain('colour is taken');
    expect(stepAfterApply(outcomes, undefined)).toMatch(/^Next: correct what is reported above/);
  });
});

describe('after an apply', () => {
  it('every change has its outcome, and those that need action come last', () => {
    const outcomes = [
      failed,
      outcome('applied', 'kite', { action: 'create' }),
      outcome('skipped', 'cat', { detail: 'needs Toy/acme/ball#update, which failed' }),
      outcome('unchanged', 'dog'),
    ];
    expect(renderOutcomes(outcomes, { paint })).toMatchInlineSnapshot(`
      "applied   + Toy/acme/kite
      unchanged ~ Toy/acme/dog

      failed    ~ Toy/acme/ball  toys.yaml:4
          PATCH https://toys.test/toys/1 answered 422: colour is taken (request 7f3a)
          done before it stopped: POST /toys/1/unlock

      skipped   ~ Toy/acme/cat
          needs Toy/acme/ball#update, which failed

      1 applied, 1 unchanged, 1 skipped, 1 failed"
    `);
  });

  it('without changes, the report says so', () => {
    expect(renderOutcomes([], { paint })).toBe('Nothing to apply');
  });

  it('the JSON has the same outcomes', () => {
    const { summary, outcomes } = JSON.parse(renderOutcomesJson([failed, outcome('applied', 'kite')])) as {
      summary: object;
      outcomes: object[];
    };
    expect(summary).toEqual({ applied: 1, unchanged: 0, stale: 0, skipped: 0, unknown: 0, failed: 1 });
    expect(outcomes[0]).toEqual({
      address: 'Toy/acme/ball',
      kind: 'Toy',
      target: 'acme',
      name: 'ball',
      action: 'update',
      outcome: 'failed',
      detail: failed.detail,
      place: { file: 'toys.yaml', line: 4, column: 9 },
      done: ['POST /toys/1/unlock'],
    });
  });
});

describe('the text about what an apply has written', () => {
  const lost = outcome('unknown', 'kite', { action: 'create' });
  const inDoubt = outcome('failed', 'ball', { inDoubt: true });

  it('does not say "nothing" while a response is lost', () => {
    expect(writtenText([lost, inDoubt], undefined)).toBe('2 changes may have been made');
    expect(doneText([lost, inDoubt])).toBe(
      '0 of 2 changes were carried out, and 2 changes may have been made',
    );
    expect(stepAfterApply([lost], undefined)).toBe(
      'Next: run the same command again. It finds out which changes were made, and continues with what is left.',
    );
  });

  it('does not ask for another run if a later plan shows that nothing is left', () => {
    const found = outcome('unknown', 'kite', { foundTrue: true });
    expect(stepAfterApply([found], 'empty')).toContain('lists this apply');
    expect(stepAfterApply([found], 'not-empty')).toContain('run the same command again');
  });

  it('names each command with the flags that it has', () => {
    expect(stepAfterApply([], 'empty', '- --complete')).toBe(
      'Next: "trueup drift - --complete" shows later changes in the targets, and "trueup history -" lists this apply.',
    );
  });

  it('says "nothing" if a later plan shows that a failed change is left', () => {
    const proof = { changes: [change({ address: inDoubt.address })] };
    expect(writtenText([inDoubt], proof)).toBe('Nothing changed');
    expect(writtenText([inDoubt], { changes: [] })).toBe('1 change may have been made');
    expect(writtenText([outcome('failed', 'ball', { refused: true })], proof)).toBe('Nothing changed');
  });

  it('says that a failed create may have been made if the resource exists now, although a later plan changes it', () => {
    const created = outcome('failed', 'ball', { action: 'create', inDoubt: true });
    const later = (action: 'adopt' | 'create') => ({
      changes: [change({ address: created.address, action })],
    });
    expect(writtenText([created], later('adopt'))).toBe('1 change may have been made');
    expect(writtenText([created], later('create'))).toBe('Nothing changed');
  });

  it('has changes that were carried out in part, and those that a later read found', () => {
    const found = outcome('failed', 'cat', { inDoubt: true, foundTrue: true });
    expect(writtenText([failed, found, outcome('applied', 'dog'), lost], { changes: [] })).toBe(
      '2 updated, 1 carried out in part, 1 change may have been made',
    );
  });
});
