/** Where a secret comes from, as a stack says it, and the words that schemas of a stack share. */
import { Type } from 'typebox';

export const closed = { additionalProperties: false };
export const text = (description: string) => Type.String({ minLength: 1, description });

/** Exactly one of several members: expressed by their count and not by a union, because that gives better messages. */
export const oneMember = { ...closed, minProperties: 1, maxProperties: 1 };

export const env = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  patternErrorMessage: 'the name of an environment variable: letters, digits and "_"',
  description: 'Name of the environment variable that holds it',
});
export const file = text('Path of the file that holds it');

export const SecretSource = Type.Object(
  { env: Type.Optional(env), file: Type.Optional(file) },
  { ...oneMember, description: 'Where a secret is read from when it is needed; never the secret itself' },
);

export type SecretDocument = { readonly env?: string; readonly file?: string };
