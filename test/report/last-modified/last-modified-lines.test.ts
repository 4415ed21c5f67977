// Who last modified a resource, as lines; several actors are listed as alternatives.
import { expect, it } from 'vitest';
import type { Modification } from '../../../src/model/audit-trail.ts';
import { formatAgo, lastModifiedLines } from '../../../src/report/view/format-last-modified.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const hour = 3_600_000;

function modification(name: string, hours: number, about: Partial<Modification> = {}): Modification {
  return {
    at: new Date(now - hours * hour).toISOString(),
    actor: { id: `user-${name}`, name, kind: 'Client' },
    resource: { type: 'workspace', action: 'update' },
    event: `${name}-${hours}`,
    ...about,
  };
}

it('A single actor is named with the time, the type and the action', () => {
  expect(lastModifiedLines({ modifications: [modification('ann', 2)] }, now)).toEqual([
    'modified 2 h ago by user-ann (ann), workspace update',
  ]);
});

it('Several actors are each named, with how often they modified it', () => {
  const lock = { resource: { type: 'workspace', action: 'lock' } };
  const modifications = [
    modification('ann', 1),
    modification('bob', 2),
    modification('ann', 3),
    modification('ann', 4, lock),
  ];
  expect(lastModifiedLines({ modifications }, now)).toEqual([
    'modified by one of',
    '  1 h ago · user-ann (ann), workspace update (2 times), workspace lock',
    '  2 h ago · user-bob (bob), workspace update',
  ]);
});

it('Modifications that may be ours, impersonated ones, and those of the system are marked', () => {
  const words = (about: Partial<Modification>) =>
    lastModifiedLines({ modifications: [modification('ann', 2, about)] }, now)[0];
  expect(words({ maybeOurs: true })).toMatch(/workspace update \(maybe ours\)$/);
  const behind = { id: 'user-ann', name: 'ann', kind: 'Impersonated', impersonatorId: 'user-root' };
  expect(words({ actor: behind })).toMatch(/user-ann \(ann\), impersonated by user-root,/);
  expect(words({ actor: { id: '', name: '', kind: 'System' } })).toMatch(/ by System, workspace/);
});

it('No actors, unknown ones, and possible other ones have different texts', () => {
  expect(lastModifiedLines({ modifications: [] }, now)).toEqual([
    'not modified since the last apply, according to the audit trail',
  ]);
  expect(lastModifiedLines({ modifications: [], unknown: 'too old' }, now)).toEqual([
    'modified by: unknown, too old',
  ]);
  expect(lastModifiedLines({ modifications: [modification('ann', 2)], unknown: 'too old' }, now)).toEqual([
    'modified 2 h ago by user-ann (ann), workspace update',
    'or by others: too old',
  ]);
});

it('Names from the trail cannot move the cursor', () => {
  const actor = { id: 'user-x', name: '\u001b[2Jx', kind: 'Client' };
  expect(lastModifiedLines({ modifications: [modification('x', 2, { actor })] }, now).join('')).not.toContain(
    '\u001b',
  );
});

it('The age is given in the largest whole unit', () => {
  const ago = (milliseconds: number) => formatAgo(now - milliseconds, now);
  expect([ago(-5), ago(999), ago(1000), ago(90_000), ago(26 * hour), ago(80 * hour)]).toEqual([
    ...['just now', 'just now', '1 s ago', '1 min ago', '1 d ago', '3 d ago'],
  ]);
});

it('A time in the future is printed in full, and the clock of the service is taken into account', () => {
  expect(formatAgo(now + 5 * hour, now)).toBe('at 2026-11-20T17:00:00.000Z (in the future)');
  expect(
    lastModifiedLines({ modifications: [modification('ann', -5)], clockAhead: 7 * hour }, now)[0],
  ).toMatch(/^modified 2 h ago/);
});
