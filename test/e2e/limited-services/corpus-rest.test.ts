/**
 * The rest of corpus.test.ts, and a service that lacks all parts: each case ends in an empty second plan, or, where it needs what is
 * lacking, in the sentence that says so.
 */
import { describe, it } from 'vitest';
import { expectEveryCase } from '../../support/corpus-as-one-stack.ts';
import { type Lack, lacks } from '../../support/simulation/limited-service.ts';

const services: readonly (readonly Lack[])[] = [...lacks.slice(6).map((lack) => [lack]), lacks];

describe.each(services.map((missing) => [missing]))('On a service that lacks %j', (missing) => {
  it('every case is done, and then nothing is left to do, or it says what it cannot do without', async () => {
    await expectEveryCase({ missing });
  }, 600_000);
});
