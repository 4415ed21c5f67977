/**
 * The rest of corpus.test.ts, and a service that lacks all parts: the second plan of each case is empty, or, if the case needs a
 * missing part, the report says so.
 */
import { describe, it } from 'vitest';
import { expectEveryCase } from '../../support/corpus-as-one-stack.ts';
import { type Lack, lacks } from '../../support/simulation/limited-service.ts';

const services: readonly (readonly Lack[])[] = [...lacks.slice(6).map((lack) => [lack]), lacks];

describe.each(services.map((missing) => [missing]))('On a service that lacks %j', (missing) => {
  it('each case is applied and leaves nothing to plan, or the report names the missing part', async () => {
    await expectEveryCase({ missing });
  }, 600_000);
});
