/** Parts that several schemas share. Only schemas are exported: the build replaces this file by their JSON. */
import { Type } from 'typebox';
import { NAME_LIMIT, TEXT_LIMIT } from './request-body.ts';

/** Options of an object that has no other members. */
export const closed = { additionalProperties: false } as const;
export const text = Type.String({ minLength: 1 });
export const anyText = Type.String();
export const shortName = Type.String({ minLength: 1, maxLength: NAME_LIMIT });
export const description = Type.String({ minLength: 1, maxLength: TEXT_LIMIT });
export const flag = Type.Boolean();
export const wholeNumber = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
});
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const positive = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const time = Type.String({ format: 'time' });
