import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blockingIds, type Guard, guardDefaults } from '../../src/model/guard.ts';

it('docs/reference/guards.md lists every guard, in the order of reports, with its default', () => {
  const page = readFileSync(new URL('../../docs/reference/guards.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| \[`([a-z-]+)`\]\(.*?\) \| (\w+) \| .* \|$/gm)].map(([, id, effect]) => [
    id,
    effect,
  ]);
  expect(rows).toEqual(Object.entries(guardDefaults));
});

it('a blocking guard is acknowledged once, for all its kinds and targets', () => {
  const guard = (id: Guard['id'], effect: Guard['effect'], target: string): Guard => ({
    id,
    effect,
    kind: 'Toy',
    target,
    counted: 1,
    message: '',
    concerns: [],
  });
  const guards = [
    guard('zero', 'blocks', 'one'),
    guard('zero', 'blocks', 'two'),
    guard('rename', 'blocks', 'one'),
    guard('widening', 'warns', 'one'),
  ];
  expect(blockingIds(guards)).toEqual(['zero', 'rename']);
});
