/** Labels: keys with values, by which a fleet chooses stacks. A key may have a DNS name as a prefix. */
import { Type } from 'typebox';
import { closed } from './place-schemas.ts';

const word = '[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?';
const dnsName = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';

export type Labels = Readonly<Record<string, string>>;

const key = {
  // A prefix is a DNS name of at most 253 characters.
  pattern: `^(?![^/]{254})(${dnsName}(\\.${dnsName})*/)?${word}$`,
  patternErrorMessage:
    'a key such as tier or example.com/tier: letters, digits, "-", "_" and ".", at most 63',
};

const value = Type.String({
  pattern: `^(${word})?$`,
  patternErrorMessage:
    'letters, digits, "-", "_" and ".", at most 63, beginning and ending with a letter or digit',
});

export const labelsSchema = (description: string) =>
  Type.Record(Type.String(key), value, {
    ...closed,
    minProperties: 1,
    maxProperties: 64,
    description,
    examples: [{ tier: 'production' }],
  });

/** The labels of a stack file, which can be read without the rest of the file. */
export const stackLabelsSchema = labelsSchema('Labels by which a fleet chooses stacks');
