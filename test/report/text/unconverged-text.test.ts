import { expect, it } from 'vitest';
import { plain } from '../../../src/report/text/layout.ts';
import { renderUnconverged } from '../../../src/report/text/plan.ts';
import { change, plan } from '../../support/report/small-plan.ts';

const paint = plain;

it('each field that did not converge is listed, sent against returned', () => {
  const many = Array.from({ length: 30 }, (_, index) => `friend-${index}`);
  const text = renderUnconverged(
    plan({
      changes: [
        change({
          fields: [
            { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
            { path: ['pause'], before: 0, after: 3600, shape: 'duration' },
            { path: ['friends'], before: many.slice(1), after: many, shape: 'set' },
          ],
        }),
      ],
    }),
    { paint },
  );
  expect(text).toMatchInlineSnapshot(`
    "Toy/acme/ball  toys.yaml:4
        still to update: live differs from the manifest
        colour   sent blue, returned red
        pause    sent 1h, returned 0s
        friends  + friend-0  (29 the same)
          (- returned, + sent)

    1 resource did not converge"
  `);
});

it('an empty second plan leaves nothing to report', () => {
  expect(renderUnconverged(plan(), { paint })).toBe('');
});

it('an incomplete second read is reported as such', () => {
  const text = renderUnconverged(plan({ coverage: { ...plan().coverage, complete: false } }), { paint });
  expect(text).toContain('the read was incomplete');
});
