/**
 * The embedded service of a stack speaks one dialect for each of the two APIs: targets with `url: embedded` of one service
 * have to agree.
 */
import type { Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import type { Problem } from '../explain/problem.ts';

/** @param targets as the stack lists them; undefined where one could not be read */
export function checkEmbeddedDialects(targets: readonly (Target | undefined)[]): Problem[] {
  return targets.flatMap((target, at) => {
    if (target?.url !== 'embedded') return [];
    const firstAt = targets.findIndex(
      (other) => other?.url === 'embedded' && other.service === target.service,
    );
    const first = targets[firstAt];
    if (first === undefined || first.dialect === target.dialect) return [];
    return {
      code: 'embedded-dialects',
      path: ['spec', 'targets', `${at}`, 'dialect'],
      message:
        `target ${quoted(target.name)} speaks ${quoted(target.dialect)} to the embedded service, and ${quoted(first.name)} speaks ` +
        quoted(first.dialect),
      fix: 'write one dialect for both, or run a service of its own for one of them ("trueup serve")',
      related: [{ message: 'the other one', path: ['spec', 'targets', `${firstAt}`] }],
    };
  });
}
