// Translation into a dialect and back changes nothing, for any body; keys and values of users are never changed by accident.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dialects } from '../../src/api/dialects.ts';
import { toNeutral } from '../../src/api/transport/read-response.ts';
import { renameMembers } from '../../src/model/call.ts';
import type { Json } from '../../src/model/json.ts';

const spoken = [...dialects.values()];
const neutralNames = [...new Set(spoken.flatMap(({ rename }) => Object.keys(rename)))];

const bodies = fc.letrec<{ body: Json }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 7, 'engine-version', 'kubernetes_host'),
    fc.array(tie('body'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(...neutralNames, 'name', 'constructor', 'toString'),
        fc.string({ maxLength: 4 }),
      ),
      tie('body'),
      { maxKeys: 4 },
    ),
  ),
})).body;

describe('a body', () => {
  it.each(spoken)('is the same after translation to $service/$name and back', (dialect) => {
    fc.assert(
      fc.property(bodies, (body) => {
        const wire = renameMembers(body, dialect.rename);
        expect(toNeutral(wire, dialect)).toEqual(body);
      }),
    );
  });

  it.each(spoken)('with the names of $service/$name already is not changed', (dialect) => {
    fc.assert(
      fc.property(bodies, (body) => {
        const wire = renameMembers(body, dialect.rename);
        expect(renameMembers(wire, dialect.rename)).toEqual(wire);
      }),
    );
  });
});
