import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterAuthRole as kind } from '../../../src/kinds/cluster-auth-role/index.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare, draftChange } from '../../support/services/cluster-auth/declare.ts';
import { type Mount, openEmbeddedMount } from '../../support/services/cluster-auth/open-mount.ts';

let mount: Mount;
beforeAll(async () => {
  mount = await openEmbeddedMount();
});
afterAll(() => mount.close());

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/);
const words = (of: fc.Arbitrary<string>) => fc.array(of, { minLength: 1, maxLength: 4 });
const listOrText = (of: fc.Arbitrary<string>): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.constantFrom(null, ''),
    words(of),
    words(of).map((list) => list.join(', ')),
  );
const lifetime = (units: fc.Arbitrary<number>): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.constantFrom(null, ''),
    units,
    units.map((n) => `${n}`),
    units.map((n) => `${Math.floor(n / 60)}m${n % 60}s`),
    units.map((n) => `${n / 4}m`),
  );
const block = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(fc.ipV6(), fc.integer({ min: 96, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);

const roleSpec: fc.Arbitrary<Spec> = fc
  .record<Record<string, Json>>(
    {
      boundServiceAccountNames: fc.oneof(words(word), fc.constant(['*'])),
      boundServiceAccountNamespaces: fc.oneof(words(word), fc.constant(['*'])),
      boundServiceAccountNamespaceSelector: fc.constantFrom(
        '',
        null,
        '{"matchLabels":{"a":"b"}}',
        'matchLabels:\n  a: b\n',
      ),
      audience: fc.oneof(fc.constant(null), fc.string()),
      aliasNameSource: fc.constantFrom(null, 'serviceaccount_uid', 'serviceaccount_name'),
      tokenTtl: lifetime(fc.integer({ min: 0, max: 1000 })),
      tokenMaxTtl: lifetime(fc.integer({ min: 1000, max: 100_000 })),
      tokenExplicitMaxTtl: lifetime(fc.nat({ max: 100_000 })),
      tokenPeriod: lifetime(fc.nat({ max: 100_000 })),
      tokenPolicies: listOrText(fc.mixedCase(word)),
      tokenBoundCidrs: listOrText(block),
      tokenNoDefaultPolicy: fc.constantFrom(null, true, false),
      tokenNumUses: fc.oneof(fc.constant(null), fc.nat({ max: 9 })),
      tokenType: fc.constantFrom(null, '', 'default', 'service'),
    },
    { requiredKeys: ['boundServiceAccountNames', 'boundServiceAccountNamespaces'] },
  )
  // Quarter minutes of 0 to 1000 seconds may exceed a maximum in another spelling.
  .filter((spec) =>
    (kind.check?.(declare(kind, 'r', spec), { declared: () => undefined, ...mount.session }) ?? []).every(
      ({ severity }) => severity !== 'error',
    ),
  );

/** The difference that is left after a role was applied; undefined if the plan predicted that the service refuses it. */
async function applyAndDiff(name: string, spec: Spec): Promise<unknown> {
  const resource = declare(kind, name, spec);
  const live = await kind.readOne(mount.session, resource.address);
  const { change, context, problems } = draftChange(kind, resource, live);
  const refused = problems.length > 0;
  for (const call of kind.calls(change, context).calls) {
    const answer = await mount.send(call);
    expect(answer.status, answer.words).toBe(refused ? 400 : 204);
  }
  if (refused) return undefined;
  return draftChange(kind, resource, await kind.readOne(mount.session, resource.address)).change.fields;
}

describe('A role that was applied', () => {
  it('has no difference afterwards, from any former state and in any spelling', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(roleSpec, roleSpec, async (before, after) => {
        count += 1;
        const name = `role-${count}`;
        expect(await applyAndDiff(name, before)).toEqual([]);
        for (const spec of [after, before])
          expect([undefined, []]).toContainEqual(await applyAndDiff(name, spec));
      }),
      { numRuns: 150 },
    );
  });

  it('needs no call when only the spelling of its manifest changes', async () => {
    const spec: Spec = {
      boundServiceAccountNames: ['a'],
      boundServiceAccountNamespaces: ['b'],
      tokenTtl: 60,
    };
    expect(await applyAndDiff('same', spec)).toEqual([]);
    const resource = declare(kind, 'same', { ...spec, tokenTtl: '1m' });
    const { change, context } = draftChange(
      kind,
      resource,
      await kind.readOne(mount.session, resource.address),
    );
    expect(kind.calls(change, context).calls).toEqual([]);
  });
});
