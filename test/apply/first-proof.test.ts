/** Who proves what a target keeps, and who waits for it (rule 48). */
import { describe, expect, it } from 'vitest';
import { WriteVerifier } from '../../src/apply/verify-write.ts';

/** Whether the promise has been fulfilled by now, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

describe('The first call that writes what is unproven', () => {
  it('proves it for the others, which wait so long', async () => {
    const proofs = new WriteVerifier();
    expect(await proofs.enter(['Tags', 'Whole'])).toEqual(['Tags', 'Whole']);
    const second = proofs.enter(['Whole']);
    expect(await isSettled(second)).toBe(false);
    proofs.end(['Tags', 'Whole'], 'kept');
    expect(await second).toEqual([]);
    expect(await proofs.enter(['Tags'])).toEqual([]);
  });

  it('leaves it to the next one if it was refused', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Whole']);
    const second = proofs.enter(['Whole']);
    proofs.end(['Whole']);
    expect(await second).toEqual(['Whole']);
  });

  it('stops the others if it was dropped, and what they hold of other proofs goes to the next', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Whole']);
    const second = proofs.enter(['Consumers', 'Whole']);
    const third = proofs.enter(['Consumers']);
    expect(await isSettled(third)).toBe(false);
    proofs.end(['Whole'], 'dropped');
    expect(await second).toEqual({ dropped: 'Whole' });
    expect(await third).toEqual(['Consumers']);
  });

  it('does not concern calls that write something else', async () => {
    const proofs = new WriteVerifier();
    await proofs.enter(['Whole']);
    expect(await proofs.enter(['Consumers'])).toEqual(['Consumers']);
  });
});
