/** What may be the case of a thing that can bear no mark, such as a role: all combinations. */
import { type Combination, declared, documents, type Rule } from './decision-table.ts';

/**
 * The circumstances of a role. `unsaid`: its target has no `owns`; `begun`: the ledger does not know it, and an apply that was
 * cut short had begun to create it; `adopted:delete`: its last manifest said so.
 */
export const roleCircumstances = {
  document: documents,
  owns: ['inside', 'outside', 'unsaid'],
  ledger: [
    'no ledger',
    'no record',
    'begun',
    'created',
    'adopted',
    'adopted:delete',
    'created:protect',
    'created:release',
  ],
  live: ['missing', 'as declared', 'as last written', 'changed since'],
  target: ['shared', 'exclusive'],
} as const;

export type RoleCase = Combination<typeof roleCircumstances>;
export type RoleRule = Rule<typeof roleCircumstances>;

export const there = ['as declared', 'as last written', 'changed since'] as const;
export const notAsDeclared = ['as last written', 'changed since'] as const;
export const withRecord = [
  'created',
  'adopted',
  'adopted:delete',
  'created:protect',
  'created:release',
] as const;
/** records without `protect` and `onRemove` */
export const withPlainRecord = ['created', 'adopted'] as const;
export const withoutRecord = ['no ledger', 'no record', 'begun'] as const;
/** those that the manifest meant to be deleted with it */
export const deletable = ['created', 'adopted:delete'] as const;
export const mayBeOurs = ['inside', 'unsaid'] as const;

/** A name outside of `owns` cannot be declared at all: validation refuses it. */
export function isPossibleRole({ document, owns }: RoleCase): boolean {
  return owns !== 'outside' || !(declared as readonly string[]).includes(document);
}
