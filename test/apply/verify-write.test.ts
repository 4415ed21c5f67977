/** Who proves what a target keeps, and who waits for it. */
import { describe, expect, it } from 'vitest';
import { WriteVerifier } from '../../src/apply/verify-write.ts';

/** Whether the promise has been fulfilled by now, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

describe('The first call that writes what is unverified', () => {
  it('proves it for the others, which wait so long', async () => {
    const proofs = new WriteVerifier();
    expect(await proofs.enter(['Tags', 'Parent'])).toEqual(['Tags', 'Parent']);
    const second = proofs.enter(['Parent']);
    expect(await isSettled(second)).toBe(false);
    proofs.end(['Tags', 'Parent'], 'kept');
    expect(await second).toEqual([]);
    expect(await proofs.enter(['Tags'])).toEqual([]);
  });

  it('leaves it to the next one if it was refused', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    const second = proofs.enter(['Parent']);
    proofs.end(['Parent']);
    expect(await second).toEqual(['Parent']);
  });

  it('stops the others if it was dropped, and what they hold of other proofs goes to the next', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    const second = proofs.enter(['Consumers', 'Parent']);
    const third = proofs.enter(['Consumers']);
    expect(await isSettled(third)).toBe(false);
    proofs.end(['Parent'], 'dropped');
    expect(await second).toEqual({ dropped: 'Parent' });
    expect(await third).toEqual(['Consumers']);
  });

  it('does not concern calls that write something else', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Parent']);
    expect(await proofs.enter(['Consumers'])).toEqual(['Consumers']);
  });
});
