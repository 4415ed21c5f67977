/** The first call that writes an unverified member verifies it for the others, which wait. */
import { describe, expect, it } from 'vitest';
import { WriteVerifier } from '../../src/apply/verify-write.ts';

/** Whether the promise has been fulfilled by now, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

describe('The first call that writes an unverified member', () => {
  it('verifies it for the others, which wait for the result', async () => {
    const proofs = new WriteVerifier();
    expect(await proofs.enter(['Tags', 'Parent'])).toEqual(['Tags', 'Parent']);
    const second = proofs.enter(['Parent']);
    expect(await isSettled(second)).toBe(false);
    proofs.end(['Tags', 'Parent'], 'kept');
    expect(await second).toEqual([]);
    expect(await proofs.enter(['Tags'])).toEqual([]);
  });

  it('leaves the verification to the next call if it was refused', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    const second = proofs.enter(['Parent']);
    proofs.end(['Parent']);
    expect(await second).toEqual(['Parent']);
  });

  it('stops the others if the member was dropped, and passes on their other verifications', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    const second = proofs.enter(['Consumers', 'Parent']);
    const third = proofs.enter(['Consumers']);
    expect(await isSettled(third)).toBe(false);
    proofs.end(['Parent'], 'dropped');
    expect(await second).toEqual({ dropped: 'Parent' });
    expect(await third).toEqual(['Consumers']);
  });

  it('does not affect calls that write other members', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    expect(await proofs.enter(['Consumers'])).toEqual(['Consumers']);
  });
});
