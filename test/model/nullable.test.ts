import { expect, it } from 'vitest';
import { type TSchema, Type } from 'typebox';
import { nullable } from '../../src/model/nullable.ts';
import { jsonSchema } from '../../src/model/define-kind.ts';

it.each<[string, TSchema, object]>([
  ['a text', Type.String({ maxLength: 3 }), { type: ['string', 'null'], maxLength: 3 }],
  [
    'one of some words',
    Type.Enum(['a', 'b'], { type: 'string' }),
    { type: ['string', 'null'], enum: ['a', 'b', null] },
  ],
  ['a list', Type.Array(Type.String()), { type: ['array', 'null'], items: { type: 'string' } }],
])('%s that may be null has null in its type', (_, schema, expected) => {
  expect(jsonSchema(nullable(schema))).toEqual(expected);
});
