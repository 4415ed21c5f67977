/** All combinations of circumstances of a resource without ownership tag and creator mark, such as a role. */
import { type Combination, declared, documents, type Rule } from './decision-table.ts';

/**
 * The circumstances of a role. `unsaid`: its target has no `owns`; `begun`: the ledger has no record, and an interrupted apply had
 * begun to create it; `adopted:delete`: its last manifest had `onRemove: delete`.
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
/** records of roles that are deleted after their manifest is gone */
export const deletable = ['created', 'adopted:delete'] as const;
export const mayBeOurs = ['inside', 'unsaid'] as const;

/** A name outside of `owns` cannot be declared: validation refuses it. */
export function isPossibleRole({ document, owns }: RoleCase): boolean {
  return owns !== 'outside' || !(declared as readonly string[]).includes(document);
}
