/**
 * The corpus on services that lack parts of the API: the second plan of each case is empty, or, if the case needs a
 * missing part, the report says so.
 */
import { describe, it } from 'vitest';
import { expectEveryCase } from '../../support/corpus-as-one-stack.ts';
import { type Lack, lacks } from '../../support/simulation/limited-service.ts';

/** The others are in corpus-rest.test.ts, so that two workers share them. */
const services: readonly (readonly Lack[])[] = lacks.slice(0, 6).map((lack) => [lack]);

describe.each(services.map((missing) => [missing]))('On a service that lacks %j', (missing) => {
  it('each case is applied and leaves nothing to plan, or the report names the missing part', async () => {
    await expectEveryCase({ missing });
  }, 600_000);
});
