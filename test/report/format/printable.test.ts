import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderDiagnosticsJson } from '../../../src/report/json/render-json.ts';
import { renderDiagnostics } from '../../../src/report/text/diagnostics.ts';
import { renderOutcomesJson } from '../../../src/report/json/apply-events.ts';
import { renderEvent, renderOutcomes } from '../../../src/report/text/outcomes.ts';
import { plain } from '../../../src/report/text/layout.ts';
import { renderPlanJson } from '../../../src/report/json/plan.ts';
import { renderPlan, renderUnconverged } from '../../../src/report/text/plan.ts';
import { printable } from '../../../src/report/view/printable.ts';
import { anyDiagnostic, anyOutcome, anyPlan } from '../../support/report/arbitrary-plan.ts';

/** Control and format characters, other line separators, unpaired surrogates: all except our own line ends. */
const dangerous = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const paint = plain;

describe('text from outside', () => {
  it('is printed with escaped control sequences, bidi overrides and line ends', () => {
    expect(printable('a\u001b[31mb\u202ec\nd\te\u{e0001}')).toBe(
      'a\\u001b[31mb\\u202ec\\nd\\te\\udb40\\udc01',
    );
  });

  it('keeps every visible letter, in any script', () => {
    expect(printable('größe 網路 שלום 🚀 ~> 1.9')).toBe('größe 網路 שלום 🚀 ~> 1.9');
  });
});

describe('no report has control characters except its line ends', () => {
  it('a plan as text, with and without calls, wide and narrow', () => {
    fc.assert(
      fc.property(anyPlan, fc.boolean(), fc.integer({ min: 10, max: 200 }), (plan, calls, width) => {
        expect(renderPlan(plan, { paint, calls, width })).not.toMatch(dangerous);
        expect(renderUnconverged(plan, { paint, width })).not.toMatch(dangerous);
      }),
    );
  });

  it('a plan as JSON', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        expect(renderPlanJson(plan)).not.toMatch(dangerous);
      }),
    );
  });

  it('diagnostics as text and as JSON', () => {
    fc.assert(
      fc.property(fc.array(anyDiagnostic, { maxLength: 4 }), (diagnostics) => {
        expect(renderDiagnostics(diagnostics, { paint })).not.toMatch(dangerous);
        expect(renderDiagnosticsJson(diagnostics)).not.toMatch(dangerous);
      }),
    );
  });

  it('outcomes and events', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome, { maxLength: 4 }), (outcomes) => {
        expect(renderOutcomes(outcomes, { paint })).not.toMatch(dangerous);
        expect(renderOutcomesJson(outcomes)).not.toMatch(dangerous);
        for (const outcome of outcomes) {
          const line = renderEvent({ type: 'end', outcome, finished: 1, changes: 4 }, { paint });
          expect(line ?? '').not.toMatch(dangerous);
        }
      }),
    );
  });
});

it('a live name with a line end cannot add a line to the report', () => {
  fc.assert(
    fc.property(anyOutcome, (outcome) => {
      const name = `a\n9 applied`;
      const text = renderOutcomes([{ ...outcome, address: { ...outcome.address, name } }], { paint });
      expect(text.split('\n')).not.toContain('9 applied');
    }),
  );
});
