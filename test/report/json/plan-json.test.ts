import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { plain } from '../../../src/report/text/layout.ts';
import { renderPlanJson } from '../../../src/report/json/plan.ts';
import { planSchema, type PlanJson } from '../../../src/report/json/plan-schema.ts';
import { renderPlan, renderUnconverged } from '../../../src/report/text/plan.ts';
import { anyPlan } from '../../support/report/arbitrary-plan.ts';
import { call, change, place, plan, problem } from '../../support/report/small-plan.ts';
import { IdReference, SecretReference } from '../../../src/model/call.ts';
import { readAddress } from '../../../src/model/address.ts';

const validate = new Ajv2020({ strict: true, allErrors: true }).compile<PlanJson>(planSchema);
const parsed = (text: string) => JSON.parse(text) as PlanJson;

describe('a plan as JSON', () => {
  it('is valid against its schema, for any plan', () => {
    fc.assert(
      fc.property(anyPlan, (any) => {
        validate(JSON.parse(renderPlanJson(any)));
        expect(validate.errors).toBeNull();
      }),
    );
  });

  it('equals the golden file', async () => {
    const text = renderPlanJson(
      plan({
        changes: [
          change({
            fields: [{ path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' }],
            risks: [{ path: ['colour'], effect: 'widens', message: 'more may see it' }],
            notes: ['the colour fades'],
            calls: [call({ body: { colour: 'blue' } })],
          }),
        ],
        notices: [
          {
            address: { kind: 'Toy', target: 'acme', name: 'stray' },
            message: 'is claimed by nobody',
            fix: 'declare it',
          },
        ],
        problems: [problem({ place: place(), fix: 'write "adopt: true"' })],
        guards: [{ id: 'deletes', effect: 'blocks', counted: 1, message: 'a delete', concerns: [] }],
      }),
    );
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
    await expect(`${text}\n`).toMatchFileSnapshot('plan-json.golden.txt');
  });

  it('has the parts of each change: address, fields with pointers, operations, requests', () => {
    const text = renderPlanJson(
      plan({
        changes: [
          change({
            action: 'update',
            id: 'toy-1',
            fields: [
              { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
              { path: ['labels', 'a/b'], after: 'x', shape: 'scalar' },
              { path: ['friends'], before: ['ann', 'bob'], after: ['bob', 'cat'], shape: 'set' },
            ],
            calls: [
              call({
                path: ['toys', new IdReference(readAddress('Toy/acme/new one')), 'a b'],
                body: {
                  type: 'toys',
                  id: new IdReference(readAddress('Toy/acme/new one')),
                  key: new SecretReference({ env: 'KEY' }),
                },
              }),
            ],
          }),
        ],
      }),
    );
    const [only] = parsed(text).changes;
    expect(only).toMatchObject({
      address: 'Toy/acme/ball',
      kind: 'Toy',
      target: 'acme',
      name: 'ball',
      action: 'update',
      id: 'toy-1',
      place: { file: 'toys.yaml', line: 4, column: 9 },
    });
    expect(only?.fields.map(({ path }) => path)).toEqual(['/colour', '/labels/a~1b', '/friends']);
    expect(only?.patch).toEqual([
      { op: 'replace', path: '/colour', value: 'blue' },
      { op: 'add', path: '/labels/a~1b', value: 'x' },
      { op: 'remove', path: '/friends/0' },
      { op: 'add', path: '/friends/-', value: 'cat' },
    ]);
    expect(only?.calls[0]).toMatchObject({
      path: '/toys/{Toy/acme/new one}/a%20b',
      body: { id: { $id: 'Toy/acme/new one' }, key: { $secret: { env: 'KEY' } }, type: 'toys' },
    });
  });

  it('is the same text for the same plan, for any order of the members of its values', () => {
    const shuffled = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member)]),
      );
    };
    fc.assert(
      fc.property(anyPlan, (any) => {
        const other = {
          ...any,
          changes: any.changes.map((one) => ({
            ...one,
            fields: one.fields.map((field) => ({
              ...field,
              ...(field.after === undefined ? {} : { after: shuffled(field.after) }),
            })),
          })),
        };
        expect(renderPlanJson(other)).toBe(renderPlanJson(any));
      }),
    );
  });

  it('counts its changes, problems and guards', () => {
    const text = renderPlanJson(
      plan({ changes: [change({ action: 'create' }), change({ action: 'delete' })] }),
    );
    expect(parsed(text).summary).toEqual({
      create: 1,
      adopt: 0,
      update: 0,
      release: 0,
      delete: 1,
      unchanged: 3,
      mentions: 0,
      problems: 0,
      guards: 0,
      blocking: 0,
    });
  });
});

it('a secret value in a field is in no report', () => {
  const leak = 'hunter2-hunter2';
  const values = [leak, { set: true, version: 2, value: leak }, { set: true, version: leak }, [leak]];
  for (const value of values) {
    const secret = plan({
      changes: [
        change({
          action: 'update',
          fields: [{ path: ['jwt'], before: value, after: value, shape: 'secret' }],
        }),
        change({ action: 'create', fields: [{ path: ['jwt'], after: value, shape: 'secret' }] }),
      ],
    });
    for (const text of [
      renderPlan(secret, { paint: plain, calls: true }),
      renderPlanJson(secret),
      renderUnconverged(secret, { paint: plain }),
    ]) {
      expect(text).not.toContain(leak);
    }
  }
});
