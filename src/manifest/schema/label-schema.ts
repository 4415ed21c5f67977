/** Labels: words for things, by which others choose them. A key may have a DNS name in front. */
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
    'letters, digits, "-", "_" and ".", at most 63, beginning and ending with one of the former',
});

export const labelsSchema = (description: string) =>
  Type.Record(Type.String(key), value, {
    ...closed,
    minProperties: 1,
    maxProperties: 64,
    description,
    examples: [{ tier: 'production' }],
  });

/** Of a stack file, to read them without the rest of it. */
export const stackLabelsSchema = labelsSchema('Labels by which a fleet chooses stacks');
