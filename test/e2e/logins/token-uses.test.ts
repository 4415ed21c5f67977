/** A given token that may be used a few times only ends an apply before its first write, not halfway. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role } from '../../support/cli/documents.ts';

async function tokenWith(bench: Bench, uses: number): Promise<string> {
  const answer = await fetch(`${bench.wire.url}/v1/auth/token/create`, {
    method: 'POST',
    headers: { 'x-service-token': secrets.SERVICE_TOKEN },
    body: JSON.stringify({ num_uses: uses }),
  });
  const { auth } = (await answer.json()) as { auth: { client_token: string } };
  return auth.client_token;
}

async function applyWith(bench: Bench, stack: Checkout, uses: number) {
  const token = await tokenWith(bench, uses);
  bench.wire.reset();
  return trueup(['apply', '--yes'], { cwd: stack.directory, env: { ...secrets, SERVICE_TOKEN: token } });
}

async function declared() {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(role('anchor'));
  await stack.declare(role('anchor'), role('one'), role('two'), role('three'));
  return { bench, stack };
}

describe('An apply with a token that may be used a few times', () => {
  it('that are too few ends before the first write, and says how many it needs', async () => {
    const { bench, stack } = await declared();
    const { code, err } = await applyWith(bench, stack, 8);
    expect(code).toBe(1);
    expect(err).toMatch(
      /the token of target "prod" may be used for \d more requests, and this apply needs about \d+/,
    );
    expect(bench.wire.writes()).toEqual([]);
  });

  it('that are enough carries the plan out', async () => {
    const { bench, stack } = await declared();
    const { code, out } = await applyWith(bench, stack, 60);
    expect(out).toContain('3 applied');
    expect(code).toBe(0);
  });
});
