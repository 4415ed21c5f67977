import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../../src/manifest/schema/compile-schema.ts';
import { type Call, IdReference } from '../../../src/model/call.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { checksumOf, planJson, renderPlanJson } from '../../../src/report/json/plan.ts';
import { planSchema } from '../../../src/report/json/plan-schema.ts';
import { type ReadPlan, readPlan } from '../../../src/run/plan-file.ts';
import { anyPlan } from '../../support/report/arbitrary-plan.ts';
import { call, change, place, plan, problem } from '../../support/report/small-plan.ts';
import { readAddress } from '../../../src/model/address.ts';

function read(text: string): ReadPlan {
  const errors = compileSchema(planSchema, () => planSchema);
  return readPlan(text, { check: (value) => errors(value).map(({ message = '' }) => message) });
}

function reread(made: Plan): Plan {
  const found = read(renderPlanJson(made));
  if (found.is !== 'plan') throw new Error(JSON.stringify(found));
  return found.plan;
}

/** Without braces in names, because a path template marks references with them. */
function withPlainReferences(made: Plan): Plan {
  const plain = (one: Call): Call => ({
    ...one,
    path: one.path.map((part) =>
      typeof part === 'string' ? part : new IdReference(readAddress(part.$id.replace(/[{}]/g, ''))),
    ),
  });
  return { ...made, changes: made.changes.map((one) => ({ ...one, calls: one.calls.map(plain) })) };
}

describe('A plan that is written as JSON and read back', () => {
  it('is the same plan, for any names and values', () => {
    fc.assert(
      fc.property(anyPlan.map(withPlainReferences), (made) => {
        expect(planJson(reread(made))).toEqual(planJson(made));
      }),
    );
  });

  it('keeps paths with slashes and tildes, unknown ids, and values before and after', () => {
    const one = change({
      fields: [{ path: ['tags', 'a/b~c'], before: null, after: 'x', shape: 'scalar', origin: 'default' }],
      calls: [
        call({
          path: ['toys', new IdReference(readAddress('Toy/acme/ball')), 'a b/c'],
          body: { friend: new IdReference(readAddress('Toy/acme/bat')) },
          createsId: { address: readAddress('Toy/acme/ball'), pointer: '/id' },
        }),
      ],
      id: 'toy-1',
      preconditions: { locked: false },
    });
    expect(reread(plan({ changes: [one] })).changes).toEqual([
      { ...one, place: { ...place(), text: '', length: 0 } },
    ]);
  });

  it('keeps the places of problems, but not the text of their lines', () => {
    const original = problem({ place: place(), related: [{ message: 'the other one', place: place() }] });
    const [found] = reread(plan({ problems: [original] })).problems;
    const bare = { ...place(), text: '', length: 0 };
    expect(found).toEqual({ ...original, place: bare, related: [{ message: 'the other one', place: bare }] });
  });

  it('has of a secret only whether it is set, its version and its source', () => {
    const after = { set: true, version: 2, env: 'JWT', value: 'planted' };
    const secret = { path: ['jwt'], after, shape: 'secret' } as const;
    const [found] = reread(plan({ changes: [change({ fields: [secret] })] })).changes;
    expect(found?.fields).toEqual([{ ...secret, after: { set: true, version: 2, env: 'JWT' } }]);
  });
});

describe('An invalid plan is reported', () => {
  const good = planJson(
    plan({ changes: [change({ fields: [{ path: ['a'], after: 1, shape: 'scalar' }] })] }),
  );
  const edited = (about: object) => {
    const changed = { ...good, ...about };
    return read(JSON.stringify({ ...changed, checksum: checksumOf(changed) }));
  };

  it.each([
    ['an empty file', ''],
    ['half a plan', JSON.stringify(good).slice(0, 80)],
    ['a stack', '{"kind": "Stack"}'],
    ['a list', '[]'],
    ['null', 'null'],
  ])('%s', (_, text) => {
    expect(read(text)).toMatchObject({ is: 'no-plan' });
  });

  it.each([1, 3, '2', null])('a plan of version %j, with any other content', (version) => {
    expect(edited({ version, changes: 'of another shape' })).toEqual({ is: 'other-version', version });
  });

  it.each<[string, object]>([
    ['an unknown action', { changes: [{ ...good.changes[0], action: 'destroy' }] }],
    ['a change without an address', { changes: [{ action: 'delete' }] }],
    ['an invalid digest', { digest: 'short' }],
    ['a path that is not a pointer', withPath('a')],
    ['a call whose path is not encoded', withCallPath('/toys/%E0%A4%A')],
    ['a call that refers to something other than an address', withCallPath('/toys/{ball}')],
    ['a selection of something other than an address', { selection: ['ball'] }],
  ])('%s', (_, about) => {
    expect(edited(about)).toMatchObject({ is: 'malformed', why: expect.not.stringContaining('checksum') });
  });

  function withPath(path: string): object {
    const fields = [{ path, shape: 'scalar', after: 1 }];
    return { changes: [{ ...good.changes[0], fields }] };
  }

  function withCallPath(path: string): object {
    const { changes } = planJson(plan({ changes: [change({ calls: [call()] })] }));
    return {
      changes: changes.map((one) => ({ ...one, calls: one.calls.map((sent) => ({ ...sent, path })) })),
    };
  }
});
