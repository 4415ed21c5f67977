// Who touched it, in words: "touched", never "changed"; several are one of them.
import { expect, it } from 'vitest';
import type { Modification } from '../../../src/model/audit-trail.ts';
import { formatAgo, lastModifiedLines } from '../../../src/report/view/last-modified.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const hour = 3_600_000;

function touch(name: string, hours: number, about: Partial<Modification> = {}): Modification {
  return {
    at: new Date(now - hours * hour).toISOString(),
    actor: { id: `user-${name}`, name, kind: 'Client' },
    resource: { type: 'workspace', action: 'update' },
    event: `${name}-${hours}`,
    ...about,
  };
}

it('One who touched it is named with the time, the type and the action', () => {
  expect(lastModifiedLines({ touches: [touch('ann', 2)] }, now)).toEqual([
    '2 h ago · touched by user-ann (ann), workspace update',
  ]);
});

it('Several are each named as one of them, with how often', () => {
  const lock = { resource: { type: 'workspace', action: 'lock' } };
  const touches = [touch('ann', 1), touch('bob', 2), touch('ann', 3), touch('ann', 4, lock)];
  expect(lastModifiedLines({ touches }, now)).toEqual([
    'touched by one of',
    '  1 h ago · user-ann (ann), workspace update (2 times), workspace lock',
    '  2 h ago · user-bob (bob), workspace update',
  ]);
});

it('What is maybe ours, impersonated or done by the system is said so', () => {
  const words = (about: Partial<Modification>) =>
    lastModifiedLines({ touches: [touch('ann', 2, about)] }, now)[0];
  expect(words({ maybeOurs: true })).toMatch(/workspace update \(maybe ours\)$/);
  const behind = { id: 'user-ann', name: 'ann', kind: 'Impersonated', impersonatorId: 'user-root' };
  expect(words({ actor: behind })).toMatch(/user-ann \(ann\), impersonated by user-root,/);
  expect(words({ actor: { id: '', name: '', kind: 'System' } })).toMatch(/touched by System, workspace/);
});

it('Nobody, unknown, and who else it may have been are told apart', () => {
  expect(lastModifiedLines({ touches: [] }, now)).toEqual([
    'touched by nobody that the audit trail knows of, since the last apply',
  ]);
  expect(lastModifiedLines({ touches: [], unknown: 'too old' }, now)).toEqual([
    'touched by: unknown, too old',
  ]);
  expect(lastModifiedLines({ touches: [touch('ann', 2)], unknown: 'too old' }, now)).toEqual([
    '2 h ago · touched by user-ann (ann), workspace update',
    'or by somebody else: too old',
  ]);
});

it('What a trail calls itself cannot move the cursor', () => {
  const actor = { id: 'user-x', name: '\u001b[2Jx', kind: 'Client' };
  expect(lastModifiedLines({ touches: [touch('x', 2, { actor })] }, now).join('')).not.toContain('\u001b');
});

it('How long ago it was is told in its largest whole unit', () => {
  const ago = (milliseconds: number) => formatAgo(now - milliseconds, now);
  expect([ago(-5), ago(999), ago(1000), ago(90_000), ago(26 * hour), ago(80 * hour)]).toEqual([
    ...['just now', 'just now', '1 s ago', '1 min ago', '1 d ago', '3 d ago'],
  ]);
});

it('What is to come is told with its time, and what the clock of the service is ahead is taken into account', () => {
  expect(formatAgo(now + 5 * hour, now)).toBe('at 2026-11-20T17:00:00.000Z, a time to come');
  expect(lastModifiedLines({ touches: [touch('ann', -5)], clockAhead: 7 * hour }, now)[0]).toMatch(
    /^2 h ago/,
  );
});
