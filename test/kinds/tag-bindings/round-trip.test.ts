// A property of tag bindings: for any live and declared tags, the calls of the plan leave nothing to plan, and
// change no tags that do not belong to the document.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import type { Json } from '../../../src/model/json.ts';
import { at, declare, lineOf, planFor } from '../../support/services/workspaces/plan-organization.ts';

type Tags = Readonly<Record<string, string>>;

const key = fc.constantFrom('env', 'team', 'cost-a', 'cost-b', 'owner', 'hc:managed', 'x.y');
const tags = (allowed: (name: string) => boolean) =>
  fc.dictionary(key.filter(allowed), fc.constantFrom('', 'a', 'b'), { maxKeys: 4 });
const situation = fc.record({
  live: tags(() => true),
  desired: tags((name) => !name.startsWith('hc:')),
  keep: fc.uniqueArray(fc.constantFrom('cost-*', '*.y', 'owner', 'none-*')),
  dialect: fc.constantFrom('neutral', 'hcp-terraform'),
});

function plan({
  live,
  desired,
  keep,
  dialect,
}: {
  live: Tags;
  desired: Tags;
  keep: string[];
  dialect: string;
}) {
  return planFor({
    declared: [declare('Workspace', 'app'), declare('TagBindings', 'app', { tags: desired, keep })],
    live: [{ name: 'app', tags: live }],
    dialect,
  });
}

/** What the service has after the calls of a plan: a PATCH of `tag-bindings` adds, one of the workspace replaces. */
function after(live: Tags, made: ReturnType<typeof planFor>): Tags {
  let tagged: Record<string, string> = { ...live, [ownershipTagKey]: 'payments:id=0123abcd' };
  for (const call of made.changes.flatMap(({ calls }) => calls)) {
    const adds = lineOf(call).endsWith('/tag-bindings');
    const list = adds
      ? at(call.body, 'data')
      : at(call.body, 'data', 'relationships', 'tag-bindings', 'data');
    const sent = (list as readonly Json[]).map((item): [string, string] => [
      String(at(item, 'attributes', 'key')),
      String(at(item, 'attributes', 'value')),
    ]);
    tagged = { ...(adds ? tagged : {}), ...Object.fromEntries(sent) };
  }
  return tagged;
}

describe('Tags that are applied', () => {
  it("leave nothing to plan, keep the ownership tag, and keep tags that are not the document's", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const made = plan(given);
        expect(made.problems).toEqual([]);
        const { [ownershipTagKey]: ownershipTag, ...tagged } = after(given.live, made);
        expect(ownershipTag).toBe('payments:id=0123abcd');
        expect(tagged).toMatchObject(given.desired);
        expect(plan({ ...given, live: tagged }).changes).toEqual([]);
        const foreign = Object.entries(given.live).filter(([name]) => name.startsWith('hc:'));
        expect(tagged).toMatchObject(Object.fromEntries(foreign));
      }),
    );
  });
});
